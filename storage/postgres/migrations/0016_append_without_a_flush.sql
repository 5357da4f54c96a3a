-- A command that nobody is told of before its outcome need not be flushed by its own transaction: the batch that works it
-- commits later, so the flush of that commit carries it along (docs/adr/0010-one-flush-a-command.md).
--
-- A crash may then lose what was appended a moment before, and with it the state of the sequence: positions that this or
-- another program still has in mind would be given to other commands. So after a crash the sequence goes on a good way
-- behind them. That there was one is told by an unlogged table, which is empty after each recovery, on this server or on a
-- standby that took over.
CREATE UNLOGGED TABLE since_recovery (one boolean PRIMARY KEY DEFAULT true CHECK (one));
INSERT INTO since_recovery DEFAULT VALUES;

-- A million is more than can be appended between two flushes of PostgreSQL's WAL writer (wal_writer_delay), and less than a
-- piece of the log. The jump itself is flushed: another crash must not make it again from the same place.
CREATE FUNCTION skip_lost_positions() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO since_recovery DEFAULT VALUES ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM set_config('synchronous_commit', reset_val, true) FROM pg_settings WHERE name = 'synchronous_commit';
        PERFORM setval('command_log_position_seq', last_value + 1000000) FROM command_log_position_seq;
    END IF;
END $$;

DROP FUNCTION append_fresh;

-- As before; `flush`: somebody is told that these commands are in the log.
CREATE FUNCTION append_fresh(p int, aid uuid, cmds json, flush boolean)
RETURNS TABLE (pos bigint, at_ms bigint, clock_revision bigint, definitions bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '5s' AS $$
DECLARE
    moment    timestamptz;
    recovered boolean;
BEGIN
    SELECT coalesce(c.pinned_at, now() + c.shift), c.revision, d.n, NOT EXISTS (SELECT FROM since_recovery)
    INTO moment, clock_revision, definitions, recovered
    FROM clock c, definitions_seq d;
    at_ms := to_epoch_ms(moment);
    IF NOT flush THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    IF recovered THEN
        PERFORM skip_lost_positions();
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
    RETURNING position, at_ms, clock_revision, definitions;
END $$;
