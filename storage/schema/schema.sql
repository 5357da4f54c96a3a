-- The schema as the embedded PostgreSQL has it after all migrations. `make schema` writes this file, and the migrations
-- say why it is so. A server with LZ4 has COMPRESSION lz4 where this one, which has none, has STORAGE EXTERNAL.

-- table agent_answers
CREATE TABLE agent_answers (
    job_key bigint NOT NULL,
    digest text NOT NULL,
    process_instance_key bigint NOT NULL,
    tenant_id text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    answer text NOT NULL,
    CONSTRAINT agent_answers_pkey PRIMARY KEY (job_key, digest)
);
CREATE INDEX agent_answers_instance ON agent_answers USING btree (process_instance_key);

-- table agent_calls
CREATE TABLE agent_calls (
    job_key bigint NOT NULL,
    call_id text NOT NULL,
    process_instance_key bigint NOT NULL,
    element_instance_key bigint NOT NULL,
    process_id text NOT NULL,
    element_id text NOT NULL,
    tenant_id text NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    turn integer NOT NULL,
    cause text NOT NULL,
    duration_ms bigint NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    outcome text NOT NULL,
    request_digest text NOT NULL,
    answer_digest text,
    input_tokens bigint,
    output_tokens bigint,
    cached_tokens bigint,
    cost bigint,
    currency text NOT NULL,
    tools_offered text[] NOT NULL,
    tools_called text[] NOT NULL,
    CONSTRAINT agent_calls_pkey PRIMARY KEY (job_key, call_id)
);
CREATE INDEX agent_calls_instance ON agent_calls USING btree (process_instance_key, ended_at, call_id);
CREATE INDEX agent_calls_process ON agent_calls USING btree (tenant_id, process_id, ended_at);

-- table agent_stops
CREATE TABLE agent_stops (
    tenant_id text NOT NULL,
    process_id text NOT NULL,
    model text NOT NULL,
    stopped_at timestamp with time zone NOT NULL,
    CONSTRAINT agent_stops_pkey PRIMARY KEY (tenant_id, process_id, model)
);

-- table agent_usage
CREATE TABLE agent_usage (
    tenant_id text NOT NULL,
    process_id text NOT NULL,
    process_instance_key bigint NOT NULL,
    day date NOT NULL,
    calls bigint NOT NULL,
    tokens bigint NOT NULL,
    cost bigint DEFAULT 0 NOT NULL,
    CONSTRAINT agent_usage_pkey PRIMARY KEY (tenant_id, process_id, process_instance_key, day)
);
CREATE INDEX agent_usage_instance ON agent_usage USING btree (process_instance_key) WHERE process_instance_key <> 0;

-- table alert_deliveries
CREATE TABLE alert_deliveries (
    alert_rule_key bigint NOT NULL,
    revision bigint NOT NULL,
    kind text NOT NULL,
    value bigint,
    state text NOT NULL,
    made_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    ended_at timestamp with time zone,
    error text,
    receiver text DEFAULT 'URL'::text NOT NULL,
    CONSTRAINT alert_deliveries_alert_rule_key_fkey FOREIGN KEY (alert_rule_key) REFERENCES alert_rules(alert_rule_key) ON DELETE CASCADE,
    CONSTRAINT alert_deliveries_pkey PRIMARY KEY (alert_rule_key, revision),
    CONSTRAINT alert_deliveries_receiver_check CHECK (receiver = ANY (ARRAY['URL'::text, 'OUTBOX'::text]))
) WITH (fillfactor=50);
CREATE INDEX alert_deliveries_pending ON alert_deliveries USING btree (alert_rule_key, revision) WHERE state = 'PENDING'::text;

-- table alert_rules
CREATE TABLE alert_rules (
    alert_rule_key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    process_id text NOT NULL,
    metric text NOT NULL,
    threshold bigint NOT NULL,
    clears_at bigint NOT NULL,
    every_s integer NOT NULL,
    url text NOT NULL,
    secret text,
    made_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    muted_until timestamp with time zone,
    revision bigint DEFAULT 0 NOT NULL,
    next_at timestamp with time zone NOT NULL,
    evaluated_at timestamp with time zone,
    value bigint,
    error text,
    is_raised boolean DEFAULT false NOT NULL,
    is_told boolean DEFAULT false NOT NULL,
    since timestamp with time zone NOT NULL,
    to_outbox boolean DEFAULT false NOT NULL,
    CONSTRAINT alert_rules_pkey PRIMARY KEY (alert_rule_key),
    CONSTRAINT alert_rules_tenant_id_name_key UNIQUE (tenant_id, name)
) WITH (fillfactor=50);

-- table api_tokens
CREATE TABLE api_tokens (
    name text NOT NULL,
    sha256 bytea NOT NULL,
    roles text[] NOT NULL,
    tenants text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    owner text,
    owner_provider text,
    CONSTRAINT api_tokens_key_key UNIQUE (key),
    CONSTRAINT api_tokens_owner_provider_check CHECK (owner_provider = ANY (ARRAY['PASSWORD'::text, 'OIDC'::text])),
    CONSTRAINT api_tokens_pkey PRIMARY KEY (name),
    CONSTRAINT api_tokens_sha256_key UNIQUE (sha256)
);
CREATE INDEX api_tokens_by_owner ON api_tokens USING btree (owner, owner_provider) WHERE owner IS NOT NULL;
CREATE TRIGGER api_tokens_changed AFTER INSERT OR DELETE OR UPDATE OF sha256, roles, tenants, expires_at ON api_tokens FOR EACH STATEMENT EXECUTE FUNCTION notify_identities();
CREATE TRIGGER token_deleted_with_views AFTER DELETE ON api_tokens FOR EACH ROW EXECUTE FUNCTION delete_views_of_token();

-- table appenders
CREATE UNLOGGED TABLE appenders (
    id uuid NOT NULL,
    session bigint NOT NULL,
    pid integer NOT NULL,
    CONSTRAINT appenders_pkey PRIMARY KEY (id)
);

-- table archive_erasures
CREATE TABLE archive_erasures (
    root_key bigint NOT NULL,
    file text NOT NULL,
    erased_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    reason text NOT NULL,
    CONSTRAINT archive_erasures_pkey PRIMARY KEY (root_key, file)
);

-- table archive_files
CREATE TABLE archive_files (
    name text NOT NULL,
    partition_id integer NOT NULL,
    state text DEFAULT 'WRITING'::text NOT NULL,
    begun_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    sha256 text,
    bytes bigint,
    trees integer,
    first_key bigint,
    last_key bigint,
    waiting bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    CONSTRAINT archive_files_pkey PRIMARY KEY (name),
    CONSTRAINT archive_files_state_check CHECK (state = ANY (ARRAY['WRITING'::text, 'COMPLETE'::text, 'REMOVED'::text]))
);
CREATE INDEX archive_files_keys ON archive_files USING btree (last_key, first_key) WHERE state = 'COMPLETE'::text;
CREATE INDEX archive_files_open ON archive_files USING btree (partition_id) WHERE state <> 'COMPLETE'::text OR waiting <> '{}'::bigint[];

-- table attempts
CREATE TABLE attempts (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    until bigint NOT NULL,
    begun integer NOT NULL,
    epoch bigint NOT NULL,
    open boolean NOT NULL,
    causes text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT attempts_pkey PRIMARY KEY (partition_id, "position")
);

-- table audit_log
CREATE TABLE audit_log (
    audit_log_key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor_type text NOT NULL,
    actor_id text,
    address text,
    category text NOT NULL,
    entity_type text NOT NULL,
    entity_key text NOT NULL,
    operation text NOT NULL,
    result text NOT NULL,
    description text,
    related_type text,
    related_key text,
    tenant_id text,
    "position" bigint,
    root_key bigint,
    process_instance_key bigint,
    process_definition_key bigint,
    process_id text,
    element_instance_key bigint,
    job_key bigint,
    user_task_key bigint,
    deployment_key bigint,
    resource_key bigint,
    batch_operation_key bigint,
    batch_operation_type text,
    actor_provider text,
    tool text,
    CONSTRAINT audit_log_actor_type_check CHECK (actor_type = ANY (ARRAY['ANONYMOUS'::text, 'CLIENT'::text, 'UNKNOWN'::text, 'USER'::text])),
    CONSTRAINT audit_log_pkey PRIMARY KEY (audit_log_key),
    CONSTRAINT audit_log_result_check CHECK (result = ANY (ARRAY['FAIL'::text, 'SUCCESS'::text]))
);
CREATE INDEX audit_log_actor ON audit_log USING btree (actor_id);
CREATE INDEX audit_log_at ON audit_log USING btree (at);
CREATE INDEX audit_log_batch ON audit_log USING btree (batch_operation_key) WHERE batch_operation_key IS NOT NULL;
CREATE INDEX audit_log_entity ON audit_log USING btree (entity_key);
CREATE INDEX audit_log_instance ON audit_log USING btree (process_instance_key) WHERE process_instance_key IS NOT NULL;
CREATE INDEX audit_log_position ON audit_log USING btree ("position") WHERE "position" IS NOT NULL;
CREATE INDEX audit_log_user_task ON audit_log USING btree (user_task_key) WHERE user_task_key IS NOT NULL;

-- table authorizations
CREATE TABLE authorizations (
    authorization_key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    owner_type text NOT NULL,
    owner_id text NOT NULL,
    resource_type text NOT NULL,
    resource_id text,
    permission_types text[] NOT NULL,
    resource_property_name text,
    CONSTRAINT authorizations_check CHECK (num_nonnulls(resource_id, resource_property_name) = 1),
    CONSTRAINT authorizations_owner_type_check CHECK (owner_type = ANY (ARRAY['USER'::text, 'CLIENT'::text, 'ROLE'::text, 'GROUP'::text, 'MAPPING_RULE'::text])),
    CONSTRAINT authorizations_pkey PRIMARY KEY (authorization_key)
);
CREATE INDEX authorizations_by_owner ON authorizations USING btree (owner_type, owner_id);
CREATE TRIGGER authorizations_changed AFTER INSERT OR DELETE OR UPDATE ON authorizations FOR EACH STATEMENT EXECUTE FUNCTION notify_identities();

-- table batch_operation_items
CREATE TABLE batch_operation_items (
    item_number bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    batch_operation_key bigint NOT NULL,
    item_key bigint NOT NULL,
    process_instance_key bigint,
    root_key bigint,
    "position" bigint,
    processed_at timestamp with time zone,
    type text NOT NULL,
    state text DEFAULT 'ACTIVE'::text NOT NULL,
    process_id text NOT NULL,
    tenant_id text NOT NULL,
    error text,
    CONSTRAINT batch_operation_items_batch_operation_key_item_key_key UNIQUE (batch_operation_key, item_key),
    CONSTRAINT batch_operation_items_pkey PRIMARY KEY (item_number),
    CONSTRAINT batch_operation_items_state_check CHECK (state = ANY (ARRAY['ACTIVE'::text, 'COMPLETED'::text, 'SKIPPED'::text, 'CANCELED'::text, 'FAILED'::text]))
) WITH (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=1000, fillfactor=80);
CREATE INDEX batch_operation_items_instance ON batch_operation_items USING btree (process_instance_key);
CREATE INDEX batch_operation_items_sent ON batch_operation_items USING btree (batch_operation_key, "position") WHERE state = 'ACTIVE'::text AND "position" IS NOT NULL;
CREATE INDEX batch_operation_items_unsent ON batch_operation_items USING btree (batch_operation_key, item_key) WHERE state = 'ACTIVE'::text AND "position" IS NULL;

-- table batch_operations
CREATE TABLE batch_operations (
    batch_operation_key bigint GENERATED BY DEFAULT AS IDENTITY NOT NULL,
    type text NOT NULL,
    state text DEFAULT 'CREATED'::text NOT NULL,
    changes bigint DEFAULT 0 NOT NULL,
    open boolean DEFAULT true NOT NULL,
    resource text NOT NULL,
    filter json NOT NULL,
    scan_cursor bigint DEFAULT 0 NOT NULL,
    scanned boolean DEFAULT false NOT NULL,
    actor_kind text NOT NULL,
    actor_id text NOT NULL,
    mapping_rules text[] DEFAULT '{}'::text[] NOT NULL,
    tenants text[],
    processes text[],
    created_at timestamp with time zone DEFAULT clock_now() NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    total bigint DEFAULT 0 NOT NULL,
    completed bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL,
    canceled bigint DEFAULT 0 NOT NULL,
    error text,
    request_key text NOT NULL,
    body_sha bytea NOT NULL,
    scan_at timestamp with time zone,
    actor_provider text,
    plan json,
    CONSTRAINT batch_operations_pkey PRIMARY KEY (batch_operation_key),
    CONSTRAINT batch_operations_request_key_key UNIQUE (request_key),
    CONSTRAINT batch_operations_state_check CHECK (state = ANY (ARRAY['CREATED'::text, 'ACTIVE'::text, 'SUSPENDED'::text, 'COMPLETED'::text, 'PARTIALLY_COMPLETED'::text, 'CANCELED'::text, 'FAILED'::text]))
) WITH (fillfactor=50);
CREATE INDEX batch_operations_ended ON batch_operations USING btree (ended_at) WHERE NOT open;
CREATE INDEX batch_operations_open ON batch_operations USING btree (batch_operation_key) WHERE open;

-- table batches
CREATE TABLE batches (
    partition_id integer NOT NULL,
    from_pos bigint NOT NULL,
    to_pos bigint NOT NULL,
    next_key bigint NOT NULL,
    epoch bigint NOT NULL,
    CONSTRAINT batches_pkey PRIMARY KEY (partition_id, from_pos)
);

-- table channel_subscriptions
CREATE TABLE channel_subscriptions (
    subscription_key bigint NOT NULL,
    interrupting boolean NOT NULL,
    slot smallint GENERATED ALWAYS AS (slot_of(tenant_id, correlation_key)) STORED NOT NULL,
    tenant_id text NOT NULL,
    correlation_key text NOT NULL,
    name text NOT NULL,
    process_id text NOT NULL,
    state text NOT NULL,
    business_id text,
    CONSTRAINT channel_subscriptions_pkey PRIMARY KEY (subscription_key),
    CONSTRAINT channel_subscriptions_state_check CHECK (state = ANY (ARRAY['OPEN'::text, 'CORRELATING'::text]))
) WITH (fillfactor=90);
CREATE INDEX channel_subscriptions_channel ON channel_subscriptions USING btree (slot, tenant_id, md5(correlation_key), subscription_key);

-- table clock
CREATE TABLE clock (
    one boolean DEFAULT true NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    pinned_at timestamp with time zone,
    shift interval DEFAULT '00:00:00'::interval NOT NULL,
    CONSTRAINT clock_one_check CHECK (one),
    CONSTRAINT clock_pkey PRIMARY KEY (one)
);

-- table cluster
CREATE TABLE cluster (
    one boolean DEFAULT true NOT NULL,
    cluster_id uuid DEFAULT gen_random_uuid() NOT NULL,
    CONSTRAINT cluster_one_check CHECK (one),
    CONSTRAINT cluster_pkey PRIMARY KEY (one)
);

-- table cluster_variables
CREATE TABLE cluster_variables (
    key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    value text NOT NULL,
    normal text NOT NULL,
    metadata jsonb NOT NULL,
    CONSTRAINT cluster_variables_pkey PRIMARY KEY (key),
    CONSTRAINT cluster_variables_tenant_id_name_key UNIQUE (tenant_id, name)
);
CREATE INDEX cluster_variables_name ON cluster_variables USING btree (name);

-- table command_log
CREATE TABLE command_log (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    append_id uuid NOT NULL,
    ord integer NOT NULL,
    at timestamp with time zone NOT NULL,
    tenant_id text NOT NULL,
    intent text NOT NULL,
    key bigint,
    request bigint,
    payload bytea STORAGE EXTERNAL NOT NULL,
    trace text,
    audit text,
    CONSTRAINT command_log_pkey PRIMARY KEY (partition_id, "position")
) PARTITION BY RANGE ("position");

-- table compensations
CREATE TABLE compensations (
    compensation_key bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    scope_key bigint NOT NULL,
    element_instance_key bigint NOT NULL,
    element_id text NOT NULL,
    tenant_id text NOT NULL,
    is_scope boolean NOT NULL,
    handler text,
    registered json NOT NULL,
    running boolean NOT NULL,
    CONSTRAINT compensations_pkey PRIMARY KEY (compensation_key)
);
CREATE INDEX compensations_latest ON compensations USING btree (process_instance_key, scope_key, element_id, compensation_key);

-- table database_roles
CREATE TABLE database_roles (
    role_name text NOT NULL,
    tenant_id text NOT NULL,
    granted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT database_roles_pkey PRIMARY KEY (role_name, tenant_id)
);

-- table decision_definitions
CREATE TABLE decision_definitions (
    decision_definition_key bigint NOT NULL,
    deployment_key bigint NOT NULL,
    tenant_id text NOT NULL,
    decision_id text NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    version_tag text,
    decision_requirements_key bigint NOT NULL,
    sha256 text NOT NULL,
    imports text[] NOT NULL,
    state text NOT NULL,
    deployed_at timestamp with time zone NOT NULL,
    CONSTRAINT decision_definitions_pkey PRIMARY KEY (decision_definition_key),
    CONSTRAINT decision_definitions_state_check CHECK (state = ANY (ARRAY['ACTIVE'::text, 'DELETED'::text])),
    CONSTRAINT decision_definitions_tenant_id_decision_id_version_key UNIQUE (tenant_id, decision_id, version)
);
CREATE INDEX decision_definitions_imports ON decision_definitions USING gin (imports) WHERE imports <> '{}'::text[];
CREATE INDEX decision_definitions_requirements ON decision_definitions USING btree (decision_requirements_key);

