-- The state of processes (CORE.md section 4). A row's one change of an indexed column is its end: `ended_at`.

CREATE TABLE definitions_seq (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    n   bigint NOT NULL DEFAULT 0
);
INSERT INTO definitions_seq DEFAULT VALUES;

-- Deployed files by content, stored before the command that names them.
CREATE TABLE resources (
    sha256    text PRIMARY KEY,
    bytes     bytea NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE deployments (
    deployment_key bigint PRIMARY KEY,
    tenant_id      text NOT NULL,
    deployed_at    timestamptz NOT NULL
);

CREATE TABLE process_definitions (
    process_definition_key bigint PRIMARY KEY,
    deployment_key         bigint NOT NULL,
    tenant_id              text NOT NULL,
    process_id             text NOT NULL,
    version                int NOT NULL,
    name                   text,
    version_tag            text,
    resource_name          text NOT NULL,
    sha256                 text NOT NULL,
    state                  text NOT NULL CHECK (state IN ('ACTIVE', 'DRAINING', 'DELETED')),
    deployed_at            timestamptz NOT NULL,
    UNIQUE (tenant_id, process_id, version)
);

-- Running instances of a definition in a partition; a draining definition goes when they are none.
CREATE TABLE definition_usage (
    partition_id           int NOT NULL,
    process_definition_key bigint NOT NULL,
    running                bigint NOT NULL,
    PRIMARY KEY (partition_id, process_definition_key)
) WITH (fillfactor = 50);

CREATE TABLE process_instances (
    process_instance_key         bigint PRIMARY KEY,
    root_key                     bigint NOT NULL,
    parent_process_instance_key  bigint,
    parent_element_instance_key  bigint,
    process_definition_key       bigint NOT NULL,
    process_id                   text NOT NULL,
    process_version              int NOT NULL,
    version_tag                  text,
    process_name                 text,
    tenant_id                    text NOT NULL,
    business_id                  text,
    tags                         text[] NOT NULL DEFAULT '{}',
    depth                        int NOT NULL,
    state                        text NOT NULL,
    tokens                       json NOT NULL,
    live                         int NOT NULL,
    then_                        json,
    interrupted                  boolean NOT NULL,
    request                      bigint,
    incidents                    int NOT NULL,
    started_at                   timestamptz NOT NULL,
    ended_at                     timestamptz,
    work                         json,
    version                      bigint NOT NULL,
    created_position             bigint NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX process_instances_live ON process_instances (root_key) WHERE ended_at IS NULL;
CREATE INDEX process_instances_process ON process_instances (tenant_id, process_id, process_version);
CREATE INDEX process_instances_definition ON process_instances (process_definition_key, process_instance_key);
CREATE INDEX process_instances_started ON process_instances (started_at);
CREATE INDEX process_instances_parent ON process_instances (parent_process_instance_key) WHERE parent_process_instance_key IS NOT NULL;
CREATE INDEX process_instances_business ON process_instances (business_id) WHERE business_id IS NOT NULL;
CREATE INDEX process_instances_tags ON process_instances USING gin (tags) WHERE tags <> '{}';
CREATE INDEX process_instances_incidents ON process_instances (process_instance_key) WHERE incidents > 0 AND ended_at IS NULL;

-- path: the variable scopes, innermost first, ending at the process instance
CREATE TABLE element_instances (
    element_instance_key   bigint PRIMARY KEY,
    root_key               bigint NOT NULL,
    process_instance_key   bigint NOT NULL,
    scope_key              bigint NOT NULL,
    path                   bigint[] NOT NULL,
    process_definition_key bigint NOT NULL,
    process_id             text NOT NULL,
    element_id             text NOT NULL,
    element_name           text,
    element_type           text NOT NULL,
    tenant_id              text NOT NULL,
    state                  text NOT NULL,
    loop_index             int NOT NULL,
    tokens                 json NOT NULL,
    live                   int NOT NULL,
    then_                  json,
    interrupted            boolean NOT NULL,
    occurred               json,
    loop                   json,
    request                bigint,
    incidents              int NOT NULL,
    incident_key           bigint,
    started_at             timestamptz NOT NULL,
    ended_at               timestamptz
) WITH (fillfactor = 85);
CREATE INDEX element_instances_live ON element_instances (root_key) WHERE ended_at IS NULL;
CREATE INDEX element_instances_scope ON element_instances (scope_key, element_instance_key) WHERE ended_at IS NULL;
CREATE INDEX element_instances_instance ON element_instances (process_instance_key, element_instance_key);
CREATE INDEX element_instances_definition ON element_instances (process_definition_key, element_id) WHERE ended_at IS NULL;

-- What a multi-instance activity loops over, and what came of it: rows, never one growing array. JSON text.
CREATE TABLE loop_items (
    body_key bigint NOT NULL,
    index    int NOT NULL,
    item     text NOT NULL,
    result   text,
    PRIMARY KEY (body_key, index)
);

-- value: JSON text
CREATE TABLE variables (
    variable_key         bigint PRIMARY KEY,
    scope_key            bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    root_key             bigint NOT NULL,
    tenant_id            text NOT NULL,
    name                 text NOT NULL,
    value                text NOT NULL,
    UNIQUE (scope_key, name)
) WITH (fillfactor = 90);
CREATE INDEX variables_value ON variables (name, md5(value));
CREATE INDEX variables_instance ON variables (process_instance_key, name);

-- The columns from `ready` on are the lease: they belong to activation, no part of replay (KERNEL.md section 5).
CREATE TABLE jobs (
    job_key                bigint PRIMARY KEY,
    root_key               bigint NOT NULL,
    process_instance_key   bigint NOT NULL,
    element_instance_key   bigint NOT NULL,
    path                   bigint[] NOT NULL,
    process_definition_key bigint NOT NULL,
    process_id             text NOT NULL,
    process_version        int NOT NULL,
    element_id             text NOT NULL,
    type                   text NOT NULL,
    kind                   text NOT NULL,
    listener_event         text NOT NULL,
    listener_index         int NOT NULL,
    state                  text NOT NULL,
    retries                int NOT NULL,
    priority               int NOT NULL,
    headers                json NOT NULL,
    error_code             text,
    error_message          text,
    business_id            text,
    tags                   text[] NOT NULL,
    tenant_id              text NOT NULL,
    created_at             timestamptz NOT NULL,
    updated_at             timestamptz NOT NULL,
    ended_at               timestamptz,
    ready                  boolean NOT NULL,
    available_at           timestamptz,
    worker                 text,
    lease_token            uuid,
    expiries               int NOT NULL DEFAULT 0
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX jobs_live ON jobs (root_key) WHERE ended_at IS NULL;
CREATE INDEX jobs_ready ON jobs (type, tenant_id, priority DESC, job_key) WHERE ready;
CREATE INDEX jobs_leased ON jobs (type, tenant_id, available_at) WHERE NOT ready AND available_at IS NOT NULL;
CREATE INDEX jobs_instance ON jobs (process_instance_key, job_key);

CREATE TABLE incidents (
    incident_key           bigint PRIMARY KEY,
    root_key               bigint NOT NULL,
    process_instance_key   bigint NOT NULL,
    element_instance_key   bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    process_id             text NOT NULL,
    element_id             text NOT NULL,
    job_key                bigint,
    stage                  text NOT NULL,
    argument               json,
    type                   text NOT NULL,
    message                text NOT NULL,
    state                  text NOT NULL,
    tenant_id              text NOT NULL,
    created_at             timestamptz NOT NULL,
    resolved_at            timestamptz
);
CREATE INDEX incidents_live ON incidents (root_key) WHERE resolved_at IS NULL;
CREATE INDEX incidents_instance ON incidents (process_instance_key, incident_key);
CREATE INDEX incidents_created ON incidents (created_at);
