-- Trace contexts (docs/observability.md): the `traceparent` of the W3C, and behind a space the `tracestate` if there is one. NULL for
-- everything that is not sampled. The command log and the inbox have had their columns from the beginning.

-- Of a root: the context of the command that created the instance. Timers and messages continue with it.
ALTER TABLE process_instances ADD COLUMN trace text;
-- The context of the command that created the job.
ALTER TABLE jobs ADD COLUMN trace text;

-- The headers of the model win over what the engine adds.
CREATE FUNCTION headers_with_trace(headers json, trace text) RETURNS json LANGUAGE sql IMMUTABLE AS $$
SELECT (jsonb_strip_nulls(jsonb_build_object('traceparent', split_part(trace, ' ', 1),
    'tracestate', nullif(substr(trace, length(split_part(trace, ' ', 1)) + 2), ''))) || headers::jsonb)::json
$$;

-- As in 0007, with the context among the headers of a job that has one, so that its worker continues the trace.
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