-- table decision_instances
CREATE TABLE decision_instances (
    decision_instance_key bigint NOT NULL,
    decision_evaluation_key bigint NOT NULL,
    number integer NOT NULL,
    root_key bigint,
    process_instance_key bigint,
    element_instance_key bigint,
    process_definition_key bigint,
    process_id text,
    element_id text,
    business_id text,
    tenant_id text NOT NULL,
    decision_definition_key bigint NOT NULL,
    decision_id text NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    type text NOT NULL,
    root_decision_definition_key bigint NOT NULL,
    decision_requirements_key bigint NOT NULL,
    state text NOT NULL,
    failure text,
    result text NOT NULL,
    inputs json NOT NULL,
    rules json NOT NULL,
    evaluated_at timestamp with time zone NOT NULL,
    CONSTRAINT decision_instances_pkey PRIMARY KEY (decision_instance_key)
);
CREATE INDEX decision_instances_definition ON decision_instances USING btree (decision_definition_key, decision_instance_key);
CREATE INDEX decision_instances_evaluated ON decision_instances USING btree (evaluated_at, decision_instance_key);
CREATE INDEX decision_instances_evaluation ON decision_instances USING btree (decision_evaluation_key);
CREATE INDEX decision_instances_instance ON decision_instances USING btree (process_instance_key, decision_instance_key) WHERE process_instance_key IS NOT NULL;
CREATE INDEX decision_instances_of_clients ON decision_instances USING btree (evaluated_at, decision_instance_key) WHERE process_instance_key IS NULL;
CREATE TRIGGER decision_instances_deleted AFTER DELETE ON decision_instances REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_decision_instance_usage();

-- table decision_requirements
CREATE TABLE decision_requirements (
    decision_requirements_key bigint NOT NULL,
    deployment_key bigint NOT NULL,
    tenant_id text NOT NULL,
    requirements_id text NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    resource_name text NOT NULL,
    sha256 text NOT NULL,
    state text NOT NULL,
    deployed_at timestamp with time zone NOT NULL,
    CONSTRAINT decision_requirements_pkey PRIMARY KEY (decision_requirements_key),
    CONSTRAINT decision_requirements_state_check CHECK (state = ANY (ARRAY['ACTIVE'::text, 'DELETED'::text])),
    CONSTRAINT decision_requirements_tenant_id_requirements_id_version_key UNIQUE (tenant_id, requirements_id, version)
);
CREATE INDEX decision_requirements_deployment ON decision_requirements USING btree (deployment_key);
CREATE INDEX decision_requirements_resource ON decision_requirements USING btree (sha256);

-- table definitions_seq
CREATE TABLE definitions_seq (
    one boolean DEFAULT true NOT NULL,
    n bigint DEFAULT 0 NOT NULL,
    CONSTRAINT definitions_seq_one_check CHECK (one),
    CONSTRAINT definitions_seq_pkey PRIMARY KEY (one)
);

-- table deleted_assignees
CREATE TABLE deleted_assignees (
    period timestamp with time zone NOT NULL,
    tenant_id text NOT NULL,
    assignee uuid NOT NULL,
    CONSTRAINT deleted_assignees_pkey PRIMARY KEY (period, tenant_id, assignee)
);
CREATE INDEX deleted_assignees_quarters ON deleted_assignees USING btree (period) WHERE period <> usage_day(period);

-- table deleted_trees
CREATE TABLE deleted_trees (
    root_key bigint NOT NULL,
    deleted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    reason text NOT NULL,
    CONSTRAINT deleted_trees_pkey PRIMARY KEY (root_key),
    CONSTRAINT deleted_trees_reason_check CHECK (reason = ANY (ARRAY['RETENTION'::text, 'REQUEST'::text, 'ERASURE'::text]))
);
CREATE INDEX deleted_trees_at ON deleted_trees USING btree (deleted_at);

-- table deleted_usage
CREATE TABLE deleted_usage (
    metric text NOT NULL,
    period timestamp with time zone NOT NULL,
    tenant_id text NOT NULL,
    number bigint NOT NULL,
    CONSTRAINT deleted_usage_pkey PRIMARY KEY (metric, period, tenant_id)
) WITH (fillfactor=50);

-- table deployments
CREATE TABLE deployments (
    deployment_key bigint NOT NULL,
    tenant_id text NOT NULL,
    deployed_at timestamp with time zone NOT NULL,
    CONSTRAINT deployments_pkey PRIMARY KEY (deployment_key)
);

-- table document_contents
CREATE TABLE document_contents (
    content_key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    tenant_id text NOT NULL,
    store_id text NOT NULL,
    sha256 text,
    bytes bigint DEFAULT 0 NOT NULL,
    alive_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    object_name text,
    CONSTRAINT document_contents_bytes_check CHECK (bytes >= 0),
    CONSTRAINT document_contents_object_name_check CHECK ((object_name IS NULL) = (store_id = 'postgres'::text)),
    CONSTRAINT document_contents_pkey PRIMARY KEY (content_key)
);
CREATE INDEX document_contents_unused ON document_contents USING btree (store_id, content_key) WHERE sha256 IS NULL;
CREATE UNIQUE INDEX document_contents_sha256 ON document_contents USING btree (tenant_id, store_id, sha256) WHERE sha256 IS NOT NULL;

-- table document_link_keys
CREATE TABLE document_link_keys (
    key_id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    secret bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT document_link_keys_pkey PRIMARY KEY (key_id)
);

-- table document_parts
CREATE TABLE document_parts (
    content_key bigint NOT NULL,
    first bigint NOT NULL,
    content bytea STORAGE EXTERNAL NOT NULL,
    CONSTRAINT document_parts_pkey PRIMARY KEY (content_key, first)
);

-- table document_usage
CREATE TABLE document_usage (
    tenant_id text NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    CONSTRAINT document_usage_bytes_check CHECK (bytes >= 0),
    CONSTRAINT document_usage_pkey PRIMARY KEY (tenant_id)
);

-- table documents
CREATE TABLE documents (
    document_id text NOT NULL,
    store_id text NOT NULL,
    tenant_id text NOT NULL,
    content_key bigint NOT NULL,
    content_type text NOT NULL,
    file_name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    process_definition_id text,
    process_instance_key bigint,
    custom_properties text NOT NULL,
    goes_with_instance boolean DEFAULT false NOT NULL,
    message_key bigint,
    CONSTRAINT documents_content_key_fkey FOREIGN KEY (content_key) REFERENCES document_contents(content_key),
    CONSTRAINT documents_pkey PRIMARY KEY (document_id, store_id, tenant_id)
);
CREATE INDEX documents_content ON documents USING btree (content_key);
CREATE INDEX documents_expiry ON documents USING btree (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX documents_instance ON documents USING btree (process_instance_key) WHERE process_instance_key IS NOT NULL;
CREATE INDEX documents_message ON documents USING btree (message_key) WHERE message_key IS NOT NULL;
CREATE INDEX documents_tenant ON documents USING btree (tenant_id);

-- table element_count_changes
CREATE TABLE element_count_changes (
    partition_id integer NOT NULL,
    id bigint DEFAULT nextval('element_count_changes_id_seq'::regclass) NOT NULL,
    process_definition_key bigint NOT NULL,
    element_id text NOT NULL,
    active bigint NOT NULL,
    completed bigint NOT NULL,
    canceled bigint NOT NULL,
    bucket smallint DEFAULT '-1'::integer NOT NULL,
    duration_ms bigint DEFAULT 0 NOT NULL,
    started integer DEFAULT 0 NOT NULL,
    incidents integer DEFAULT 0 NOT NULL,
    at timestamp with time zone,
    CONSTRAINT element_count_changes_pkey PRIMARY KEY (partition_id, id)
) WITH (autovacuum_vacuum_insert_scale_factor=0, autovacuum_vacuum_insert_threshold=100000, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000);

-- table element_count_totals
CREATE TABLE element_count_totals (
    partition_id integer NOT NULL,
    until bigint NOT NULL,
    CONSTRAINT element_count_totals_pkey PRIMARY KEY (partition_id)
) WITH (fillfactor=50);

-- table element_counts
CREATE TABLE element_counts (
    partition_id integer NOT NULL,
    process_definition_key bigint NOT NULL,
    element_id text NOT NULL,
    active bigint NOT NULL,
    completed bigint NOT NULL,
    canceled bigint NOT NULL,
    CONSTRAINT element_counts_pkey PRIMARY KEY (partition_id, process_definition_key, element_id)
) WITH (fillfactor=50);
CREATE INDEX element_counts_instances ON element_counts USING btree (process_definition_key) WHERE element_id = ''::text;

-- table element_durations
CREATE TABLE element_durations (
    process_definition_key bigint NOT NULL,
    element_id text NOT NULL,
    bucket smallint NOT NULL,
    partition_id integer NOT NULL,
    completed bigint NOT NULL,
    duration_ms numeric NOT NULL,
    CONSTRAINT element_durations_pkey PRIMARY KEY (process_definition_key, element_id, bucket, partition_id)
) WITH (fillfactor=50);

-- table element_instances
CREATE TABLE element_instances (
    element_instance_key bigint NOT NULL,
    root_key bigint NOT NULL,
    part_key bigint,
    process_instance_key bigint NOT NULL,
    scope_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    request bigint,
    incident_key bigint,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    loop_index integer NOT NULL,
    live integer NOT NULL,
    incidents integer NOT NULL,
    interrupted boolean NOT NULL,
    path bigint[] NOT NULL,
    process_id text NOT NULL,
    element_id text NOT NULL,
    element_name text,
    element_type text NOT NULL,
    tenant_id text NOT NULL,
    state text NOT NULL,
    tokens json NOT NULL,
    then_ json,
    occurred json,
    loop json,
    flows text[],
    ad_hoc json,
    registered json,
    compensation json,
    occurrences json,
    awaiting_reset json,
    CONSTRAINT element_instances_pkey PRIMARY KEY (element_instance_key)
) WITH (autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_scale_factor=0.05, fillfactor=100);
CREATE INDEX element_instances_definition ON element_instances USING btree (process_definition_key, element_id) WHERE ended_at IS NULL AND process_definition_key IS NOT NULL;
CREATE INDEX element_instances_incidents ON element_instances USING btree (process_definition_key, element_id) WHERE incidents > 0 AND ended_at IS NULL;
CREATE INDEX element_instances_instance ON element_instances USING btree (process_instance_key, element_instance_key);
CREATE INDEX element_instances_live ON element_instances USING btree (part_key) WHERE ended_at IS NULL;
CREATE INDEX element_instances_scope ON element_instances USING btree (scope_key, element_instance_key) WHERE ended_at IS NULL AND part_key = element_instance_key;
CREATE INDEX element_instances_terminated ON element_instances USING btree (element_instance_key) WHERE state = 'TERMINATED'::text;

-- table event_consumers
CREATE TABLE event_consumers (
    consumer text NOT NULL,
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    seq smallint NOT NULL,
    ordinal integer NOT NULL,
    acknowledged_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT event_consumers_pkey PRIMARY KEY (partition_id, consumer)
);

-- table event_log
CREATE TABLE event_log (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    seq smallint NOT NULL,
    root_key bigint,
    request bigint,
    events text,
    large_events text STORAGE EXTERNAL,
    rejection json,
    response json,
    version smallint NOT NULL,
    processed_at timestamp with time zone NOT NULL,
    CONSTRAINT event_log_has_events CHECK (num_nonnulls(events, large_events) = 1),
    CONSTRAINT event_log_pkey PRIMARY KEY (partition_id, "position", seq)
) PARTITION BY RANGE ("position");
CREATE INDEX event_log_request ON ONLY event_log USING btree (request) WHERE request IS NOT NULL;
CREATE INDEX event_log_root ON ONLY event_log USING btree (root_key, "position", seq);

-- table forms
CREATE TABLE forms (
    form_key bigint NOT NULL,
    deployment_key bigint NOT NULL,
    tenant_id text NOT NULL,
    form_id text NOT NULL,
    version integer NOT NULL,
    version_tag text,
    resource_name text NOT NULL,
    sha256 text NOT NULL,
    state text NOT NULL,
    deployed_at timestamp with time zone NOT NULL,
    CONSTRAINT forms_pkey PRIMARY KEY (form_key),
    CONSTRAINT forms_state_check CHECK (state = ANY (ARRAY['ACTIVE'::text, 'DELETED'::text])),
    CONSTRAINT forms_tenant_id_form_id_version_key UNIQUE (tenant_id, form_id, version)
);
CREATE INDEX forms_deployment ON forms USING btree (deployment_key);
CREATE INDEX forms_resource ON forms USING btree (sha256);

-- table generic_resources
CREATE TABLE generic_resources (
    resource_key bigint NOT NULL,
    deployment_key bigint NOT NULL,
    tenant_id text NOT NULL,
    resource_id text NOT NULL,
    version integer NOT NULL,
    version_tag text,
    resource_name text NOT NULL,
    sha256 text NOT NULL,
    state text NOT NULL,
    deployed_at timestamp with time zone NOT NULL,
    CONSTRAINT generic_resources_pkey PRIMARY KEY (resource_key),
    CONSTRAINT generic_resources_state_check CHECK (state = ANY (ARRAY['ACTIVE'::text, 'DELETED'::text])),
    CONSTRAINT generic_resources_tenant_id_resource_id_version_key UNIQUE (tenant_id, resource_id, version)
);
CREATE INDEX generic_resources_deployment ON generic_resources USING btree (deployment_key);
CREATE INDEX generic_resources_resource ON generic_resources USING btree (sha256);

-- table global_task_listeners
CREATE TABLE global_task_listeners (
    key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    id text NOT NULL,
    type text NOT NULL,
    retries integer NOT NULL,
    priority integer NOT NULL,
    after_non_global boolean NOT NULL,
    event_types text[] NOT NULL,
    source text DEFAULT 'API'::text NOT NULL,
    CONSTRAINT global_task_listeners_id_key UNIQUE (id),
    CONSTRAINT global_task_listeners_pkey PRIMARY KEY (key)
);

-- table idempotency_keys
CREATE TABLE idempotency_keys (
    tenant text NOT NULL,
    key text NOT NULL,
    body_sha bytea NOT NULL,
    "position" bigint,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant, key)
);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys USING btree (expires_at);

-- table inbound_connectors
CREATE TABLE inbound_connectors (
    process_definition_key bigint NOT NULL,
    element_id text NOT NULL,
    tenant_id text NOT NULL,
    process_id text NOT NULL,
    type text NOT NULL,
    state text NOT NULL,
    waiting integer NOT NULL,
    events bigint NOT NULL,
    errors bigint NOT NULL,
    event_at timestamp with time zone,
    error_at timestamp with time zone,
    error text,
    node text NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT inbound_connectors_pkey PRIMARY KEY (process_definition_key, element_id)
);

-- table inbox
CREATE TABLE inbox (
    target_partition integer NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    request bigint,
    tenant_id text NOT NULL,
    intent text NOT NULL,
    key bigint,
    payload bytea NOT NULL,
    trace text,
    audit text,
    held_by bigint,
    CONSTRAINT inbox_pkey PRIMARY KEY (target_partition, id)
);
CREATE INDEX inbox_held ON inbox USING btree (held_by, id) WHERE held_by IS NOT NULL;

-- table incidents
CREATE TABLE incidents (
    incident_key bigint NOT NULL,
    root_key bigint NOT NULL,
    part_key bigint,
    process_instance_key bigint NOT NULL,
    element_instance_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    job_key bigint,
    created_at timestamp with time zone NOT NULL,
    resolved_at timestamp with time zone,
    process_id text NOT NULL,
    element_id text NOT NULL,
    tenant_id text NOT NULL,
    state text NOT NULL,
    type text NOT NULL,
    message text NOT NULL,
    stage text NOT NULL,
    argument json,
    error_hash integer GENERATED ALWAYS AS ((('x'::text || "left"(md5(message), 8)))::bit(32)::integer) STORED NOT NULL,
    cause integer GENERATED ALWAYS AS ((('x'::text || "left"(md5("left"(regexp_replace("left"(message, 500) COLLATE "C", '[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}|(?<!\w)''[^'']*''|"[^"]*"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[0-9]+(?:[.,][0-9]+)*'::text, '*'::text, 'g'::text), 300)), 8)))::bit(32)::integer) STORED NOT NULL,
    CONSTRAINT incidents_pkey PRIMARY KEY (incident_key)
);
CREATE INDEX incidents_causes ON incidents USING btree (cause, process_definition_key, element_id, type) INCLUDE (incident_key) WHERE resolved_at IS NULL;
CREATE INDEX incidents_created ON incidents USING btree (created_at);
CREATE INDEX incidents_errors ON incidents USING btree (error_hash, process_definition_key, process_instance_key) INCLUDE (incident_key) WHERE resolved_at IS NULL;
CREATE INDEX incidents_instance ON incidents USING btree (process_instance_key, incident_key);
CREATE INDEX incidents_live ON incidents USING btree (part_key) WHERE resolved_at IS NULL;
CREATE INDEX incidents_root ON incidents USING btree (root_key, incident_key);

-- table instance_counts
CREATE TABLE instance_counts (
    period timestamp with time zone NOT NULL,
    process_definition_key bigint NOT NULL,
    partition_id integer NOT NULL,
    started bigint NOT NULL,
    completed bigint NOT NULL,
    canceled bigint NOT NULL,
    incidents bigint NOT NULL,
    CONSTRAINT instance_counts_pkey PRIMARY KEY (period, process_definition_key, partition_id)
) WITH (fillfactor=50);

-- table instance_durations
CREATE TABLE instance_durations (
    day timestamp with time zone NOT NULL,
    process_definition_key bigint NOT NULL,
    bucket smallint NOT NULL,
    partition_id integer NOT NULL,
    completed bigint NOT NULL,
    CONSTRAINT instance_durations_pkey PRIMARY KEY (day, process_definition_key, bucket, partition_id)
) WITH (fillfactor=50);

-- table job_count_changes
CREATE TABLE job_count_changes (
    partition_id integer NOT NULL,
    id bigint DEFAULT nextval('job_count_changes_id_seq'::regclass) NOT NULL,
    tenant_id text NOT NULL,
    type text NOT NULL,
    worker text NOT NULL,
    status text NOT NULL,
    jobs bigint NOT NULL,
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT job_count_changes_pkey PRIMARY KEY (partition_id, id),
    CONSTRAINT job_count_changes_status_check CHECK (status = ANY (ARRAY['CREATED'::text, 'COMPLETED'::text, 'FAILED'::text]))
) WITH (autovacuum_vacuum_insert_scale_factor=0, autovacuum_vacuum_insert_threshold=100000, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000);

