-- Usage metrics count rows. Those that are deleted stay in the numbers: how many there were, by the quarter of an hour in which
-- they began, so that days begin and end with a period in every time zone. Each statement that deletes such rows counts them,
-- whoever executes it, and in the same transaction.

CREATE TABLE deleted_usage (
    metric    text NOT NULL,
    period    timestamptz NOT NULL,
    tenant_id text NOT NULL,
    number    bigint NOT NULL,
    PRIMARY KEY (metric, period, tenant_id)
) WITH (fillfactor = 50);

-- Distinct assignees of the user tasks that were deleted. A hash tells them apart: the names go with the tasks.
CREATE TABLE deleted_assignees (
    period    timestamptz NOT NULL,
    tenant_id text NOT NULL,
    assignee  uuid NOT NULL,
    PRIMARY KEY (period, tenant_id, assignee)
);

CREATE FUNCTION usage_period(at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT date_bin('15 minutes', at, '2000-01-01T00:00:00Z') $$;

CREATE FUNCTION usage_assignee(name text) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT md5(name)::uuid $$;

-- In the order of the key, and user tasks before evaluations before instances, as delete_trees deletes them: two deletions never
-- wait for each other.
CREATE FUNCTION keep_process_instance_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deleted_usage AS u (metric, period, tenant_id, number)
    SELECT 'processInstances', usage_period(g.started_at), g.tenant_id, count(*) FROM gone g GROUP BY 2, 3 ORDER BY 2, 3
    ON CONFLICT (metric, period, tenant_id) DO UPDATE SET number = u.number + EXCLUDED.number;
    RETURN NULL;
END $$;

CREATE FUNCTION keep_decision_instance_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deleted_usage AS u (metric, period, tenant_id, number)
    SELECT 'decisionInstances', usage_period(g.evaluated_at), g.tenant_id, count(*) FROM gone g GROUP BY 2, 3 ORDER BY 2, 3
    ON CONFLICT (metric, period, tenant_id) DO UPDATE SET number = u.number + EXCLUDED.number;
    RETURN NULL;
END $$;

CREATE FUNCTION keep_assignee_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deleted_assignees (period, tenant_id, assignee)
    SELECT DISTINCT usage_period(g.created_at), g.tenant_id, usage_assignee(g.assignee) FROM gone g
    WHERE g.assignee IS NOT NULL ORDER BY 1, 2, 3
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

-- A database that somebody has changed may lack a table, and is refused after all migrations.
DO $$ BEGIN
    IF to_regclass('process_instances') IS NOT NULL THEN
        CREATE TRIGGER process_instances_deleted AFTER DELETE ON process_instances REFERENCING OLD TABLE AS gone
            FOR EACH STATEMENT EXECUTE FUNCTION keep_process_instance_usage();
    END IF;
    IF to_regclass('user_tasks') IS NOT NULL THEN
        CREATE TRIGGER user_tasks_deleted AFTER DELETE ON user_tasks REFERENCING OLD TABLE AS gone
            FOR EACH STATEMENT EXECUTE FUNCTION keep_assignee_usage();
    END IF;
END $$;
CREATE TRIGGER decision_instances_deleted AFTER DELETE ON decision_instances REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION keep_decision_instance_usage();
