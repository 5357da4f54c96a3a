-- How long elements took, as histograms (storage/durations.py): batches write them with the changes of the counts.

-- The bucket of the duration of the elements that the change completes, -1 if it completes none, and the sum of their durations.
ALTER TABLE element_count_changes
    ADD COLUMN bucket smallint NOT NULL DEFAULT -1,
    ADD COLUMN duration_ms bigint NOT NULL DEFAULT 0;

CREATE TABLE element_durations (
    process_definition_key bigint NOT NULL,
    element_id             text NOT NULL,
    bucket                 smallint NOT NULL,
    partition_id           int NOT NULL,
    completed              bigint NOT NULL,
    duration_ms            numeric NOT NULL,
    PRIMARY KEY (process_definition_key, element_id, bucket, partition_id)
) WITH (fillfactor = 50);

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

-- As before, with the durations.
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
    )
    INSERT INTO element_counts AS c (partition_id, process_definition_key, element_id, active, completed, canceled)
    SELECT p, process_definition_key, element_id, sum(active), sum(completed), sum(canceled)
    FROM gone GROUP BY process_definition_key, element_id ORDER BY process_definition_key, element_id
    ON CONFLICT (partition_id, process_definition_key, element_id) DO UPDATE
    SET active = c.active + excluded.active, completed = c.completed + excluded.completed, canceled = c.canceled + excluded.canceled;
    UPDATE element_count_totals SET until = high WHERE partition_id = p;
    RETURN n;
END $$;