-- table job_count_totals
CREATE TABLE job_count_totals (
    partition_id integer NOT NULL,
    until bigint NOT NULL,
    CONSTRAINT job_count_totals_pkey PRIMARY KEY (partition_id)
) WITH (fillfactor=50);

-- table job_counts
CREATE TABLE job_counts (
    period timestamp with time zone NOT NULL,
    tenant_id text NOT NULL,
    type text NOT NULL,
    status text NOT NULL,
    worker text NOT NULL,
    partition_id integer NOT NULL,
    jobs bigint NOT NULL,
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT job_counts_pkey PRIMARY KEY (period, tenant_id, type, status, worker, partition_id)
) WITH (fillfactor=70);

-- table job_dispatchers
CREATE TABLE job_dispatchers (
    node text NOT NULL,
    session bigint DEFAULT 1 NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    types text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT job_dispatchers_pkey PRIMARY KEY (node)
);

-- table job_executions
CREATE TABLE job_executions (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    job_type text NOT NULL,
    execute_at timestamp with time zone DEFAULT clock_now() NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    attempt_index integer DEFAULT 0 NOT NULL,
    occurrence bigint DEFAULT 0 NOT NULL,
    alive_at timestamp with time zone,
    payload jsonb,
    trace_context jsonb,
    created_at timestamp with time zone DEFAULT clock_now() NOT NULL,
    partition_id integer,
    schedule text,
    node text,
    lease uuid,
    error text,
    failed_at timestamp with time zone,
    unique_key text,
    CONSTRAINT job_executions_pkey PRIMARY KEY (id),
    CONSTRAINT job_executions_running CHECK ((state = 'running'::text) = (lease IS NOT NULL)),
    CONSTRAINT job_executions_state_check CHECK (state = ANY (ARRAY['pending'::text, 'running'::text, 'failed'::text]))
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500, fillfactor=70);
CREATE INDEX job_executions_failed ON job_executions USING btree (failed_at) WHERE state = 'failed'::text;
CREATE INDEX job_executions_pending ON job_executions USING btree (job_type, execute_at) WHERE state = 'pending'::text;
CREATE INDEX job_executions_stale ON job_executions USING btree (alive_at) WHERE state = 'running'::text;
CREATE UNIQUE INDEX job_executions_consumer ON job_executions USING btree (job_type, partition_id) WHERE partition_id IS NOT NULL AND schedule IS NULL;
CREATE UNIQUE INDEX job_executions_schedule ON job_executions USING btree (job_type, COALESCE(partition_id, 0)) WHERE schedule IS NOT NULL AND state <> 'failed'::text;
CREATE UNIQUE INDEX job_executions_unique ON job_executions USING btree (job_type, unique_key) WHERE unique_key IS NOT NULL AND state <> 'failed'::text;

-- table job_pauses
CREATE TABLE job_pauses (
    one boolean DEFAULT true NOT NULL,
    pauses bigint DEFAULT 0 NOT NULL,
    CONSTRAINT job_pauses_one_check CHECK (one),
    CONSTRAINT job_pauses_pkey PRIMARY KEY (one)
);

-- table jobs
CREATE TABLE jobs (
    job_key bigint NOT NULL,
    root_key bigint NOT NULL,
    part_key bigint,
    process_instance_key bigint NOT NULL,
    element_instance_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    process_version integer NOT NULL,
    listener_index integer NOT NULL,
    retries integer NOT NULL,
    priority integer NOT NULL,
    path bigint[] NOT NULL,
    process_id text NOT NULL,
    element_id text NOT NULL,
    type text NOT NULL,
    kind text NOT NULL,
    listener_event text NOT NULL,
    state text NOT NULL,
    business_id text,
    tenant_id text NOT NULL,
    tags text[] NOT NULL,
    headers json NOT NULL,
    error_code text,
    error_message text,
    ready boolean NOT NULL,
    returned boolean DEFAULT false NOT NULL,
    expiries integer DEFAULT 0 NOT NULL,
    available_at timestamp with time zone,
    lease_token uuid,
    worker text,
    trace text,
    denied_reason text,
    suspended_ready boolean,
    suspended_until timestamp with time zone,
    CONSTRAINT jobs_pkey PRIMARY KEY (job_key)
) WITH (autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_scale_factor=0.02, fillfactor=100);
CREATE INDEX jobs_errors ON jobs USING btree (type, updated_at) WHERE error_code IS NOT NULL OR error_message IS NOT NULL;
CREATE INDEX jobs_instance ON jobs USING btree (process_instance_key, job_key);
CREATE INDEX jobs_leased ON jobs USING btree (type, tenant_id, available_at) WHERE NOT ready AND available_at IS NOT NULL;
CREATE INDEX jobs_live ON jobs USING btree (part_key) WHERE ended_at IS NULL;
CREATE INDEX jobs_ready ON jobs USING btree (type, tenant_id, returned, priority DESC, job_key) WHERE ready;

-- table loop_items
CREATE TABLE loop_items (
    body_key bigint NOT NULL,
    index integer NOT NULL,
    item text,
    result text,
    CONSTRAINT loop_items_pkey PRIMARY KEY (body_key, index)
);

-- table mapping_rules
CREATE TABLE mapping_rules (
    mapping_rule_id text NOT NULL,
    key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    name text NOT NULL,
    claim_name text NOT NULL,
    claim_value text NOT NULL,
    CONSTRAINT mapping_rules_claim_name_claim_value_key UNIQUE (claim_name, claim_value),
    CONSTRAINT mapping_rules_key_key UNIQUE (key),
    CONSTRAINT mapping_rules_pkey PRIMARY KEY (mapping_rule_id)
);
CREATE TRIGGER mapping_rules_changed AFTER INSERT OR DELETE OR UPDATE ON mapping_rules FOR EACH STATEMENT EXECUTE FUNCTION notify_identities();

-- table members
CREATE TABLE members (
    container_type text NOT NULL,
    container_id text NOT NULL,
    member_type text NOT NULL,
    member_id text NOT NULL,
    key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    CONSTRAINT members_container_type_check CHECK (container_type = ANY (ARRAY['ROLE'::text, 'GROUP'::text, 'TENANT'::text])),
    CONSTRAINT members_key_key UNIQUE (key),
    CONSTRAINT members_member_type_check CHECK (member_type = ANY (ARRAY['USER'::text, 'CLIENT'::text, 'GROUP'::text, 'ROLE'::text, 'MAPPING_RULE'::text])),
    CONSTRAINT members_pkey PRIMARY KEY (container_type, container_id, member_type, member_id)
);
CREATE INDEX members_by_member ON members USING btree (member_type, member_id);
CREATE TRIGGER members_changed AFTER INSERT OR DELETE OR UPDATE ON members FOR EACH STATEMENT EXECUTE FUNCTION notify_identities();

-- table message_correlations
CREATE TABLE message_correlations (
    message_correlation_key bigint NOT NULL,
    message_key bigint NOT NULL,
    subscription_key bigint NOT NULL,
    root_key bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    element_instance_key bigint,
    process_definition_key bigint NOT NULL,
    correlated_at timestamp with time zone NOT NULL,
    process_id text NOT NULL,
    element_id text NOT NULL,
    name text NOT NULL,
    correlation_key text NOT NULL,
    business_id text,
    tenant_id text NOT NULL,
    CONSTRAINT message_correlations_pkey PRIMARY KEY (message_correlation_key)
);
CREATE INDEX message_correlations_age ON message_correlations USING btree (correlated_at);
CREATE INDEX message_correlations_instance ON message_correlations USING btree (process_instance_key);
CREATE INDEX message_correlations_message ON message_correlations USING btree (message_key);

-- table messages
CREATE TABLE messages (
    message_key bigint NOT NULL,
    deadline_ms bigint NOT NULL,
    partition_id integer NOT NULL,
    slot smallint GENERATED ALWAYS AS (slot_of(tenant_id, correlation_key)) STORED NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    correlation_key text NOT NULL,
    message_id text,
    business_id text,
    variables json NOT NULL,
    given text[] NOT NULL,
    CONSTRAINT messages_pkey PRIMARY KEY (message_key)
) WITH (fillfactor=90);
CREATE INDEX messages_channel ON messages USING btree (slot, tenant_id, md5(correlation_key), md5(name), message_key);
CREATE INDEX messages_deadline ON messages USING btree (partition_id, deadline_ms);
CREATE INDEX messages_id ON messages USING btree (slot, tenant_id, md5(correlation_key), md5(message_id)) WHERE message_id IS NOT NULL;
CREATE TRIGGER messages_deleted AFTER DELETE ON messages REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION end_documents_of_messages();

-- table model_drafts
CREATE TABLE model_drafts (
    draft_key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    content text NOT NULL,
    version bigint NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_by text NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT model_drafts_pkey PRIMARY KEY (draft_key)
);
CREATE INDEX model_drafts_of_tenant ON model_drafts USING btree (tenant_id);

-- table nodes
CREATE TABLE nodes (
    id text NOT NULL,
    number integer GENERATED ALWAYS AS IDENTITY NOT NULL,
    roles text[] NOT NULL,
    version text NOT NULL,
    schema integer NOT NULL,
    host text NOT NULL,
    port integer NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    heartbeat_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    pid integer NOT NULL,
    backend_start timestamp with time zone NOT NULL,
    draining boolean DEFAULT false NOT NULL,
    ready integer[] DEFAULT '{}'::integer[] NOT NULL,
    log_levels json DEFAULT '{}'::json NOT NULL,
    address text,
    CONSTRAINT nodes_pkey PRIMARY KEY (id)
) WITH (fillfactor=50);

-- table outbox_deliveries
CREATE TABLE outbox_deliveries (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    seq smallint NOT NULL,
    ordinal integer NOT NULL,
    root_key bigint NOT NULL,
    type text NOT NULL,
    document text NOT NULL,
    state text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    forgiven integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    error text,
    CONSTRAINT outbox_deliveries_pkey PRIMARY KEY (partition_id, "position", seq, ordinal),
    CONSTRAINT outbox_deliveries_state_check CHECK (state = ANY (ARRAY['pending'::text, 'held'::text, 'dead'::text, 'dropped'::text]))
);
CREATE INDEX outbox_dead ON outbox_deliveries USING btree (due_at) WHERE state = 'dead'::text;
CREATE INDEX outbox_due ON outbox_deliveries USING btree (partition_id, due_at) WHERE state = ANY (ARRAY['pending'::text, 'dropped'::text]);
CREATE INDEX outbox_trees ON outbox_deliveries USING btree (partition_id, root_key, "position", seq, ordinal);

-- table paged_loop_items
CREATE TABLE paged_loop_items (
    body_key bigint NOT NULL,
    first integer NOT NULL,
    items text NOT NULL,
    CONSTRAINT paged_loop_items_pkey PRIMARY KEY (body_key, first)
);

-- table partitions
CREATE TABLE partitions (
    id integer NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    owner_node text,
    owner_pid integer,
    owner_backend_start timestamp with time zone,
    lease_until timestamp with time zone,
    handed_over bigint DEFAULT 0 NOT NULL,
    CONSTRAINT partitions_pkey PRIMARY KEY (id)
);

-- table paused_job_types
CREATE TABLE paused_job_types (
    job_type text NOT NULL,
    paused_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT paused_job_types_pkey PRIMARY KEY (job_type)
);

-- table process_definitions
CREATE TABLE process_definitions (
    process_definition_key bigint NOT NULL,
    deployment_key bigint NOT NULL,
    tenant_id text NOT NULL,
    process_id text NOT NULL,
    version integer NOT NULL,
    name text,
    version_tag text,
    resource_name text NOT NULL,
    sha256 text NOT NULL,
    state text NOT NULL,
    deployed_at timestamp with time zone NOT NULL,
    start_form_id text,
    start_form_binding text,
    start_form_version_tag text,
    retention_ms bigint,
    CONSTRAINT process_definitions_check CHECK ((start_form_id IS NULL) = (start_form_binding IS NULL)),
    CONSTRAINT process_definitions_pkey PRIMARY KEY (process_definition_key),
    CONSTRAINT process_definitions_state_check CHECK (state = ANY (ARRAY['ACTIVE'::text, 'DRAINING'::text, 'DELETED'::text])),
    CONSTRAINT process_definitions_tenant_id_process_id_version_key UNIQUE (tenant_id, process_id, version)
);
CREATE INDEX process_definitions_deployment ON process_definitions USING btree (deployment_key);
CREATE INDEX process_definitions_resource ON process_definitions USING btree (sha256);

-- table process_instances
CREATE TABLE process_instances (
    process_instance_key bigint NOT NULL,
    root_key bigint NOT NULL,
    part_key bigint,
    parent_process_instance_key bigint,
    parent_element_instance_key bigint,
    process_definition_key bigint NOT NULL,
    created_position bigint NOT NULL,
    request bigint,
    version bigint NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    process_version integer NOT NULL,
    depth integer NOT NULL,
    live integer NOT NULL,
    incidents integer NOT NULL,
    in_parts integer DEFAULT 0 NOT NULL,
    interrupted boolean NOT NULL,
    process_id text NOT NULL,
    process_name text,
    version_tag text,
    tenant_id text NOT NULL,
    state text NOT NULL,
    business_id text,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    tokens json NOT NULL,
    then_ json,
    work json,
    start json,
    start_lock text,
    terminate_after text[],
    trace text,
    registered json,
    occurrences json,
    awaiting_reset json,
    suspended_at timestamp with time zone,
    suspended_reason text,
    suspended_work json,
    work_rows integer DEFAULT 0 NOT NULL,
    suspended_rows integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    CONSTRAINT process_instances_pkey PRIMARY KEY (process_instance_key)
) WITH (autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_scale_factor=0.05, fillfactor=80);
CREATE INDEX process_instances_business ON process_instances USING btree (business_id) WHERE business_id IS NOT NULL;
CREATE INDEX process_instances_definition ON process_instances USING btree (process_definition_key, process_instance_key);
CREATE INDEX process_instances_due ON process_instances USING btree (due_at) WHERE due_at IS NOT NULL AND ended_at IS NULL;
CREATE INDEX process_instances_ended ON process_instances USING btree (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX process_instances_incidents ON process_instances USING btree (process_instance_key) WHERE incidents > 0 AND ended_at IS NULL;
CREATE INDEX process_instances_incidents_definition ON process_instances USING btree (process_definition_key) WHERE incidents > 0 AND ended_at IS NULL;
CREATE INDEX process_instances_late ON process_instances USING btree (started_at) WHERE (ended_at - started_at) < '00:00:00'::interval OR (ended_at - started_at) > '00:01:00'::interval;
CREATE INDEX process_instances_live ON process_instances USING btree (part_key) WHERE ended_at IS NULL;
CREATE INDEX process_instances_open ON process_instances USING btree (process_definition_key, started_at) INCLUDE (process_instance_key) WHERE ended_at IS NULL AND due_at IS NULL;
CREATE INDEX process_instances_parent ON process_instances USING btree (parent_process_instance_key) WHERE parent_process_instance_key IS NOT NULL;
CREATE INDEX process_instances_process_started ON process_instances USING btree (process_id, started_at, process_instance_key);
CREATE INDEX process_instances_started ON process_instances USING btree (started_at);
CREATE INDEX process_instances_suspended ON process_instances USING btree (process_instance_key) WHERE suspended_at IS NOT NULL;
CREATE INDEX process_instances_tags ON process_instances USING gin (tags) WHERE tags <> '{}'::text[];
CREATE INDEX process_instances_terminated ON process_instances USING btree (process_id, process_instance_key) WHERE state = 'TERMINATED'::text AND ended_at IS NOT NULL;
CREATE TRIGGER process_instances_deleted AFTER DELETE ON process_instances REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_process_instance_usage();

-- table resources
CREATE TABLE resources (
    sha256 text NOT NULL,
    bytes bytea NOT NULL,
    stored_at timestamp with time zone DEFAULT now() NOT NULL,
    unused_since timestamp with time zone,
    CONSTRAINT resources_pkey PRIMARY KEY (sha256)
);
CREATE INDEX resources_unused ON resources USING btree (unused_since) WHERE unused_since IS NOT NULL;

-- table retention_clocks
CREATE TABLE retention_clocks (
    partition_id integer NOT NULL,
    at timestamp with time zone NOT NULL,
    moves bigint DEFAULT 0 NOT NULL,
    deleted bigint DEFAULT 0 NOT NULL,
    ran_moves bigint DEFAULT '-1'::integer NOT NULL,
    ran_at timestamp with time zone,
    ran_deleted bigint DEFAULT 0 NOT NULL,
    problem text,
    problem_since timestamp with time zone,
    kept_key bigint,
    kept_due timestamp with time zone,
    kept_by text,
    logs_kept_by text,
    CONSTRAINT retention_clocks_pkey PRIMARY KEY (partition_id)
);

-- table roles
CREATE TABLE roles (
    role_id text NOT NULL,
    key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    name text NOT NULL,
    description text,
    built_in boolean DEFAULT false NOT NULL,
    CONSTRAINT roles_key_key UNIQUE (key),
    CONSTRAINT roles_pkey PRIMARY KEY (role_id)
);
CREATE TRIGGER roles_changed AFTER INSERT OR DELETE OR UPDATE ON roles FOR EACH STATEMENT EXECUTE FUNCTION notify_identities();

-- table saved_views
CREATE TABLE saved_views (
    view_key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    tenant_id text NOT NULL,
    owner_type text NOT NULL,
    owner_id text NOT NULL,
    owner_provider text NOT NULL,
    resource text NOT NULL,
    name text NOT NULL,
    query text NOT NULL,
    is_shared boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT saved_views_owner_type_owner_id_owner_provider_tenant_id_re_key UNIQUE (owner_type, owner_id, owner_provider, tenant_id, resource, name),
    CONSTRAINT saved_views_pkey PRIMARY KEY (view_key)
);
CREATE INDEX saved_views_shared ON saved_views USING btree (tenant_id) WHERE is_shared;

-- table schema_migrations
CREATE TABLE schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT schema_migrations_pkey PRIMARY KEY (version)
);

