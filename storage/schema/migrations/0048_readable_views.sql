-- Views for people with psql: the columns and words of docs/schema.md, as texts and times instead of bytes and numbers. Programs use the
-- API. A reader needs the rights on the tables below, and sees the rows that row-level security lets through.

-- The text of a model in any encoding that its parser reads. It never fails: what no encoding fits is shown with escaped bytes. PostgreSQL
-- knows no UTF-16, so its units are put together here, and two surrogates are one letter. No function calls another one, so that a
-- session needs no search_path.
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
    CASE WHEN cycle ->> 0 ~ '(^|/)P(\d{1,8}W|(\d{1,8}D)?(T(\d{1,8}H)?(\d{1,8}M)?(\d{1,8}([.]\d+)?S)?)?)$' AND cycle ->> 0 ~ 'P.*\d'
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
