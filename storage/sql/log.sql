-- name: append
-- One autocommit call; its moment is the same in every row, being the transaction's.
SELECT ord, pos, replayed, same_body, (SELECT to_epoch_ms(clock_now()))
FROM append_commands($1, $2, $3, $4)
ORDER BY ord;

-- name: forward
-- By state, not by cursor: asking again after a lost answer moves nothing twice.
SELECT forward_inbox($1, $2);

-- name: last_position
-- Read from the end of the primary key; 0 when nothing was appended.
SELECT coalesce(max(position), 0) FROM command_log WHERE partition_id = $1;

-- name: cursor
-- How far the partition was processed, whoever its owner is.
SELECT to_pos FROM batches WHERE partition_id = $1 ORDER BY from_pos DESC LIMIT 1;

-- name: outcomes
-- What came of the commands: the row of the command itself, or a later one that answers it. An answer has a rejection or
-- a response (JSON null when it is empty); a row with neither will be answered by another.
SELECT DISTINCT ON (position) position, rejection, response
FROM (
    SELECT e.position, e.position AS at, e.seq, e.rejection, e.response
    FROM event_log e
    WHERE e.position = ANY ($1::bigint[]) AND e.partition_id IN (SELECT id FROM partitions) AND e.seq = 0
    UNION ALL
    SELECT e.request, e.position, e.seq, e.rejection, e.response
    FROM event_log e
    WHERE e.request = ANY ($1::bigint[])
) answers
WHERE rejection IS NOT NULL OR response IS NOT NULL
ORDER BY position, at, seq;

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
SELECT seq, to_epoch_ms(processed_at), version, events
FROM event_log
WHERE position = $1 AND partition_id IN (SELECT id FROM partitions)
ORDER BY seq;
