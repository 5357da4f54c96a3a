-- Instances of the deployed process `order`, as many as `vivero.instances` says, with elements, variables, jobs, incidents,
-- user tasks and timers: three of ten are active, one of fifty has an incident, of fifty causes. The keys are those of
-- partition 1, far beyond what the engine has given out.
CREATE TEMP TABLE made AS
SELECT k, 2252799813685248 + k * 20 AS key, now() - k * interval '30 seconds' AS started_at,
    d.process_definition_key AS definition,
    CASE WHEN k % 10 < 3 THEN 'ACTIVATED' WHEN k % 10 = 3 THEN 'TERMINATED' ELSE 'COMPLETED' END AS state,
    CASE WHEN k % 10 >= 3 THEN now() - k * interval '30 seconds' + (k % 1000) * interval '1 second' END AS ended_at,
    (k % 10 < 3 AND k % 50 = 0)::int AS incidents
FROM generate_series(1, current_setting('vivero.instances')::int) k,
    (SELECT process_definition_key FROM process_definitions WHERE process_id = 'order' ORDER BY version DESC LIMIT 1) d;
INSERT INTO process_instances (process_instance_key, root_key, part_key, process_definition_key, process_id, process_version,
    process_name, tenant_id, depth, state, tokens, live, interrupted, incidents, started_at, ended_at, version, created_position,
    business_id, tags)
SELECT key, key, key, definition, 'order', 1, 'Order', '<default>', 1, state, '{}', 1, false, incidents, started_at, ended_at, 1,
    k, 'order-' || k, CASE WHEN k % 20 = 0 THEN ARRAY['region-' || k % 40] ELSE '{}' END
FROM made;
INSERT INTO element_instances (element_instance_key, root_key, part_key, process_instance_key, scope_key, path,
    process_definition_key, process_id, element_id, element_name, element_type, tenant_id, state, loop_index, tokens, live,
    interrupted, incidents, incident_key, started_at, ended_at, flows)
SELECT m.key + e.n, m.key, m.key, m.key, m.key, ARRAY[m.key + e.n, m.key], m.definition, 'order', e.id, e.id, e.type, '<default>',
    CASE WHEN e.n < 3 THEN 'COMPLETED' ELSE m.state END, -1, '{}', 0, false, CASE WHEN e.n = 3 THEN m.incidents ELSE 0 END,
    CASE WHEN e.n = 3 AND m.incidents > 0 THEN m.key + 9 END, m.started_at,
    CASE WHEN e.n < 3 THEN m.started_at ELSE m.ended_at END, e.flows
FROM made m, (VALUES (1, 'placed', 'START_EVENT', ARRAY['placed-check']),
    (2, 'check-stock', 'SERVICE_TASK', ARRAY['check-question']), (3, 'charge-card', 'SERVICE_TASK', NULL)) e(n, id, type, flows);
INSERT INTO variables (variable_key, scope_key, process_instance_key, root_key, tenant_id, name, value)
SELECT key + v.n, key, key, key, '<default>', v.name,
    CASE v.n WHEN 4 THEN to_json('id-' || k)::text WHEN 5 THEN (k % 1000)::text ELSE '{"sku":"rose","price":12}' END
FROM made, (VALUES (4, 'orderId'), (5, 'amount'), (6, 'item')) v(n, name);
INSERT INTO jobs (job_key, root_key, part_key, process_instance_key, element_instance_key, path, process_definition_key,
    process_id, process_version, element_id, type, kind, listener_event, listener_index, state, retries, priority, headers,
    error_message, tags, tenant_id, created_at, updated_at, ended_at, ready, worker)
