-- name: delete_queued
-- Completions of their jobs that clients queued in their own transactions, and that would be rejected. Few commands wait there.
-- Those who delete lock them in one order.
WITH gone AS (
    DELETE FROM transaction_inbox q WHERE (q.target_partition, q.id) IN (
        SELECT t.target_partition, t.id FROM transaction_inbox t
        JOIN jobs j ON j.job_key = t.key JOIN process_instances p ON p.process_instance_key = j.root_key
        WHERE p.process_instance_key = ANY ($1::bigint[]) AND p.ended_at IS NOT NULL
        ORDER BY t.target_partition, t.id FOR UPDATE OF t)
    RETURNING q.*
)
INSERT INTO transaction_outcomes (target_partition, id, tenant_id, role_name, moved_at)
SELECT target_partition, id, tenant_id, role_name, clock_timestamp() FROM gone;

-- name: delete_trees
-- One call of a function: a client that is lost leaves either all rows of a tree or none.
SELECT root, verdict FROM delete_trees($1, $2);

-- name: keepers
-- The same judgement, and nothing is locked or deleted. A root that is gone is not there.
SELECT root, keeper FROM keepers_of_trees($1);

-- name: keeper
-- The judgement about one tree, with how many instances go with its root.
SELECT keeper, cardinality(instances) FROM keepers_of_trees(ARRAY[$1::bigint]);

-- name: delete_old_trees
-- The same for retention, in the term $3 only. A call that comes late finds another term, or nothing to delete.
SELECT d.root, d.verdict FROM partitions CROSS JOIN LATERAL (SELECT * FROM delete_trees($1, 'RETENTION')) d
WHERE id = $2 AND epoch = $3;

-- name: patience
-- A tree may have a million rows. Only for this transaction.
SELECT set_config('statement_timeout', $1, true);

-- name: clock
-- The time by which retention judges, and how often it has moved.
SELECT moves FROM retention_clocks WHERE partition_id = $1;

-- name: advance_clock
-- At most $3 ms later than the last time, and never later than the engine's. Only in the term $2, and only once: $4 is the
-- number of moves that the caller knows. $5 trees were deleted since the last move.
UPDATE retention_clocks SET at = least(clock_now(), at + $3::bigint * interval '1 millisecond'), moves = moves + 1,
    deleted = deleted + $5
WHERE partition_id = $1 AND moves = $4 AND EXISTS (SELECT FROM partitions WHERE id = $1 AND epoch = $2)
RETURNING to_epoch_ms(at), to_epoch_ms(clock_now()), moves;

-- name: note_run
-- The result of the run that moved the clock for the $3rd time. Once: a call that comes late finds another number, or its own.
UPDATE retention_clocks SET ran_moves = $3, ran_at = clock_timestamp(), ran_deleted = $4,
    problem = $5, problem_since = CASE WHEN $5::text IS NOT NULL THEN coalesce(problem_since, clock_timestamp()) END,
    kept_key = $6, kept_due = from_epoch_ms($7), kept_by = $8, logs_kept_by = $9
WHERE partition_id = $1 AND moves = $3 AND ran_moves < $3 AND EXISTS (SELECT FROM partitions WHERE id = $1 AND epoch = $2);

-- name: behind
-- The lag of the slowest clock of retention behind the engine's, in ms; 0 if none is kept.
SELECT coalesce(max(greatest(to_epoch_ms(clock_now()) - to_epoch_ms(at), 0)), 0)::bigint FROM retention_clocks;

-- name: state
-- The state of retention, and what it waits for, by partition. Where something keeps the logs: the root that began first, or the
-- consumer that is furthest behind, for how long it has run or stood still, and how much there is of the logs.
SELECT partition_id, greatest(extract(epoch FROM clock_now() - at), 0)::float8,
    extract(epoch FROM clock_timestamp() - ran_at)::float8, ran_deleted, deleted,
    problem, extract(epoch FROM clock_timestamp() - problem_since)::float8,
    kept_key, CASE WHEN kept_key IS NOT NULL THEN greatest(extract(epoch FROM clock_now() - kept_due), 0)::float8 END, kept_by,
    logs_kept_by, k.name, extract(epoch FROM k.since)::float8, extract(epoch FROM clock_now() - o.processed_at)::float8,
    o.commands,
    CASE
        WHEN logs_kept_by IS NOT NULL THEN (
            SELECT sum(pg_total_relation_size(t.oid))::bigint FROM pg_class t
            WHERE t.relkind = 'r' AND t.relname ~ format('^(command|event)_log_%s_[0-9]+$', c.partition_id)) END
