-- name: instances_by_day
-- The process instances that began and ended in each of some days of 24 hours, and the incidents of that time. $1 is the
-- beginning of the first day, $2 the number of days, and $3 the most rows that are counted for one figure: a chart must not cost
-- more with a longer history. Each figure is a range of an index by that time.
SELECT day.begins, began.number, ended.number, failed.number
FROM (
    SELECT $1::timestamptz + n * interval '24 hours' AS begins, $1::timestamptz + (n + 1) * interval '24 hours' AS ends
    FROM generate_series(0, $2::int - 1) AS n
) AS day
CROSS JOIN LATERAL (
    SELECT count(*) AS number FROM (
        SELECT FROM process_instances WHERE started_at >= day.begins AND started_at < day.ends
            -- only tenants: AND tenant_id = ANY ($4::text[])
        LIMIT $3::bigint
    ) AS counted
) AS began
CROSS JOIN LATERAL (
    SELECT count(*) AS number FROM (
        SELECT FROM process_instances WHERE ended_at >= day.begins AND ended_at < day.ends
            -- only tenants: AND tenant_id = ANY ($4::text[])
        LIMIT $3::bigint
    ) AS counted
) AS ended
CROSS JOIN LATERAL (
    SELECT count(*) AS number FROM (
        SELECT FROM incidents WHERE created_at >= day.begins AND created_at < day.ends
            -- only tenants: AND tenant_id = ANY ($4::text[])
        LIMIT $3::bigint
    ) AS counted
) AS failed
ORDER BY day.begins;
