-- The deletion of ended instance trees, and its record (docs/retention.md).

-- Which trees were deleted. Replay of the event log gives their rows again, and leaves these trees out. A record goes when the
-- events of its tree have gone.
CREATE TABLE deleted_trees (
    root_key   bigint PRIMARY KEY,
    deleted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    reason     text NOT NULL CHECK (reason IN ('RETENTION', 'REQUEST', 'ERASURE'))
);
CREATE INDEX deleted_trees_at ON deleted_trees (deleted_at);

-- The time by which retention judges in a partition. It follows the engine's clock, but never faster than `retention.catch_up`
-- allows, so that a clock that jumps deletes little before somebody notices. The count of deleted trees is for metrics.
CREATE TABLE retention_clocks (
    partition_id int PRIMARY KEY,
    at           timestamptz NOT NULL,
    moves        bigint NOT NULL DEFAULT 0,
    deleted      bigint NOT NULL DEFAULT 0,
    -- What retention did last, and what it waits for: for `vivero status`, `vivero doctor` and metrics (docs/retention.md).
    -- The value of `moves` that this was written for: a late statement of an earlier run changes nothing.
    ran_moves     bigint NOT NULL DEFAULT -1,
    -- When the last run ended, by the server's time.
    ran_at        timestamptz,
    -- Trees that it deleted.
    ran_deleted   bigint NOT NULL DEFAULT 0,
    -- Why it could not go on, and since when, by the server's time: the archive is away.
    problem       text,
    problem_since timestamptz,
    -- The root of the tree that should have been deleted first and is still there, when that was due, and what keeps it.
    kept_key      bigint,
    kept_due      timestamptz,
    kept_by       text,
    -- What keeps the oldest log partition that is old enough to be dropped: 'consumer' or 'instance'.
    logs_kept_by  text
);

-- Deletes whole trees of ended instances: all of a tree's rows, or none. Says for each root what became of its tree:
--   DELETED   it is gone
--   UNKNOWN   there is no such instance
--   CALLED    the instance was called, and goes with its root
--   RUNNING   something in it has not ended
--   or the name of what refers to it: a start lock, an open message subscription, an undelivered event, a batch operation.
-- The roots are locked in the order of their keys, so that two deletions of one tree come one after the other and never deadlock.
-- The engine never writes rows of a tree that has ended. Every table is read by the keys of instances; plans made for empty
-- tables must not stay.
CREATE FUNCTION delete_trees(roots bigint[], why text) RETURNS TABLE (root bigint, verdict text) LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    ended     bigint[];
    of_root   bigint[];
    instances bigint[];
    held      bigint[];
    held_by   text[];
    bodies    bigint[];
