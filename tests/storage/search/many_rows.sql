-- 4,000 process instances: nine of ten are of one process, one of a hundred runs, one of a hundred was cancelled; each has four
-- elements, and one of everything else.
INSERT INTO process_definitions
    (process_definition_key, deployment_key, tenant_id, process_id, version, name, version_tag, resource_name, sha256,
     state, deployed_at)
SELECT 1000 + d, 1, '<default>', CASE WHEN d = 0 THEN 'big' ELSE 'p' || d END, 1, 'n' || d, 't' || d, 'r', 'x', 'ACTIVE', now()
FROM generate_series(0, 99) d;
INSERT INTO process_instances (process_instance_key, root_key, part_key, parent_process_instance_key, parent_element_instance_key,
    process_definition_key, process_id, process_version, process_name, version_tag, tenant_id, depth, state, tokens, live,
    interrupted, incidents, started_at, ended_at, version, created_position, business_id)
SELECT k * 10, k * 10, k * 10, nullif(k * 10 - 10, 0), nullif(k * 10 - 10, 0) + 1, 1000 + d,
    CASE WHEN d = 0 THEN 'big' ELSE 'p' || d END, 1, 'n' || d, 't' || d,
    '<default>', 1, CASE WHEN k % 100 = 0 THEN 'ACTIVATED' WHEN k % 100 = 1 THEN 'TERMINATED' ELSE 'COMPLETED' END, '{}', 0,
    false, 0, to_timestamp(k), CASE WHEN k % 100 <> 0 THEN to_timestamp(k + 10) END, 1, k, 'b' || k
FROM (SELECT k, CASE WHEN k % 100 < 90 THEN 0 ELSE 1 + k / 100 % 99 END AS d FROM generate_series(1, 4000) k) x;
INSERT INTO element_instances (element_instance_key, root_key, part_key, process_instance_key, scope_key, path,
    process_definition_key, process_id, element_id, element_type, tenant_id, state, loop_index, tokens, live, interrupted,
    incidents, incident_key, started_at, ended_at)
SELECT process_instance_key + e, root_key, root_key, process_instance_key, process_instance_key,
    ARRAY[process_instance_key + e, process_instance_key], process_definition_key, process_id, 'e' || e, 'SERVICE_TASK',
    '<default>', CASE WHEN e = 3 THEN state ELSE 'COMPLETED' END, -1, '{}', 0, false, 0,
    CASE WHEN e = 3 THEN process_instance_key + 8 END, started_at, CASE WHEN e < 3 OR ended_at IS NOT NULL THEN started_at END
FROM process_instances, generate_series(1, 4) e;
CREATE TEMP VIEW it AS SELECT element_instance_key + 5 AS key, e.*,
    CASE WHEN ended_at IS NULL THEN 'CREATED' ELSE 'COMPLETED' END AS done
FROM element_instances e WHERE element_id = 'e3';
INSERT INTO jobs (job_key, root_key, part_key, process_instance_key, element_instance_key, path, process_definition_key,
    process_id, process_version, element_id, type, kind, listener_event, listener_index, state, retries, priority, headers, tags,
    tenant_id, created_at, updated_at, ended_at, ready, expiries)
SELECT key, root_key, root_key, process_instance_key, element_instance_key, path, process_definition_key, process_id, 1,
    element_id, 'work', 'BPMN_ELEMENT', 'UNSPECIFIED', 0, done, 3, 0, '{}', '{}', '<default>', started_at, started_at, ended_at,
    ended_at IS NULL, 0
FROM it;
INSERT INTO variables (variable_key, scope_key, process_instance_key, root_key, tenant_id, name, value)
SELECT key, process_instance_key, process_instance_key, root_key, '<default>', 'x', process_instance_key::text FROM it;
-- Half of the instances share each value, a tenth of them twice.
INSERT INTO variables (variable_key, scope_key, process_instance_key, root_key, tenant_id, name, value)
SELECT key + 1, process_instance_key, process_instance_key, root_key, '<default>', 'parity', (process_instance_key / 10 % 2)::text
FROM it;
INSERT INTO variables (variable_key, scope_key, process_instance_key, root_key, tenant_id, name, value)
SELECT key - 8, key, process_instance_key, root_key, '<default>', 'parity', (process_instance_key / 10 % 2)::text FROM it
WHERE process_instance_key % 100 = 30;
INSERT INTO user_tasks (user_task_key, root_key, part_key, process_instance_key, element_instance_key, process_definition_key,
    process_id, process_version, element_id, state, candidate_groups, candidate_users, priority, headers, tags, tenant_id,
    created_at, ended_at, assignee, business_id)
