-- name: decisions
-- The keys of the rows follow that of the evaluation.
SELECT DISTINCT decision_id FROM decision_instances
WHERE decision_instance_key BETWEEN $1 AND $1 + 1000000 AND decision_evaluation_key = $1
    -- only tenants: AND tenant_id = ANY ($2::text[]);

-- name: delete
-- By primary key, in the ranges of these evaluations. To delete one twice does nothing.
DELETE FROM decision_instances d USING unnest($1::bigint[]) AS evaluation(key)
WHERE d.decision_instance_key BETWEEN evaluation.key AND evaluation.key + 1000000 AND d.decision_evaluation_key = evaluation.key;

-- name: purge
-- Those of clients: the rows of a process instance go with it. By the index on the time.
DELETE FROM decision_instances WHERE decision_instance_key = ANY (ARRAY(
    SELECT decision_instance_key FROM decision_instances
    WHERE process_instance_key IS NULL AND evaluated_at < clock_now() - $1::bigint * interval '1 millisecond'
    ORDER BY evaluated_at, decision_instance_key LIMIT $2));
