-- name: cluster_id
-- Made with the database; a restored copy has the same.
SELECT cluster_id::text FROM cluster;

-- name: moment
-- Rows that are read afterwards are as they were then, or newer.
SELECT clock_now();

-- name: definition_xml
-- The deployed file, unchanged.
SELECT r.bytes
FROM process_definitions d JOIN resources r ON r.sha256 = d.sha256
WHERE d.process_definition_key = $1 AND d.state <> 'DELETED'
    -- only tenants: AND d.tenant_id = ANY ($2::text[]);

-- name: process_source
-- The id of a process and the file that defines it.
SELECT d.process_id, r.bytes
FROM process_definitions d JOIN resources r ON r.sha256 = d.sha256
WHERE d.process_definition_key = $1 AND d.state <> 'DELETED'
    -- only tenants: AND d.tenant_id = ANY ($2::text[]);

-- name: decision_xml
-- The deployed file, unchanged.
SELECT r.bytes
FROM decision_definitions d JOIN resources r ON r.sha256 = d.sha256
WHERE d.decision_definition_key = $1 AND d.state <> 'DELETED'
    -- only tenants: AND d.tenant_id = ANY ($2::text[]);

-- name: decision_requirements_xml
-- The same for all of its decisions.
SELECT r.bytes
FROM decision_requirements d JOIN resources r ON r.sha256 = d.sha256
WHERE d.decision_requirements_key = $1 AND d.state <> 'DELETED'
    -- only tenants: AND d.tenant_id = ANY ($2::text[]);

-- name: form
-- By primary key, with the deployed file.
SELECT f.form_key, f.form_id, f.version, f.tenant_id, r.bytes
FROM forms f JOIN resources r USING (sha256)
WHERE f.form_key = $1 AND f.state <> 'DELETED'
    -- only tenants: AND f.tenant_id = ANY ($2::text[]);

-- name: generic_resource
-- The name and the file of a generic resource that is not deleted.
SELECT g.resource_name, r.bytes
FROM generic_resources g JOIN resources r USING (sha256)
WHERE g.resource_key = $1 AND g.state <> 'DELETED'
    -- only tenants: AND g.tenant_id = ANY ($2::text[]);

-- name: form_of_user_task
-- One row for a task, with nulls if it has no form. The form may have been deleted since.
SELECT f.form_key, f.form_id, f.version, f.tenant_id, r.bytes
FROM user_tasks t
LEFT JOIN forms f ON f.form_key = t.form_key
LEFT JOIN resources r ON r.sha256 = f.sha256
WHERE t.user_task_key = $1
    -- only tenants: AND t.tenant_id = ANY ($2::text[]);

-- name: start_form
-- One row for a definition, with nulls if it has no start form now: which version it is depends on the deployments since.
SELECT f.form_key, f.form_id, f.version, f.tenant_id, r.bytes
FROM process_definitions d
LEFT JOIN LATERAL (
    SELECT * FROM forms f
    WHERE f.tenant_id = d.tenant_id AND f.form_id = d.start_form_id AND f.state = 'ACTIVE'
        AND (d.start_form_binding <> 'deployment' OR f.deployment_key = d.deployment_key)
        AND (d.start_form_binding <> 'versionTag' OR f.version_tag = d.start_form_version_tag)
    ORDER BY f.version DESC LIMIT 1
) f ON true
LEFT JOIN resources r ON r.sha256 = f.sha256
WHERE d.process_definition_key = $1 AND d.state <> 'DELETED'
    -- only tenants: AND d.tenant_id = ANY ($2::text[]);

-- name: result
-- The state of an ended instance, and the variables of its outermost scope, in one snapshot.
SELECT p.state, (
    SELECT '{' || string_agg(to_json(v.name) || ':' || v.value, ',' ORDER BY v.name) || '}'
    FROM variables v
    WHERE v.process_instance_key = p.process_instance_key AND v.scope_key = p.process_instance_key
        AND ($2::text[] IS NULL OR v.name = ANY ($2::text[]))
)
FROM process_instances p
WHERE p.process_instance_key = $1 AND p.ended_at IS NOT NULL
    -- only tenants: AND p.tenant_id = ANY ($3::text[]);

-- name: root_of_instance
-- By primary key.
SELECT root_key FROM process_instances WHERE process_instance_key = $1
    -- only tenants: AND tenant_id = ANY ($2::text[]);

-- name: element_exists
-- By primary key.
SELECT FROM element_instances WHERE element_instance_key = $1
    -- only tenants: AND tenant_id = ANY ($2::text[]);

-- name: scope
-- The engine's time, and the variables that an element or process instance sees: the innermost of each name.
SELECT to_epoch_ms(clock_now()), scope.path IS NOT NULL, (
    SELECT '{' || string_agg(to_json(v.name) || ':' || v.value, ',') || '}'
    FROM (
        SELECT DISTINCT ON (name) name, value
        FROM variables
        WHERE process_instance_key = scope.path[cardinality(scope.path)] AND scope_key = ANY (scope.path)
        ORDER BY name, array_position(scope.path, scope_key)
    ) v
)
FROM (SELECT) one
LEFT JOIN (
    SELECT path FROM element_instances WHERE element_instance_key = $1
        -- only tenants: AND tenant_id = ANY ($2::text[])
    UNION ALL
    SELECT ARRAY[process_instance_key] FROM process_instances WHERE process_instance_key = $1
        -- only tenants: AND tenant_id = ANY ($2::text[])
) scope ON true;

