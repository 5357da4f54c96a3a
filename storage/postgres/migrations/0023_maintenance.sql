-- What maintenance does while somebody reads: no exclusive lock on a table in use, no row that every batch updates.

-- Partitions of the logs are made as tables of their own and then attached. That takes SHARE UPDATE EXCLUSIVE on the log, which
-- readers (pg_dump, a report) allow, where CREATE TABLE ... PARTITION OF takes ACCESS EXCLUSIVE. A DEFAULT partition would need
-- ACCESS EXCLUSIVE for each attachment, so there is none: a row without a partition is refused, and that counts as an outage.
DROP FUNCTION make_log_pieces;
CREATE FUNCTION make_log_pieces(n bigint) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    size  CONSTANT bigint := 10000000;
    lower CONSTANT bigint := n / size * size;
    parent text;
    piece  text;
    made   int := 0;
BEGIN
    FOREACH parent IN ARRAY ARRAY['command_log', 'event_log'] LOOP
        piece := parent || '_' || lower / size;
        IF to_regclass(piece) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', piece, parent);
        END IF;
        IF NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = piece::regclass) THEN
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', parent, piece, lower, lower + size);
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END $$;

DO $$
DECLARE
    parent text;
    n      bigint;
BEGIN
    FOREACH parent IN ARRAY ARRAY['command_log', 'event_log'] LOOP
        EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, parent || '_default');
    END LOOP;
    FOR n IN SELECT DISTINCT position / 10000000 FROM command_log_default UNION SELECT position / 10000000 FROM event_log_default LOOP
        PERFORM make_log_pieces(n * 10000000);
    END LOOP;
    FOREACH parent IN ARRAY ARRAY['command_log', 'event_log'] LOOP
        EXECUTE format('INSERT INTO %I SELECT * FROM %I', parent, parent || '_default');
        EXECUTE format('DROP TABLE %I', parent || '_default');
    END LOOP;
    FOR n IN SELECT last_value / 10000000 + ahead FROM command_log_position_seq, generate_series(0, 2) AS ahead LOOP
        PERFORM make_log_pieces(n * 10000000);
    END LOOP;
END $$;

-- Changes of the counts, as the batches write them: insert-only, because a row that every batch updates gets slower with each of its
-- versions while any old snapshot is open. Maintenance adds them up into element_counts. The process instance itself is counted
-- under the element '': its `active` is the number of running instances, which definition_usage held before.
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

-- How far they have been added up. Readers and maintenance begin behind it, and so never pass over dead rows.
CREATE TABLE element_count_totals (
    partition_id int PRIMARY KEY,
    until        bigint NOT NULL
) WITH (fillfactor = 50);

INSERT INTO element_counts (partition_id, process_definition_key, element_id, active, completed, canceled)
SELECT partition_id, process_definition_key, '', running, 0, 0 FROM definition_usage;
DROP TABLE definition_usage;

-- All that is counted: sum it up.
CREATE VIEW counted_elements AS
SELECT partition_id, process_definition_key, element_id, active, completed, canceled FROM element_counts
UNION ALL
SELECT p.id, c.process_definition_key, c.element_id, c.active, c.completed, c.canceled
FROM partitions p
LEFT JOIN element_count_totals t ON t.partition_id = p.id
JOIN LATERAL (
    SELECT * FROM element_count_changes c WHERE c.partition_id = p.id AND c.id > coalesce(t.until, 0)
) c ON true;

-- Add up to `most` changes to the totals; how many there were. Only the owner of a partition writes its changes, one batch behind the
-- other, so that ids become visible in their order.
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
