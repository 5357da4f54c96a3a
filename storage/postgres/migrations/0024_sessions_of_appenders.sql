-- An append that comes late is refused. Taking the partition's lock first tells an append that is repeated only of tries that
-- have reached PostgreSQL before it: what was said to the connection of the first try may still be in the network, or with a
-- process that was stopped, and was appended again when it came (docs/adr/late-delivery.md).
--
-- So each connection of an appender is a session, which it counts, and an append names its own: under the lock only the last
-- one that was begun may append. Sessions go with a crash, as all that was said to their connections does; that there is one
-- tells, therefore, that positions have gone on behind what a crash has lost since the last one (0016).
CREATE UNLOGGED TABLE appenders (
    id      uuid PRIMARY KEY,
    session bigint NOT NULL,
    pid     int NOT NULL
);

-- Before the first append of a connection, and committed before it. An earlier session's, come late, changes nothing. Appenders
-- whose backend is gone are forgotten, which ends their last session, too.
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

DROP FUNCTION append_fresh;

-- `flush`: somebody is told that these commands are in the log.
CREATE FUNCTION append_fresh(p int, aid uuid, cmds json, flush boolean, appender uuid, number bigint)
RETURNS TABLE (pos bigint, at_ms bigint, clock_revision bigint, definitions bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '5s' AS $$
DECLARE
    moment timestamptz;
BEGIN
    SELECT coalesce(c.pinned_at, now() + c.shift), c.revision, d.n
    INTO moment, clock_revision, definitions
    FROM clock c, definitions_seq d;
    at_ms := to_epoch_ms(moment);
    IF NOT flush THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    -- Its own statement: nextval runs under the lock, so that positions become visible in order.
    PERFORM pg_advisory_xact_lock(4711, p);
    RETURN QUERY
    INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, key, payload, trace)
    SELECT p, nextval('command_log_position_seq'), aid, s.o, moment, s.tenant, s.intent, s.subject, convert_to(s.payload, 'UTF8'), s.trace
    FROM (
        SELECT * FROM json_to_recordset(cmds)
            AS t(o int, tenant text, intent text, subject bigint, payload text, trace text)
        ORDER BY o
    ) s
    WHERE EXISTS (SELECT FROM appenders a WHERE a.id = appender AND a.session = number)
    RETURNING position, at_ms, clock_revision, definitions;
    IF NOT FOUND THEN
        PERFORM refuse_append(appender, number);
    END IF;
END $$;
