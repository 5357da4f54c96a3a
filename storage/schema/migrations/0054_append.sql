-- Appending to the command log: idempotency keys, the inbox, jumps after a crash, the sessions of appenders, and the functions
-- that append.

CREATE TABLE idempotency_keys (
    tenant     text NOT NULL,
    key        text NOT NULL,
    -- SHA-256 of the request that came with the key first.
    body_sha   bytea NOT NULL,
    position   bigint,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

-- Commands on their way to another aggregate, until the owner of the target partition moves them to its log.
CREATE TABLE inbox (
    target_partition int NOT NULL,
    id               bigint GENERATED ALWAYS AS IDENTITY,
    request          bigint,
    tenant_id        text NOT NULL,
    intent           text NOT NULL,
    key              bigint,
    payload          bytea NOT NULL,
    trace            text,
    -- Of a command that is to be audited (command_log).
    audit            text,
    PRIMARY KEY (target_partition, id)
);

-- A command that nobody is told of before its outcome is not flushed by its own transaction: the batch that processes it commits
-- later, and the flush of that commit covers it. A crash may then lose the newest commands, and with them the state of the
-- sequence: this program or another may still remember positions that would be given to other commands. A restored backup may be
-- hours or weeks old, and what the original gave out since then is known, too: to clients and receivers of events. Positions and
-- keys therefore jump forward. This table is unlogged, so it is empty after each recovery, on this server or on a standby that
-- took over.
CREATE UNLOGGED TABLE since_recovery (
    one      boolean PRIMARY KEY DEFAULT true CHECK (one),
    -- A backup contains the row. The database that it was made in tells such a copy from the original. NULL in a new database: it
    -- is then taken for the original.
    database text
);
INSERT INTO since_recovery DEFAULT VALUES;

-- Unique among all databases of all servers, except for standbys and physical copies, which have no row. Some services do not let
-- users ask for the identity of the server. The file of a table tells a database that was emptied and filled from a dump of
-- itself. It also changes when somebody rewrites that table: a needless jump does no harm.
CREATE FUNCTION database_identity() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    server text := '';
BEGIN
    IF has_function_privilege('pg_control_system()', 'EXECUTE') THEN
        SELECT system_identifier INTO server FROM pg_control_system();
    END IF;
    RETURN (SELECT format('%s/%s/%s', server, oid, pg_relation_filenode('since_recovery')) FROM pg_database
            WHERE datname = current_database());
END $$;

-- For how long another server may have gone on since this database's newest command: from its time until now, by the engine's
-- clock. An empty log may have been trimmed; then the newest migration is the last thing that is known for sure. A clock that is
-- far off must not use up the numbers of a partition.
CREATE FUNCTION seconds_behind(p int) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT least(greatest(extract(epoch FROM clock_now() - coalesce(
        (SELECT at FROM command_log WHERE partition_id = p AND position BETWEEN p::bigint << 51 AND (p::bigint + 1) << 51
         ORDER BY position DESC LIMIT 1),
        (SELECT max(applied_at) FROM schema_migrations))), 0), 400 * 86400)::bigint
$$;

-- Makes the jump in all partitions if the database went back in time. After a crash, a million positions are more than can be
-- appended between two flushes of PostgreSQL's WAL writer (wal_writer_delay), and less than the range of a log partition; keys
-- jump a thousand times as far, since they need no space: 2^30 keys are hours of work, and a partition has space for two million
-- such jumps. The jumps grow with the time that the database is behind: 65,536 positions and 262,144 keys a second, which is more
-- than a partition gives out. 400 days are 2^41 of the 2^51 positions of a partition, and 2^43 of its keys. A position beyond the
-- range of its log partition goes to the beginning of a later range, whose log partitions are made here: an append must find
-- them.
-- The jump itself is flushed: another crash must not repeat it from the same place. The appender calls this when it connects, in
-- a transaction of its own: a failed append would undo the note that the jump was made. Each term calls it between its claim and
-- its first look at the cursor, so no term uses keys from before the jump. A standby could not read the table, and PostgreSQL
-- would report a wrong statement; it is an outage.
CREATE FUNCTION skip_lost_positions() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
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
END $$;

-- Sessions of appenders: an append that arrives late is refused. A request may still be in the network, or in a process that was
-- stopped, when the appender repeats it on another connection. So each connection of an appender is a session with a number, an
-- append names its session, and under the partition's lock only the latest session may append. A crash ends sessions, as it ends
-- all connections; an existing session therefore implies that `skip_lost_positions` ran after the last crash.
CREATE UNLOGGED TABLE appenders (
    id      uuid PRIMARY KEY,
    session bigint NOT NULL,
    pid     int NOT NULL
);

-- Begins a session. It is committed before the first append of the connection. A call of an earlier session that arrives late
-- changes nothing. Deletes appenders whose backend has ended, and thereby their last sessions.
CREATE FUNCTION begin_appends(appender uuid, number bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM skip_lost_positions();
    DELETE FROM appenders a WHERE a.id <> appender AND NOT EXISTS (SELECT FROM pg_stat_activity s WHERE s.pid = a.pid);
    INSERT INTO appenders AS a VALUES (appender, number, pg_backend_pid())
    ON CONFLICT (id) DO UPDATE SET session = excluded.session, pid = excluded.pid WHERE a.session < excluded.session;
END $$;

CREATE FUNCTION refuse_append(appender uuid, number bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'session % of appender % is over', number, appender USING ERRCODE = 'VV002';
END $$;

-- Appends commands without idempotency keys that were never tried before: most commands. `flush`: a client is told that these
-- commands are in the log before they are processed. The caller knows what stands before the first position if it knows the
-- position before it; otherwise it reads the log.
CREATE FUNCTION append_fresh(p int, aid uuid, cmds json, flush boolean, appender uuid, number bigint)
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

-- Appends commands with idempotency keys, or for the second time. `since`: NULL, or, on a retry, the last position known before
-- the first try. `behind`: the position before the first of them, read under the lock by the inserting statement, so that nothing
-- comes between.
CREATE FUNCTION append_commands(p int, aid uuid, since bigint, cmds json, appender uuid, number bigint)
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

-- Moves up to n commands from the inbox to the log, in order; returns the last position, NULL when there was nothing.
CREATE FUNCTION forward_inbox(p int, n int) RETURNS bigint LANGUAGE plpgsql VOLATILE SET lock_timeout = '5s' AS $$
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
