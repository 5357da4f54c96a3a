-- User tasks that the engine keeps, and what the statistics of elements are made of.

CREATE TABLE user_tasks (
    user_task_key          bigint PRIMARY KEY,
    root_key               bigint NOT NULL,
    process_instance_key   bigint NOT NULL,
    element_instance_key   bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    process_id             text NOT NULL,
    process_version        int NOT NULL,
    process_name           text,
    element_id             text NOT NULL,
    name                   text,
    state                  text NOT NULL CHECK (state IN ('CREATED', 'COMPLETED', 'CANCELED')),
    assignee               text,
    candidate_groups       text[] NOT NULL,
    candidate_users        text[] NOT NULL,
    due_at                 timestamptz,
    follow_up_at           timestamptz,
    priority               int NOT NULL CHECK (priority BETWEEN 0 AND 100),
    headers                json NOT NULL,
    external_form          text,
    form_key               bigint,
    business_id            text,
    tags                   text[] NOT NULL,
    tenant_id              text NOT NULL,
    created_at             timestamptz NOT NULL,
    ended_at               timestamptz
) WITH (fillfactor = 85);
CREATE INDEX user_tasks_live ON user_tasks (root_key) WHERE ended_at IS NULL;
CREATE INDEX user_tasks_instance ON user_tasks (process_instance_key, user_task_key);
CREATE INDEX user_tasks_created ON user_tasks (created_at);
-- What task lists ask for: mine, and those of my groups, that are open.
CREATE INDEX user_tasks_assignee ON user_tasks (assignee, user_task_key) WHERE ended_at IS NULL;
CREATE INDEX user_tasks_groups ON user_tasks USING gin (candidate_groups) WHERE ended_at IS NULL;
CREATE INDEX user_tasks_users ON user_tasks USING gin (candidate_users) WHERE ended_at IS NULL;

-- The sequence flows that an element took when it completed. A table of their own would cost a tenth of a batch more.
ALTER TABLE element_instances ADD COLUMN flows text[];

-- How many instances each element of a definition has in each state, counted by batch; the body of a loop is none.
CREATE TABLE element_counts (
    partition_id           int NOT NULL,
    process_definition_key bigint NOT NULL,
    element_id             text NOT NULL,
    active                 bigint NOT NULL,
    completed              bigint NOT NULL,
    canceled               bigint NOT NULL,
    PRIMARY KEY (partition_id, process_definition_key, element_id)
) WITH (fillfactor = 50);
INSERT INTO element_counts
SELECT (process_definition_key >> 51)::int, process_definition_key, element_id, count(*) FILTER (WHERE ended_at IS NULL),
       count(*) FILTER (WHERE state = 'COMPLETED'), count(*) FILTER (WHERE state = 'TERMINATED')
FROM element_instances WHERE element_type <> 'MULTI_INSTANCE_BODY' GROUP BY process_definition_key, element_id;
CREATE INDEX element_instances_incidents ON element_instances (process_definition_key, element_id)
    WHERE incidents > 0 AND ended_at IS NULL;
