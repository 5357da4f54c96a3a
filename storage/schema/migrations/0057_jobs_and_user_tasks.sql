-- Jobs and their leases, and the user tasks that the engine keeps.

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
    -- False from its insertion until it is changed by anything but an activation. Jobs that are ready and not returned become
    -- visible in the order of their keys: one owner inserts them, batch after batch. Activations rely on it to begin their scans
    -- behind dead entries.
    returned               boolean NOT NULL DEFAULT false,
    expiries               int NOT NULL DEFAULT 0,
    available_at           timestamptz,
    lease_token            uuid,
    worker                 text,
    -- The trace context of the command that created the job.
    trace                  text
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, fillfactor = 100);
CREATE INDEX jobs_live ON jobs (part_key) WHERE ended_at IS NULL;
CREATE INDEX jobs_ready ON jobs (type, tenant_id, returned, priority DESC, job_key) WHERE ready;
CREATE INDEX jobs_leased ON jobs (type, tenant_id, available_at) WHERE NOT ready AND available_at IS NOT NULL;
CREATE INDEX jobs_instance ON jobs (process_instance_key, job_key);
-- The errors of jobs. Other jobs are not in the index.
CREATE INDEX jobs_errors ON jobs (type, updated_at) WHERE error_code IS NOT NULL OR error_message IS NOT NULL;

-- Tokens of activations whose answer was lost. Nothing may be leased under them any more: an activation that arrives late would
-- lease jobs to nobody until its time-out, which may be hours. Mostly empty; unlogged, because a crash ends all that could arrive
-- late.
CREATE UNLOGGED TABLE void_leases (
    token uuid PRIMARY KEY,
    at    timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The headers of the model win over what the engine adds.
CREATE FUNCTION headers_with_trace(headers json, trace text) RETURNS json LANGUAGE sql IMMUTABLE AS $$
SELECT (jsonb_strip_nulls(jsonb_build_object('traceparent', split_part(trace, ' ', 1),
    'tracestate', nullif(substr(trace, length(split_part(trace, ' ', 1)) + 2), ''))) || headers::jsonb)::json
$$;

-- A job as the API shows it to its worker. The trace context is among its headers, so that its worker continues the trace.
-- `variables` is their JSON object as text, NULL when there are none. It is an expression, so that PostgreSQL inlines it into the
-- statements that show jobs.
CREATE FUNCTION job_as_shown(j jobs, variables text, with_token boolean) RETURNS json LANGUAGE sql STABLE AS $$
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

CREATE TABLE user_tasks (
    user_task_key          bigint PRIMARY KEY,
    root_key               bigint NOT NULL,
    part_key               bigint,
    process_instance_key   bigint NOT NULL,
    element_instance_key   bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    form_key               bigint,
    created_at             timestamptz NOT NULL,
    ended_at               timestamptz,
    due_at                 timestamptz,
    follow_up_at           timestamptz,
    process_version        int NOT NULL,
    priority               int NOT NULL CHECK (priority BETWEEN 0 AND 100),
    process_id             text NOT NULL,
    process_name           text,
    element_id             text NOT NULL,
    name                   text,
    state                  text NOT NULL CHECK (state IN ('CREATED', 'COMPLETED', 'CANCELED')),
    assignee               text,
    external_form          text,
    business_id            text,
    tenant_id              text NOT NULL,
    tags                   text[] NOT NULL,
    candidate_groups       text[] NOT NULL,
    candidate_users        text[] NOT NULL,
    headers                json NOT NULL
) WITH (fillfactor = 85);
CREATE INDEX user_tasks_live ON user_tasks (part_key) WHERE ended_at IS NULL;
CREATE INDEX user_tasks_instance ON user_tasks (process_instance_key, user_task_key);
CREATE INDEX user_tasks_created ON user_tasks (created_at);
-- Task lists ask for my open tasks, and for those of my groups.
CREATE INDEX user_tasks_assignee ON user_tasks (assignee, user_task_key) WHERE ended_at IS NULL;
CREATE INDEX user_tasks_groups ON user_tasks USING gin (candidate_groups) WHERE ended_at IS NULL;
CREATE INDEX user_tasks_users ON user_tasks USING gin (candidate_users) WHERE ended_at IS NULL;
