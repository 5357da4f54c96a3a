-- Partitions: the lease, the cursor, the fence, slots and their moves, recorded attempts at commands. And the nodes that may lead
-- them.

CREATE TABLE partitions (
    id                  int PRIMARY KEY,
    -- Rises with each term. The fence compares it.
    epoch               bigint NOT NULL DEFAULT 0,
    owner_node          text,
    owner_pid           int,
    owner_backend_start timestamptz,
    lease_until         timestamptz,
    -- The last epoch that handed the partition over. A term that ended in this way leaves no suspicion about the next commands.
    handed_over         bigint NOT NULL DEFAULT 0
);

-- The cursor of a partition, insert-only: it is `to_pos` of the last row.
CREATE TABLE batches (
    partition_id int NOT NULL,
    from_pos     bigint NOT NULL,
    to_pos       bigint NOT NULL,
    next_key     bigint NOT NULL,
    epoch        bigint NOT NULL,
    PRIMARY KEY (partition_id, from_pos)
);

-- Makes a partition: its row, its cursor (before its first position), the sequence of its positions, and its first log
-- partitions.
CREATE FUNCTION make_partition(p int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    base CONSTANT bigint := p::bigint << 51;
BEGIN
    INSERT INTO partitions (id) VALUES (p);
    INSERT INTO batches VALUES (p, base - 1, base, base + 1, 0);
    EXECUTE format('CREATE SEQUENCE log_position_%s MINVALUE %s MAXVALUE %s', p, base + 1, base + (1::bigint << 51) - 1);
    PERFORM make_log_partitions(base + n * 10000000) FROM generate_series(0, 2) n;
END $$;
SELECT make_partition(1);

-- Who owns what is found by a name (message channels, start locks): each name has one of 1,024 slots, and each slot one
-- partition.
CREATE TABLE slots (
    slot         smallint PRIMARY KEY CHECK (slot BETWEEN 0 AND 1023),
    partition_id int NOT NULL
);
INSERT INTO slots SELECT n, 1 FROM generate_series(0, 1023) n;

-- The slot of a name in a tenant, the same on every server and in every version: other programs compute it, too.
CREATE FUNCTION slot_of(tenant text, name text) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT (('x' || left(md5(tenant || ':' || name), 4))::bit(16)::int % 1024)::smallint $$;

-- Slots moved from the partition `previous`. This sender still reaches them by way of it, or holds its commands in the inbox of
-- the partition `-partition_id`, which nobody forwards. One move at a time, so each sender has one row.
CREATE TABLE slot_detours (
    partition_id int PRIMARY KEY,
    previous     int NOT NULL,
    slots        smallint[] NOT NULL,
    held         boolean NOT NULL
);

-- The first statement of every batch of commands. Raises VV001 unless this epoch still owns the partition and the cursor stands
-- at old_pos; then moves the cursor.
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

-- The first statement of a batch of deferred work between commands. Raises as `fence` does. It writes no row and leaves the
-- cursor where it is: the batch takes its keys from those that the last batch of commands set aside. If nobody is told of this
-- batch, the next flush covers it: every later change stands behind it in the WAL.
CREATE FUNCTION fence_between(p int, e bigint, pos bigint, used_to bigint, told boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    last batches;
BEGIN
    PERFORM FROM partitions WHERE id = p AND epoch = e FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'partition % is no longer owned by epoch %', p, e USING ERRCODE = 'VV001';
    END IF;
    SELECT * INTO last FROM batches WHERE partition_id = p ORDER BY from_pos DESC LIMIT 1;
    IF last.to_pos IS DISTINCT FROM pos OR last.next_key < used_to THEN
        RAISE EXCEPTION 'partition % stands at % with keys up to %, not at % with %', p, last.to_pos, last.next_key, pos, used_to
            USING ERRCODE = 'VV001';
    END IF;
    IF NOT told THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
END $$;

-- Attempts at commands that may be what ends terms. The consumer writes them only while it tries commands one by one; the commit
-- that passes a command deletes its row.
CREATE TABLE attempts (
    partition_id int NOT NULL,
    position     bigint NOT NULL,
    -- Up to here the consumer tries commands one by one: `position` itself, or the end of a batch that the watchdog ended.
    until        bigint NOT NULL,
    begun        int NOT NULL,
    -- The term of the latest attempt; `open` as long as its end is unknown.
    epoch        bigint NOT NULL,
    open         boolean NOT NULL,
    -- Why the attempts that count ended.
    causes       text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (partition_id, position)
);

-- The running nodes of the cluster.
CREATE TABLE nodes (
    -- Unique to a running program: a restarted one is another node.
    id            text PRIMARY KEY,
    number        int GENERATED ALWAYS AS IDENTITY,
    roles         text[] NOT NULL,
    version       text NOT NULL,
    schema        int NOT NULL,
    host          text NOT NULL,
    port          int NOT NULL,
    started_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    heartbeat_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The session of the heartbeats. A killed program loses it at once.
    pid           int NOT NULL,
    backend_start timestamptz NOT NULL,
    -- An operator asked that the node lead nothing.
    draining      boolean NOT NULL DEFAULT false,
    -- Partitions of other nodes that this node is ready to lead at once.
    ready         int[] NOT NULL DEFAULT '{}',
    -- Levels of single loggers that an operator has changed at the node while it runs (docs/observability.md). By logger, for
    -- example {"vivero.engine": "debug"}. They end with the node: a restarted program is another one.
    log_levels    json NOT NULL DEFAULT '{}',
    -- The URL at which clients reach the node. `host` and `port` are where it listens, which may be all addresses, or behind a
    -- proxy. Null: none is known.
    address       text
) WITH (fillfactor = 50);
