-- name: compute
-- Nine tenths of the instances of a version that completed in the past $1 days took no longer, if they are at least $2; and $3 ms
-- at least. The versions are those with open instances without a due date, by steps through an index. Each of their days is a
-- lookup by the primary key. The arithmetic of buckets is that of storage/state/durations.py. A version that has too few by now
-- keeps no duration.
WITH RECURSIVE open AS (
    SELECT min(process_definition_key) AS key FROM process_instances
    WHERE ended_at IS NULL AND due_at IS NULL
    UNION ALL
    SELECT (SELECT min(i.process_definition_key) FROM process_instances i
        WHERE i.ended_at IS NULL AND i.due_at IS NULL AND i.process_definition_key > open.key)
    FROM open WHERE key IS NOT NULL
), histogram AS (
    SELECT open.key, d.bucket::int, sum(d.completed) AS completed
    FROM open JOIN instance_durations d ON d.process_definition_key = open.key
        AND d.day = ANY (ARRAY(SELECT generate_series(
            usage_day(clock_now() - $1::int * interval '24 hours'), clock_now(), interval '24 hours')))
    GROUP BY 1, 2
), ranked AS (
    SELECT key, bucket, completed, sum(completed) OVER (PARTITION BY key ORDER BY bucket) AS until,
        sum(completed) OVER (PARTITION BY key) AS total
    FROM histogram
), ninth AS (
    SELECT DISTINCT ON (key) key, bucket, (0.9 * total - (until - completed)) / completed AS share
    FROM ranked WHERE total >= $2 AND until >= 0.9 * total ORDER BY key, bucket
), bounds AS (
    SELECT key, share,
        CASE WHEN bucket < 4 THEN bucket ELSE (4 + (bucket & 3))::bigint << ((bucket >> 2) - 1) END AS first,
        CASE WHEN bucket < 4 THEN 1 ELSE 1::bigint << ((bucket >> 2) - 1) END AS width
    FROM ninth
), usual AS (
    SELECT key, greatest(first + floor((width - 1) * share)::bigint, $3::bigint) AS ms FROM bounds
), gone AS (
    DELETE FROM usual_durations u WHERE NOT EXISTS (SELECT FROM usual WHERE key = u.process_definition_key)
)
INSERT INTO usual_durations AS u (process_definition_key, usual_ms, computed_at)
SELECT key, ms, clock_now() FROM usual ORDER BY key
ON CONFLICT (process_definition_key) DO UPDATE SET usual_ms = excluded.usual_ms, computed_at = excluded.computed_at
WHERE u.usual_ms <> excluded.usual_ms;
