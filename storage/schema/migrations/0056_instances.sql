-- Process instances and what belongs to them: elements, variables, loop items, incidents. A row's only change of an indexed
-- column is its end (`ended_at`); the indexes that only live rows need are partial.
--
-- `root_key` is the root process instance of the tree. `part_key` says with which part of its tree a live row is loaded: with
-- the root, or with one inner instance of a paged loop (then it is that instance's key).

-- Ended rows stay in the tables of the live ones (docs/adr/0058-keep-ended-rows-where-they-are.md). Live rows have partial
-- indexes, which do not grow with the ended ones; docs/operations/growth.md has the figures.
--
-- Room in a page is of use only to an update that leaves all indexed columns alone. The one update of nearly every element ends
-- it, and `ended_at` is in the condition of its partial indexes; each update of a job changes its lease or ends it; the value of
-- a variable is indexed. Room that such an update cannot use would be a tenth to a sixth of these tables for ever: they have
-- none. Process instances have some: each batch that has a command for one updates its row, and only the last of them ends it.
--
-- Autovacuum waits for a twentieth of the rows instead of a fifth: at ten million rows a fifth is two million dead ones, and so
-- many entries in the indexes of live rows. A smaller share would read all indexes too often, since each vacuum reads them whole.
-- New rows count, too: until a vacuum has seen them, a search that counts reads the rows besides the index.

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
    -- The start instructions, the name of the start lock, and the elements after which the instance is terminated: NULL for
    -- nearly all.
    start                        json,
    start_lock                   text,
    terminate_after              text[],
    -- Of a root: the trace context of the command that created the instance (docs/observability.md): the `traceparent` of the
    -- W3C, and behind a space the `tracestate` if there is one. Timers and messages continue with it. NULL for everything that is
    -- not sampled.
    trace                        text
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE INDEX process_instances_live ON process_instances (part_key) WHERE ended_at IS NULL;
-- All other tables find the rows of a process by its instances. The order of their start is what lists show.
CREATE INDEX process_instances_process_started ON process_instances (process_id, started_at, process_instance_key);
CREATE INDEX process_instances_definition ON process_instances (process_definition_key, process_instance_key);
CREATE INDEX process_instances_started ON process_instances (started_at);
CREATE INDEX process_instances_ended ON process_instances (ended_at) WHERE ended_at IS NOT NULL;
-- With the process, and with the end in the condition, which each terminated instance has: a list of them is counted in the index
-- alone.
CREATE INDEX process_instances_terminated ON process_instances (process_id, process_instance_key)
    WHERE state = 'TERMINATED' AND ended_at IS NOT NULL;
CREATE INDEX process_instances_parent ON process_instances (parent_process_instance_key)
    WHERE parent_process_instance_key IS NOT NULL;
CREATE INDEX process_instances_business ON process_instances (business_id) WHERE business_id IS NOT NULL;
CREATE INDEX process_instances_tags ON process_instances USING gin (tags) WHERE tags <> '{}';
CREATE INDEX process_instances_incidents ON process_instances (process_instance_key) WHERE incidents > 0 AND ended_at IS NULL;
CREATE INDEX process_instances_incidents_definition ON process_instances (process_definition_key)
    WHERE incidents > 0 AND ended_at IS NULL;
-- Nearly all instances end within a minute, so a walk along the index on the end finds those that began in a range. The others
-- are looked up here: also those that ended before they began, because the clock was set back. Instances that end soon cost it
-- nothing.
CREATE INDEX process_instances_late ON process_instances (started_at)
    WHERE ended_at - started_at NOT BETWEEN interval '0' AND interval '1 minute';

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
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05, fillfactor = 100);
CREATE INDEX element_instances_live ON element_instances (part_key) WHERE ended_at IS NULL;
-- A plan that was made while nothing was live takes any index of live rows for equally cheap, also one that does not lead to the
-- rows that are asked for: it then reads all live rows, for each part of a tree. So the predicate of these two says which column
-- must be known. A condition on that column implies it, and no other condition does.
CREATE INDEX element_instances_scope ON element_instances (scope_key, element_instance_key)
    WHERE ended_at IS NULL AND scope_key IS NOT NULL;
