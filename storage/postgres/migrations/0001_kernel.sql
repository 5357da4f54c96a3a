-- The kernel: clock, command log, event log, partitions, idempotency keys, inbox (KERNEL.md sections 1-4).

-- One row: pinned, time stands still; otherwise it is database time plus the offset. `revision` rises with each change.
CREATE TABLE clock (
    one       boolean PRIMARY KEY DEFAULT true CHECK (one),
    revision  bigint NOT NULL DEFAULT 0,
    pinned_at timestamptz,
    shift     interval NOT NULL DEFAULT '0'
);
INSERT INTO clock DEFAULT VALUES;

-- The engine's time. STABLE, so that a comparison with it can be an index condition.
CREATE FUNCTION clock_now() RETURNS timestamptz LANGUAGE sql STABLE AS
$$ SELECT coalesce(pinned_at, now() + shift) FROM clock $$;

-- Both as volatile as their bodies: otherwise the planner would not inline them.
CREATE FUNCTION to_epoch_ms(t timestamptz) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS
$$ SELECT floor(extract(epoch FROM t) * 1000)::bigint $$;

CREATE FUNCTION from_epoch_ms(ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT to_timestamp(ms::float8 / 1000) $$;

-- Who we are: made once, so that a client can tell two installations apart.
CREATE TABLE cluster (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    cluster_id uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO cluster DEFAULT VALUES;

CREATE SEQUENCE command_log_position_seq;

-- Append-only: never updated. Cut into pieces by position, so that old ones can be dropped whole.
CREATE TABLE command_log (
    partition_id int NOT NULL,
    position     bigint NOT NULL,
    append_id    uuid NOT NULL,
    ord          int NOT NULL,
    at           timestamptz NOT NULL,
    tenant_id    text NOT NULL,
    intent       text NOT NULL,
    key          bigint,
    request      bigint,
    payload      bytea NOT NULL,
    trace        text,
    PRIMARY KEY (partition_id, position)
) PARTITION BY RANGE (position);

-- One row for a handled command (seq 0) and for each follow-up handled with it (seq 1, …).
CREATE TABLE event_log (
    partition_id int NOT NULL,
    position     bigint NOT NULL,
    seq          smallint NOT NULL,
    root_key     bigint,
    request      bigint,
    events       json NOT NULL,
    rejection    json,
    response     json,
    version      smallint NOT NULL,
    processed_at timestamptz NOT NULL,
    PRIMARY KEY (partition_id, position, seq)
) PARTITION BY RANGE (position);
CREATE INDEX event_log_root ON event_log (root_key, position, seq);
CREATE INDEX event_log_request ON event_log (request) WHERE request IS NOT NULL;

-- Make the pieces that hold positions [n, n + 10 million); does nothing when they exist.
CREATE FUNCTION make_log_pieces(n bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    size  CONSTANT bigint := 10000000;
    lower CONSTANT bigint := n / size * size;
BEGIN
    EXECUTE format('CREATE TABLE IF NOT EXISTS command_log_%s PARTITION OF command_log FOR VALUES FROM (%s) TO (%s)', lower / size, lower, lower + size);
    EXECUTE format('CREATE TABLE IF NOT EXISTS event_log_%s PARTITION OF event_log FOR VALUES FROM (%s) TO (%s)', lower / size, lower, lower + size);
END $$;
SELECT make_log_pieces(0), make_log_pieces(10000000);
-- A row here means that no piece was made in time: an alarm.
CREATE TABLE command_log_default PARTITION OF command_log DEFAULT;
CREATE TABLE event_log_default PARTITION OF event_log DEFAULT;

CREATE TABLE partitions (
    id                  int PRIMARY KEY,
    epoch               bigint NOT NULL DEFAULT 0,
    owner_node          text,
    owner_pid           int,
    owner_backend_start timestamptz,
    lease_until         timestamptz
);

-- The cursor of a partition, insert-only: the last row's to_pos. Its insertion is half of the fence.
CREATE TABLE batches (
    partition_id int NOT NULL,
    from_pos     bigint NOT NULL,
    to_pos       bigint NOT NULL,
    next_key     bigint NOT NULL,
    epoch        bigint NOT NULL,
    PRIMARY KEY (partition_id, from_pos)
);
INSERT INTO partitions (id) VALUES (1);
INSERT INTO batches VALUES (1, -1, 0, (1::bigint << 51) + 1, 0);

-- First statement of every batch: raises unless this epoch still owns the partition and the cursor stands at old_pos.
CREATE FUNCTION fence(p int, e bigint, old_pos bigint, new_pos bigint, next_key bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
BEGIN
    PERFORM FROM partitions WHERE id = p AND epoch = e FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'partition % is no longer owned by epoch %', p, e USING ERRCODE = 'VV001';
    END IF;
    SELECT to_pos INTO last FROM batches WHERE partition_id = p ORDER BY from_pos DESC LIMIT 1;
    IF last IS DISTINCT FROM old_pos THEN
        RAISE EXCEPTION 'partition % stands at %, not at %', p, last, old_pos USING ERRCODE = 'VV001';
    END IF;
    INSERT INTO batches VALUES (p, old_pos, new_pos, next_key, e);
END $$;

CREATE TABLE idempotency_keys (
    tenant     text NOT NULL,
    key        text NOT NULL,
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
    PRIMARY KEY (target_partition, id)
);

-- KERNEL.md section 1. `since`: NULL, or on a retry the last position known before the first try.
CREATE FUNCTION append_commands(p int, aid uuid, since bigint, cmds json)
RETURNS TABLE (ord int, pos bigint, replayed boolean, same_body boolean)
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
        SELECT c.o, coalesce(l.position, i.position), l.ord IS NULL, l.ord IS NOT NULL OR i.body_sha = decode(c.sha, 'hex')
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
           w.pos IS NOT NULL OR coalesce(decode(first.sha, 'hex'), i.body_sha) = decode(w.sha, 'hex')
    FROM w
    LEFT JOIN w first ON w.pos IS NULL AND first.pos IS NOT NULL AND first.tenant = w.tenant AND first.key = w.key
    LEFT JOIN LATERAL (
        SELECT k.position, k.body_sha FROM idempotency_keys k
        WHERE w.pos IS NULL AND k.tenant = w.tenant AND k.key = w.key OFFSET 0
    ) i ON true
    ORDER BY w.o;
END $$;

-- Move up to n commands from the inbox to the log, in order; returns the last position, NULL when there was nothing.
CREATE FUNCTION forward_inbox(p int, n int) RETURNS bigint LANGUAGE plpgsql VOLATILE SET lock_timeout = '5s' AS $$
DECLARE
    last bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(4711, p);
    WITH taken AS (
        DELETE FROM inbox WHERE target_partition = p AND id IN (
            SELECT id FROM inbox WHERE target_partition = p ORDER BY id LIMIT n)
        RETURNING *
    ), w AS MATERIALIZED (
        SELECT s.*, row_number() OVER () AS o, nextval('command_log_position_seq') pos FROM (SELECT * FROM taken ORDER BY id) s
    ), ins AS (
        INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, key, request, payload, trace)
        SELECT p, pos, gen_random_uuid(), o, clock_now(), tenant_id, intent, key, request, payload, trace FROM w
    )
    SELECT max(pos) INTO last FROM w;
    RETURN last;
END $$;
