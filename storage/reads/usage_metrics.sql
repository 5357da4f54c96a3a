-- name: usage_metrics
-- Counts of a time, by tenant and for all (a row without a tenant). Each part reads the rows of that time by an index:
-- process instances by their start, evaluations by their time, user tasks by their creation; and what was kept of deleted ones,
-- by the period in which they began. A period that begins at the end of the time is left to the next time: it would count in
-- both. An assignee who works for several tenants counts once for all.
SELECT u.tenant_id, 'processInstances', coalesce(sum(u.number), 0)::bigint FROM (
    SELECT tenant_id, 1 AS number FROM process_instances
    WHERE started_at BETWEEN $1::timestamptz AND $2::timestamptz AND ($3::text IS NULL OR tenant_id = $3)
        -- only tenants: AND tenant_id = ANY ($4::text[])
    UNION ALL
    SELECT tenant_id, number FROM deleted_usage
    WHERE metric = 'processInstances' AND period >= $1::timestamptz AND period < $2::timestamptz
        AND ($3::text IS NULL OR tenant_id = $3)
        -- only tenants: AND tenant_id = ANY ($4::text[])
) u GROUP BY GROUPING SETS ((u.tenant_id), ())
UNION ALL
SELECT u.tenant_id, 'decisionInstances', coalesce(sum(u.number), 0)::bigint FROM (
    SELECT tenant_id, 1 AS number FROM decision_instances
    WHERE evaluated_at BETWEEN $1::timestamptz AND $2::timestamptz AND ($3::text IS NULL OR tenant_id = $3)
        -- only tenants: AND tenant_id = ANY ($4::text[])
    UNION ALL
    SELECT tenant_id, number FROM deleted_usage
    WHERE metric = 'decisionInstances' AND period >= $1::timestamptz AND period < $2::timestamptz
        AND ($3::text IS NULL OR tenant_id = $3)
        -- only tenants: AND tenant_id = ANY ($4::text[])
) u GROUP BY GROUPING SETS ((u.tenant_id), ())
UNION ALL
SELECT u.tenant_id, 'assignees', count(DISTINCT u.assignee) FROM (
    SELECT live.tenant_id, usage_assignee(live.assignee) AS assignee FROM (
        SELECT DISTINCT tenant_id, assignee FROM user_tasks
        WHERE created_at BETWEEN $1::timestamptz AND $2::timestamptz AND assignee IS NOT NULL
            AND ($3::text IS NULL OR tenant_id = $3)
            -- only tenants: AND tenant_id = ANY ($4::text[])
    ) live
    UNION ALL
    SELECT tenant_id, assignee FROM deleted_assignees
    WHERE period >= $1::timestamptz AND period < $2::timestamptz AND ($3::text IS NULL OR tenant_id = $3)
        -- only tenants: AND tenant_id = ANY ($4::text[])
) u GROUP BY GROUPING SETS ((u.tenant_id), ());
