-- A job as the API shows it to its worker: `variables` is their JSON object as text, NULL when there are none. An expression,
-- so that statements which show jobs take it in and plan it as their own.
CREATE FUNCTION job_as_shown(j jobs, variables text, with_token boolean) RETURNS json LANGUAGE sql STABLE AS $$
SELECT json_build_object(
    'type', j.type,
    'processDefinitionId', j.process_id,
    'processDefinitionVersion', j.process_version,
    'elementId', j.element_id,
    'customHeaders', j.headers,
    'worker', coalesce(j.worker, ''),
    'retries', j.retries,
    'deadline', to_epoch_ms(j.available_at),
    'variables', coalesce(variables, '{}')::json,
    'tenantId', j.tenant_id,
    'physicalTenantId', 'default',
    'jobKey', j.job_key::text,
    'processInstanceKey', j.process_instance_key::text,
    'processDefinitionKey', j.process_definition_key::text,
    'elementInstanceKey', j.element_instance_key::text,
    'kind', j.kind,
    'listenerEventType', j.listener_event,
    'userTask', NULL,
    'tags', j.tags,
    'rootProcessInstanceKey', j.root_key::text,
    'businessId', j.business_id,
    'priority', j.priority,
    'jobLeaseToken', CASE WHEN with_token THEN j.lease_token END
)
$$;
