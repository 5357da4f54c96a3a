-- The audit log: who changed what, when, from where, and with which result.

-- A command that is to be audited carries the record of its caller (JSON). The batch that processes it writes the row of the audit log.
-- The inbox keeps the record of a command that another partition handles.
ALTER TABLE command_log ADD COLUMN audit text;
ALTER TABLE inbox ADD COLUMN audit text;

-- Times are the database's and not the engine's, which can be set. Rows have no variables, bodies, passwords or tokens.
CREATE TABLE audit_log (
    audit_log_key          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at                     timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_type             text NOT NULL CHECK (actor_type IN ('ANONYMOUS', 'CLIENT', 'UNKNOWN', 'USER')),
    actor_id               text,
    address                text,
    category               text NOT NULL,
    entity_type            text NOT NULL,
    entity_key             text NOT NULL,
    operation              text NOT NULL,
    result                 text NOT NULL CHECK (result IN ('FAIL', 'SUCCESS')),
    description            text,
    related_type           text,
    related_key            text,
    tenant_id              text,
    -- The command's position in the log; NULL for a change that is no command.
    position               bigint,
    root_key               bigint,
    process_instance_key   bigint,
    process_definition_key bigint,
    process_id             text,
    element_instance_key   bigint,
    job_key                bigint,
    user_task_key          bigint,
    deployment_key         bigint,
    resource_key           bigint
);
CREATE INDEX audit_log_at ON audit_log (at);
CREATE INDEX audit_log_actor ON audit_log (actor_id);
CREATE INDEX audit_log_entity ON audit_log (entity_key);
CREATE INDEX audit_log_instance ON audit_log (process_instance_key) WHERE process_instance_key IS NOT NULL;
CREATE INDEX audit_log_user_task ON audit_log (user_task_key) WHERE user_task_key IS NOT NULL;

-- The functions that append, as before, and with the record.
CREATE OR REPLACE FUNCTION append_fresh(p int, aid uuid, cmds json, flush boolean, appender uuid, number bigint)
RETURNS TABLE (pos bigint, at_ms bigint, clock_revision bigint, definitions bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '5s' AS $$
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
END $$;

CREATE OR REPLACE FUNCTION append_commands(p int, aid uuid, since bigint, cmds json, appender uuid, number bigint)
RETURNS TABLE (ord int, pos bigint, replayed boolean, same_body boolean, behind bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '5s' AS $$
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
END $$;

CREATE OR REPLACE FUNCTION forward_inbox(p int, n int) RETURNS bigint LANGUAGE plpgsql VOLATILE SET lock_timeout = '5s' AS $$
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
END $$;