FROM retention_clocks c LEFT JOIN LATERAL (
    (SELECT e.consumer AS name, clock_timestamp() - e.acknowledged_at AS since FROM event_consumers e
     WHERE c.logs_kept_by = 'consumer' AND e.partition_id = c.partition_id ORDER BY e.position LIMIT 1)
    UNION ALL
    (SELECT p.process_instance_key::text, clock_now() - p.started_at FROM process_instances p
     WHERE c.logs_kept_by = 'instance' AND p.ended_at IS NULL AND p.parent_process_instance_key IS NULL
         AND p.created_position BETWEEN c.partition_id::bigint << 51 AND ((c.partition_id::bigint + 1) << 51) - 1
     ORDER BY p.created_position LIMIT 1)
) k ON true LEFT JOIN LATERAL (
    SELECT e.processed_at, last_log_position(c.partition_id) - e.position + 1 AS commands FROM event_log e
    WHERE c.logs_kept_by IS NOT NULL AND e.partition_id = c.partition_id ORDER BY e.position, e.seq LIMIT 1
) o ON true ORDER BY 1;

-- name: begin_clock
-- The first time is so early that everything that is overdue ($3 ms after its end, or later) goes step by step.
INSERT INTO retention_clocks (partition_id, at)
SELECT $1, least(clock_now(), coalesce(
    (SELECT ended_at + $3::bigint * interval '1 millisecond' FROM process_instances
        WHERE ended_at IS NOT NULL ORDER BY ended_at LIMIT 1),
    clock_now()))
FROM partitions WHERE id = $1 AND epoch = $2
ON CONFLICT DO NOTHING
RETURNING to_epoch_ms(at), to_epoch_ms(clock_now()), moves;

-- name: ended
-- Trees that ended in a period, the earliest first, by the index on the end. Many may end in one millisecond: the key tells
-- them apart. With several partitions each owner passes the rows of others, and called instances, which go with their root.
SELECT process_instance_key, to_epoch_ms(ended_at), process_definition_key, process_id, tenant_id,
    process_instance_key BETWEEN $1::bigint << 51 AND (($1::bigint + 1) << 51) - 1 AND parent_process_instance_key IS NULL
FROM process_instances
WHERE ended_at >= from_epoch_ms($2) AND ended_at <= from_epoch_ms($4)
    AND (ended_at, process_instance_key) > (from_epoch_ms($2), $3::bigint)
ORDER BY ended_at, process_instance_key LIMIT $5;

-- name: of_models
-- The definitions whose models say how long their instances stay.
SELECT process_definition_key, retention_ms FROM process_definitions WHERE retention_ms IS NOT NULL;

-- name: load
-- Commands of the partition that wait to be processed, and the last position: whether it moves tells whether anybody works.
SELECT log.last - coalesce((SELECT to_pos FROM batches WHERE partition_id = $1 ORDER BY from_pos DESC LIMIT 1), $1::bigint << 51),
    log.last
FROM (VALUES (last_log_position($1))) AS log(last);

-- name: drop_log_partitions
-- Only in the term $2. A call that comes late finds another term, or drops what nobody needs.
SELECT d.dropped, d.kept_by FROM partitions CROSS JOIN LATERAL (SELECT * FROM drop_log_partitions($1, from_epoch_ms($3))) d
WHERE id = $1 AND epoch = $2;

-- name: delete_old_log_rows
-- Only in the term $2. A call that comes late finds another term, or deletes what nobody needs.
SELECT d.rows FROM partitions CROSS JOIN LATERAL (SELECT delete_old_log_rows($1, from_epoch_ms($3), $4) AS rows) d
WHERE id = $1 AND epoch = $2;

-- name: log_keeper
-- The keeper of the oldest position of a slow log, if older than $2, otherwise nothing: the next run deletes what is free.
SELECT CASE
    WHEN (SELECT min(c.position) FROM event_consumers c WHERE c.partition_id = $1) <= o.position THEN 'consumer'
    WHEN EXISTS (
        SELECT FROM event_log e JOIN process_instances i ON i.process_instance_key = e.root_key
        WHERE e.partition_id = $1 AND e.position = o.position AND i.ended_at IS NULL) THEN 'instance' END
FROM (SELECT position, processed_at FROM event_log WHERE partition_id = $1 ORDER BY position, seq LIMIT 1) o
WHERE o.processed_at < from_epoch_ms($2);

-- name: purge_deleted
-- Records of deleted trees without events: replay gives nothing of them. The earliest deletions first; those with events stay.
DELETE FROM deleted_trees WHERE root_key = ANY (ARRAY(
    SELECT d.root_key FROM (
        SELECT root_key FROM deleted_trees WHERE root_key BETWEEN $1::bigint << 51 AND (($1::bigint + 1) << 51) - 1
        ORDER BY deleted_at LIMIT $3
    ) d
    WHERE NOT EXISTS (SELECT FROM event_log e WHERE e.root_key = d.root_key)))
AND EXISTS (SELECT FROM partitions WHERE id = $1 AND epoch = $2);
