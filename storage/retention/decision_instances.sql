-- name: decisions
-- By the index on evaluations. Few decisions require each other, and a decision may be evaluated several times.
SELECT decision_id, count(*) FROM decision_instances
WHERE decision_evaluation_key = $1
    -- only tenants: AND tenant_id = ANY ($2::text[])
GROUP BY 1;

-- name: delete
-- By the index on evaluations: all rows of one, or none. To delete one twice does nothing.
WITH found AS MATERIALIZED (
    SELECT evaluation.key, bool_and($2::text[] IS NULL OR d.decision_id = ANY ($2::text[])) AS allowed
    FROM unnest($1::bigint[]) AS evaluation(key)
    JOIN decision_instances d ON d.decision_evaluation_key = evaluation.key
    GROUP BY 1),
deleted AS (
    DELETE FROM decision_instances d USING found
    WHERE found.allowed AND d.decision_evaluation_key = found.key)
SELECT key, allowed FROM found;

-- name: purge
-- Those of clients: the rows of a process instance go with it. By the index on their time.
DELETE FROM decision_instances WHERE decision_instance_key = ANY (ARRAY(
    SELECT decision_instance_key FROM decision_instances
    WHERE process_instance_key IS NULL AND evaluated_at < clock_now() - $1::bigint * interval '1 millisecond'
    ORDER BY evaluated_at, decision_instance_key LIMIT $2));
