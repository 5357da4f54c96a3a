-- Jobs and their leases.

CREATE TABLE jobs (
    job_key                bigint PRIMARY KEY,
    root_key               bigint NOT NULL,
    part_key               bigint,
    process_instance_key   bigint NOT NULL,
    element_instance_key   bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    created_at             timestamptz NOT NULL,
    updated_at             timestamptz NOT NULL,
    ended_at               timestamptz,
    process_version        int NOT NULL,
    listener_index         int NOT NULL,
    retries                int NOT NULL,
    priority               int NOT NULL,
    -- The variable scopes that the worker sees, innermost first.
    path                   bigint[] NOT NULL,
    process_id             text NOT NULL,
    element_id             text NOT NULL,
    type                   text NOT NULL,
    kind                   text NOT NULL,
    listener_event         text NOT NULL,
    state                  text NOT NULL,
    business_id            text,
    tenant_id              text NOT NULL,
    tags                   text[] NOT NULL,
    headers                json NOT NULL,
    error_code             text,
    error_message          text,
    -- The lease: these columns belong to activation and are not part of replay.
    ready                  boolean NOT NULL,
    -- False from its insertion until it is changed by anything but an activation. Jobs that are ready and not returned become visible in
    -- the order of their keys: one owner inserts them, batch after batch. Activations rely on it to begin their scans behind dead entries.
    returned               boolean NOT NULL DEFAULT false,
    expiries               int NOT NULL DEFAULT 0,
    available_at           timestamptz,
    lease_token            uuid,
    worker                 text
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX jobs_live ON jobs (part_key) WHERE ended_at IS NULL;
CREATE INDEX jobs_ready ON jobs (type, tenant_id, returned, priority DESC, job_key) WHERE ready;
CREATE INDEX jobs_leased ON jobs (type, tenant_id, available_at) WHERE NOT ready AND available_at IS NOT NULL;
CREATE INDEX jobs_instance ON jobs (process_instance_key, job_key);

-- Tokens of activations whose answer was lost. Nothing may be leased under them any more: an activation that arrives late would lease
-- jobs to nobody until its time-out, which may be hours. Mostly empty; unlogged, because a crash ends all that could arrive late.
CREATE UNLOGGED TABLE void_leases (
    token uuid PRIMARY KEY,
    at    timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A job as the API shows it to its worker. `variables` is their JSON object as text, NULL when there are none. It is an expression, so
-- that PostgreSQL inlines it into the statements that show jobs.
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