SELECT key, it.root_key, it.root_key, it.process_instance_key, element_instance_key, it.process_definition_key, it.process_id, 1,
    element_id, done, '{}', '{}', 50, '{}', '{}', '<default>', it.started_at, it.ended_at, 'a' || key, p.business_id
FROM it JOIN process_instances p USING (process_instance_key);
INSERT INTO incidents (incident_key, root_key, part_key, process_instance_key, element_instance_key, process_definition_key,
    process_id, element_id, job_key, stage, argument, type, message, state, tenant_id, created_at, resolved_at)
SELECT key, root_key, root_key, process_instance_key, element_instance_key, process_definition_key, process_id, element_id, key,
    '', '0', 'JOB_NO_RETRIES', 'm', CASE WHEN ended_at IS NULL THEN 'ACTIVE' ELSE 'RESOLVED' END, '<default>', started_at,
    ended_at FROM it;
INSERT INTO incidents (incident_key, root_key, part_key, process_instance_key, element_instance_key, process_definition_key,
    process_id, element_id, stage, argument, type, message, state, tenant_id, created_at)
SELECT 9, 70, 70, 70, 70, 1000, 'big', 'big', '', '0', 'UNKNOWN', 'of the instance itself', 'ACTIVE', '<default>', now();
INSERT INTO timers (timer_key, partition_id, root_key, part_key, process_instance_key, element_instance_key,
    process_definition_key, process_id, target_element_id, type, due_at_ms, repetitions, state, tenant_id, created_at, ended_at)
SELECT key, 1, root_key, root_key, process_instance_key, element_instance_key, process_definition_key, process_id, element_id,
    'INTERMEDIATE', 1, 1, CASE WHEN ended_at IS NULL THEN 'PENDING' ELSE 'TRIGGERED' END, '<default>', started_at, ended_at
    FROM it;
INSERT INTO timers (timer_key, partition_id, process_definition_key, process_id, target_element_id, type, due_at_ms, repetitions,
    state, tenant_id, created_at) VALUES (9, 1, 1007, 'p7', 'start', 'START_EVENT', 1, 1, 'PENDING', '<default>', now());
INSERT INTO subscriptions (subscription_key, root_key, part_key, process_instance_key, element_instance_key,
    process_definition_key, process_id, process_version, target_element_id, type, kind, name, correlation_key, interrupting,
    state, tenant_id, created_at, updated_at, ended_at, business_id)
SELECT key, it.root_key, it.root_key, it.process_instance_key, element_instance_key, it.process_definition_key, it.process_id, 1,
    element_id, 'INTERMEDIATE', 'MESSAGE', 'm', 'c' || key, true,
    CASE WHEN it.ended_at IS NULL THEN 'CREATED' ELSE 'CORRELATED' END, '<default>', it.started_at, it.started_at, it.ended_at,
    p.business_id
FROM it JOIN process_instances p USING (process_instance_key);
INSERT INTO start_subscriptions (subscription_key, process_definition_key, tenant_id, process_id, element_id, kind, name,
    opened_at)
VALUES (9, 1007, '<default>', 'p7', 'start', 'MESSAGE', 'm', now());
INSERT INTO message_correlations (message_correlation_key, message_key, subscription_key, name, correlation_key, root_key,
    process_instance_key, process_definition_key, process_id, element_id, element_instance_key, tenant_id, correlated_at)
SELECT key, key, key, 'm', 'c' || key, root_key, process_instance_key, process_definition_key, process_id, element_id,
    element_instance_key, '<default>', started_at FROM it;