SELECT key + 7, key, key, key, key + 3, ARRAY[key + 3, key], definition, 'order', 1, 'charge-card', 'charge-card-' || k % 20,
    'BPMN_ELEMENT', 'UNSPECIFIED', 0,
    CASE WHEN incidents > 0 THEN 'FAILED' WHEN state = 'ACTIVATED' THEN 'CREATED' WHEN state = 'TERMINATED' THEN 'CANCELED'
    ELSE 'COMPLETED' END,
    CASE WHEN incidents > 0 THEN 0 ELSE 3 END, 0, '{}', CASE WHEN incidents > 0 THEN 'the card has expired' END, '{}',
    '<default>', started_at, coalesce(ended_at, started_at), ended_at, state = 'ACTIVATED' AND incidents = 0,
    CASE WHEN state = 'COMPLETED' THEN 'worker-' || k % 5 END
FROM made;
INSERT INTO incidents (incident_key, root_key, part_key, process_instance_key, element_instance_key, process_definition_key,
    job_key, process_id, element_id, stage, type, message, state, tenant_id, created_at)
SELECT key + 9, key, key, key, key + 3, definition, key + 7, 'order', 'charge-card', '', 'JOB_NO_RETRIES',
    'the gateway of region ' || k / 50 % 50 || ' does not answer', 'ACTIVE', '<default>', started_at
FROM made WHERE incidents > 0;
INSERT INTO user_tasks (user_task_key, root_key, part_key, process_instance_key, element_instance_key, process_definition_key,
    process_id, process_version, process_name, element_id, name, state, candidate_groups, candidate_users, priority, headers,
    tags, tenant_id, created_at, ended_at, assignee)
SELECT key + 10, key, key, key, key + 3, definition, 'order', 1, 'Order', 'approve', 'Approve',
    CASE WHEN ended_at IS NULL THEN 'CREATED' ELSE 'COMPLETED' END, ARRAY['group-' || k % 20], '{}', 50, '{}', '{}', '<default>',
    started_at, ended_at, CASE WHEN k % 4 = 0 THEN 'user-' || k % 50 END
FROM made WHERE k % 5 = 0;
INSERT INTO timers (timer_key, partition_id, root_key, part_key, process_instance_key, element_instance_key,
    process_definition_key, process_id, target_element_id, type, due_at_ms, repetitions, state, tenant_id, created_at,
    triggered_at, ended_at)
SELECT key + 11, 1, key, key, key, key + 3, definition, 'order', 'late', 'BOUNDARY', to_epoch_ms(now() + interval '30 days') + k,
    1, CASE WHEN ended_at IS NULL THEN 'PENDING' ELSE 'CANCELED' END, '<default>', started_at, NULL, ended_at
FROM made WHERE k % 5 = 1;
INSERT INTO element_counts (partition_id, process_definition_key, element_id, active, completed, canceled)
SELECT 1, definition, '', count(*) FILTER (WHERE state = 'ACTIVATED'), count(*) FILTER (WHERE state = 'COMPLETED'),
    count(*) FILTER (WHERE state = 'TERMINATED')
FROM made GROUP BY definition;
INSERT INTO element_counts (partition_id, process_definition_key, element_id, active, completed, canceled)
SELECT 1, process_definition_key, element_id, count(*) FILTER (WHERE state = 'ACTIVATED'),
    count(*) FILTER (WHERE state = 'COMPLETED'), count(*) FILTER (WHERE state = 'TERMINATED')
FROM element_instances WHERE root_key > 2252799813685248 GROUP BY process_definition_key, element_id;
-- Nine tenths of the completed ones took no longer than about an hour: nearly all that are active are late.
INSERT INTO instance_durations (day, process_definition_key, bucket, partition_id, completed)
SELECT usage_day(clock_now()), definition, 82, 1, count(*) FROM made WHERE state = 'COMPLETED' GROUP BY definition
ON CONFLICT DO NOTHING;
INSERT INTO usual_durations (process_definition_key, usual_ms, computed_at)
SELECT DISTINCT definition, 3600000, now() FROM made ON CONFLICT DO NOTHING;
DROP TABLE made;
ANALYZE;
