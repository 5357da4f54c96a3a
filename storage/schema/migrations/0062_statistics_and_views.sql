-- Statistics, and views for people.

-- How many instances each element of a definition has in each state. The body of a loop is not counted. The process instance
-- itself is counted under the element '': its `active` is the number of running instances of the definition.

CREATE TABLE element_counts (
    partition_id           int NOT NULL,
    process_definition_key bigint NOT NULL,
    element_id             text NOT NULL,
    active                 bigint NOT NULL,
    completed              bigint NOT NULL,
    canceled               bigint NOT NULL,
    PRIMARY KEY (partition_id, process_definition_key, element_id)
) WITH (fillfactor = 50);

-- The running instances of all definitions are few rows among those of their elements.
CREATE INDEX element_counts_instances ON element_counts (process_definition_key) WHERE element_id = '';

-- The changes, as the batches write them. Insert-only: a row that every batch updates becomes slower with each of its versions
-- while any old snapshot is open. Maintenance adds the changes to element_counts.
CREATE TABLE element_count_changes (
    partition_id           int NOT NULL,
    id                     bigserial NOT NULL,
    process_definition_key bigint NOT NULL,
    element_id             text NOT NULL,
    active                 bigint NOT NULL,
    completed              bigint NOT NULL,
    canceled               bigint NOT NULL,
    -- The bucket of the duration of the elements that the change completes, -1 if it completes none, and the sum of their
    -- durations.
    bucket                 smallint NOT NULL DEFAULT -1,
    duration_ms            bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (partition_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_insert_scale_factor = 0,
        autovacuum_vacuum_insert_threshold = 100000);

-- The id up to which the changes are added up. Readers and maintenance begin after it, and so never scan dead rows.
CREATE TABLE element_count_totals (
    partition_id int PRIMARY KEY,
    until        bigint NOT NULL
) WITH (fillfactor = 50);

-- How long elements took, as histograms (storage/state/durations.py): batches write them with the changes of the counts.
CREATE TABLE element_durations (
    process_definition_key bigint NOT NULL,
    element_id             text NOT NULL,
    bucket                 smallint NOT NULL,
    partition_id           int NOT NULL,
    completed              bigint NOT NULL,
    duration_ms            numeric NOT NULL,
    PRIMARY KEY (process_definition_key, element_id, bucket, partition_id)
) WITH (fillfactor = 50);

-- All counts: the sum of its rows.
CREATE VIEW counted_elements WITH (security_invoker = true) AS
SELECT partition_id, process_definition_key, element_id, active, completed, canceled FROM element_counts
UNION ALL
SELECT p.id, c.process_definition_key, c.element_id, c.active, c.completed, c.canceled
FROM partitions p
LEFT JOIN element_count_totals t ON t.partition_id = p.id
JOIN LATERAL (
    SELECT c.partition_id, c.id, c.process_definition_key, c.element_id, c.active, c.completed, c.canceled
    FROM element_count_changes c WHERE c.partition_id = p.id AND c.id > coalesce(t.until, 0)
) c ON true;

-- All durations: the sum of its rows.
CREATE VIEW counted_durations WITH (security_invoker = true) AS
SELECT partition_id, process_definition_key, element_id, bucket, completed, duration_ms FROM element_durations
UNION ALL
SELECT p.id, c.process_definition_key, c.element_id, c.bucket, c.completed, c.duration_ms
FROM partitions p
LEFT JOIN element_count_totals t ON t.partition_id = p.id
JOIN LATERAL (
    SELECT * FROM element_count_changes c WHERE c.partition_id = p.id AND c.id > coalesce(t.until, 0) AND c.bucket >= 0
) c ON true;

-- Adds up to `most` changes to the totals; returns how many there were. Only the owner of a partition writes its changes, one
-- batch after another, so their ids become visible in order.
CREATE FUNCTION total_element_counts(p int, most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    low  bigint;
    high bigint;
    n    int;
BEGIN
    INSERT INTO element_count_totals VALUES (p, 0) ON CONFLICT DO NOTHING;
    SELECT until INTO low FROM element_count_totals WHERE partition_id = p FOR UPDATE;
    SELECT max(id), count(*) INTO high, n FROM (
        SELECT id FROM element_count_changes WHERE partition_id = p AND id > low ORDER BY id LIMIT most) s;
    IF n = 0 THEN
        RETURN 0;
    END IF;
    WITH gone AS (
        DELETE FROM element_count_changes WHERE partition_id = p AND id > low AND id <= high RETURNING *
    ), durations AS (
        INSERT INTO element_durations AS d (process_definition_key, element_id, bucket, partition_id, completed, duration_ms)
        SELECT process_definition_key, element_id, bucket, p, sum(completed), sum(duration_ms)
        FROM gone WHERE bucket >= 0 GROUP BY process_definition_key, element_id, bucket
        ORDER BY process_definition_key, element_id, bucket
        ON CONFLICT (process_definition_key, element_id, bucket, partition_id) DO UPDATE
        SET completed = d.completed + excluded.completed, duration_ms = d.duration_ms + excluded.duration_ms
    )
    INSERT INTO element_counts AS c (partition_id, process_definition_key, element_id, active, completed, canceled)
    SELECT p, process_definition_key, element_id, sum(active), sum(completed), sum(canceled)
    FROM gone GROUP BY process_definition_key, element_id ORDER BY process_definition_key, element_id
    ON CONFLICT (partition_id, process_definition_key, element_id) DO UPDATE
    SET active = c.active + excluded.active, completed = c.completed + excluded.completed, canceled = c.canceled + excluded.canceled;
    UPDATE element_count_totals SET until = high WHERE partition_id = p;
    RETURN n;
END $$;

-- How many jobs of each type were created, completed and failed, and by which workers: for periods of five minutes, added up as
-- the counts of elements are. Statements that save jobs write the changes.
CREATE TABLE job_count_changes (
    partition_id int NOT NULL,
    id           bigserial NOT NULL,
    tenant_id    text NOT NULL,
    type         text NOT NULL,
    worker       text NOT NULL,
    status       text NOT NULL CHECK (status IN ('CREATED', 'COMPLETED', 'FAILED')),
    jobs         bigint NOT NULL,
    last_at      timestamptz NOT NULL,
    PRIMARY KEY (partition_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_insert_scale_factor = 0,
        autovacuum_vacuum_insert_threshold = 100000);

CREATE TABLE job_counts (
    period       timestamptz NOT NULL,
    tenant_id    text NOT NULL,
    type         text NOT NULL,
    status       text NOT NULL,
    worker       text NOT NULL,
    partition_id int NOT NULL,
    jobs         bigint NOT NULL,
    last_at      timestamptz NOT NULL,
    PRIMARY KEY (period, tenant_id, type, status, worker, partition_id)
) WITH (fillfactor = 70);

-- The id up to which the changes are added up.
CREATE TABLE job_count_totals (
    partition_id int PRIMARY KEY,
    until        bigint NOT NULL
) WITH (fillfactor = 50);

CREATE FUNCTION job_period(at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
SELECT date_bin('5 minutes', at, 'epoch')
$$;

-- All counts: the sum of its rows.
CREATE VIEW counted_jobs WITH (security_invoker = true) AS
SELECT period, tenant_id, type, status, worker, jobs, last_at FROM job_counts
UNION ALL
SELECT job_period(c.last_at), c.tenant_id, c.type, c.status, c.worker, c.jobs, c.last_at
FROM partitions p
LEFT JOIN job_count_totals t ON t.partition_id = p.id
JOIN LATERAL (
    SELECT * FROM job_count_changes c WHERE c.partition_id = p.id AND c.id > coalesce(t.until, 0)
) c ON true;

-- Adds up to `most` changes to the totals, and deletes some totals of more than thirty days ago; returns how many changes there
-- were.
CREATE FUNCTION total_job_counts(p int, most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    low  bigint;
    high bigint;
    n    int;
BEGIN
    INSERT INTO job_count_totals VALUES (p, 0) ON CONFLICT DO NOTHING;
    SELECT until INTO low FROM job_count_totals WHERE partition_id = p FOR UPDATE;
    SELECT max(id), count(*) INTO high, n FROM (
        SELECT id FROM job_count_changes WHERE partition_id = p AND id > low ORDER BY id LIMIT most) s;
    IF n = 0 THEN
        RETURN 0;
    END IF;
    WITH gone AS (DELETE FROM job_count_changes WHERE partition_id = p AND id > low AND id <= high RETURNING *)
    INSERT INTO job_counts AS c (period, tenant_id, type, status, worker, partition_id, jobs, last_at)
    SELECT job_period(last_at), tenant_id, type, status, worker, p, sum(jobs), max(last_at)
    FROM gone GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (period, tenant_id, type, status, worker, partition_id) DO UPDATE
    SET jobs = c.jobs + excluded.jobs, last_at = greatest(c.last_at, excluded.last_at);
    UPDATE job_count_totals SET until = high WHERE partition_id = p;
    DELETE FROM job_counts WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM job_counts WHERE period < clock_now() - interval '30 days' AND partition_id = p LIMIT most));
    RETURN n;
END $$;

-- Views for people with psql: the columns and words of docs/schema.md, as texts and times instead of bytes and numbers. Programs
-- use the API. A reader needs the rights on the tables below, and sees the rows that row-level security lets through.

-- The text of a model in any encoding that its parser reads. It never fails: what no encoding fits is shown with escaped bytes.
-- PostgreSQL knows no UTF-16, so its units are put together here, and two surrogates are one letter. No function calls another
-- one, so that a session needs no search_path.
CREATE FUNCTION xml_text(document bytea) RETURNS text LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
    declared CONSTANT text := substring(encode(substring(document FOR 200), 'escape') FROM 'encoding\s*=\s*["'']([A-Za-z0-9._:-]+)');
    encoding text;
    little   int;
BEGIN
    IF substring(document FOR 2) IN ('\xfffe', '\xfeff') OR substring(document FOR 4) IN ('\x3c003f00', '\x003c003f') THEN
        little := (get_byte(document, 0) IN (255, 60))::int;
        BEGIN
            RETURN (
                SELECT string_agg(CASE
                    WHEN unit BETWEEN 55296 AND 56319 AND following BETWEEN 56320 AND 57343
                        THEN chr(65536 + (unit - 55296) * 1024 + following - 56320)
                    WHEN unit BETWEEN 55296 AND 56319 THEN chr(65533)
                    WHEN unit BETWEEN 56320 AND 57343 THEN ''
                    ELSE chr(unit) END, '' ORDER BY place)
                FROM (
                    SELECT place, unit, lead(unit) OVER (ORDER BY place) AS following
                    FROM generate_series(0, length(document) / 2 - 1) AS place,
                        LATERAL (
                            SELECT get_byte(document, 2 * place + little) * 256 + get_byte(document, 2 * place + 1 - little)
                        ) AS u(unit)) AS units
                WHERE NOT (place = 0 AND unit = 65279));
        EXCEPTION WHEN OTHERS THEN
            NULL;  -- NUL
        END;
    END IF;
    IF substring(document FOR 3) = '\xefbbbf' THEN
        document := substring(document FROM 4);
    END IF;
    FOREACH encoding IN ARRAY ARRAY[coalesce(declared, 'UTF8'), 'UTF8', 'LATIN1'] LOOP
        BEGIN
            RETURN convert_from(document, encoding);
        EXCEPTION WHEN OTHERS THEN
            NULL;  -- an encoding that PostgreSQL does not know, or bytes that it does not have
        END;
    END LOOP;
    RETURN encode(document, 'escape');
END $$;

-- The columns of the table by the names of BPMN, with the model as a text.
CREATE VIEW process_definitions_view WITH (security_invoker = true) AS
SELECT d.process_definition_key, d.process_id AS bpmn_process_id, d.version, d.tenant_id, xml_text(r.bytes) AS bpmn_xml,
    jsonb_strip_nulls(jsonb_build_object('name', d.name, 'versionTag', d.version_tag, 'resourceName', d.resource_name,
        'startFormId', d.start_form_id)) AS parsed_metadata,
    d.deployment_key, d.deployed_at, d.state
FROM process_definitions d LEFT JOIN resources r ON r.sha256 = d.sha256;

-- An instance with incidents has the state INCIDENT. (`version` of the table counts the changes of a tree.)
CREATE VIEW process_instances_view WITH (security_invoker = true) AS
SELECT process_instance_key, process_id AS bpmn_process_id, process_version AS version, process_definition_key, tenant_id,
    CASE WHEN state IN ('COMPLETED', 'TERMINATED') THEN state WHEN incidents > 0 THEN 'INCIDENT' ELSE 'ACTIVE' END AS state,
    started_at, ended_at, parent_process_instance_key, root_key AS root_process_instance_key, business_id, tags
FROM process_instances;

-- `repetitions`: null for one shot, -1 without an end. `interval_ms`: of a cycle whose interval has a fixed length.
CREATE VIEW timers_view WITH (security_invoker = true) AS
SELECT timer_key, process_instance_key, element_instance_key, tenant_id, type AS timer_type, target_element_id,
    to_timestamp(due_at_ms / 1000.0) AS due_date,
    CASE WHEN cycle IS NOT NULL THEN repetitions END AS repetitions,
    CASE WHEN cycle ->> 0 ~ '(^|/)P(\d{1,8}W|(\d{1,8}D)?(T(\d{1,8}H)?(\d{1,8}M)?(\d{1,8}([.]\d+)?S)?)?)$'
        AND cycle ->> 0 ~ 'P.*\d'
        THEN (extract(epoch FROM substring(cycle ->> 0 FROM 'P[^/]*$')::interval) * 1000)::bigint END AS interval_ms,
    state, created_at, triggered_at, ended_at, process_id AS bpmn_process_id, process_definition_key
FROM timers;

-- `processed_at` is null while a command waits.
CREATE VIEW command_log_view WITH (security_invoker = true) AS
SELECT c.position, c.at AS timestamp, c.tenant_id, c.intent, convert_from(c.payload, 'UTF8')::json AS payload, e.processed_at,
    e.rejection, c.partition_id
FROM command_log c LEFT JOIN event_log e ON e.partition_id = c.partition_id AND e.position = c.position AND e.seq = 0;

-- The engine's answer is that of the command; it is null until the command is processed, or when its row is deleted.
CREATE VIEW idempotency_keys_view WITH (security_invoker = true) AS
SELECT i.key, i.tenant AS tenant_id, i.position AS command_position, e.response AS response_body, c.at AS created_at, i.expires_at
FROM idempotency_keys i
LEFT JOIN command_log c ON c.partition_id = (i.position >> 51)::int AND c.position = i.position
LEFT JOIN event_log e ON e.partition_id = (i.position >> 51)::int AND e.position = i.position AND e.seq = 0;

-- One row for each partition: the node that leads it, and how far its engine is.
CREATE VIEW engine_state WITH (security_invoker = true) AS
SELECT p.owner_node AS instance_id, p.id AS partition_id, b.to_pos AS last_processed_position, e.processed_at AS updated_at
FROM partitions p
LEFT JOIN LATERAL (SELECT to_pos FROM batches WHERE partition_id = p.id ORDER BY from_pos DESC LIMIT 1) b ON true
LEFT JOIN event_log e ON e.partition_id = p.id AND e.position = b.to_pos AND e.seq = 0;