-- table sessions
CREATE TABLE sessions (
    sha256 bytea NOT NULL,
    username text NOT NULL,
    provider text NOT NULL,
    name text,
    email text,
    claims text DEFAULT '[]'::text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    CONSTRAINT sessions_key_key UNIQUE (key),
    CONSTRAINT sessions_pkey PRIMARY KEY (sha256),
    CONSTRAINT sessions_provider_check CHECK (provider = ANY (ARRAY['PASSWORD'::text, 'OIDC'::text]))
);
CREATE INDEX sessions_by_expiry ON sessions USING btree (expires_at);
CREATE INDEX sessions_by_user ON sessions USING btree (username, provider);
CREATE TRIGGER sessions_ended AFTER DELETE ON sessions REFERENCING OLD TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION notify_ended_sessions();

-- table since_recovery
CREATE UNLOGGED TABLE since_recovery (
    one boolean DEFAULT true NOT NULL,
    database text,
    CONSTRAINT since_recovery_one_check CHECK (one),
    CONSTRAINT since_recovery_pkey PRIMARY KEY (one)
);

-- table slot_detours
CREATE TABLE slot_detours (
    partition_id integer NOT NULL,
    previous integer NOT NULL,
    slots smallint[] NOT NULL,
    held boolean NOT NULL,
    CONSTRAINT slot_detours_pkey PRIMARY KEY (partition_id)
);

-- table slots
CREATE TABLE slots (
    slot smallint NOT NULL,
    partition_id integer NOT NULL,
    CONSTRAINT slots_pkey PRIMARY KEY (slot),
    CONSTRAINT slots_slot_check CHECK (slot >= 0 AND slot <= 1023)
);

-- table start_locks
CREATE TABLE start_locks (
    process_instance_key bigint NOT NULL,
    slot smallint GENERATED ALWAYS AS (slot_of(tenant_id, correlation_key)) STORED NOT NULL,
    tenant_id text NOT NULL,
    correlation_key text NOT NULL,
    process_id text NOT NULL,
    element_id text,
    kept json,
    deadline_ms bigint,
    CONSTRAINT start_locks_pkey PRIMARY KEY (process_instance_key)
);
CREATE INDEX start_locks_channel ON start_locks USING btree (slot, tenant_id, md5(correlation_key));
CREATE INDEX start_locks_deadline ON start_locks USING btree (deadline_ms) WHERE deadline_ms IS NOT NULL;

-- table start_subscriptions
CREATE TABLE start_subscriptions (
    subscription_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    tenant_id text NOT NULL,
    process_id text NOT NULL,
    element_id text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    together boolean DEFAULT false NOT NULL,
    properties json,
    CONSTRAINT start_subscriptions_kind_check CHECK (kind = ANY (ARRAY['MESSAGE'::text, 'SIGNAL'::text, 'CONDITION'::text])),
    CONSTRAINT start_subscriptions_pkey PRIMARY KEY (subscription_key)
);

-- table stuck_timers
CREATE TABLE stuck_timers (
    timer_key bigint NOT NULL,
    due_at_ms bigint NOT NULL,
    partition_id integer NOT NULL,
    noted_at timestamp with time zone NOT NULL,
    reason text NOT NULL,
    CONSTRAINT stuck_timers_pkey PRIMARY KEY (timer_key, due_at_ms)
);

-- table subscriptions
CREATE TABLE subscriptions (
    subscription_key bigint NOT NULL,
    root_key bigint NOT NULL,
    part_key bigint,
    process_instance_key bigint NOT NULL,
    element_instance_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    process_version integer NOT NULL,
    interrupting boolean NOT NULL,
    process_id text NOT NULL,
    process_name text,
    target_element_id text NOT NULL,
    type text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    correlation_key text,
    state text NOT NULL,
    business_id text,
    tenant_id text NOT NULL,
    suspended boolean DEFAULT false NOT NULL,
    CONSTRAINT subscriptions_kind_check CHECK (kind = ANY (ARRAY['MESSAGE'::text, 'SIGNAL'::text, 'CONDITION'::text])),
    CONSTRAINT subscriptions_pkey PRIMARY KEY (subscription_key),
    CONSTRAINT subscriptions_state_check CHECK (state = ANY (ARRAY['CREATED'::text, 'CORRELATED'::text, 'DELETED'::text])),
    CONSTRAINT subscriptions_type_check CHECK (type = ANY (ARRAY['BOUNDARY'::text, 'INTERMEDIATE'::text, 'EVENT_SUB_PROCESS'::text]))
) WITH (fillfactor=85);
CREATE INDEX subscriptions_ended ON subscriptions USING btree (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX subscriptions_instance ON subscriptions USING btree (process_instance_key, subscription_key);
CREATE INDEX subscriptions_live ON subscriptions USING btree (part_key) WHERE ended_at IS NULL;
CREATE INDEX subscriptions_open ON subscriptions USING btree (process_definition_key, process_instance_key) WHERE kind = 'MESSAGE'::text AND ended_at IS NULL;
CREATE INDEX subscriptions_signal ON subscriptions USING btree (tenant_id, md5(name), subscription_key) WHERE kind = 'SIGNAL'::text AND ended_at IS NULL;
CREATE INDEX subscriptions_suspended ON subscriptions USING btree (process_instance_key, subscription_key) WHERE suspended AND ended_at IS NULL;

-- table tenant_partitions
CREATE TABLE tenant_partitions (
    tenant_id text NOT NULL,
    partition_id integer NOT NULL,
    CONSTRAINT tenant_partitions_pkey PRIMARY KEY (tenant_id, partition_id),
    CONSTRAINT tenant_partitions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id) ON DELETE CASCADE
);

-- table tenants
CREATE TABLE tenants (
    tenant_id text NOT NULL,
    key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    name text NOT NULL,
    description text,
    CONSTRAINT tenants_key_key UNIQUE (key),
    CONSTRAINT tenants_pkey PRIMARY KEY (tenant_id)
);
CREATE TRIGGER tenants_changed AFTER INSERT OR DELETE OR UPDATE ON tenants FOR EACH STATEMENT EXECUTE FUNCTION notify_identities();

