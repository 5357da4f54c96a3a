-- Statistics: how many instances each element of a definition has in each state. The body of a loop is not counted. The process instance
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

-- The changes, as the batches write them. Insert-only: a row that every batch updates becomes slower with each of its versions while any
-- old snapshot is open. Maintenance adds the changes to element_counts.
CREATE TABLE element_count_changes (
    partition_id           int NOT NULL,
    id                     bigserial NOT NULL,
    process_definition_key bigint NOT NULL,
    element_id             text NOT NULL,
    active                 bigint NOT NULL,
    completed              bigint NOT NULL,
    canceled               bigint NOT NULL,
    PRIMARY KEY (partition_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_insert_scale_factor = 0,
        autovacuum_vacuum_insert_threshold = 100000);

-- The id up to which the changes are added up. Readers and maintenance begin after it, and so never scan dead rows.
CREATE TABLE element_count_totals (
    partition_id int PRIMARY KEY,
    until        bigint NOT NULL
) WITH (fillfactor = 50);

-- All counts: the sum of its rows.
CREATE VIEW counted_elements AS
SELECT partition_id, process_definition_key, element_id, active, completed, canceled FROM element_counts
UNION ALL
SELECT p.id, c.process_definition_key, c.element_id, c.active, c.completed, c.canceled
FROM partitions p
LEFT JOIN element_count_totals t ON t.partition_id = p.id
JOIN LATERAL (
    SELECT * FROM element_count_changes c WHERE c.partition_id = p.id AND c.id > coalesce(t.until, 0)
) c ON true;

-- Adds up to `most` changes to the totals; returns how many there were. Only the owner of a partition writes its changes, one batch after
-- another, so their ids become visible in order.
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
    WITH gone AS (DELETE FROM element_count_changes WHERE partition_id = p AND id > low AND id <= high RETURNING *)
    INSERT INTO element_counts AS c (partition_id, process_definition_key, element_id, active, completed, canceled)
    SELECT p, process_definition_key, element_id, sum(active), sum(completed), sum(canceled)
    FROM gone GROUP BY process_definition_key, element_id ORDER BY process_definition_key, element_id
    ON CONFLICT (partition_id, process_definition_key, element_id) DO UPDATE
    SET active = c.active + excluded.active, completed = c.completed + excluded.completed, canceled = c.canceled + excluded.canceled;
    UPDATE element_count_totals SET until = high WHERE partition_id = p;
    RETURN n;
END $$;