BEGIN
    ended := ARRAY(
        SELECT p.process_instance_key FROM process_instances p
        WHERE p.process_instance_key = ANY (roots) AND p.parent_process_instance_key IS NULL AND p.ended_at IS NOT NULL
        ORDER BY p.process_instance_key FOR UPDATE);

    WITH RECURSIVE tree AS (
        SELECT p.process_instance_key AS key, p.root_key, p.ended_at FROM process_instances p WHERE p.process_instance_key = ANY (ended)
        UNION ALL
        SELECT p.process_instance_key, p.root_key, p.ended_at
        FROM tree JOIN process_instances p ON p.parent_process_instance_key = tree.key
    )
    SELECT array_agg(tree.root_key), array_agg(tree.key), array_agg(tree.root_key) FILTER (WHERE tree.ended_at IS NULL)
    INTO of_root, instances, held FROM tree;
    held := coalesce(held, '{}');
    held_by := array_fill('RUNNING'::text, ARRAY[cardinality(held)]);

    SELECT held || coalesce(array_agg(x.root_key), '{}'), held_by || coalesce(array_agg(x.name), '{}') INTO held, held_by
    FROM (
        SELECT t.root_key, 'a start lock' AS name
        FROM unnest(of_root, instances) AS t(root_key, key) JOIN start_locks l ON l.process_instance_key = t.key
        UNION ALL
        SELECT s.root_key, 'an open message subscription'
        FROM subscriptions s JOIN channel_subscriptions c USING (subscription_key)
        WHERE s.process_instance_key = ANY (instances)
        UNION ALL
        SELECT t.key, 'an undelivered event'
        FROM unnest(ended) AS t(key)
        WHERE EXISTS (SELECT FROM outbox_deliveries o WHERE o.partition_id = (t.key >> 51)::int AND o.root_key = t.key)
        UNION ALL
        SELECT i.root_key, 'a batch operation'
        FROM batch_operation_items i
        WHERE i.process_instance_key = ANY (instances) AND i.state = 'ACTIVE' AND i.type <> 'DELETE_PROCESS_INSTANCE'
    ) x;

    IF cardinality(held) > 0 THEN
        ended := ARRAY(SELECT t.key FROM unnest(ended) AS t(key) WHERE t.key <> ALL (held));
        instances := ARRAY(SELECT t.key FROM unnest(of_root, instances) AS t(root_key, key) WHERE t.root_key <> ALL (held));
    END IF;

    IF cardinality(ended) > 0 THEN
        bodies := ARRAY(
            SELECT e.element_instance_key FROM element_instances e
            WHERE e.process_instance_key = ANY (instances) AND e.element_type = 'MULTI_INSTANCE_BODY');
        IF cardinality(bodies) > 0 THEN
            DELETE FROM loop_items i WHERE i.body_key = ANY (bodies);
            DELETE FROM paged_loop_items i WHERE i.body_key = ANY (bodies);
        END IF;
        DELETE FROM variables v WHERE v.process_instance_key = ANY (instances);
        DELETE FROM jobs j WHERE j.process_instance_key = ANY (instances);
        DELETE FROM timers t WHERE t.process_instance_key = ANY (instances);
        DELETE FROM message_correlations c WHERE c.process_instance_key = ANY (instances);
        DELETE FROM subscriptions s WHERE s.process_instance_key = ANY (instances);
        DELETE FROM incidents i WHERE i.process_instance_key = ANY (instances);
        DELETE FROM user_tasks u WHERE u.process_instance_key = ANY (instances);
        DELETE FROM element_instances e WHERE e.process_instance_key = ANY (instances);
        DELETE FROM process_instances p WHERE p.process_instance_key = ANY (instances);
        INSERT INTO deleted_trees (root_key, reason) SELECT t.key, why FROM unnest(ended) AS t(key) ON CONFLICT DO NOTHING;
    END IF;

    RETURN QUERY
        SELECT asked.key, CASE
            WHEN asked.key = ANY (ended) THEN 'DELETED'
            WHEN p.process_instance_key IS NULL THEN 'UNKNOWN'
            WHEN p.parent_process_instance_key IS NOT NULL THEN 'CALLED'
            WHEN p.ended_at IS NULL THEN 'RUNNING'
            ELSE coalesce(held_by[array_position(held, asked.key)], 'RUNNING') END
        FROM unnest(roots) AS asked(key) LEFT JOIN process_instances p ON p.process_instance_key = asked.key;
END $$;

-- Log partitions are dropped whole when nothing in them is needed (docs/retention.md).

-- Drops the oldest log partitions of both logs of a partition, up to the first that is still needed. `kept_by` says why that one
-- stays:
--   'cursor'    the consumer has not processed all of it, or nothing was appended behind it
--   'age'       its newest event is not older than `before`
--   'consumer'  a consumer of events has not read all of it
--   'instance'  an instance that began in it, or before, still runs: its trace and its replay need all its events
-- DROP TABLE locks both logs exclusively for a moment. The session's lock_timeout bounds how long others queue behind it.
CREATE FUNCTION drop_log_partitions(p int, before timestamptz) RETURNS TABLE (dropped int, kept_by text) LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    size      CONSTANT bigint := 10000000;
    base      CONSTANT bigint := p::bigint << 51;
    processed CONSTANT bigint := coalesce((SELECT b.to_pos FROM batches b WHERE b.partition_id = p ORDER BY b.from_pos DESC LIMIT 1), base);
    consumed  CONSTANT bigint := (SELECT min(c.position) FROM event_consumers c WHERE c.partition_id = p);
    number    bigint;
    upper     bigint;