-- table timers
CREATE TABLE timers (
    timer_key bigint NOT NULL,
    root_key bigint,
    part_key bigint,
    process_instance_key bigint,
    element_instance_key bigint,
    process_definition_key bigint NOT NULL,
    due_at_ms bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    triggered_at timestamp with time zone,
    ended_at timestamp with time zone,
    partition_id integer NOT NULL,
    repetitions integer NOT NULL,
    process_id text NOT NULL,
    target_element_id text NOT NULL,
    type text NOT NULL,
    state text NOT NULL,
    tenant_id text NOT NULL,
    cycle json,
    CONSTRAINT timers_due_at_ms_check CHECK (due_at_ms >= 0 AND due_at_ms <= '253402300799999'::bigint),
    CONSTRAINT timers_pkey PRIMARY KEY (timer_key),
    CONSTRAINT timers_state_check CHECK (state = ANY (ARRAY['PENDING'::text, 'TRIGGERED'::text, 'CANCELED'::text, 'FAILED'::text, 'SUSPENDED'::text])) NOT VALID,
    CONSTRAINT timers_type_check CHECK (type = ANY (ARRAY['BOUNDARY'::text, 'INTERMEDIATE'::text, 'START_EVENT'::text, 'EVENT_SUB_PROCESS'::text]))
);
CREATE INDEX timers_definition ON timers USING btree (process_definition_key) WHERE ended_at IS NULL AND root_key IS NULL;
CREATE INDEX timers_due ON timers USING btree (partition_id, due_at_ms, timer_key) WHERE state = 'PENDING'::text;
CREATE INDEX timers_ended ON timers USING btree (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX timers_instance ON timers USING btree (process_instance_key, timer_key);
CREATE INDEX timers_live ON timers USING btree (part_key) WHERE ended_at IS NULL AND part_key IS NOT NULL;
CREATE INDEX timers_suspended ON timers USING btree (process_instance_key, timer_key) WHERE state = 'SUSPENDED'::text;
CREATE UNIQUE INDEX timers_pending_target ON timers USING btree (element_instance_key, target_element_id) WHERE state = 'PENDING'::text AND element_instance_key IS NOT NULL;

-- table transaction_inbox
CREATE TABLE transaction_inbox (
    target_partition integer NOT NULL,
    id bigint NOT NULL,
    tenant_id text NOT NULL,
    intent text NOT NULL,
    key bigint,
    payload bytea NOT NULL,
    size integer NOT NULL,
    audit text NOT NULL,
    role_name text NOT NULL,
    began_at timestamp with time zone DEFAULT transaction_timestamp() NOT NULL,
    CONSTRAINT transaction_inbox_pkey PRIMARY KEY (target_partition, id)
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500);

-- table transaction_outcomes
CREATE TABLE transaction_outcomes (
    target_partition integer NOT NULL,
    id bigint NOT NULL,
    tenant_id text NOT NULL,
    role_name text NOT NULL,
    "position" bigint,
    execution_id uuid,
    moved_at timestamp with time zone NOT NULL,
    CONSTRAINT transaction_outcomes_pkey PRIMARY KEY (target_partition, id)
);
CREATE INDEX transaction_outcomes_age ON transaction_outcomes USING btree (moved_at);

-- table unhashed_variables
CREATE TABLE unhashed_variables (
    partition_id integer NOT NULL,
    behind bigint NOT NULL,
    upto bigint,
    CONSTRAINT unhashed_variables_pkey PRIMARY KEY (partition_id)
);

-- table usage_secret
CREATE TABLE usage_secret (
    secret bytea NOT NULL
);

-- table user_groups
CREATE TABLE user_groups (
    group_id text NOT NULL,
    key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    name text NOT NULL,
    description text,
    CONSTRAINT user_groups_key_key UNIQUE (key),
    CONSTRAINT user_groups_pkey PRIMARY KEY (group_id)
);
CREATE TRIGGER groups_changed AFTER INSERT OR DELETE OR UPDATE ON user_groups FOR EACH STATEMENT EXECUTE FUNCTION notify_identities();

-- table user_task_comments
CREATE TABLE user_task_comments (
    user_task_key bigint NOT NULL,
    comment_key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    process_instance_key bigint NOT NULL,
    root_key bigint NOT NULL,
    tenant_id text NOT NULL,
    author text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    text text NOT NULL,
    archive_file text,
    CONSTRAINT user_task_comments_pkey PRIMARY KEY (user_task_key, comment_key)
);
CREATE INDEX user_task_comments_instance ON user_task_comments USING btree (process_instance_key);
CREATE INDEX user_task_comments_root ON user_task_comments USING btree (root_key);

-- table user_tasks
CREATE TABLE user_tasks (
    user_task_key bigint NOT NULL,
    root_key bigint NOT NULL,
    part_key bigint,
    process_instance_key bigint NOT NULL,
    element_instance_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    form_key bigint,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    due_at timestamp with time zone,
    follow_up_at timestamp with time zone,
    process_version integer NOT NULL,
    priority integer NOT NULL,
    process_id text NOT NULL,
    process_name text,
    element_id text NOT NULL,
    name text,
    state text NOT NULL,
    assignee text,
    external_form text,
    business_id text,
    tenant_id text NOT NULL,
    tags text[] NOT NULL,
    candidate_groups text[] NOT NULL,
    candidate_users text[] NOT NULL,
    headers json NOT NULL,
    transition json,
    CONSTRAINT user_tasks_pkey PRIMARY KEY (user_task_key),
    CONSTRAINT user_tasks_priority_check CHECK (priority >= 0 AND priority <= 100)
) WITH (fillfactor=85);
CREATE INDEX user_tasks_assignee ON user_tasks USING btree (assignee, user_task_key) WHERE ended_at IS NULL;
CREATE INDEX user_tasks_created ON user_tasks USING btree (created_at);
CREATE INDEX user_tasks_groups ON user_tasks USING gin (candidate_groups) WHERE ended_at IS NULL;
CREATE INDEX user_tasks_instance ON user_tasks USING btree (process_instance_key, user_task_key);
CREATE INDEX user_tasks_live ON user_tasks USING btree (part_key) WHERE ended_at IS NULL;
CREATE INDEX user_tasks_users ON user_tasks USING gin (candidate_users) WHERE ended_at IS NULL;
CREATE TRIGGER user_tasks_deleted AFTER DELETE ON user_tasks REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_assignee_usage();

-- table users
CREATE TABLE users (
    username text NOT NULL,
    key bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    name text,
    email text,
    password_hash text NOT NULL,
    CONSTRAINT users_key_key UNIQUE (key),
    CONSTRAINT users_pkey PRIMARY KEY (username)
);
CREATE TRIGGER password_changed AFTER UPDATE OF password_hash ON users FOR EACH ROW WHEN (old.password_hash IS DISTINCT FROM new.password_hash) EXECUTE FUNCTION end_sessions();
CREATE TRIGGER user_deleted AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION end_sessions();
CREATE TRIGGER user_deleted_with_tokens AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION revoke_tokens_of_user();
CREATE TRIGGER users_changed AFTER INSERT OR DELETE OR UPDATE ON users FOR EACH STATEMENT EXECUTE FUNCTION notify_identities();

-- table usual_durations
CREATE TABLE usual_durations (
    process_definition_key bigint NOT NULL,
    usual_ms bigint NOT NULL,
    computed_at timestamp with time zone NOT NULL,
    CONSTRAINT usual_durations_pkey PRIMARY KEY (process_definition_key)
) WITH (fillfactor=50);

-- table variables
CREATE TABLE variables (
    variable_key bigint NOT NULL,
    scope_key bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    root_key bigint NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    value text STORAGE EXTERNAL NOT NULL,
    normal_hash uuid,
    CONSTRAINT variables_of_scopes UNIQUE (process_instance_key, scope_key, name),
    CONSTRAINT variables_pkey PRIMARY KEY (variable_key)
) WITH (autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_scale_factor=0.05, fillfactor=100);
CREATE INDEX variables_normal ON variables USING btree (name, normal_hash) WHERE normal_hash IS NOT NULL;
CREATE INDEX variables_value ON variables USING btree (name, md5(value));

-- table void_leases
CREATE UNLOGGED TABLE void_leases (
    token uuid NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT void_leases_pkey PRIMARY KEY (token)
);

-- table work_items
CREATE TABLE work_items (
    process_instance_key bigint NOT NULL,
    suspended boolean NOT NULL,
    number integer NOT NULL,
    items text NOT NULL,
    CONSTRAINT work_items_pkey PRIMARY KEY (process_instance_key, suspended, number)
);

-- view command_log_view
CREATE VIEW command_log_view WITH (security_invoker=true) AS
 SELECT c."position",
    c.at AS "timestamp",
    c.tenant_id,
    c.intent,
    convert_from(c.payload, 'UTF8'::name)::json AS payload,
    e.processed_at,
    e.rejection,
    c.partition_id
   FROM command_log c
     LEFT JOIN event_log e ON e.partition_id = c.partition_id AND e."position" = c."position" AND e.seq = 0;

-- view counted_durations
CREATE VIEW counted_durations WITH (security_invoker=true) AS
 SELECT element_durations.partition_id,
    element_durations.process_definition_key,
    element_durations.element_id,
    element_durations.bucket,
    element_durations.completed,
    element_durations.duration_ms
   FROM element_durations
UNION ALL
 SELECT p.id AS partition_id,
    c.process_definition_key,
    c.element_id,
    c.bucket,
    c.completed,
    c.duration_ms
   FROM partitions p
     LEFT JOIN element_count_totals t ON t.partition_id = p.id
     JOIN LATERAL ( SELECT c_1.partition_id,
            c_1.id,
            c_1.process_definition_key,
            c_1.element_id,
            c_1.active,
            c_1.completed,
            c_1.canceled,
            c_1.bucket,
            c_1.duration_ms
           FROM element_count_changes c_1
          WHERE c_1.partition_id = p.id AND c_1.id > COALESCE(t.until, 0::bigint) AND c_1.bucket >= 0) c ON true;

-- view counted_elements
CREATE VIEW counted_elements WITH (security_invoker=true) AS
 SELECT element_counts.partition_id,
    element_counts.process_definition_key,
    element_counts.element_id,
    element_counts.active,
    element_counts.completed,
    element_counts.canceled
   FROM element_counts
UNION ALL
 SELECT p.id AS partition_id,
    c.process_definition_key,
    c.element_id,
    c.active,
    c.completed,
    c.canceled
   FROM partitions p
     LEFT JOIN element_count_totals t ON t.partition_id = p.id
     JOIN LATERAL ( SELECT c_1.partition_id,
            c_1.id,
            c_1.process_definition_key,
            c_1.element_id,
            c_1.active,
            c_1.completed,
            c_1.canceled
           FROM element_count_changes c_1
          WHERE c_1.partition_id = p.id AND c_1.id > COALESCE(t.until, 0::bigint)) c ON true;

-- view counted_instance_durations
CREATE VIEW counted_instance_durations WITH (security_invoker=true) AS
 SELECT instance_durations.day,
    instance_durations.process_definition_key,
    instance_durations.bucket,
    instance_durations.completed
   FROM instance_durations
UNION ALL
 SELECT usage_day(COALESCE(c.at, clock_now())) AS day,
    c.process_definition_key,
    c.bucket,
    c.completed
   FROM partitions p
     LEFT JOIN element_count_totals t ON t.partition_id = p.id
     JOIN LATERAL ( SELECT c_1.partition_id,
            c_1.id,
            c_1.process_definition_key,
            c_1.element_id,
            c_1.active,
            c_1.completed,
            c_1.canceled,
            c_1.bucket,
            c_1.duration_ms,
            c_1.started,
            c_1.incidents,
            c_1.at
           FROM element_count_changes c_1
          WHERE c_1.partition_id = p.id AND c_1.id > COALESCE(t.until, 0::bigint) AND c_1.element_id = ''::text AND c_1.bucket >= 0) c ON true;

-- view counted_instances
CREATE VIEW counted_instances WITH (security_invoker=true) AS
 SELECT instance_counts.period,
    instance_counts.process_definition_key,
    instance_counts.started,
    instance_counts.completed,
    instance_counts.canceled,
    instance_counts.incidents
   FROM instance_counts
UNION ALL
 SELECT usage_period(COALESCE(c.at, clock_now())) AS period,
    c.process_definition_key,
        CASE
            WHEN c.at IS NULL THEN c.active + c.completed + c.canceled
            ELSE c.started::bigint
        END AS started,
    c.completed,
    c.canceled,
    c.incidents
   FROM partitions p
     LEFT JOIN element_count_totals t ON t.partition_id = p.id
     JOIN LATERAL ( SELECT c_1.partition_id,
            c_1.id,
            c_1.process_definition_key,
            c_1.element_id,
            c_1.active,
            c_1.completed,
            c_1.canceled,
            c_1.bucket,
            c_1.duration_ms,
            c_1.started,
            c_1.incidents,
            c_1.at
           FROM element_count_changes c_1
          WHERE c_1.partition_id = p.id AND c_1.id > COALESCE(t.until, 0::bigint) AND c_1.element_id = ''::text) c ON true;

-- view counted_jobs
CREATE VIEW counted_jobs WITH (security_invoker=true) AS
 SELECT job_counts.period,
    job_counts.tenant_id,
    job_counts.type,
    job_counts.status,
    job_counts.worker,
    job_counts.jobs,
    job_counts.last_at
   FROM job_counts
UNION ALL
 SELECT job_period(c.last_at) AS period,
    c.tenant_id,
    c.type,
    c.status,
    c.worker,
    c.jobs,
    c.last_at
   FROM partitions p
     LEFT JOIN job_count_totals t ON t.partition_id = p.id
     JOIN LATERAL ( SELECT c_1.partition_id,
            c_1.id,
            c_1.tenant_id,
            c_1.type,
            c_1.worker,
            c_1.status,
            c_1.jobs,
            c_1.last_at
           FROM job_count_changes c_1
          WHERE c_1.partition_id = p.id AND c_1.id > COALESCE(t.until, 0::bigint)) c ON true;

-- view engine_state
CREATE VIEW engine_state WITH (security_invoker=true) AS
 SELECT p.owner_node AS instance_id,
    p.id AS partition_id,
    b.to_pos AS last_processed_position,
    e.processed_at AS updated_at
   FROM partitions p
     LEFT JOIN LATERAL ( SELECT batches.to_pos
           FROM batches
          WHERE batches.partition_id = p.id
          ORDER BY batches.from_pos DESC
         LIMIT 1) b ON true
     LEFT JOIN event_log e ON e.partition_id = p.id AND e."position" = b.to_pos AND e.seq = 0;

-- view idempotency_keys_view
CREATE VIEW idempotency_keys_view WITH (security_invoker=true) AS
 SELECT i.key,
    i.tenant AS tenant_id,
    i."position" AS command_position,
    e.response AS response_body,
    c.at AS created_at,
    i.expires_at
   FROM idempotency_keys i
     LEFT JOIN command_log c ON c.partition_id = (i."position" >> 51)::integer AND c."position" = i."position"
     LEFT JOIN event_log e ON e.partition_id = (i."position" >> 51)::integer AND e."position" = i."position" AND e.seq = 0;

-- view message_subscriptions
CREATE VIEW message_subscriptions WITH (security_invoker=true) AS
 SELECT subscriptions.subscription_key,
    subscriptions.process_id,
    subscriptions.process_definition_key,
    subscriptions.process_name,
    subscriptions.process_version,
    subscriptions.process_instance_key,
    subscriptions.root_key,
    subscriptions.target_element_id AS element_id,
    subscriptions.element_instance_key,
    subscriptions.state,
    'PROCESS_EVENT'::text AS subscription_type,
    subscriptions.updated_at,
    subscriptions.name,
    subscriptions.correlation_key,
    subscriptions.tenant_id,
    subscriptions.business_id,
    subscriptions.ended_at,
    NULL::json AS properties
   FROM subscriptions
  WHERE subscriptions.kind = 'MESSAGE'::text
UNION ALL
 SELECT s.subscription_key,
    s.process_id,
    s.process_definition_key,
    d.name AS process_name,
    d.version AS process_version,
    NULL::bigint AS process_instance_key,
    NULL::bigint AS root_key,
    s.element_id,
    NULL::bigint AS element_instance_key,
    'CREATED'::text AS state,
    'START_EVENT'::text AS subscription_type,
    s.opened_at AS updated_at,
    s.name,
    NULL::text AS correlation_key,
    s.tenant_id,
    NULL::text AS business_id,
    NULL::timestamp with time zone AS ended_at,
    s.properties
   FROM start_subscriptions s
     JOIN process_definitions d USING (process_definition_key)
  WHERE s.kind = 'MESSAGE'::text;

-- view process_definitions_view
CREATE VIEW process_definitions_view WITH (security_invoker=true) AS
 SELECT d.process_definition_key,
    d.process_id AS bpmn_process_id,
    d.version,
    d.tenant_id,
    xml_text(r.bytes) AS bpmn_xml,
    jsonb_strip_nulls(jsonb_build_object('name', d.name, 'versionTag', d.version_tag, 'resourceName', d.resource_name, 'startFormId', d.start_form_id)) AS parsed_metadata,
    d.deployment_key,
    d.deployed_at,
    d.state
   FROM process_definitions d
     LEFT JOIN resources r ON r.sha256 = d.sha256;

-- view process_instances_view
CREATE VIEW process_instances_view WITH (security_invoker=true) AS
 SELECT process_instance_key,
    process_id AS bpmn_process_id,
    process_version AS version,
    process_definition_key,
    tenant_id,
        CASE
            WHEN state = ANY (ARRAY['COMPLETED'::text, 'TERMINATED'::text]) THEN state
            WHEN suspended_at IS NOT NULL THEN 'SUSPENDED'::text
            WHEN incidents > 0 THEN 'INCIDENT'::text
            ELSE 'ACTIVE'::text
        END AS state,
    started_at,
    ended_at,
    parent_process_instance_key,
    root_key AS root_process_instance_key,
    business_id,
    tags,
    suspended_at,
    suspended_reason
   FROM process_instances;

-- view timers_view
CREATE VIEW timers_view WITH (security_invoker=true) AS
 SELECT timer_key,
    process_instance_key,
    element_instance_key,
    tenant_id,
    type AS timer_type,
    target_element_id,
    to_timestamp((due_at_ms::numeric / 1000.0)::double precision) AS due_date,
        CASE
            WHEN cycle IS NOT NULL THEN repetitions
            ELSE NULL::integer
        END AS repetitions,
        CASE
            WHEN (cycle ->> 0) ~ '(^|/)P(\d{1,8}W|(\d{1,8}D)?(T(\d{1,8}H)?(\d{1,8}M)?(\d{1,8}([.]\d+)?S)?)?)$'::text AND (cycle ->> 0) ~ 'P.*\d'::text THEN (EXTRACT(epoch FROM "substring"(cycle ->> 0, 'P[^/]*$'::text)::interval) * 1000::numeric)::bigint
            ELSE NULL::bigint
        END AS interval_ms,
    state,
    created_at,
    triggered_at,
    ended_at,
    process_id AS bpmn_process_id,
    process_definition_key
   FROM timers;

-- function add_deferred(document jsonb)
CREATE OR REPLACE FUNCTION add_deferred(document jsonb)
 RETURNS uuid
 LANGUAGE plpgsql
AS $function$
DECLARE
    made uuid;
BEGIN
    LOOP
        INSERT INTO job_executions (job_type, payload, execute_at, unique_key)
        VALUES (document ->> 'type', nullif(document -> 'payload', 'null'),
            coalesce(from_epoch_ms((document ->> 'due_ms')::bigint), clock_now()), document ->> 'unique_key')
        ON CONFLICT DO NOTHING RETURNING id INTO made;
        IF made IS NULL THEN
            SELECT e.id INTO made FROM job_executions e
            WHERE e.job_type = document ->> 'type' AND e.unique_key = document ->> 'unique_key' AND e.state <> 'failed';
        END IF;
        EXIT WHEN made IS NOT NULL;
    END LOOP;
    RETURN made;
END $function$;

-- function add_document_part(upload bigint, at_byte bigint, size integer, part bytea, quota bigint)
CREATE OR REPLACE FUNCTION add_document_part(upload bigint, at_byte bigint, size integer, part bytea, quota bigint)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
DECLARE
    tenant text;
    object text;
BEGIN
    IF upload IS NULL OR at_byte IS NULL OR size IS NULL OR quota IS NULL OR at_byte < 0 OR size < 0 OR quota < 0 THEN
        RAISE EXCEPTION 'a part of a document needs a content, an offset, a size and a quota' USING ERRCODE = 'check_violation';
    END IF;
    SELECT c.tenant_id, c.object_name INTO tenant, object FROM document_contents c
    WHERE c.content_key = upload AND c.sha256 IS NULL AND c.bytes = at_byte AND c.alive_at > '-infinity' FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'GONE';
    END IF;
    IF (part IS NULL) <> (object IS NOT NULL) OR octet_length(part) <> size OR octet_length(part) = 0 THEN
        RAISE EXCEPTION 'a part of a document must have % bytes in its store', size USING ERRCODE = 'check_violation';
    END IF;
    UPDATE document_usage u SET bytes = u.bytes + size WHERE u.tenant_id = tenant AND (quota = 0 OR u.bytes + size <= quota);
    IF NOT FOUND THEN
        RETURN 'FULL';
    END IF;
    UPDATE document_contents c SET bytes = c.bytes + size, alive_at = clock_timestamp() WHERE c.content_key = upload;
    IF part IS NOT NULL THEN
        INSERT INTO document_parts (content_key, first, content) VALUES (upload, at_byte, part);
    END IF;
    RETURN 'STORED';
END $function$;

-- function append_commands(p integer, aid uuid, since bigint, cmds json, appender uuid, number bigint)
CREATE OR REPLACE FUNCTION append_commands(p integer, aid uuid, since bigint, cmds json, appender uuid, number bigint)
 RETURNS TABLE(ord integer, pos bigint, replayed boolean, same_body boolean, behind bigint)
 LANGUAGE plpgsql
 SET lock_timeout TO '5s'
AS $function$
#variable_conflict use_column
DECLARE
    fresh  int[];
    moment timestamptz := clock_now();
    positions CONSTANT regclass := ('log_position_' || p)::regclass;
BEGIN
    -- 1: keys first, sorted, before the partition's lock: inside it they would deadlock across partitions.
    WITH c AS (
        SELECT * FROM json_to_recordset(cmds) AS t(o int, tenant text, key text, sha text)
    ), k AS (
        INSERT INTO idempotency_keys AS i (tenant, key, body_sha, expires_at)
        SELECT DISTINCT ON (tenant, key) tenant, key, decode(sha, 'hex'), moment + interval '24 h'
        FROM c WHERE key IS NOT NULL ORDER BY tenant, key, o
        ON CONFLICT (tenant, key) DO UPDATE
            SET body_sha = excluded.body_sha, position = NULL, expires_at = excluded.expires_at
            WHERE i.expires_at <= moment
        RETURNING tenant, key
    )
    SELECT array_agg(o) INTO fresh FROM (SELECT min(c.o) o FROM c JOIN k USING (tenant, key) GROUP BY tenant, key) m;
    -- 2: the lock, a statement of its own, so that the next one has a new snapshot and nextval runs under the lock.
    PERFORM pg_advisory_xact_lock(4711, p);
    IF NOT EXISTS (SELECT FROM appenders a WHERE a.id = appender AND a.session = number) THEN
        PERFORM refuse_append(appender, number);
    END IF;
    IF since IS NOT NULL AND EXISTS (
        SELECT FROM command_log l WHERE l.partition_id = p AND l.position > since AND l.append_id = aid
    ) THEN
        -- The first try of this append did happen: the same answer again.
        RETURN QUERY
        SELECT c.o, coalesce(l.position, i.position), l.ord IS NULL, l.ord IS NOT NULL OR i.body_sha = decode(c.sha, 'hex'),
               NULL::bigint
        FROM json_to_recordset(cmds) AS c(o int, tenant text, key text, sha text)
        LEFT JOIN command_log l ON l.partition_id = p AND l.position > since AND l.append_id = aid AND l.ord = c.o
        LEFT JOIN LATERAL (
            SELECT * FROM idempotency_keys k WHERE k.tenant = c.tenant AND k.key = c.key OFFSET 0
        ) i ON true
        ORDER BY 1;
        RETURN;
    END IF;
    -- 3: the fresh commands, in order. Keys are looked up one by one (LATERAL with OFFSET 0, ON CONFLICT), never joined: PostgreSQL
    -- makes the plan while the table is empty, and a join that it plans then reads the whole table for ever after.
    RETURN QUERY
    WITH w AS MATERIALIZED (
        SELECT s.*, CASE WHEN key IS NULL OR o = ANY (fresh) THEN nextval(positions) END pos
        FROM (
            SELECT * FROM json_to_recordset(cmds)
                AS t(o int, tenant text, key text, sha text, intent text, subject bigint, payload text, trace text,
                    audit text)
            ORDER BY o
        ) s
    ), ins AS (
        INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, key, payload, trace, audit)
        SELECT p, pos, aid, o, moment, tenant, intent, subject, convert_to(payload, 'UTF8'), trace, audit
        FROM w WHERE pos IS NOT NULL
    ), upd AS (
        INSERT INTO idempotency_keys AS i (tenant, key, body_sha, expires_at, position)
        SELECT tenant, key, decode(sha, 'hex'), moment, pos FROM w WHERE pos IS NOT NULL AND key IS NOT NULL
        ON CONFLICT (tenant, key) DO UPDATE SET position = excluded.position
    )
    SELECT w.o, coalesce(w.pos, first.pos, i.position), w.pos IS NULL,
           w.pos IS NOT NULL OR coalesce(decode(first.sha, 'hex'), i.body_sha) = decode(w.sha, 'hex'),
           coalesce((SELECT max(position) FROM command_log WHERE partition_id = p), p::bigint << 51)
    FROM w
    LEFT JOIN w first ON w.pos IS NULL AND first.pos IS NOT NULL AND first.tenant = w.tenant AND first.key = w.key
    LEFT JOIN LATERAL (
        SELECT k.position, k.body_sha FROM idempotency_keys k
        WHERE w.pos IS NULL AND k.tenant = w.tenant AND k.key = w.key OFFSET 0
    ) i ON true
    ORDER BY w.o;
END $function$;

-- function append_fresh(p integer, aid uuid, cmds json, flush boolean, appender uuid, number bigint)
CREATE OR REPLACE FUNCTION append_fresh(p integer, aid uuid, cmds json, flush boolean, appender uuid, number bigint)
 RETURNS TABLE(pos bigint, at_ms bigint, clock_revision bigint, definitions bigint)
 LANGUAGE plpgsql
 SET lock_timeout TO '5s'
AS $function$
DECLARE
    moment timestamptz;
    positions CONSTANT regclass := ('log_position_' || p)::regclass;
BEGIN
    SELECT coalesce(c.pinned_at, now() + c.shift), c.revision, d.n
    INTO moment, clock_revision, definitions
    FROM clock c, definitions_seq d;
    at_ms := to_epoch_ms(moment);
    IF NOT flush THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    -- A statement of its own: nextval runs under the lock, so that positions become visible in order.
    PERFORM pg_advisory_xact_lock(4711, p);
    RETURN QUERY
    INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, key, payload, trace, audit)
    SELECT p, nextval(positions), aid, s.o, moment, s.tenant, s.intent, s.subject, convert_to(s.payload, 'UTF8'), s.trace,
           s.audit
    FROM (
        SELECT * FROM json_to_recordset(cmds)
            AS t(o int, tenant text, intent text, subject bigint, payload text, trace text, audit text)
        ORDER BY o
    ) s
    WHERE EXISTS (SELECT FROM appenders a WHERE a.id = appender AND a.session = number)
    RETURNING position, at_ms, clock_revision, definitions;
    IF NOT FOUND THEN
        PERFORM refuse_append(appender, number);
    END IF;
END $function$;

-- function archive_lacks_comments(root bigint)
CREATE OR REPLACE FUNCTION archive_lacks_comments(root bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM user_task_comments c
        WHERE c.root_key = root AND NOT EXISTS (
            SELECT FROM archive_files f WHERE f.name = c.archive_file AND f.state = 'COMPLETE' AND root = ANY (f.waiting))
    ) AND EXISTS (
        SELECT FROM archive_files f
        WHERE f.partition_id = (root >> 51)::int AND f.state = 'COMPLETE' AND f.waiting <> '{}' AND root = ANY (f.waiting));
END $function$;

