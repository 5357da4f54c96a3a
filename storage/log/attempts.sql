-- name: begin
-- Runs before the load and the computation for the command at this position, in a commit of its own. Only the owner may record.
INSERT INTO attempts AS a (partition_id, position, until, begun, epoch, open)
SELECT id, $3, $3, 1, epoch, true FROM partitions WHERE id = $1 AND epoch = $2 FOR SHARE
ON CONFLICT (partition_id, position) DO UPDATE
SET begun = a.begun + CASE WHEN a.open AND a.epoch = excluded.epoch THEN 0 ELSE 1 END, epoch = excluded.epoch, open = true
RETURNING begun;

-- name: end
-- Counts the attempt of that term once, and only until another attempt begins. Any session may record the end.
UPDATE attempts SET open = false, causes = causes || $4::text
WHERE partition_id = $1 AND position = $3 AND epoch = $2 AND open;

-- name: suspect
-- The watchdog ended a batch: the next term tries its commands one by one.
INSERT INTO attempts AS a (partition_id, position, until, begun, epoch, open)
SELECT id, $3, $4, 0, epoch, false FROM partitions WHERE id = $1 AND epoch = $2
ON CONFLICT (partition_id, position) DO UPDATE SET until = greatest(a.until, excluded.until);

-- name: known
-- Read at the beginning of each term, also on another node.
SELECT position, until, causes FROM attempts WHERE partition_id = $1 AND until > $2 ORDER BY position;

-- name: waiting
-- The last position of a batch of this size.
SELECT max(position) FROM (
    SELECT position FROM command_log WHERE partition_id = $1 AND position > $2 ORDER BY position LIMIT $3) AS next;

-- name: clear
-- Runs in the commit of the batch that passes these positions.
DELETE FROM attempts WHERE partition_id = $1 AND until <= $2;

-- name: prove
-- A commit with a flush, like a batch's, that changes no table; and whether one of these sessions waits for a lock.
-- The server returns the text: large packets travel in both directions, as for a batch. A network may lose only large ones.
SELECT pg_logical_emit_message(true, 'vivero', '') IS NOT NULL,
    EXISTS (SELECT FROM pg_stat_activity WHERE pid = ANY ($1::int[]) AND wait_event_type = 'Lock'), $2::text;