BEGIN
    dropped := 0;
    FOR number IN
        SELECT split_part(t.relname, '_', 4)::bigint FROM pg_inherits h JOIN pg_class t ON t.oid = h.inhrelid
        WHERE h.inhparent = 'event_log'::regclass AND t.relname ~ format('^event_log_%s_[0-9]+$', p) ORDER BY 1
    LOOP
        upper := base + (number + 1) * size;
        kept_by := CASE
            WHEN upper > processed OR NOT EXISTS (SELECT FROM command_log c WHERE c.partition_id = p AND c.position >= upper) THEN 'cursor'
            WHEN consumed < upper THEN 'consumer'
            WHEN (SELECT e.processed_at FROM event_log e WHERE e.partition_id = p AND e.position >= upper - size AND e.position < upper
                  ORDER BY e.position DESC, e.seq DESC LIMIT 1) >= before THEN 'age'
            WHEN EXISTS (SELECT FROM process_instances i
                         WHERE i.ended_at IS NULL AND i.created_position >= base AND i.created_position < upper) THEN 'instance'
        END;
        EXIT WHEN kept_by IS NOT NULL;
        EXECUTE format('DROP TABLE %I, %I', format('command_log_%s_%s', p, number), format('event_log_%s_%s', p, number));
        dropped := dropped + 1;
    END LOOP;
    RETURN NEXT;
END $$;

-- Deletes the rows of both logs up to the position of about the `most`-th row of the event log, the oldest first; returns how
-- many rows of the event log. It does so only in the piece that grows, and only when no other one is left: full pieces are
-- dropped whole, in no time. The only piece of a log that grows slowly is never full, so never dropped. A row stays, with all
-- behind it, for the reasons that keep a piece (drop_log_partitions). The row at the cursor stays, too: positions after a crash
-- begin behind the last row.
CREATE FUNCTION delete_old_log_rows(p int, before timestamptz, most int) RETURNS int LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    size      CONSTANT bigint := 10000000;
    base      CONSTANT bigint := p::bigint << 51;
    processed CONSTANT bigint := coalesce((SELECT b.to_pos FROM batches b WHERE b.partition_id = p ORDER BY b.from_pos DESC LIMIT 1), base);
    consumed  CONSTANT bigint := (SELECT min(c.position) FROM event_consumers c WHERE c.partition_id = p);
    free      CONSTANT bigint := least(processed, consumed, (
        SELECT c.position FROM command_log c WHERE c.partition_id = p ORDER BY c.position DESC LIMIT 1));
    lower     CONSTANT bigint := base + (processed - base) / size * size;
    upto      bigint;
    deleted   int;
BEGIN
    SELECT e.position INTO upto FROM event_log e WHERE e.partition_id = p ORDER BY e.position, e.seq LIMIT 1;
    IF upto IS NULL OR upto < lower THEN
        RETURN 0;
    END IF;
    SELECT max(s.position) INTO upto FROM (
        SELECT e.position FROM event_log e WHERE e.partition_id = p AND e.position < free ORDER BY e.position, e.seq LIMIT most) s;
    upto := least(upto, (
        SELECT e.position - 1 FROM event_log e
        WHERE e.partition_id = p AND e.position <= upto AND (e.processed_at >= before OR EXISTS (
            SELECT FROM process_instances i WHERE i.process_instance_key = e.root_key AND i.ended_at IS NULL))
        ORDER BY e.position LIMIT 1));
    DELETE FROM command_log c WHERE c.partition_id = p AND c.position <= upto;
    DELETE FROM event_log e WHERE e.partition_id = p AND e.position <= upto;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $$;

-- The archive of ended instance trees (docs/operations/archive.md): which files there are. The files are in a directory.

CREATE TABLE archive_files (
    -- Relative to the directory.
    name         text PRIMARY KEY,
    partition_id int NOT NULL,
    -- WRITING: somebody writes it, or was killed meanwhile. COMPLETE: it is on disk and was read back. REMOVED: the file is to be
    -- deleted.
    state        text NOT NULL DEFAULT 'WRITING' CHECK (state IN ('WRITING', 'COMPLETE', 'REMOVED')),
    begun_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    sha256       text,
    bytes        bigint,
    trees        int,
    -- The roots of its trees lie between these keys.
    first_key    bigint,
    last_key     bigint,
    -- The roots of its trees that are not deleted from the tables yet.
    waiting      bigint[] NOT NULL DEFAULT '{}'
);
CREATE INDEX archive_files_keys ON archive_files (last_key, first_key) WHERE state = 'COMPLETE';
CREATE INDEX archive_files_open ON archive_files (partition_id) WHERE state <> 'COMPLETE' OR waiting <> '{}';

-- What was erased from the archive: no data, only that it was there.
CREATE TABLE archive_erasures (
    root_key  bigint NOT NULL,
    -- The file that had the tree, and is deleted.
    file      text NOT NULL,
    erased_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    reason    text NOT NULL,
    PRIMARY KEY (root_key, file)
);
