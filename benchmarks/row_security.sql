-- 100,000 process instances of one tenant, so that all answers are the same, and of 200 processes, each with an element, two
-- variables and, every fifth, a user task.
INSERT INTO process_definitions
    (process_definition_key, deployment_key, tenant_id, process_id, version, name, resource_name, sha256, state, deployed_at)
SELECT d, 1, 'a', 'process-' || d, 1, 'name ' || d, 'r', 'x' || d, 'ACTIVE', now()
FROM generate_series(0, 199) d;
INSERT INTO process_instances (process_instance_key, root_key, process_definition_key, process_id, process_version, process_name,
    tenant_id, depth, state, tokens, live, interrupted, incidents, started_at, ended_at, version, created_position, business_id,
    tags)
SELECT k * 10, k * 10, k % 200, 'process-' || k % 200, 1, 'name ' || k % 200, 'a', 1,
    CASE WHEN k % 10 = 0 THEN 'ACTIVATED' ELSE 'COMPLETED' END, '{}', 0, false, 0, to_timestamp(k),
    CASE WHEN k % 10 <> 0 THEN to_timestamp(k + 10) END, 1, k, 'order-' || k, ARRAY['tag' || k % 2000]
FROM generate_series(1, 100000) k;
INSERT INTO element_instances (element_instance_key, root_key, process_instance_key, scope_key, path, process_definition_key,
    process_id, element_id, element_type, tenant_id, state, loop_index, tokens, live, interrupted, incidents, started_at,
    ended_at)
SELECT process_instance_key + 1, root_key, process_instance_key, process_instance_key,
    ARRAY[process_instance_key + 1, process_instance_key], process_definition_key, process_id, 'task', 'USER_TASK', tenant_id,
    state, -1, '{}', 0, false, 0, started_at, ended_at
FROM process_instances;
INSERT INTO variables (variable_key, scope_key, process_instance_key, root_key, tenant_id, name, value)
SELECT process_instance_key + 2 + v, process_instance_key, process_instance_key, root_key, tenant_id,
    CASE v WHEN 0 THEN 'orderId' ELSE 'order' END,
    CASE v WHEN 0 THEN to_json('id-' || process_instance_key) ELSE json_build_object('id', process_instance_key, 'total', 30) END
FROM process_instances, generate_series(0, 1) v;
INSERT INTO user_tasks (user_task_key, root_key, process_instance_key, element_instance_key, process_definition_key, process_id,
    process_version, element_id, state, candidate_groups, candidate_users, priority, headers, tags, tenant_id, created_at,
    assignee)
SELECT process_instance_key + 5, root_key, process_instance_key, process_instance_key + 1, process_definition_key, process_id, 1,
    'task', 'CREATED', ARRAY['group' || process_instance_key / 10 % 1000], '{}', 50, '{}', '{}', tenant_id, started_at,
    'user' || process_instance_key
FROM process_instances WHERE process_instance_key % 50 < 20;
ANALYZE;
