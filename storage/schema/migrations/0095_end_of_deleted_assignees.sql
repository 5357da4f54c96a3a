-- The hashes of deleted assignees were md5 without a key, so that a list of names could be tried on a copy of the table. Their
-- key is in another table, and this one has an end: quarters of an hour become days, and go in the end.
CREATE TABLE usage_secret (secret bytea NOT NULL);
INSERT INTO usage_secret SELECT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));

-- Over md5, because of the rows that exist.
CREATE OR REPLACE FUNCTION usage_assignee(name text) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT encode(substr(sha256(s.secret || convert_to(md5(name), 'UTF8')), 1, 16), 'hex')::uuid FROM usage_secret s $$;

CREATE FUNCTION usage_day(period timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT date_bin('1 day', period, '2000-01-01T00:00:00Z') $$;

-- Each name is hashed once for a statement, and not for each task.
CREATE OR REPLACE FUNCTION keep_assignee_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deleted_assignees (period, tenant_id, assignee)
    SELECT g.period, g.tenant_id, usage_assignee(g.assignee) FROM (
        SELECT DISTINCT usage_period(created_at) AS period, tenant_id, assignee FROM gone WHERE assignee IS NOT NULL
    ) g ORDER BY 1, 2, 3
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

-- A database that somebody has changed may lack the table, and is refused after all migrations.
DO $$ BEGIN
    IF to_regclass('deleted_assignees') IS NOT NULL THEN
        UPDATE deleted_assignees SET assignee = encode(substr(sha256(
            (SELECT secret FROM usage_secret) || convert_to(replace(assignee::text, '-', ''), 'UTF8')), 1, 16), 'hex')::uuid;
        CREATE INDEX deleted_assignees_quarters ON deleted_assignees (period) WHERE period <> usage_day(period);
    END IF;
END $$;