CREATE INDEX element_instances_definition ON element_instances (process_definition_key, element_id)
    WHERE ended_at IS NULL AND process_definition_key IS NOT NULL;
CREATE INDEX element_instances_instance ON element_instances (process_instance_key, element_instance_key);
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
    -- Filters compare values however they are spelled (storage/state/normal_form.py). A variable whose value is not in normal
    -- form has the hash of its normal form. The values of nearly all variables are, and these have none: the index on the MD5 of
    -- values finds them.
    normal_hash          uuid,
    UNIQUE (scope_key, name)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05, fillfactor = 100);
CREATE INDEX variables_value ON variables (name, md5(value));
CREATE INDEX variables_instance ON variables (process_instance_key, name);
CREATE INDEX variables_normal ON variables (name, normal_hash) WHERE normal_hash IS NOT NULL;
-- For the reason that event_log gives. A server without LZ4 keeps large values as they are.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        ALTER TABLE variables ALTER COLUMN value SET COMPRESSION lz4;
    ELSE
        ALTER TABLE variables ALTER COLUMN value SET STORAGE EXTERNAL;
    END IF;
END $$;

-- The variables that older programs have written, by partition: those with keys in (behind, upto] have no hash yet, or that of an
-- earlier value. The program computes it, so the owner of the partition does this in small steps (the chore
-- `vivero.variable-values`). `upto` is set by the first owner that hashes. A partition without a row has nothing left to do.
CREATE TABLE unhashed_variables (
    partition_id int PRIMARY KEY,
    behind       bigint NOT NULL,
    upto         bigint
);
INSERT INTO unhashed_variables (partition_id, behind) SELECT id, id::bigint << 51 FROM partitions;

-- The items of a multi-instance activity and their results, as JSON text: rows, never one growing array. `item` is NULL for paged
-- loops.
CREATE TABLE loop_items (
    body_key bigint NOT NULL,
    index    int NOT NULL,
    item     text,
    result   text,
    PRIMARY KEY (body_key, index)
);

-- The items of paged loops (loops over very many items): each row has many, as a JSON array. `first` is the index of its first
-- item.
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
    argument               json,
    -- The API names an error by a number. Incidents with the same message have the same number.
    error_hash             int NOT NULL GENERATED ALWAYS AS (('x' || left(md5(message), 8))::bit(32)::int) STORED,
    -- Incidents of one cause: their messages differ only in their data. What differs between instances is left out: quoted texts,
    -- UUIDs, addresses of e-mail, numbers. One pass over the beginning of the message, because a long one repeats documents and
    -- stack traces. An apostrophe within a word quotes nothing.
    cause                  int NOT NULL GENERATED ALWAYS AS (
        ('x' || left(md5(left(regexp_replace(
            left(message, 500) COLLATE "C",
            '[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}|(?<!\w)''[^'']*''|"[^"]*"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[0-9]+(?:[.,][0-9]+)*',
            '*', 'g'
        ), 300)), 8))::bit(32)::int
    ) STORED
);
CREATE INDEX incidents_live ON incidents (part_key) WHERE resolved_at IS NULL;
CREATE INDEX incidents_root ON incidents (root_key, incident_key);
CREATE INDEX incidents_instance ON incidents (process_instance_key, incident_key);
CREATE INDEX incidents_created ON incidents (created_at);

-- Statistics read the rows that are live: an index on those is as small as they are few, however large the tables grow. These two
-- have everything that the statistics need, so that they do not read the rows. By instance: one may have several incidents with
-- the same error.
CREATE INDEX incidents_errors ON incidents (error_hash, process_definition_key, process_instance_key) INCLUDE (incident_key)
    WHERE resolved_at IS NULL;
CREATE INDEX incidents_causes ON incidents (cause, process_definition_key, element_id, type) INCLUDE (incident_key)
    WHERE resolved_at IS NULL;
