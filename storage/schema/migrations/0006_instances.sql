-- Process instances and what belongs to them: elements, variables, loop items, incidents. A row's only change of an indexed
-- column is its end (`ended_at`); the indexes that only live rows need are partial.
--
-- `root_key` is the root process instance of the tree. `part_key` says with which part of its tree a live row is loaded: with
-- the root, or with one inner instance of a paged loop (then it is that instance's key).

CREATE TABLE process_instances (
    process_instance_key         bigint PRIMARY KEY,
    root_key                     bigint NOT NULL,
    part_key                     bigint,
    parent_process_instance_key  bigint,
    parent_element_instance_key  bigint,
    process_definition_key       bigint NOT NULL,
    created_position             bigint NOT NULL,
    request                      bigint,
    version                      bigint NOT NULL,
    started_at                   timestamptz NOT NULL,
    ended_at                     timestamptz,
    process_version              int NOT NULL,
    depth                        int NOT NULL,
    live                         int NOT NULL,
    incidents                    int NOT NULL,
    -- Of a root: how many of its live elements and process instances are loaded in parts.
    in_parts                     int NOT NULL DEFAULT 0,
    interrupted                  boolean NOT NULL,
    process_id                   text NOT NULL,
    process_name                 text,
    version_tag                  text,
    tenant_id                    text NOT NULL,
    state                        text NOT NULL,
    business_id                  text,
    tags                         text[] NOT NULL DEFAULT '{}',
    tokens                       json NOT NULL,
    then_                        json,
    work                         json,
    -- The start instructions, the name of the start lock, and the elements after which the instance is terminated: NULL for nearly all.
    start                        json,
    start_lock                   text,
    terminate_after              text[]
) WITH (fillfactor = 80);
CREATE INDEX process_instances_live ON process_instances (part_key) WHERE ended_at IS NULL;
-- All other tables find the rows of a process by its instances.
CREATE INDEX process_instances_process ON process_instances (process_id, process_instance_key);
CREATE INDEX process_instances_definition ON process_instances (process_definition_key, process_instance_key);
CREATE INDEX process_instances_started ON process_instances (started_at);
CREATE INDEX process_instances_ended ON process_instances (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX process_instances_terminated ON process_instances (process_instance_key) WHERE state = 'TERMINATED';
CREATE INDEX process_instances_parent ON process_instances (parent_process_instance_key) WHERE parent_process_instance_key IS NOT NULL;
CREATE INDEX process_instances_business ON process_instances (business_id) WHERE business_id IS NOT NULL;
CREATE INDEX process_instances_tags ON process_instances USING gin (tags) WHERE tags <> '{}';
CREATE INDEX process_instances_incidents ON process_instances (process_instance_key) WHERE incidents > 0 AND ended_at IS NULL;

CREATE TABLE element_instances (
    element_instance_key   bigint PRIMARY KEY,
    root_key               bigint NOT NULL,
    part_key               bigint,
    process_instance_key   bigint NOT NULL,
    scope_key              bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    request                bigint,
    incident_key           bigint,
    started_at             timestamptz NOT NULL,
    ended_at               timestamptz,
    loop_index             int NOT NULL,
    live                   int NOT NULL,
    incidents              int NOT NULL,
    interrupted            boolean NOT NULL,
    -- The variable scopes, innermost first, up to the process instance.
    path                   bigint[] NOT NULL,
    process_id             text NOT NULL,
    element_id             text NOT NULL,
    element_name           text,
    element_type           text NOT NULL,
    tenant_id              text NOT NULL,
    state                  text NOT NULL,
    tokens                 json NOT NULL,
    then_                  json,
    occurred               json,
    loop                   json,
    -- The sequence flows that the element took when it completed. A table of their own would cost a tenth of a batch more.
    flows                  text[]
) WITH (fillfactor = 85);
CREATE INDEX element_instances_live ON element_instances (part_key) WHERE ended_at IS NULL;
CREATE INDEX element_instances_scope ON element_instances (scope_key, element_instance_key) WHERE ended_at IS NULL;
CREATE INDEX element_instances_instance ON element_instances (process_instance_key, element_instance_key);
CREATE INDEX element_instances_definition ON element_instances (process_definition_key, element_id) WHERE ended_at IS NULL;
CREATE INDEX element_instances_incidents ON element_instances (process_definition_key, element_id)
    WHERE incidents > 0 AND ended_at IS NULL;
CREATE INDEX element_instances_terminated ON element_instances (element_instance_key) WHERE state = 'TERMINATED';

CREATE TABLE variables (
    variable_key         bigint PRIMARY KEY,
    scope_key            bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    root_key             bigint NOT NULL,
    tenant_id            text NOT NULL,
    name                 text NOT NULL,
    -- JSON text.
    value                text NOT NULL,
    UNIQUE (scope_key, name)
) WITH (fillfactor = 90);
CREATE INDEX variables_value ON variables (name, md5(value));
CREATE INDEX variables_instance ON variables (process_instance_key, name);
-- For the reason that 0002 gives. A server without LZ4 keeps large values as they are.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        ALTER TABLE variables ALTER COLUMN value SET COMPRESSION lz4;
    ELSE
        ALTER TABLE variables ALTER COLUMN value SET STORAGE EXTERNAL;
    END IF;
END $$;

-- The items of a multi-instance activity and their results, as JSON text: rows, never one growing array. `item` is NULL for paged loops.
CREATE TABLE loop_items (
    body_key bigint NOT NULL,
    index    int NOT NULL,
    item     text,
    result   text,
    PRIMARY KEY (body_key, index)
);

-- The items of paged loops (loops over very many items): each row has many, as a JSON array. `first` is the index of its first item.
CREATE TABLE paged_loop_items (
    body_key bigint NOT NULL,
    first    int NOT NULL,
    items    text NOT NULL,
    PRIMARY KEY (body_key, first)
);

CREATE TABLE incidents (
    incident_key           bigint PRIMARY KEY,
    root_key               bigint NOT NULL,
    part_key               bigint,
    process_instance_key   bigint NOT NULL,
    element_instance_key   bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    job_key                bigint,
    created_at             timestamptz NOT NULL,
    resolved_at            timestamptz,
    process_id             text NOT NULL,
    element_id             text NOT NULL,
    tenant_id              text NOT NULL,
    state                  text NOT NULL,
    type                   text NOT NULL,
    message                text NOT NULL,
    -- The step of the element's lifecycle that is repeated when the incident is resolved, and its argument.
    stage                  text NOT NULL,
    argument               json
);
CREATE INDEX incidents_live ON incidents (part_key) WHERE resolved_at IS NULL;
CREATE INDEX incidents_root ON incidents (root_key, incident_key);
CREATE INDEX incidents_instance ON incidents (process_instance_key, incident_key);
CREATE INDEX incidents_created ON incidents (created_at);
