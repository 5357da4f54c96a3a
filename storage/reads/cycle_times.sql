-- name: cycle_times
-- The durations of the instances that completed in the days (UTC) of a time, as a histogram for each of the newest versions of a
-- process. $1 is the key of one of them, $2 the beginning of the time, $3 its length in days, $4 the most versions. Each day and
-- version is a lookup by the primary key.
SELECT v.process_definition_key, v.version, c.day, c.bucket::int, sum(c.completed)::bigint
FROM (
    SELECT other.process_definition_key, other.version
    FROM process_definitions given
    JOIN process_definitions other ON other.process_id = given.process_id AND other.tenant_id = given.tenant_id
    WHERE given.process_definition_key = $1
        -- only tenants: AND given.tenant_id = ANY ($5::text[])
    ORDER BY other.version DESC LIMIT $4
) v
JOIN counted_instance_durations c ON c.process_definition_key = v.process_definition_key
    AND c.day = ANY (ARRAY(SELECT generate_series(
        usage_day($2), $2::timestamptz + $3::int * interval '24 hours' - interval '1 millisecond', interval '24 hours')))
GROUP BY 1, 2, 3, 4
ORDER BY 2 DESC, 1, 3, 4;
