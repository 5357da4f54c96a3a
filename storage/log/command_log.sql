-- name: append
-- One call in autocommit. Time and catalogue are read at its beginning: they are no older than the answers before it.
SELECT ord, pos, replayed, same_body, behind, (SELECT to_epoch_ms(clock_now())), (SELECT revision FROM clock),
       (SELECT n FROM definitions_seq)
FROM append_commands($1, $2, $3, $4, $5, $6)
ORDER BY ord;

-- name: append_fresh
-- Like append, for commands without idempotency keys on their first try: most are such. $4 says whether the commit is flushed.
SELECT pos, at_ms, clock_revision, definitions FROM append_fresh($1, $2, $3, $4, $5, $6);

-- name: begin_appends
-- A transaction of its own before the first append of a connection: its commit ends earlier sessions, and an append that fails
-- must not undo it.
SELECT begin_appends($1, $2);

-- name: forward
-- Selects by state, not by cursor: a repeated call after a lost answer moves nothing twice.
SELECT forward_inbox($1, $2);

-- name: last_position
-- Read from the end of the primary key. An empty log gives the position before the first one.
SELECT coalesce(max(position), $1::bigint << 51) FROM command_log WHERE partition_id = $1;

-- name: look
-- All in one round trip, once a second: an empty inbox then needs neither a call of `forward` nor its lock, and the inbox of
-- clients' transactions, before its first use, no look of its own. A number is given out before its transaction commits.
SELECT coalesce(max(position), $1::bigint << 51), EXISTS (SELECT FROM inbox WHERE target_partition = $1),
       (SELECT is_called FROM transaction_inbox_numbers)
FROM command_log WHERE partition_id = $1;

-- name: cursor
-- The last processed position of the partition, on any node.
SELECT to_pos FROM batches WHERE partition_id = $1 ORDER BY from_pos DESC LIMIT 1;

-- name: backlog
-- Counts rows, up to a limit, because positions have gaps: a crash skips a million.
SELECT count(*) FROM (
    SELECT FROM command_log WHERE partition_id = $1 AND position > $2 LIMIT $3
) behind;

-- name: purge_keys
-- A limited number, the longest expired first; skips a key that is in use again. By ctid, because the primary key has two
-- columns.
DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM idempotency_keys WHERE expires_at < clock_now() - $1::bigint * interval '1 millisecond'
    ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED));

-- name: known_keys
-- Each key is looked up in the primary key. Those that have expired are free.
SELECT count(*) FROM idempotency_keys WHERE tenant = $1 AND key = ANY ($2::text[]) AND expires_at > clock_now();

-- name: outcomes
-- The outcomes of commands are in their own rows, or in later rows that name them as their request. A row answers if it has a
-- response (JSON null for an empty answer), or if the command itself was rejected. The first such row counts. Each position is
-- looked up by itself, in the primary key: joined in any other way, PostgreSQL may read the log, or another index, as a whole.
SELECT DISTINCT ON (position) position, rejection, response
FROM (
    SELECT own.* FROM unnest($1::bigint[]) AS asked(p) CROSS JOIN LATERAL (
        SELECT position, position AS at, seq, rejection, response
        FROM event_log
        WHERE partition_id = (p >> 51)::int AND position = p AND request IS NULL
            AND (response IS NOT NULL OR (seq = 0 AND rejection IS NOT NULL))
        ORDER BY seq LIMIT 1
    ) own
    UNION ALL
    SELECT request, position, seq, rejection, response
    FROM event_log
    WHERE request = ANY ($1::bigint[]) AND response IS NOT NULL
) answers
ORDER BY position, at, seq;

-- name: lost
-- Commands were appended at these positions. Where no row is left, a crash of PostgreSQL took the command. A standby cannot
-- know: the command may still arrive there, and a client that believes it lost would repeat it.
SELECT position FROM unnest($1::bigint[]) AS x(position)
WHERE NOT pg_is_in_recovery() AND NOT EXISTS (SELECT FROM command_log l
    WHERE l.position = x.position AND l.partition_id IN (SELECT id FROM partitions));

-- name: ended
-- By primary key: only the instances that a client waits for.
SELECT process_instance_key, state FROM process_instances
WHERE process_instance_key = ANY ($1::bigint[]) AND ended_at IS NOT NULL;

-- name: command
-- A position is unique over all partitions. The list of partitions makes this a look-up by primary key.
SELECT position, partition_id, tenant_id, intent, key, request, to_epoch_ms(at), payload
FROM command_log
WHERE position = $1 AND partition_id IN (SELECT id FROM partitions)
    -- only tenants: AND (string_to_array(tenant_id, ',') <@ $2::text[] OR EXISTS (
    -- only tenants:     SELECT FROM event_log e JOIN process_instances p ON p.process_instance_key = e.root_key
    -- only tenants:     WHERE e.partition_id = command_log.partition_id AND e.position = command_log.position
    -- only tenants:         AND p.tenant_id = ANY ($2::text[])));

-- name: tenant_of_command
-- A command by key names all tenants of its sender. Its events are of the tenant of the instance that it changed.
SELECT p.tenant_id
FROM event_log e JOIN process_instances p ON p.process_instance_key = e.root_key
WHERE e.position = $1 AND e.partition_id IN (SELECT id FROM partitions)
ORDER BY e.seq
LIMIT 1;

-- name: events_of_command
-- The command's own row, and those of the follow-ups that were handled with it.
SELECT seq, to_epoch_ms(processed_at), version, coalesce(events, large_events)::json, rejection
FROM event_log
WHERE position = $1 AND partition_id IN (SELECT id FROM partitions)
ORDER BY seq;

-- name: history
-- The events of an instance tree, by the index on root_key, with their commands until these are deleted. A row that follows from
-- an earlier command than that of its position names it: one that was held, or whose follow-ups had to wait for a load. $3 rows,
-- without the commands that come after $4 bytes: only whole ones are left out. What is left out is not read from its TOAST table.
SELECT position, seq, at, coalesce(events, large_events)::json, intent, payload, version, origin, found
FROM (
    SELECT *, count(*) OVER () AS found,
        coalesce(sum(bytes) OVER (ORDER BY position RANGE UNBOUNDED PRECEDING EXCLUDE GROUP), 0) AS bytes_before
    FROM (
        SELECT e.position, e.seq, to_epoch_ms(e.processed_at) AS at, e.events, e.large_events, e.version, c.intent, c.payload,
            pg_column_size(coalesce(e.events, e.large_events)) + coalesce(pg_column_size(c.payload), 0) AS bytes, origin
        FROM event_log e
        LEFT JOIN command_log p ON p.partition_id = e.partition_id AND p.position = e.position
        CROSS JOIN LATERAL (
            SELECT CASE WHEN e.request <> e.position AND e.request IS DISTINCT FROM p.request THEN e.request END AS origin) o
        LEFT JOIN LATERAL (
            SELECT p.intent, CASE WHEN e.seq = 0 THEN p.payload END AS payload WHERE origin IS NULL
            UNION ALL
            SELECT l.intent, CASE WHEN l.intent = 'PROCESS_INSTANCE:CHANGE_IF_MATCH' THEN l.payload END FROM command_log l
            WHERE l.partition_id = (origin >> 51)::int AND l.position = origin) c ON true
        WHERE e.root_key = (SELECT root_key FROM process_instances WHERE process_instance_key = $1
            -- only tenants: AND tenant_id = ANY ($5::text[])
        ) AND e.position > $2
        ORDER BY e.position, e.seq
        LIMIT $3
    ) page
) sized
WHERE bytes_before < $4::bigint
ORDER BY position, seq;
