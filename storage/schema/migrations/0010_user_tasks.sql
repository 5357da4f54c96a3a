-- User tasks that the engine keeps.

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
