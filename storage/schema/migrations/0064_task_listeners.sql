-- Task listeners: a user task keeps the change that waits for them, and a job the reason of its denial.

ALTER TABLE user_tasks ADD COLUMN transition json;
-- The states of a task in a transition are the names of the events of its listeners.
ALTER TABLE user_tasks DROP CONSTRAINT user_tasks_state_check;
-- NULL for a job that denied nothing. A denial may give no reason.
ALTER TABLE jobs ADD COLUMN denied_reason text;

-- The user task that a listener's job is about, as it will be, from the headers that the engine gives the job.
CREATE FUNCTION task_of_listener(headers json) RETURNS json LANGUAGE sql IMMUTABLE AS $$
SELECT json_build_object(
    'action', coalesce(headers ->> 'io.camunda.zeebe:action', ''),
    'assignee', headers -> 'io.camunda.zeebe:assignee',
    'candidateGroups', (headers ->> 'io.camunda.zeebe:candidateGroups')::json,
    'candidateUsers', (headers ->> 'io.camunda.zeebe:candidateUsers')::json,
    'changedAttributes', (headers ->> 'io.camunda.zeebe:changedAttributes')::json,
    'dueDate', headers -> 'io.camunda.zeebe:dueDate',
    'followUpDate', headers -> 'io.camunda.zeebe:followUpDate',
    'formKey', headers -> 'io.camunda.zeebe:formKey',
    'priority', (headers ->> 'io.camunda.zeebe:priority')::int,
    'userTaskKey', headers -> 'io.camunda.zeebe:userTaskKey'
)
$$;

-- The variables that the element sees (`seen`, JSON text), and those that its task gets if no listener denies them.
CREATE FUNCTION variables_of_listener(task bigint, seen text) RETURNS json LANGUAGE sql STABLE AS $$
WITH coming AS (
    SELECT c.key AS name, c.value::json AS value
    FROM user_tasks t CROSS JOIN LATERAL json_each_text(t.transition -> 'variables') c
    WHERE t.user_task_key = task
)
SELECT coalesce(json_object_agg(name, value), '{}')
FROM (
    SELECT name, value FROM coming
    UNION ALL
    SELECT key, value FROM json_each(coalesce(seen, '{}')::json) WHERE key NOT IN (SELECT name FROM coming)
) variables
$$;

-- As before, with the user task of a listener.
CREATE OR REPLACE FUNCTION job_as_shown(j jobs, variables text, with_token boolean) RETURNS json LANGUAGE sql STABLE AS $$
SELECT json_build_object(
    'type', j.type,
    'processDefinitionId', j.process_id,
    'processDefinitionVersion', j.process_version,
    'elementId', j.element_id,
    'customHeaders', CASE WHEN j.trace IS NULL THEN j.headers ELSE headers_with_trace(j.headers, j.trace) END,
    'worker', coalesce(j.worker, ''),
    'retries', j.retries,
    'deadline', to_epoch_ms(j.available_at),
    'variables', CASE WHEN j.kind = 'TASK_LISTENER'
                      THEN variables_of_listener((j.headers ->> 'io.camunda.zeebe:userTaskKey')::bigint, variables)
                      ELSE coalesce(variables, '{}')::json END,
    'tenantId', j.tenant_id,
    'physicalTenantId', 'default',
    'jobKey', j.job_key::text,
    'processInstanceKey', j.process_instance_key::text,
    'processDefinitionKey', j.process_definition_key::text,
    'elementInstanceKey', j.element_instance_key::text,
    'kind', j.kind,
    'listenerEventType', j.listener_event,
    'userTask', CASE WHEN j.kind = 'TASK_LISTENER' THEN task_of_listener(j.headers) END,
    'tags', j.tags,
    'rootProcessInstanceKey', j.root_key::text,
    'businessId', j.business_id,
    'priority', j.priority,
    'jobLeaseToken', CASE WHEN with_token THEN j.lease_token END
)
$$;
