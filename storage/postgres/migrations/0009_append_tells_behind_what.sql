-- As before, and it tells behind which position the commands were appended: whoever knows the log up to there need not read
-- them back. Read under the lock, by the statement that inserts, so that nothing can come in between.
DROP FUNCTION append_commands;

-- KERNEL.md section 1. `since`: NULL, or on a retry the last position known before the first try.
CREATE FUNCTION append_commands(p int, aid uuid, since bigint, cmds json)
RETURNS TABLE (ord int, pos bigint, replayed boolean, same_body boolean, behind bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '5s' AS $$
#variable_conflict use_column
DECLARE
    fresh  int[];
    moment timestamptz := clock_now();
BEGIN
    -- 1: keys first, sorted, before the partition lock: inside it they deadlock across partitions
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
    -- 2: its own statement, so that the next one has a new snapshot and nextval runs under the lock
    PERFORM pg_advisory_xact_lock(4711, p);
    IF since IS NOT NULL AND EXISTS (
        SELECT FROM command_log l WHERE l.partition_id = p AND l.position > since AND l.append_id = aid
    ) THEN
        -- the retry of an append whose outcome was unknown, and it had happened: the same answer again
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
    -- 3: the fresh commands, in order. Keys are looked up one by one (LATERAL with OFFSET 0, ON CONFLICT), never joined:
    -- the plan is made when the table is empty, and a join made then reads all of it for ever after
    RETURN QUERY
    WITH w AS MATERIALIZED (
        SELECT s.*, CASE WHEN key IS NULL OR o = ANY (fresh) THEN nextval('command_log_position_seq') END pos
        FROM (
            SELECT * FROM json_to_recordset(cmds)
                AS t(o int, tenant text, key text, sha text, intent text, subject bigint, payload text, trace text)
            ORDER BY o
        ) s
    ), ins AS (
        INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, key, payload, trace)
        SELECT p, pos, aid, o, moment, tenant, intent, subject, convert_to(payload, 'UTF8'), trace FROM w WHERE pos IS NOT NULL
    ), upd AS (
        INSERT INTO idempotency_keys AS i (tenant, key, body_sha, expires_at, position)
        SELECT tenant, key, decode(sha, 'hex'), moment, pos FROM w WHERE pos IS NOT NULL AND key IS NOT NULL
        ON CONFLICT (tenant, key) DO UPDATE SET position = excluded.position
    )
    SELECT w.o, coalesce(w.pos, first.pos, i.position), w.pos IS NULL,
           w.pos IS NOT NULL OR coalesce(decode(first.sha, 'hex'), i.body_sha) = decode(w.sha, 'hex'),
           coalesce((SELECT max(position) FROM command_log WHERE partition_id = p), 0)
    FROM w
    LEFT JOIN w first ON w.pos IS NULL AND first.pos IS NOT NULL AND first.tenant = w.tenant AND first.key = w.key
    LEFT JOIN LATERAL (
        SELECT k.position, k.body_sha FROM idempotency_keys k
        WHERE w.pos IS NULL AND k.tenant = w.tenant AND k.key = w.key OFFSET 0
    ) i ON true
    ORDER BY w.o;
END $$;
