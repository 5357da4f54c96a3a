-- With what a row is loaded: the tree but the inner instances of its paged loops (then it is the root's key), or one of
-- those inner instances. Rows that ended before are never loaded, and have none. The indexes of live rows by root had
-- no other reader.

ALTER TABLE process_instances ADD COLUMN part_key bigint;
ALTER TABLE element_instances ADD COLUMN part_key bigint;
ALTER TABLE jobs ADD COLUMN part_key bigint;
ALTER TABLE timers ADD COLUMN part_key bigint;
ALTER TABLE subscriptions ADD COLUMN part_key bigint;
ALTER TABLE incidents ADD COLUMN part_key bigint;
ALTER TABLE user_tasks ADD COLUMN part_key bigint;

UPDATE process_instances SET part_key = root_key WHERE ended_at IS NULL;
UPDATE element_instances SET part_key = root_key WHERE ended_at IS NULL;
UPDATE jobs SET part_key = root_key WHERE ended_at IS NULL;
UPDATE timers SET part_key = root_key WHERE ended_at IS NULL AND root_key IS NOT NULL;
UPDATE subscriptions SET part_key = root_key WHERE ended_at IS NULL;
UPDATE incidents SET part_key = root_key WHERE resolved_at IS NULL;
UPDATE user_tasks SET part_key = root_key WHERE ended_at IS NULL;

DROP INDEX process_instances_live, element_instances_live, jobs_live, timers_live, subscriptions_live, incidents_live,
    user_tasks_live;
CREATE INDEX process_instances_live ON process_instances (part_key) WHERE ended_at IS NULL;
CREATE INDEX element_instances_live ON element_instances (part_key) WHERE ended_at IS NULL;
CREATE INDEX jobs_live ON jobs (part_key) WHERE ended_at IS NULL;
CREATE INDEX timers_live ON timers (part_key) WHERE ended_at IS NULL AND part_key IS NOT NULL;
CREATE INDEX subscriptions_live ON subscriptions (part_key) WHERE ended_at IS NULL;
CREATE INDEX incidents_live ON incidents (part_key) WHERE resolved_at IS NULL;
CREATE INDEX user_tasks_live ON user_tasks (part_key) WHERE ended_at IS NULL;
