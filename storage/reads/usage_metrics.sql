-- name: usage_metrics
-- What happened in a time, by tenant and for all (a row without a tenant). Each part reads the rows of that time by an index:
-- process instances by their start, evaluations by their time, user tasks by their creation. An assignee who works for several
-- tenants counts once for all.
SELECT tenant_id, 'processInstances', count(*) FROM process_instances
WHERE started_at BETWEEN $1::timestamptz AND $2::timestamptz AND ($3::text IS NULL OR tenant_id = $3)
    -- only tenants: AND tenant_id = ANY ($4::text[])
GROUP BY GROUPING SETS ((tenant_id), ())
UNION ALL
SELECT tenant_id, 'decisionInstances', count(*) FROM decision_instances
WHERE evaluated_at BETWEEN $1::timestamptz AND $2::timestamptz AND ($3::text IS NULL OR tenant_id = $3)
    -- only tenants: AND tenant_id = ANY ($4::text[])
GROUP BY GROUPING SETS ((tenant_id), ())
UNION ALL
SELECT tenant_id, 'assignees', count(DISTINCT assignee) FROM user_tasks
WHERE created_at BETWEEN $1::timestamptz AND $2::timestamptz AND assignee IS NOT NULL AND ($3::text IS NULL OR tenant_id = $3)
    -- only tenants: AND tenant_id = ANY ($4::text[])
GROUP BY GROUPING SETS ((tenant_id), ());
