-- name: lock_timeout
-- Maintenance never waits long for a lock, because others would wait behind it.
SET lock_timeout = '100ms';

-- name: missing_pieces
-- Where the partitions of the logs begin that should be there and are not: that of the next position and the two behind it.
SELECT n * 10000000 FROM command_log_position_seq, generate_series(last_value / 10000000, last_value / 10000000 + 2) AS n
WHERE to_regclass('command_log_' || n) IS NULL OR to_regclass('event_log_' || n) IS NULL
   OR NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass('command_log_' || n))
   OR NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass('event_log_' || n))
ORDER BY n;

-- name: make_pieces
-- Of both logs. The lock allows readers and writers.
SELECT make_log_pieces($1);

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
