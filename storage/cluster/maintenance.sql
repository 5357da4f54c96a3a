-- name: missing_log_partitions
-- A position in each range that lacks log partitions, among the range of the next position and the two after it. None in
-- another term than $2, here and below.
SELECT ($1::bigint << 51) + i * 10000000
FROM generate_series(0, 2) AS ahead,
    LATERAL (SELECT (last_log_position($1::int) - ($1::bigint << 51)) / 10000000 + ahead) AS n(i),
    LATERAL (VALUES ('command_log'), ('event_log')) AS logs(name)
WHERE EXISTS (SELECT FROM partitions WHERE id = $1 AND epoch = $2)
    AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(format('%s_%s_%s', name, $1, i)))
GROUP BY i
ORDER BY i;

-- name: make_log_partitions
-- For both logs. The lock allows readers and writers.
SELECT make_log_partitions($1);

-- name: trim_from
-- The oldest row of the cursor.
SELECT coalesce(min(from_pos), 0) FROM batches WHERE partition_id = $1;

-- name: trim
-- The fence needs one row; the last 1,000 are kept for diagnosis. $2 is the end of the last trim: the scan starts behind its
-- dead rows.
WITH keep AS (
        SELECT from_pos FROM batches WHERE partition_id = (SELECT id FROM partitions WHERE id = $1 AND epoch = $3)
        ORDER BY from_pos DESC OFFSET 1000 LIMIT 1
     ),
     gone AS (DELETE FROM batches USING keep
              WHERE partition_id = $1 AND batches.from_pos >= $2 AND batches.from_pos < keep.from_pos)
SELECT coalesce((SELECT from_pos FROM keep), $2);

-- name: total_element_counts
-- $2 limits the changes of each kind that one transaction adds up.
SELECT coalesce(max(n), 0) FROM (
    SELECT total_element_counts($1, $2) AS n FROM partitions WHERE id = $1 AND epoch = $3
    UNION ALL
    SELECT total_job_counts($1, $2) FROM partitions WHERE id = $1 AND epoch = $3
) totals;