-- name: user_task_exists
-- By primary key.
SELECT FROM user_tasks WHERE user_task_key = $1
    -- only tenants: AND tenant_id = ANY ($2::text[]);

-- name: sequence_flows
-- The flows that an instance has taken, with the API's fields.
SELECT coalesce(json_agg(json_build_object(
    'sequenceFlowId', p.process_instance_key || '_' || f.flow_id, 'processInstanceKey', p.process_instance_key::text,
    'rootProcessInstanceKey', p.root_key::text, 'processDefinitionKey', p.process_definition_key::text,
    'processDefinitionId', p.process_id, 'elementId', f.flow_id, 'tenantId', p.tenant_id) ORDER BY f.flow_id), '[]')
FROM process_instances p JOIN (
    SELECT DISTINCT unnest(flows) AS flow_id FROM element_instances WHERE process_instance_key = $1
) f ON true
WHERE p.process_instance_key = $1
    -- only tenants: AND p.tenant_id = ANY ($2::text[]);

-- name: call_hierarchy
-- From the root to the instance. The query goes up by primary key, one row for each level.
WITH RECURSIVE up AS (
    SELECT p.process_instance_key, p.parent_process_instance_key, p.process_definition_key, p.process_name, p.process_id, p.depth
    FROM process_instances p WHERE p.process_instance_key = $1
        -- only tenants: AND p.tenant_id = ANY ($2::text[])
    UNION ALL
    SELECT p.process_instance_key, p.parent_process_instance_key, p.process_definition_key, p.process_name, p.process_id, p.depth
    FROM up JOIN process_instances p ON p.process_instance_key = up.parent_process_instance_key
)
SELECT json_agg(json_build_object(
    'processInstanceKey', process_instance_key::text, 'processDefinitionKey', process_definition_key::text,
    'processDefinitionName', coalesce(process_name, process_id)) ORDER BY depth)
FROM up;

-- name: instance_statistics
-- By the index on (process_instance_key, element_instance_key). Counts the inner instances of a loop, not its body.
SELECT coalesce(json_agg(s ORDER BY s."elementId"), '[]') FROM (
    SELECT element_id AS "elementId", count(*) FILTER (WHERE ended_at IS NULL AND incidents = 0) AS active,
        count(*) FILTER (WHERE state = 'TERMINATED') AS canceled,
        count(*) FILTER (WHERE ended_at IS NULL AND incidents > 0) AS incidents,
        count(*) FILTER (WHERE state = 'COMPLETED') AS completed
    FROM element_instances
    WHERE process_instance_key = $1 AND element_type <> 'MULTI_INSTANCE_BODY'
        -- only tenants: AND tenant_id = ANY ($2::text[])
    GROUP BY element_id
) s;

-- name: instance_wait_states
-- The element instances that wait for a worker, a user, a time, a message, a signal or a condition. Each table has an index on
-- the instance.
SELECT coalesce(json_agg(s ORDER BY s."elementId"), '[]') FROM (
    SELECT element_id AS "elementId", count(*) AS "waitingCount"
    FROM element_instances
    WHERE process_instance_key = $1 AND ended_at IS NULL AND element_instance_key = ANY (ARRAY(
        SELECT element_instance_key FROM jobs WHERE process_instance_key = $1 AND ended_at IS NULL
        UNION ALL SELECT element_instance_key FROM user_tasks WHERE process_instance_key = $1 AND ended_at IS NULL
        UNION ALL SELECT element_instance_key FROM timers WHERE process_instance_key = $1 AND ended_at IS NULL
        UNION ALL SELECT element_instance_key FROM subscriptions WHERE process_instance_key = $1 AND ended_at IS NULL))
        -- only tenants: AND tenant_id = ANY ($2::text[])
    GROUP BY element_id
) s;

-- name: definition_statistics
-- From the counts that the batches keep. Elements with incidents are few: they have their own index.
SELECT coalesce(json_agg(s ORDER BY s."elementId"), '[]') FROM (
    SELECT c.element_id AS "elementId", sum(c.active) - coalesce(i.n, 0) AS active, sum(c.canceled) AS canceled,
        coalesce(i.n, 0) AS incidents, sum(c.completed) AS completed
    FROM counted_elements c
    LEFT JOIN (
        SELECT element_id, count(*) AS n FROM element_instances
        WHERE process_definition_key = $1 AND incidents > 0 AND ended_at IS NULL AND element_type <> 'MULTI_INSTANCE_BODY'
        GROUP BY element_id
    ) i ON i.element_id = c.element_id
    WHERE c.process_definition_key = $1 AND c.element_id <> ''
        -- only tenants: AND EXISTS (SELECT FROM process_definitions d
        -- only tenants:     WHERE d.process_definition_key = $1 AND d.tenant_id = ANY ($2::text[]))
    GROUP BY c.element_id, i.n
) s;

-- name: element_durations
-- From the histograms that the batches keep: for each element its buckets, the number in each, and the sum of all durations.
SELECT element_id, array_agg(bucket::int ORDER BY bucket), array_agg(completed ORDER BY bucket), sum(duration_ms)::float8
FROM (
    SELECT element_id, bucket, sum(completed)::bigint AS completed, sum(duration_ms) AS duration_ms
    FROM counted_durations
    WHERE process_definition_key = $1
        -- only tenants: AND EXISTS (SELECT FROM process_definitions d
        -- only tenants:     WHERE d.process_definition_key = $1 AND d.tenant_id = ANY ($2::text[]))
    GROUP BY element_id, bucket
) c
GROUP BY element_id
ORDER BY element_id;
