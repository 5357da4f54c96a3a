-- name: append
-- One autocommit call. Time and catalogue are those of its beginning, so no older than what was answered before it.
SELECT ord, pos, replayed, same_body, behind, (SELECT to_epoch_ms(clock_now())), (SELECT revision FROM clock),
       (SELECT n FROM definitions_seq)
FROM append_commands($1, $2, $3, $4, $5, $6)
ORDER BY ord;

-- name: append_fresh
-- As append, of commands without idempotency keys that were never tried before: most are. Flushed only if they are to be.
SELECT pos, at_ms, clock_revision, definitions FROM append_fresh($1, $2, $3, $4, $5, $6);

-- name: begin_appends
-- Before the first append of a connection, by itself: earlier sessions are over when it is committed, and what an append
-- refuses must not take it back.
SELECT begin_appends($1, $2);

-- name: forward
-- By state, not by cursor: asking again after a lost answer moves nothing twice.
SELECT forward_inbox($1, $2);

-- name: last_position
-- Read from the end of the primary key; before the first append, the position before the first.
SELECT coalesce(max(position), $1::bigint << 51) FROM command_log WHERE partition_id = $1;

-- name: cursor
-- How far the partition was processed, whoever its owner is.
SELECT to_pos FROM batches WHERE partition_id = $1 ORDER BY from_pos DESC LIMIT 1;

-- name: backlog
-- How many commands stand behind a position, up to a number: positions jump, after a crash by a million.
SELECT count(*) FROM (
    SELECT FROM command_log WHERE partition_id = $1 AND position > $2 LIMIT $3
) behind;

-- name: purge_keys
-- In pieces, the longest expired first; one that is being used again is passed over. By ctid: two columns make no array.
DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM idempotency_keys WHERE expires_at < clock_now() - $1::bigint * interval '1 millisecond'
    ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED));

-- name: outcomes
-- What came of the commands: rows of their own, or later ones that name them as their request. A row answers if it has a
-- response (JSON null when the answer is empty), or if the command itself was rejected; the first one counts.
SELECT DISTINCT ON (position) position, rejection, response
FROM (
    SELECT position, position AS at, seq, rejection, response
    FROM event_log
    WHERE position = ANY ($1::bigint[]) AND partition_id IN (SELECT id FROM partitions) AND request IS NULL
      AND (response IS NOT NULL OR (seq = 0 AND rejection IS NOT NULL))
    UNION ALL
    SELECT request, position, seq, rejection, response
    FROM event_log
    WHERE request = ANY ($1::bigint[]) AND response IS NOT NULL
) answers
ORDER BY position, at, seq;

-- name: lost
-- Those of the positions at which nothing stands, though something was appended there: a crash of PostgreSQL took it. A
-- standby cannot know: what it has not got yet is not lost, and who was told so would repeat it.
SELECT position FROM unnest($1::bigint[]) AS x(position)
WHERE NOT pg_is_in_recovery() AND NOT EXISTS (SELECT FROM command_log l WHERE l.position = x.position AND l.partition_id IN (SELECT id FROM partitions));

-- name: ended
-- By primary key: only those that somebody waits for.
SELECT process_instance_key, state FROM process_instances
WHERE process_instance_key = ANY ($1::bigint[]) AND ended_at IS NOT NULL;

-- name: command
-- A position is unique over all partitions; naming them makes it a look-up by primary key.
SELECT position, partition_id, tenant_id, intent, key, request, to_epoch_ms(at), payload
FROM command_log
WHERE position = $1 AND partition_id IN (SELECT id FROM partitions);

-- name: events_of_command
-- The command's own row and those of the follow-ups handled with it.
SELECT seq, to_epoch_ms(processed_at), version, coalesce(events, large_events)::json, rejection
FROM event_log
WHERE position = $1 AND partition_id IN (SELECT id FROM partitions)
ORDER BY seq;

-- name: history
-- What happened in the tree of a process instance, by the index on root_key, with the commands as long as they are kept.
SELECT e.position, e.seq, to_epoch_ms(e.processed_at), coalesce(e.events, e.large_events)::json, c.intent, c.payload
FROM event_log e LEFT JOIN command_log c ON c.partition_id = e.partition_id AND c.position = e.position
WHERE e.root_key = (SELECT root_key FROM process_instances WHERE process_instance_key = $1) AND e.position > $2
ORDER BY e.position, e.seq
LIMIT $3;