-- function begin_appends(appender uuid, number bigint)
CREATE OR REPLACE FUNCTION begin_appends(appender uuid, number bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM skip_lost_positions();
    DELETE FROM appenders a WHERE a.id <> appender AND NOT EXISTS (SELECT FROM pg_stat_activity s WHERE s.pid = a.pid);
    INSERT INTO appenders AS a VALUES (appender, number, pg_backend_pid())
    ON CONFLICT (id) DO UPDATE SET session = excluded.session, pid = excluded.pid WHERE a.session < excluded.session;
END $function$;

-- function check_json(name text, value jsonb, depth integer)
CREATE OR REPLACE FUNCTION check_json(name text, value jsonb, depth integer)
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
DECLARE
    below CONSTANT jsonpath := format('strict $.**{%s} ? (@.type() == "object" || @.type() == "array")', depth + 1);
    large CONSTANT jsonpath := 'strict $.** ? (@.type() == "number" && (@ > $most || @ < -$most))';
BEGIN
    IF octet_length(value::text) > 1048576 THEN
        RAISE EXCEPTION '%: % bytes of JSON are more than 1048576', name, octet_length(value::text)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Keep large content in a document, and queue its reference.';
    END IF;
    IF jsonb_path_exists(value, below) THEN
        RAISE EXCEPTION '%: the nesting is deeper than % levels', name, depth USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF jsonb_path_exists(value, large, '{"most": 1.7976931348623157e308}') THEN
        RAISE EXCEPTION '%: a number is outside of the range of floats', name USING ERRCODE = 'invalid_parameter_value';
    END IF;
END $function$;

-- function check_text(name text, value text, most integer, optional boolean)
CREATE OR REPLACE FUNCTION check_text(name text, value text, most integer, optional boolean)
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
BEGIN
    IF NOT optional AND value IS NULL OR value = '' AND name <> 'correlation_key' THEN
        RAISE EXCEPTION '%: a value is required', name USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF char_length(value) > most THEN
        RAISE EXCEPTION '%: % characters are more than %', name, char_length(value), most
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END $function$;

-- function check_variables(variables jsonb)
CREATE OR REPLACE FUNCTION check_variables(variables jsonb)
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
DECLARE
    long text;
BEGIN
    IF jsonb_typeof(variables) IS DISTINCT FROM 'object' THEN
        RAISE EXCEPTION 'variables: this is %, and must be a JSON object', coalesce(jsonb_typeof(variables), 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF (SELECT count(*) FROM jsonb_object_keys(variables)) > 10000 THEN
        RAISE EXCEPTION 'variables: there must not be more than 10000' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT name INTO long FROM jsonb_object_keys(variables) AS name WHERE octet_length(name) > 1024 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'variables: the name of a variable is longer than 1024 bytes: "%…"', left(long, 50)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM check_json('variables', variables, 62);
END $function$;

-- function clock_now()
CREATE OR REPLACE FUNCTION clock_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$ SELECT coalesce(pinned_at, now() + shift) FROM clock $function$;

-- function complete_document_content(upload bigint, sum text)
CREATE OR REPLACE FUNCTION complete_document_content(upload bigint, sum text)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
    mine document_contents;
    same bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(4716, hashtext(sum));
    SELECT * INTO mine FROM document_contents c
    WHERE c.content_key = upload AND c.sha256 IS NULL AND c.alive_at > '-infinity' FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT c.content_key INTO same FROM document_contents c
    WHERE c.tenant_id = mine.tenant_id AND c.store_id = mine.store_id AND c.sha256 = sum FOR UPDATE;
    IF FOUND THEN
        UPDATE document_contents c SET alive_at = '-infinity' WHERE c.content_key = upload;
        RETURN same;
    END IF;
    UPDATE document_contents c SET sha256 = sum WHERE c.content_key = upload;
    RETURN upload;
END $function$;

-- function complete_job(job_key bigint, variables jsonb, lease text)
CREATE OR REPLACE FUNCTION complete_job(job_key bigint, variables jsonb DEFAULT '{}'::jsonb, lease text DEFAULT NULL::text)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO current_schema, 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
    caller  text;
    allowed text;
    job     record;
BEGIN
    SELECT r.caller, r.tenants INTO caller, allowed FROM tenants_of_database_role() r;
    variables := coalesce(variables, '{}');
    PERFORM check_variables(variables);
    SELECT j.ended_at IS NOT NULL AS ended, j.lease_token::text AS token INTO job FROM jobs j
    WHERE j.job_key = job_key AND (allowed = '*' OR j.tenant_id = ANY (string_to_array(allowed, ',')));
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no job with the key %', coalesce(job_key::text, 'NULL') USING ERRCODE = 'no_data_found';
    END IF;
    IF job.ended THEN
        RAISE EXCEPTION 'the job % has ended', job_key USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    IF lease IS NOT NULL AND lease IS DISTINCT FROM job.token THEN
        RAISE EXCEPTION 'the job % has another lease: it was given to another worker, or given back', job_key
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    RETURN queue_in_transaction((job_key >> 51)::int, allowed, 'JOB:COMPLETE', job_key,
        json_build_object('key', job_key, 'variables', variables, 'lease', lease)::text,
        caller, jsonb_strip_nulls(jsonb_build_object('entity_type', 'JOB', 'operation', 'COMPLETE', 'key', job_key,
            'description', 'SQL complete_job', 'tenants', nullif(allowed, '*'))));
END $function$;

-- function database_identity()
CREATE OR REPLACE FUNCTION database_identity()
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
    server text := '';
BEGIN
    IF has_function_privilege('pg_control_system()', 'EXECUTE') THEN
        SELECT system_identifier INTO server FROM pg_control_system();
    END IF;
    RETURN (SELECT format('%s/%s/%s', server, oid, pg_relation_filenode('since_recovery')) FROM pg_database
            WHERE datname = current_database());
END $function$;

-- function defer(job_type text, payload jsonb, at timestamp with time zone, unique_key text, allow_unknown boolean)
CREATE OR REPLACE FUNCTION defer(job_type text, payload jsonb DEFAULT NULL::jsonb, at timestamp with time zone DEFAULT NULL::timestamp with time zone, unique_key text DEFAULT NULL::text, allow_unknown boolean DEFAULT false)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO current_schema, 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
    caller  text;
    allowed text;
BEGIN
    SELECT r.caller, r.tenants INTO caller, allowed FROM tenants_of_database_role() r;
    IF allowed <> '*' THEN
        RAISE EXCEPTION 'the role "%" may not add background jobs: it does not have all tenants', caller
            USING ERRCODE = 'insufficient_privilege', HINT = format('vivero database-role grant %I --all-tenants', caller);
    END IF;
    PERFORM check_text('job_type', job_type, 256, false), check_text('unique_key', unique_key, 256, true);
    IF payload IS NOT NULL THEN
        PERFORM check_json('payload', payload, 62);
    END IF;
    IF starts_with(job_type, 'vivero.') THEN
        RAISE EXCEPTION 'job_type: names that begin with "vivero." belong to the program''s own chores'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF at IS NOT NULL AND (NOT isfinite(at) OR extract(year FROM at) NOT BETWEEN 1 AND 9999) THEN
        RAISE EXCEPTION 'at: % is not in the years 1 to 9999', at USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF EXISTS (SELECT FROM job_executions e WHERE e.job_type = job_type AND e.schedule IS NOT NULL AND e.state <> 'failed')
        OR EXISTS (SELECT FROM job_executions e
            WHERE e.job_type = job_type AND e.partition_id IS NOT NULL AND e.schedule IS NULL) THEN
        RAISE EXCEPTION 'job_type: "%" has a schedule or follows events, and runs by itself', job_type
            USING ERRCODE = 'invalid_parameter_value', HINT = 'vivero background run ID lets its execution run now.';
    END IF;
    IF NOT coalesce(allow_unknown, false)
        AND NOT EXISTS (SELECT FROM job_dispatchers d WHERE job_type = ANY (d.types)) THEN
        RAISE EXCEPTION 'no node runs background jobs of the type "%", and none has lately', job_type
            USING ERRCODE = 'no_data_found', HINT = 'With allow_unknown => true the job waits for a node that does.';
    END IF;
    RETURN queue_in_transaction(0, '*', 'BACKGROUND_JOB:ADD', NULL,
        jsonb_build_object('type', job_type, 'payload', payload, 'due_ms', to_epoch_ms(at), 'unique_key', unique_key)::text,
        caller, jsonb_build_object('entity_type', 'BACKGROUND_JOB', 'operation', 'CREATE', 'description', 'SQL defer'));
END $function$;

-- function delete_old_log_rows(p integer, before timestamp with time zone, most integer)
CREATE OR REPLACE FUNCTION delete_old_log_rows(p integer, before timestamp with time zone, most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
    size      CONSTANT bigint := 10000000;
    base      CONSTANT bigint := p::bigint << 51;
    processed CONSTANT bigint := coalesce((SELECT b.to_pos FROM batches b WHERE b.partition_id = p ORDER BY b.from_pos DESC LIMIT 1), base);
    consumed  CONSTANT bigint := (SELECT min(c.position) FROM event_consumers c WHERE c.partition_id = p);
    free      CONSTANT bigint := least(processed, consumed, (
        SELECT c.position FROM command_log c WHERE c.partition_id = p ORDER BY c.position DESC LIMIT 1));
    lower     CONSTANT bigint := base + (processed - base) / size * size;
    upto      bigint;
    deleted   int;
BEGIN
    SELECT e.position INTO upto FROM event_log e WHERE e.partition_id = p ORDER BY e.position, e.seq LIMIT 1;
    IF upto IS NULL OR upto < lower THEN
        RETURN 0;
    END IF;
    SELECT max(s.position) INTO upto FROM (
        SELECT e.position FROM event_log e WHERE e.partition_id = p AND e.position < free ORDER BY e.position, e.seq LIMIT most) s;
    upto := least(upto, (
        SELECT e.position - 1 FROM event_log e
        WHERE e.partition_id = p AND e.position <= upto AND (e.processed_at >= before OR EXISTS (
            SELECT FROM process_instances i WHERE i.process_instance_key = e.root_key AND i.ended_at IS NULL))
        ORDER BY e.position LIMIT 1));
    DELETE FROM command_log c WHERE c.partition_id = p AND c.position <= upto;
    DELETE FROM event_log e WHERE e.partition_id = p AND e.position <= upto;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $function$;

-- function delete_trees(roots bigint[], why text)
CREATE OR REPLACE FUNCTION delete_trees(roots bigint[], why text)
 RETURNS TABLE(root bigint, verdict text)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
    ended     bigint[];
    instances bigint[];
    held      bigint[];
    held_by   text[];
    bodies    bigint[];
BEGIN
    ended := ARRAY(
        SELECT p.process_instance_key FROM process_instances p
        WHERE p.process_instance_key = ANY (roots) AND p.parent_process_instance_key IS NULL AND p.ended_at IS NOT NULL
        ORDER BY p.process_instance_key FOR UPDATE);

    WITH found AS MATERIALIZED (
        SELECT k.root, k.instances, coalesce(k.keeper, CASE
            WHEN why <> 'ERASURE' AND archive_lacks_comments(k.root) THEN 'a comment that the archive lacks' END) AS keeper
        FROM keepers_of_trees(ended) k)
    SELECT ARRAY(SELECT f.root FROM found f WHERE f.keeper IS NULL),
        ARRAY(SELECT i.key FROM found f CROSS JOIN unnest(f.instances) AS i(key) WHERE f.keeper IS NULL),
        ARRAY(SELECT f.root FROM found f WHERE f.keeper IS NOT NULL ORDER BY f.root),
        ARRAY(SELECT f.keeper FROM found f WHERE f.keeper IS NOT NULL ORDER BY f.root)
    INTO ended, instances, held, held_by;

    IF cardinality(ended) > 0 THEN
        bodies := ARRAY(
            SELECT e.element_instance_key FROM element_instances e
            WHERE e.process_instance_key = ANY (instances) AND e.element_type = 'MULTI_INSTANCE_BODY');
        IF cardinality(bodies) > 0 THEN
            DELETE FROM loop_items i WHERE i.body_key = ANY (bodies);
            DELETE FROM paged_loop_items i WHERE i.body_key = ANY (bodies);
        END IF;
        UPDATE documents d SET expires_at = '-infinity'
        FROM process_instances p
        WHERE d.process_instance_key = ANY (instances) AND p.process_instance_key = d.process_instance_key
            AND p.tenant_id = d.tenant_id AND (d.goes_with_instance OR why = 'ERASURE');
        DELETE FROM variables v WHERE v.process_instance_key = ANY (instances);
        DELETE FROM jobs j WHERE j.process_instance_key = ANY (instances);
        DELETE FROM agent_calls c WHERE c.process_instance_key = ANY (instances);
        DELETE FROM agent_answers a WHERE a.process_instance_key = ANY (instances);
        DELETE FROM agent_usage u WHERE u.process_instance_key = ANY (instances);
        DELETE FROM timers t WHERE t.process_instance_key = ANY (instances);
        DELETE FROM message_correlations c WHERE c.process_instance_key = ANY (instances);
        DELETE FROM subscriptions s WHERE s.process_instance_key = ANY (instances);
        DELETE FROM incidents i WHERE i.process_instance_key = ANY (instances);
        DELETE FROM user_tasks u WHERE u.process_instance_key = ANY (instances);
        DELETE FROM user_task_comments c WHERE c.process_instance_key = ANY (instances);
        DELETE FROM decision_instances d WHERE d.process_instance_key = ANY (instances);
        DELETE FROM compensations c WHERE c.process_instance_key = ANY (instances);
        DELETE FROM work_items w WHERE w.process_instance_key = ANY (instances);
        DELETE FROM element_instances e WHERE e.process_instance_key = ANY (instances);
        DELETE FROM process_instances p WHERE p.process_instance_key = ANY (instances);
        INSERT INTO deleted_trees (root_key, reason) SELECT t.key, why FROM unnest(ended) AS t(key) ON CONFLICT DO NOTHING;
    END IF;

    RETURN QUERY
        SELECT asked.key, CASE
            WHEN asked.key = ANY (ended) THEN 'DELETED'
            WHEN p.process_instance_key IS NULL THEN 'UNKNOWN'
            WHEN p.parent_process_instance_key IS NOT NULL THEN 'CALLED'
            WHEN p.ended_at IS NULL THEN 'RUNNING'
            ELSE coalesce(held_by[array_position(held, asked.key)], 'RUNNING') END
        FROM unnest(roots) AS asked(key) LEFT JOIN process_instances p ON p.process_instance_key = asked.key;
END $function$;

-- function delete_views_of_token()
CREATE OR REPLACE FUNCTION delete_views_of_token()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    DELETE FROM saved_views WHERE owner_type = 'TOKEN' AND owner_id = OLD.name;
    RETURN NULL;
END $function$;

-- function drop_document_parts(unused bigint, most integer, dead_s double precision)
CREATE OR REPLACE FUNCTION drop_document_parts(unused bigint, most integer, dead_s double precision)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
    mine  document_contents;
    freed bigint;
    parts int;
BEGIN
    SELECT * INTO mine FROM document_contents c
    WHERE c.content_key = unused AND c.sha256 IS NULL AND c.object_name IS NULL
        AND c.alive_at < clock_timestamp() - make_interval(secs => dead_s)
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    WITH gone AS (
        DELETE FROM document_parts p WHERE p.content_key = unused AND p.first = ANY (ARRAY(
            SELECT l.first FROM document_parts l WHERE l.content_key = unused ORDER BY l.first DESC LIMIT most))
        RETURNING octet_length(p.content) AS size)
    SELECT coalesce(sum(size), 0), count(*) INTO freed, parts FROM gone;
    IF parts < most THEN
        freed := mine.bytes;
        DELETE FROM document_contents c WHERE c.content_key = unused;
    ELSE
        UPDATE document_contents c SET bytes = c.bytes - freed, alive_at = '-infinity' WHERE c.content_key = unused;
    END IF;
    UPDATE document_usage u SET bytes = u.bytes - freed WHERE u.tenant_id = mine.tenant_id;
    RETURN parts = most;
END $function$;

-- function drop_log_partitions(p integer, before timestamp with time zone)
CREATE OR REPLACE FUNCTION drop_log_partitions(p integer, before timestamp with time zone)
 RETURNS TABLE(dropped integer, kept_by text)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
DECLARE
    size      CONSTANT bigint := 10000000;
    base      CONSTANT bigint := p::bigint << 51;
    processed CONSTANT bigint := coalesce((SELECT b.to_pos FROM batches b WHERE b.partition_id = p ORDER BY b.from_pos DESC LIMIT 1), base);
    consumed  CONSTANT bigint := (SELECT min(c.position) FROM event_consumers c WHERE c.partition_id = p);
    number    bigint;
    upper     bigint;
BEGIN
    dropped := 0;
    FOR number IN
        SELECT split_part(t.relname, '_', 4)::bigint FROM pg_inherits h JOIN pg_class t ON t.oid = h.inhrelid
        WHERE h.inhparent = 'event_log'::regclass AND t.relname ~ format('^event_log_%s_[0-9]+$', p) ORDER BY 1
    LOOP
        upper := base + (number + 1) * size;
        kept_by := CASE
            WHEN upper > processed OR NOT EXISTS (SELECT FROM command_log c WHERE c.partition_id = p AND c.position >= upper) THEN 'cursor'
            WHEN consumed < upper THEN 'consumer'
            WHEN (SELECT e.processed_at FROM event_log e WHERE e.partition_id = p AND e.position >= upper - size AND e.position < upper
                  ORDER BY e.position DESC, e.seq DESC LIMIT 1) >= before THEN 'age'
            WHEN EXISTS (SELECT FROM process_instances i
                         WHERE i.ended_at IS NULL AND i.created_position >= base AND i.created_position < upper) THEN 'instance'
        END;
        EXIT WHEN kept_by IS NOT NULL;
        EXECUTE format('DROP TABLE %I, %I', format('command_log_%s_%s', p, number), format('event_log_%s_%s', p, number));
        dropped := dropped + 1;
    END LOOP;
    RETURN NEXT;
END $function$;

-- function end_documents_of_messages()
CREATE OR REPLACE FUNCTION end_documents_of_messages()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
BEGIN
    UPDATE documents d SET expires_at = '-infinity'
    WHERE d.message_key = ANY (ARRAY(SELECT g.message_key FROM gone g WHERE g.given = '{}'));
    UPDATE documents d SET message_key = NULL
    WHERE d.message_key = ANY (ARRAY(SELECT g.message_key FROM gone g WHERE cardinality(g.given) > 1));
    RETURN NULL;
END $function$;

-- function end_sessions()
CREATE OR REPLACE FUNCTION end_sessions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    DELETE FROM sessions WHERE username = OLD.username AND provider = 'PASSWORD';
    RETURN NULL;
END $function$;

-- function fence(p integer, e bigint, old_pos bigint, new_pos bigint, next_key bigint)
CREATE OR REPLACE FUNCTION fence(p integer, e bigint, old_pos bigint, new_pos bigint, next_key bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
    last bigint;
BEGIN
    PERFORM FROM partitions WHERE id = p AND epoch = e FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'partition % is no longer owned by epoch %', p, e USING ERRCODE = 'VV001';
    END IF;
    SELECT to_pos INTO last FROM batches WHERE partition_id = p ORDER BY from_pos DESC LIMIT 1;
    IF last IS DISTINCT FROM old_pos THEN
        RAISE EXCEPTION 'partition % stands at %, not at %', p, last, old_pos USING ERRCODE = 'VV001';
    END IF;
    INSERT INTO batches VALUES (p, old_pos, new_pos, next_key, e);
END $function$;

-- function fence_between(p integer, e bigint, pos bigint, used_to bigint, told boolean)
CREATE OR REPLACE FUNCTION fence_between(p integer, e bigint, pos bigint, used_to bigint, told boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
    last batches;
BEGIN
    PERFORM FROM partitions WHERE id = p AND epoch = e FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'partition % is no longer owned by epoch %', p, e USING ERRCODE = 'VV001';
    END IF;
    SELECT * INTO last FROM batches WHERE partition_id = p ORDER BY from_pos DESC LIMIT 1;
    IF last.to_pos IS DISTINCT FROM pos OR last.next_key < used_to THEN
        RAISE EXCEPTION 'partition % stands at % with keys up to %, not at % with %', p, last.to_pos, last.next_key, pos, used_to
            USING ERRCODE = 'VV001';
    END IF;
    IF NOT told THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
END $function$;

-- function forget_document_object(unused bigint)
CREATE OR REPLACE FUNCTION forget_document_object(unused bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
    mine document_contents;
BEGIN
    DELETE FROM document_contents c
    WHERE c.content_key = unused AND c.sha256 IS NULL AND c.object_name IS NOT NULL AND c.alive_at = '-infinity'
    RETURNING * INTO mine;
    UPDATE document_usage u SET bytes = u.bytes - mine.bytes WHERE u.tenant_id = mine.tenant_id;
END $function$;

-- function forward_inbox(p integer, n integer)
CREATE OR REPLACE FUNCTION forward_inbox(p integer, n integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SET lock_timeout TO '5s'
AS $function$
DECLARE
    last bigint;
    positions CONSTANT regclass := ('log_position_' || p)::regclass;
BEGIN
    IF NOT EXISTS (SELECT FROM since_recovery) THEN
        PERFORM skip_lost_positions();
    END IF;
    PERFORM pg_advisory_xact_lock(4711, p);
    WITH taken AS (
        DELETE FROM inbox WHERE target_partition = p AND id IN (
            SELECT id FROM inbox WHERE target_partition = p ORDER BY id LIMIT n)
        RETURNING *
    ), w AS MATERIALIZED (
        SELECT s.*, row_number() OVER () AS o, nextval(positions) pos FROM (SELECT * FROM taken ORDER BY id) s
    ), ins AS (
        INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, key, request, payload, trace, audit)
        SELECT p, pos, gen_random_uuid(), o, clock_now(), tenant_id, intent, key, request, payload, trace, audit FROM w
    )
    SELECT max(pos) INTO last FROM w;
    RETURN last;
END $function$;

-- function from_epoch_ms(ms bigint)
CREATE OR REPLACE FUNCTION from_epoch_ms(ms bigint)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ SELECT to_timestamp(ms::float8 / 1000) $function$;

-- function headers_with_trace(headers json, trace text)
CREATE OR REPLACE FUNCTION headers_with_trace(headers json, trace text)
 RETURNS json
 LANGUAGE sql
 IMMUTABLE
AS $function$
SELECT (jsonb_strip_nulls(jsonb_build_object('traceparent', split_part(trace, ' ', 1),
    'tracestate', nullif(substr(trace, length(split_part(trace, ' ', 1)) + 2), ''))) || headers::jsonb)::json
$function$;

-- function job_as_shown(j jobs, variables text, with_token boolean)
CREATE OR REPLACE FUNCTION job_as_shown(j jobs, variables text, with_token boolean)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
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
$function$;

-- function job_period(at timestamp with time zone)
CREATE OR REPLACE FUNCTION job_period(at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE
AS $function$
SELECT date_bin('5 minutes', at, 'epoch')
$function$;

-- function keep_assignee_usage()
CREATE OR REPLACE FUNCTION keep_assignee_usage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO deleted_assignees (period, tenant_id, assignee)
    SELECT g.period, g.tenant_id, usage_assignee(g.assignee) FROM (
        SELECT DISTINCT usage_period(created_at) AS period, tenant_id, assignee FROM gone WHERE assignee IS NOT NULL
    ) g ORDER BY 1, 2, 3
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $function$;

-- function keep_decision_instance_usage()
CREATE OR REPLACE FUNCTION keep_decision_instance_usage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO deleted_usage AS u (metric, period, tenant_id, number)
    SELECT 'decisionInstances', usage_period(g.evaluated_at), g.tenant_id, count(*) FROM gone g GROUP BY 2, 3 ORDER BY 2, 3
    ON CONFLICT (metric, period, tenant_id) DO UPDATE SET number = u.number + EXCLUDED.number;
    RETURN NULL;
END $function$;

-- function keep_process_instance_usage()
CREATE OR REPLACE FUNCTION keep_process_instance_usage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO deleted_usage AS u (metric, period, tenant_id, number)
    SELECT 'processInstances', usage_period(g.started_at), g.tenant_id, count(*) FROM gone g GROUP BY 2, 3 ORDER BY 2, 3
    ON CONFLICT (metric, period, tenant_id) DO UPDATE SET number = u.number + EXCLUDED.number;
    RETURN NULL;
END $function$;

-- function keepers_of_trees(ended bigint[])
CREATE OR REPLACE FUNCTION keepers_of_trees(ended bigint[])
 RETURNS TABLE(root bigint, keeper text, instances bigint[])
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
    of_root bigint[];
    of_tree bigint[];
    held    bigint[];
    held_by text[];
BEGIN
    WITH RECURSIVE tree AS (
        SELECT p.process_instance_key AS key, p.root_key, p.ended_at FROM process_instances p
        WHERE p.process_instance_key = ANY (ended)
        UNION ALL
        SELECT p.process_instance_key, p.root_key, p.ended_at
        FROM tree JOIN process_instances p ON p.parent_process_instance_key = tree.key
    )
    SELECT array_agg(tree.root_key), array_agg(tree.key), array_agg(tree.root_key) FILTER (WHERE tree.ended_at IS NULL)
    INTO of_root, of_tree, held FROM tree;
    held := coalesce(held, '{}');
    held_by := array_fill('RUNNING'::text, ARRAY[cardinality(held)]);

    SELECT held || coalesce(array_agg(x.root_key), '{}'), held_by || coalesce(array_agg(x.name), '{}') INTO held, held_by
    FROM (
        SELECT t.root_key, 'a start lock' AS name
        FROM unnest(of_root, of_tree) AS t(root_key, key) JOIN start_locks l ON l.process_instance_key = t.key
        UNION ALL
        SELECT s.root_key, 'an open message subscription'
        FROM subscriptions s JOIN channel_subscriptions c USING (subscription_key)
        WHERE s.process_instance_key = ANY (of_tree)
        UNION ALL
        SELECT t.key, 'an undelivered event'
        FROM unnest(ended) AS t(key)
        WHERE EXISTS (SELECT FROM outbox_deliveries o WHERE o.partition_id = (t.key >> 51)::int AND o.root_key = t.key)
        UNION ALL
        SELECT i.root_key, 'a batch operation'
        FROM batch_operation_items i
        WHERE i.process_instance_key = ANY (of_tree) AND i.state = 'ACTIVE'
            AND i.type NOT IN ('DELETE_PROCESS_INSTANCE', 'DELETE_DECISION_INSTANCE')
    ) x;

    RETURN QUERY
        SELECT t.root_key, held_by[array_position(held, t.root_key)], array_agg(t.key)
        FROM unnest(of_root, of_tree) AS t(root_key, key) GROUP BY t.root_key;
END $function$;

-- function last_log_position(p integer)
CREATE OR REPLACE FUNCTION last_log_position(p integer)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
BEGIN
    RETURN coalesce(pg_sequence_last_value(('log_position_' || p)::regclass), p::bigint << 51);
END $function$;

-- function make_log_partitions(pos bigint)
CREATE OR REPLACE FUNCTION make_log_partitions(pos bigint)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    size  CONSTANT bigint := 10000000;
    p     CONSTANT bigint := pos >> 51;
    i     CONSTANT bigint := (pos - (p << 51)) / size;
    lower CONSTANT bigint := (p << 51) + i * size;
    parent text;
    child  text;
    made   int := 0;
BEGIN
    FOREACH parent IN ARRAY ARRAY['command_log', 'event_log'] LOOP
        child := format('%s_%s_%s', parent, p, i);
        IF to_regclass(child) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
        END IF;
        IF NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = child::regclass) THEN
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', parent, child, lower, lower + size);
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END $function$;

-- function make_partition(p integer)
CREATE OR REPLACE FUNCTION make_partition(p integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
    base CONSTANT bigint := p::bigint << 51;
BEGIN
    INSERT INTO partitions (id) VALUES (p);
    INSERT INTO batches VALUES (p, base - 1, base, base + 1, 0);
    EXECUTE format('CREATE SEQUENCE log_position_%s MINVALUE %s MAXVALUE %s', p, base + 1, base + (1::bigint << 51) - 1);
    PERFORM make_log_partitions(base + n * 10000000) FROM generate_series(0, 2) n;
END $function$;

-- function make_room_in_transactions()
CREATE OR REPLACE FUNCTION make_room_in_transactions()
 RETURNS void
 LANGUAGE sql
AS $function$
    SELECT setval('transaction_inbox_room', (SELECT last_value FROM transaction_inbox_numbers) + 10000
        - (SELECT count(*) FROM (SELECT FROM transaction_inbox LIMIT 10000) w))
$function$;

-- function notify_ended_sessions()
CREATE OR REPLACE FUNCTION notify_ended_sessions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF EXISTS (SELECT FROM ended WHERE expires_at > clock_timestamp()) THEN
        PERFORM pg_notify('vivero_identities', 'sessions');
    END IF;
    RETURN NULL;
END $function$;

-- function notify_identities()
CREATE OR REPLACE FUNCTION notify_identities()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM pg_notify('vivero_identities', '');
    RETURN NULL;
END $function$;

-- function outcome(id bigint, OUT state text, OUT "position" bigint, OUT execution_id uuid, OUT code text, OUT reason text, OUT answer json)
CREATE OR REPLACE FUNCTION outcome(id bigint, OUT state text, OUT "position" bigint, OUT execution_id uuid, OUT code text, OUT reason text, OUT answer json)
 RETURNS SETOF record
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO current_schema, 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
    caller CONSTANT text := CASE current_setting('role') WHEN 'none' THEN session_user::text ELSE current_setting('role') END;
    admin  CONSTANT boolean := pg_has_role(caller::name, current_user, 'USAGE');
BEGIN
    PERFORM FROM transaction_inbox t
    WHERE t.target_partition = (id >> 51)::int AND t.id = id AND (admin OR t.role_name = caller);
    IF FOUND THEN
        state := 'QUEUED';
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT o.position, o.execution_id INTO "position", execution_id FROM transaction_outcomes o
    WHERE o.target_partition = (id >> 51)::int AND o.id = id AND (admin OR o.role_name = caller);
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF "position" IS NULL THEN
        state := CASE WHEN execution_id IS NULL THEN 'ERASED' ELSE 'DONE' END;
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT a.rejection ->> 'code', a.rejection ->> 'reason', a.response INTO code, reason, answer
    FROM (
        SELECT e.position AS at, e.seq, e.rejection, e.response FROM event_log e
        WHERE e.partition_id = ("position" >> 51)::int AND e.position = "position" AND e.request IS NULL
            AND (e.response IS NOT NULL OR e.seq = 0 AND e.rejection IS NOT NULL)
        UNION ALL
        SELECT e.position, e.seq, e.rejection, e.response FROM event_log e
        WHERE e.request = "position" AND e.response IS NOT NULL
    ) a ORDER BY a.at, a.seq LIMIT 1;
    state := CASE WHEN code IS NOT NULL THEN 'REJECTED' WHEN FOUND THEN 'DONE' ELSE 'APPENDED' END;
    RETURN NEXT;
END $function$;

-- function publish_message(name text, correlation_key text, variables jsonb, time_to_live interval, message_id text, business_id text, tenant text)
CREATE OR REPLACE FUNCTION publish_message(name text, correlation_key text DEFAULT ''::text, variables jsonb DEFAULT '{}'::jsonb, time_to_live interval DEFAULT '00:00:00'::interval, message_id text DEFAULT NULL::text, business_id text DEFAULT NULL::text, tenant text DEFAULT NULL::text)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO current_schema, 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
    caller text;
    home   int;
    kept_ms CONSTANT numeric := floor(extract(epoch FROM coalesce(time_to_live, '0')) * 1000);
BEGIN
    SELECT c.caller, c.tenant INTO caller, tenant FROM tenant_of_call(tenant) c;
    variables := coalesce(variables, '{}');
    correlation_key := coalesce(correlation_key, '');
    PERFORM check_text('name', name, 32768, false), check_text('correlation_key', correlation_key, 32768, true),
        check_text('message_id', message_id, 32768, true), check_text('business_id', business_id, 256, true),
        check_variables(variables);
    IF kept_ms NOT BETWEEN 0 AND 3153600000000 THEN
        RAISE EXCEPTION 'time_to_live: % is not from 0 to 100 years', time_to_live USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT s.partition_id INTO home FROM slots s WHERE s.slot = slot_of(tenant, correlation_key);
    RETURN queue_in_transaction(coalesce(home, 1), tenant, 'MESSAGE:PUBLISH', NULL,
        json_build_object('name', name, 'correlation_key', correlation_key, 'time_to_live_ms', kept_ms::bigint,
            'message_id', message_id, 'variables', variables, 'business_id', business_id)::text,
        caller, jsonb_build_object('entity_type', 'PROCESS_INSTANCE', 'operation', 'UPDATE', 'description', 'SQL publish_message',
            'tenant_id', tenant, 'tenants', tenant));
END $function$;

-- function queue_in_transaction(p integer, tenants text, intent text, subject bigint, document text, caller text, record jsonb)
CREATE OR REPLACE FUNCTION queue_in_transaction(p integer, tenants text, intent text, subject bigint, document text, caller text, record jsonb)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_variable
DECLARE
    number  bigint := nextval('transaction_inbox_numbers');
    content bytea := convert_to(document, 'UTF8');
    waiting bigint;
    bytes   bigint;
BEGIN
    IF number > (SELECT last_value FROM transaction_inbox_room) OR octet_length(content) > 26843 THEN
        SELECT count(*), coalesce(sum(w.size), 0) INTO waiting, bytes
        FROM (SELECT t.size FROM transaction_inbox t LIMIT 10000) w;
        IF waiting >= 10000 OR bytes + octet_length(content) > 268435456 THEN
            RAISE EXCEPTION 'the inbox is full: % commands with % bytes wait', waiting, bytes
                USING ERRCODE = 'configuration_limit_exceeded',
                HINT = 'Is a server with the role engine running? Try again when it has caught up.';
        END IF;
    END IF;
    number := (p::bigint << 51) + number;
    INSERT INTO transaction_inbox (target_partition, id, tenant_id, intent, key, payload, size, audit, role_name)
    VALUES (p, number, tenants, intent, subject, content, octet_length(content),
        (jsonb_build_object('actor_type', 'CLIENT', 'actor_id', caller, 'actor_provider', 'postgresql',
            'category', 'DEPLOYED_RESOURCES') || record)::text, caller);
    RETURN number;
END $function$;

-- function refuse_append(appender uuid, number bigint)
CREATE OR REPLACE FUNCTION refuse_append(appender uuid, number bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION 'session % of appender % is over', number, appender USING ERRCODE = 'VV002';
END $function$;

-- function release_document_contents(keys bigint[])
CREATE OR REPLACE FUNCTION release_document_contents(keys bigint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM FROM document_contents c WHERE c.content_key = ANY (keys)
    ORDER BY c.sha256 COLLATE "C", c.content_key FOR UPDATE;
    UPDATE document_contents c SET sha256 = NULL, alive_at = '-infinity'
    WHERE c.content_key = ANY (keys) AND NOT EXISTS (SELECT FROM documents d WHERE d.content_key = c.content_key);
END $function$;

-- function require_untaken(keys bigint[])
CREATE OR REPLACE FUNCTION require_untaken(keys bigint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
    taken bigint;
BEGIN
    PERFORM FROM jobs WHERE job_key = ANY (keys) ORDER BY job_key FOR UPDATE;
    SELECT job_key INTO taken FROM jobs WHERE job_key = ANY (keys) AND lease_token IS NOT NULL ORDER BY job_key LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'a worker has got job ''%''', taken USING ERRCODE = 'VV003';
    END IF;
END $function$;

-- function revoke_tokens_of_user()
CREATE OR REPLACE FUNCTION revoke_tokens_of_user()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    DELETE FROM api_tokens WHERE owner = OLD.username AND owner_provider = 'PASSWORD';
    RETURN NULL;
END $function$;

-- function seconds_behind(p integer)
CREATE OR REPLACE FUNCTION seconds_behind(p integer)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
    SELECT least(greatest(extract(epoch FROM clock_now() - coalesce(
        (SELECT at FROM command_log WHERE partition_id = p AND position BETWEEN p::bigint << 51 AND (p::bigint + 1) << 51
         ORDER BY position DESC LIMIT 1),
        (SELECT max(applied_at) FROM schema_migrations))), 0), 400 * 86400)::bigint
$function$;

-- function skip_lost_positions()
CREATE OR REPLACE FUNCTION skip_lost_positions()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
    here CONSTANT text := database_identity();
    size CONSTANT bigint := 10000000;
    p      int;
    behind bigint;
    last   bigint;
    goal   bigint;
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'this is a standby: nothing can be appended' USING ERRCODE = 'read_only_sql_transaction';
    END IF;
    IF EXISTS (SELECT FROM since_recovery WHERE database = here) THEN
        RETURN;
    END IF;
    UPDATE since_recovery SET database = here WHERE database IS NULL;
    DELETE FROM since_recovery WHERE database <> here;
    INSERT INTO since_recovery (database) VALUES (here) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('synchronous_commit', reset_val, true) FROM pg_settings WHERE name = 'synchronous_commit';
    FOR p IN SELECT id FROM partitions ORDER BY id LOOP
        behind := seconds_behind(p);
        last := last_log_position(p) - (p::bigint << 51);
        goal := last + greatest(1000000, behind << 16);
        IF goal / size > (last + 1000000) / size THEN
            goal := (goal / size + 1) * size;
            PERFORM make_log_partitions((p::bigint << 51) + goal);
        END IF;
        PERFORM setval(('log_position_' || p)::regclass, (p::bigint << 51) + goal);
        UPDATE batches b SET next_key = b.next_key + greatest(1::bigint << 30, behind << 18)
        WHERE b.partition_id = p AND b.from_pos = (SELECT max(from_pos) FROM batches WHERE partition_id = p);
    END LOOP;
END $function$;

-- function slot_of(tenant text, name text)
CREATE OR REPLACE FUNCTION slot_of(tenant text, name text)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ SELECT (('x' || left(md5(tenant || ':' || name), 4))::bit(16)::int % 1024)::smallint $function$;

-- function start_process(process_id text, variables jsonb, business_id text, tags text[], version integer, tenant text)
CREATE OR REPLACE FUNCTION start_process(process_id text, variables jsonb DEFAULT '{}'::jsonb, business_id text DEFAULT NULL::text, tags text[] DEFAULT '{}'::text[], version integer DEFAULT NULL::integer, tenant text DEFAULT NULL::text)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO current_schema, 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
    caller text;
    home   int;
    wrong  text;
BEGIN
    SELECT c.caller, c.tenant INTO caller, tenant FROM tenant_of_call(tenant) c;
    variables := coalesce(variables, '{}');
    tags := coalesce(tags, '{}');
    PERFORM check_text('process_id', process_id, 1000, false), check_text('business_id', business_id, 256, true),
        check_variables(variables);
    SELECT t.tag INTO wrong FROM unnest(tags) AS t(tag)
    WHERE (t.tag COLLATE "C" ~ '^[A-Za-z][A-Za-z0-9_:.-]{0,99}$') IS NOT TRUE LIMIT 1;
    IF FOUND OR array_ndims(tags) > 1 OR cardinality(tags) > 10
        OR cardinality(tags) <> (SELECT count(DISTINCT t.tag) FROM unnest(tags) AS t(tag)) THEN
        RAISE EXCEPTION 'tags: % is not allowed: up to 10 different tags have a letter, and up to 99 letters, digits and _ - : .',
            left(coalesce(wrong, tags::text), 100) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF NOT EXISTS (
        SELECT FROM process_definitions d
        WHERE d.tenant_id = tenant AND d.process_id = process_id
            AND CASE WHEN coalesce(version, -1) < 0 THEN d.state = 'ACTIVE'
                ELSE d.version = version AND d.state IN ('ACTIVE', 'DRAINING') END
    ) THEN
        RAISE EXCEPTION 'there is no process "%"%', process_id,
            CASE WHEN coalesce(version, -1) < 0 THEN '' ELSE format(' with version %s', version) END
            || CASE tenant WHEN '<default>' THEN '' ELSE format(' of the tenant "%s"', tenant) END
            USING ERRCODE = 'no_data_found';
    END IF;
    -- All starts of a transaction begin in one partition, in their order.
    SELECT (array_agg(o.id ORDER BY o.id))[1 + (pg_current_xact_id()::text::numeric % count(*))::int] INTO home
    FROM partitions o
    WHERE NOT EXISTS (SELECT FROM tenant_partitions t WHERE t.tenant_id = tenant)
        OR o.id IN (SELECT t.partition_id FROM tenant_partitions t WHERE t.tenant_id = tenant);
    RETURN queue_in_transaction(home, tenant, 'PROCESS_INSTANCE_CREATION:CREATE', NULL,
        json_build_object('process_id', process_id, 'version', coalesce(version, -1), 'variables', variables, 'tags', tags,
            'business_id', business_id)::text,
        caller, jsonb_build_object('entity_type', 'PROCESS_INSTANCE', 'operation', 'CREATE', 'description', 'SQL start_process',
            'tenant_id', tenant, 'tenants', tenant));
END $function$;

-- function take_background_jobs(above bigint, most integer, within_ms bigint, tell text)
CREATE OR REPLACE FUNCTION take_background_jobs(above bigint, most integer, within_ms bigint, tell text)
 RETURNS TABLE(last_id bigint)
 LANGUAGE plpgsql
 SET lock_timeout TO '20ms'
AS $function$
DECLARE
    job    record;
    made   uuid;
    locked boolean := false;
BEGIN
    FOR job IN
        SELECT t.id, t.tenant_id, t.role_name, t.audit, convert_from(t.payload, 'UTF8')::jsonb AS document
        FROM transaction_inbox t WHERE t.target_partition = 0 AND t.id > above
            AND (within_ms IS NULL OR t.began_at > now() - within_ms * interval '1 millisecond')
        ORDER BY t.id LIMIT most FOR UPDATE SKIP LOCKED
    LOOP
        CONTINUE WHEN locked AND job.document ->> 'unique_key' IS NOT NULL;
        BEGIN
            made := add_deferred(job.document);
        EXCEPTION WHEN lock_not_available THEN
            EXIT WHEN job.document ->> 'unique_key' IS NULL;
            locked := true;
            CONTINUE;
        END;
        DELETE FROM transaction_inbox t WHERE t.target_partition = 0 AND t.id = job.id;
        INSERT INTO transaction_outcomes (target_partition, id, tenant_id, role_name, execution_id, moved_at)
        VALUES (0, job.id, job.tenant_id, job.role_name, made, clock_timestamp());
        INSERT INTO audit_log (actor_type, actor_id, category, entity_type, entity_key, operation, result, description,
            actor_provider)
        SELECT a.actor_type, a.actor_id, a.category, a.entity_type, made::text, a.operation, 'SUCCESS', a.description,
            a.actor_provider
        FROM json_to_record(job.audit::json) AS a(actor_type text, actor_id text, category text, entity_type text,
            operation text, description text, actor_provider text);
        last_id := job.id;
    END LOOP;
    IF last_id IS NOT NULL THEN
        PERFORM pg_notify(tell, ''), make_room_in_transactions();
    END IF;
    RETURN NEXT;
END $function$;

-- function take_from_transactions(p integer, above bigint, most integer, most_bytes bigint, within_ms bigint)
CREATE OR REPLACE FUNCTION take_from_transactions(p integer, above bigint, most integer, most_bytes bigint, within_ms bigint)
 RETURNS TABLE(last_position bigint, last_id bigint)
 LANGUAGE plpgsql
 SET lock_timeout TO '5s'
AS $function$
DECLARE
    positions CONSTANT regclass := ('log_position_' || p)::regclass;
BEGIN
    IF NOT EXISTS (SELECT FROM since_recovery) THEN
        PERFORM skip_lost_positions();
    END IF;
    -- A statement of its own: nextval runs under the lock, so that positions become visible in order.
    PERFORM pg_advisory_xact_lock(4711, p);
    WITH candidates AS MATERIALIZED (
        SELECT t.id, t.size FROM transaction_inbox t WHERE t.target_partition = p AND t.id > above
            AND (within_ms IS NULL OR t.began_at > now() - within_ms * interval '1 millisecond')
        ORDER BY t.id LIMIT most FOR UPDATE SKIP LOCKED
    ), taken AS (
        DELETE FROM transaction_inbox t WHERE t.target_partition = p AND t.id = ANY (ARRAY(
            SELECT c.id FROM (SELECT d.id, sum(d.size) OVER (ORDER BY d.id) - d.size AS before FROM candidates d) c
            WHERE c.before < most_bytes))
        RETURNING t.*
    ), w AS MATERIALIZED (
        SELECT s.*, row_number() OVER () AS o, nextval(positions) AS pos FROM (SELECT * FROM taken ORDER BY id) s
    ), ins AS (
        INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, key, payload, audit)
        SELECT p, w.pos, gen_random_uuid(), w.o, clock_now(), w.tenant_id, w.intent, w.key, w.payload, w.audit FROM w
    ), told AS (
        INSERT INTO transaction_outcomes (target_partition, id, tenant_id, role_name, position, moved_at)
        SELECT p, w.id, w.tenant_id, w.role_name, w.pos, clock_timestamp() FROM w
    )
    SELECT max(w.pos), max(w.id) INTO last_position, last_id FROM w;
    IF last_id IS NOT NULL THEN
        PERFORM make_room_in_transactions();
    END IF;
    RETURN NEXT;
END $function$;

-- function task_of_listener(headers json)
CREATE OR REPLACE FUNCTION task_of_listener(headers json)
 RETURNS json
 LANGUAGE sql
 IMMUTABLE
AS $function$
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
$function$;

-- function tenant_of_call(wanted text, OUT caller text, OUT tenant text)
CREATE OR REPLACE FUNCTION tenant_of_call(wanted text, OUT caller text, OUT tenant text)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
AS $function$
#variable_conflict use_variable
DECLARE
    tenants text;
BEGIN
    SELECT r.caller, r.tenants INTO caller, tenants FROM tenants_of_database_role() r;
    tenant := coalesce(wanted, '<default>');
    IF tenants <> '*' AND tenant <> ALL (string_to_array(tenants, ',')) THEN
        RAISE EXCEPTION 'the role "%" may not use the tenant "%"', caller, left(tenant, 100)
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF tenant <> '<default>' AND NOT EXISTS (SELECT FROM tenants t WHERE t.tenant_id = tenant) THEN
        RAISE EXCEPTION 'there is no tenant "%"', left(tenant, 100) USING ERRCODE = 'no_data_found';
    END IF;
END $function$;

-- function tenants_of_database_role(OUT caller text, OUT tenants text)
CREATE OR REPLACE FUNCTION tenants_of_database_role(OUT caller text, OUT tenants text)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
AS $function$
#variable_conflict use_variable
BEGIN
    caller := CASE current_setting('role') WHEN 'none' THEN session_user::text ELSE current_setting('role') END;
    IF pg_has_role(caller::name, current_user, 'USAGE') THEN
        tenants := '*';
        RETURN;
    END IF;
    SELECT CASE WHEN bool_or(d.tenant_id = '*') THEN '*'
        ELSE string_agg(DISTINCT d.tenant_id COLLATE "C", ',' ORDER BY d.tenant_id COLLATE "C") END
    INTO tenants
    FROM database_roles d JOIN pg_roles r ON r.rolname = d.role_name
    WHERE pg_has_role(caller::name, r.oid, 'USAGE');
    IF tenants IS NULL THEN
        RAISE EXCEPTION 'the role "%" has no tenant', caller
            USING ERRCODE = 'insufficient_privilege', HINT = format('vivero database-role grant %I --tenant …', caller);
    END IF;
END $function$;

-- function to_epoch_ms(t timestamp with time zone)
CREATE OR REPLACE FUNCTION to_epoch_ms(t timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$ SELECT floor(extract(epoch FROM t) * 1000)::bigint $function$;

-- function total_element_counts(p integer, most integer)
CREATE OR REPLACE FUNCTION total_element_counts(p integer, most integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    low  bigint;
    high bigint;
    n    int;
BEGIN
    INSERT INTO element_count_totals VALUES (p, 0) ON CONFLICT DO NOTHING;
    SELECT until INTO low FROM element_count_totals WHERE partition_id = p FOR UPDATE;
    SELECT max(id), count(*) INTO high, n FROM (
        SELECT id FROM element_count_changes WHERE partition_id = p AND id > low ORDER BY id LIMIT most) s;
    IF n = 0 THEN
        RETURN 0;
    END IF;
    WITH gone AS (
        DELETE FROM element_count_changes WHERE partition_id = p AND id > low AND id <= high RETURNING *
    ), durations AS (
        INSERT INTO element_durations AS d (process_definition_key, element_id, bucket, partition_id, completed, duration_ms)
        SELECT process_definition_key, element_id, bucket, p, sum(completed), sum(duration_ms)
        FROM gone WHERE bucket >= 0 GROUP BY process_definition_key, element_id, bucket
        ORDER BY process_definition_key, element_id, bucket
        ON CONFLICT (process_definition_key, element_id, bucket, partition_id) DO UPDATE
        SET completed = d.completed + excluded.completed, duration_ms = d.duration_ms + excluded.duration_ms
    ), instances AS (
        SELECT *, coalesce(at, clock_now()) AS counted_at FROM gone WHERE element_id = ''
    ), over_time AS (
        INSERT INTO instance_counts AS i (period, process_definition_key, partition_id, started, completed, canceled, incidents)
        SELECT usage_period(counted_at), process_definition_key, p,
            sum(CASE WHEN at IS NULL THEN active + completed + canceled ELSE started END), sum(completed), sum(canceled),
            sum(incidents)
        FROM instances GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (period, process_definition_key, partition_id) DO UPDATE
        SET started = i.started + excluded.started, completed = i.completed + excluded.completed,
            canceled = i.canceled + excluded.canceled, incidents = i.incidents + excluded.incidents
    ), by_day AS (
        INSERT INTO instance_durations AS d (day, process_definition_key, bucket, partition_id, completed)
        SELECT usage_day(counted_at), process_definition_key, bucket, p, sum(completed)
        FROM instances WHERE bucket >= 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (day, process_definition_key, bucket, partition_id) DO UPDATE SET completed = d.completed + excluded.completed
    )
    INSERT INTO element_counts AS c (partition_id, process_definition_key, element_id, active, completed, canceled)
    SELECT p, process_definition_key, element_id, sum(active), sum(completed), sum(canceled)
    FROM gone GROUP BY process_definition_key, element_id ORDER BY process_definition_key, element_id
    ON CONFLICT (partition_id, process_definition_key, element_id) DO UPDATE
    SET active = c.active + excluded.active, completed = c.completed + excluded.completed,
        canceled = c.canceled + excluded.canceled;
    UPDATE element_count_totals SET until = high WHERE partition_id = p;
    RETURN n;
END $function$;

-- function total_job_counts(p integer, most integer)
CREATE OR REPLACE FUNCTION total_job_counts(p integer, most integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    low  bigint;
    high bigint;
    n    int;
BEGIN
    INSERT INTO job_count_totals VALUES (p, 0) ON CONFLICT DO NOTHING;
    SELECT until INTO low FROM job_count_totals WHERE partition_id = p FOR UPDATE;
    SELECT max(id), count(*) INTO high, n FROM (
        SELECT id FROM job_count_changes WHERE partition_id = p AND id > low ORDER BY id LIMIT most) s;
    IF n = 0 THEN
        RETURN 0;
    END IF;
    WITH gone AS (DELETE FROM job_count_changes WHERE partition_id = p AND id > low AND id <= high RETURNING *)
    INSERT INTO job_counts AS c (period, tenant_id, type, status, worker, partition_id, jobs, last_at)
    SELECT job_period(last_at), tenant_id, type, status, worker, p, sum(jobs), max(last_at)
    FROM gone GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (period, tenant_id, type, status, worker, partition_id) DO UPDATE
    SET jobs = c.jobs + excluded.jobs, last_at = greatest(c.last_at, excluded.last_at);
    UPDATE job_count_totals SET until = high WHERE partition_id = p;
    DELETE FROM job_counts WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM job_counts WHERE period < clock_now() - interval '30 days' AND partition_id = p LIMIT most));
    RETURN n;
END $function$;

-- function usage_assignee(name text)
CREATE OR REPLACE FUNCTION usage_assignee(name text)
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$ SELECT encode(substr(sha256(s.secret || convert_to(md5(name), 'UTF8')), 1, 16), 'hex')::uuid FROM usage_secret s $function$;

-- function usage_day(period timestamp with time zone)
CREATE OR REPLACE FUNCTION usage_day(period timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ SELECT date_bin('1 day', period, '2000-01-01T00:00:00Z') $function$;

-- function usage_period(at timestamp with time zone)
CREATE OR REPLACE FUNCTION usage_period(at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ SELECT date_bin('15 minutes', at, '2000-01-01T00:00:00Z') $function$;

-- function variables_of_listener(task bigint, seen text)
CREATE OR REPLACE FUNCTION variables_of_listener(task bigint, seen text)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
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
$function$;

-- function xml_text(document bytea)
CREATE OR REPLACE FUNCTION xml_text(document bytea)
 RETURNS text
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE STRICT
AS $function$
DECLARE
    declared CONSTANT text := substring(encode(substring(document FOR 200), 'escape') FROM 'encoding\s*=\s*["'']([A-Za-z0-9._:-]+)');
    encoding text;
    little   int;
BEGIN
    IF substring(document FOR 2) IN ('\xfffe', '\xfeff') OR substring(document FOR 4) IN ('\x3c003f00', '\x003c003f') THEN
        little := (get_byte(document, 0) IN (255, 60))::int;
        BEGIN
            RETURN (
                SELECT string_agg(CASE
                    WHEN unit BETWEEN 55296 AND 56319 AND following BETWEEN 56320 AND 57343
                        THEN chr(65536 + (unit - 55296) * 1024 + following - 56320)
                    WHEN unit BETWEEN 55296 AND 56319 THEN chr(65533)
                    WHEN unit BETWEEN 56320 AND 57343 THEN ''
                    ELSE chr(unit) END, '' ORDER BY place)
                FROM (
                    SELECT place, unit, lead(unit) OVER (ORDER BY place) AS following
                    FROM generate_series(0, length(document) / 2 - 1) AS place,
                        LATERAL (
                            SELECT get_byte(document, 2 * place + little) * 256 + get_byte(document, 2 * place + 1 - little)
                        ) AS u(unit)) AS units
                WHERE NOT (place = 0 AND unit = 65279));
        EXCEPTION WHEN OTHERS THEN
            NULL;  -- NUL
        END;
    END IF;
    IF substring(document FOR 3) = '\xefbbbf' THEN
        document := substring(document FROM 4);
    END IF;
    FOREACH encoding IN ARRAY ARRAY[coalesce(declared, 'UTF8'), 'UTF8', 'LATIN1'] LOOP
        BEGIN
            RETURN convert_from(document, encoding);
        EXCEPTION WHEN OTHERS THEN
            NULL;  -- an encoding that PostgreSQL does not know, or bytes that it does not have
        END;
    END LOOP;
    RETURN encode(document, 'escape');
END $function$;
