-- What most appends are: no idempotency key, made for the first time. A third of the work of append_commands, which also
-- looks for keys and for what an earlier try has left. No look at the log either: positions of all partitions are of one
-- sequence, so who knows the log up to the position before the first one has missed nothing, and who does not reads it.
CREATE FUNCTION append_fresh(p int, aid uuid, cmds json)
RETURNS TABLE (pos bigint, at_ms bigint, clock_revision bigint, definitions bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '5s' AS $$
DECLARE
    moment timestamptz;
BEGIN
    SELECT coalesce(c.pinned_at, now() + c.shift), c.revision, d.n INTO moment, clock_revision, definitions
    FROM clock c, definitions_seq d;
    at_ms := to_epoch_ms(moment);
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
