-- What process instances of each definition did over time: charts and alert rules read it. Batches write it with the counts of
-- elements, in the changes of the element '', and maintenance adds it up. It stays when retention deletes the instances.

CREATE TABLE instance_counts (
    period                 timestamptz NOT NULL,
    process_definition_key bigint NOT NULL,
    partition_id           int NOT NULL,
    started                bigint NOT NULL,
    completed              bigint NOT NULL,
    canceled               bigint NOT NULL,
    incidents              bigint NOT NULL,
    PRIMARY KEY (period, process_definition_key, partition_id)
) WITH (fillfactor = 50);

-- How long the instances took that completed in a day (UTC), as histograms (storage/state/durations.py).
CREATE TABLE instance_durations (
    day                    timestamptz NOT NULL,
    process_definition_key bigint NOT NULL,
    bucket                 smallint NOT NULL,
    partition_id           int NOT NULL,
    completed              bigint NOT NULL,
    PRIMARY KEY (day, process_definition_key, bucket, partition_id)
) WITH (fillfactor = 50);

-- A database that somebody has changed may lack a table, and is refused after all migrations.
DO $$ BEGIN
    IF to_regclass('element_count_changes') IS NULL OR to_regclass('element_count_totals') IS NULL
        OR to_regclass('partitions') IS NULL OR to_regclass('process_instances') IS NULL OR to_regclass('incidents') IS NULL
    THEN RETURN;
    END IF;
    -- Batches wait until the end of this migration, so that each instance counts once: those of committed batches from their rows
    -- below, and later ones from their changes. `at` is null in changes of an earlier program, which has no number of starts.
    LOCK TABLE element_count_totals IN EXCLUSIVE MODE;
    ALTER TABLE element_count_changes
        ADD COLUMN started int NOT NULL DEFAULT 0,
        ADD COLUMN incidents int NOT NULL DEFAULT 0,
        ADD COLUMN at timestamptz;
    PERFORM total_element_counts(id, 2147483647) FROM partitions;
    INSERT INTO instance_counts
    SELECT period, definition, partition, sum(started), sum(completed), sum(canceled), sum(incidents) FROM (
        SELECT usage_period(started_at) AS period, process_definition_key AS definition,
            (process_instance_key >> 51)::int AS partition, 1 AS started, 0 AS completed, 0 AS canceled, 0 AS incidents
        FROM process_instances
        UNION ALL
        SELECT usage_period(ended_at), process_definition_key, (process_instance_key >> 51)::int, 0,
            (state = 'COMPLETED')::int, (state <> 'COMPLETED')::int, 0
        FROM process_instances WHERE ended_at IS NOT NULL
        UNION ALL
        SELECT usage_period(created_at), process_definition_key, (incident_key >> 51)::int, 0, 0, 0, 1 FROM incidents
    ) past GROUP BY 1, 2, 3;
    INSERT INTO instance_durations
    SELECT usage_day(ended_at), process_definition_key, CASE WHEN ms < 4 THEN ms ELSE 4 * (bits - 3) + (ms >> bits - 3) END,
        (process_instance_key >> 51)::int, count(*)
    FROM (
        SELECT *, length(ltrim(ms::bit(63)::text, '0')) AS bits FROM (
            SELECT ended_at, process_definition_key, process_instance_key,
                greatest(to_epoch_ms(ended_at) - to_epoch_ms(started_at), 0) AS ms
            FROM process_instances WHERE state = 'COMPLETED' AND ended_at IS NOT NULL
        ) completed
    ) past GROUP BY 1, 2, 3, 4;
END $$;

-- All counts: the sum of its rows.
DO $$ BEGIN
    IF to_regclass('element_count_changes') IS NULL OR to_regclass('element_count_totals') IS NULL
        OR to_regclass('partitions') IS NULL
    THEN RETURN;
    END IF;
    CREATE VIEW counted_instances WITH (security_invoker = true) AS
    SELECT period, process_definition_key, started, completed, canceled, incidents FROM instance_counts
    UNION ALL
    SELECT usage_period(coalesce(c.at, clock_now())), c.process_definition_key,
        CASE WHEN c.at IS NULL THEN c.active + c.completed + c.canceled ELSE c.started END, c.completed, c.canceled, c.incidents
    FROM partitions p
    LEFT JOIN element_count_totals t ON t.partition_id = p.id
    JOIN LATERAL (
        SELECT * FROM element_count_changes c WHERE c.partition_id = p.id AND c.id > coalesce(t.until, 0) AND c.element_id = ''
    ) c ON true;
    CREATE VIEW counted_instance_durations WITH (security_invoker = true) AS
    SELECT day, process_definition_key, bucket, completed FROM instance_durations
    UNION ALL
    SELECT usage_day(coalesce(c.at, clock_now())), c.process_definition_key, c.bucket, c.completed
    FROM partitions p
    LEFT JOIN element_count_totals t ON t.partition_id = p.id
    JOIN LATERAL (
        SELECT * FROM element_count_changes c
        WHERE c.partition_id = p.id AND c.id > coalesce(t.until, 0) AND c.element_id = '' AND c.bucket >= 0
    ) c ON true;
END $$;

-- Adds up to `most` changes to the totals; returns how many there were. Only the owner of a partition writes its changes, one
-- batch after another, so their ids become visible in order.
CREATE OR REPLACE FUNCTION total_element_counts(p int, most int) RETURNS int LANGUAGE plpgsql AS $$
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
    ), instances AS (
        SELECT *, coalesce(at, clock_now()) AS counted_at FROM gone WHERE element_id = ''
    ), over_time AS (
        INSERT INTO instance_counts AS i (period, process_definition_key, partition_id, started, completed, canceled, incidents)
        SELECT usage_period(counted_at), process_definition_key, p,
            sum(CASE WHEN at IS NULL THEN active + completed + canceled ELSE started END), sum(completed), sum(canceled),
            sum(incidents)
        FROM instances GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (period, process_definition_key, partition_id) DO UPDATE
        SET started = i.started + excluded.started, completed = i.completed + excluded.completed,
            canceled = i.canceled + excluded.canceled, incidents = i.incidents + excluded.incidents
    ), by_day AS (
        INSERT INTO instance_durations AS d (day, process_definition_key, bucket, partition_id, completed)
        SELECT usage_day(counted_at), process_definition_key, bucket, p, sum(completed)
        FROM instances WHERE bucket >= 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (day, process_definition_key, bucket, partition_id) DO UPDATE SET completed = d.completed + excluded.completed
    )
    INSERT INTO element_counts AS c (partition_id, process_definition_key, element_id, active, completed, canceled)
    SELECT p, process_definition_key, element_id, sum(active), sum(completed), sum(canceled)
    FROM gone GROUP BY process_definition_key, element_id ORDER BY process_definition_key, element_id
    ON CONFLICT (partition_id, process_definition_key, element_id) DO UPDATE
    SET active = c.active + excluded.active, completed = c.completed + excluded.completed,
        canceled = c.canceled + excluded.canceled;
    UPDATE element_count_totals SET until = high WHERE partition_id = p;
    RETURN n;
END $$;
