-- name: lock_timeout
-- Maintenance never waits long for a lock, because others would wait behind it.
SET lock_timeout = '100ms';

-- name: missing_log_partitions
-- A position in each range that should have log partitions and has none: the range of the next position and the two after it.
SELECT ($1::bigint << 51) + i * 10000000
FROM generate_series(0, 2) AS ahead, LATERAL (SELECT (last_log_position($1::int) - ($1::bigint << 51)) / 10000000 + ahead) AS n(i),
    LATERAL (VALUES ('command_log'), ('event_log')) AS logs(name)
WHERE NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(format('%s_%s_%s', name, $1, i)))
GROUP BY i
ORDER BY i;

-- name: make_log_partitions
-- Of both logs. The lock allows readers and writers.
SELECT make_log_partitions($1);

-- name: trim_from
-- The oldest row of the cursor.
SELECT coalesce(min(from_pos), 0) FROM batches WHERE partition_id = $1;

-- name: trim
-- The last 1,000 rows are for people; the fence needs one. $2: where the last trim ended, so that dead rows are not passed again.
WITH keep AS (SELECT from_pos FROM batches WHERE partition_id = $1 ORDER BY from_pos DESC OFFSET 1000 LIMIT 1),
     gone AS (DELETE FROM batches USING keep WHERE partition_id = $1 AND batches.from_pos >= $2 AND batches.from_pos < keep.from_pos)
SELECT coalesce((SELECT from_pos FROM keep), $2);

-- name: total_element_counts
-- At most so many changes of the counts are added up at once.
SELECT total_element_counts($1, $2);
