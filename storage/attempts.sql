-- name: begin
-- Before anything is loaded or computed for the command at this position, in a commit of its own. By the owner alone.
INSERT INTO attempts AS a (partition_id, position, until, begun, epoch, open)
SELECT id, $3, $3, 1, epoch, true FROM partitions WHERE id = $1 AND epoch = $2 FOR SHARE
ON CONFLICT (partition_id, position) DO UPDATE
SET begun = a.begun + CASE WHEN a.open AND a.epoch = excluded.epoch THEN 0 ELSE 1 END, epoch = excluded.epoch, open = true
RETURNING begun;

-- name: end
-- Counts the attempt of that term once, whoever says so, and only while no other one has begun.
UPDATE attempts SET open = false, causes = causes || $4::text
WHERE partition_id = $1 AND position = $3 AND epoch = $2 AND open;

-- name: suspect
-- A batch was ended by the watchdog: the next term tries its commands one by one.
INSERT INTO attempts AS a (partition_id, position, until, begun, epoch, open)
SELECT id, $3, $4, 0, epoch, false FROM partitions WHERE id = $1 AND epoch = $2
ON CONFLICT (partition_id, position) DO UPDATE SET until = greatest(a.until, excluded.until);

-- name: known
-- Read when a term begins, also by a node that takes over.
SELECT position, until, causes FROM attempts WHERE partition_id = $1 AND until > $2 ORDER BY position;

-- name: waiting
-- How far a batch of the log would reach.
SELECT max(position) FROM (
    SELECT position FROM command_log WHERE partition_id = $1 AND position > $2 ORDER BY position LIMIT $3) AS next;

-- name: clear
-- In the commit that passes them.
DELETE FROM attempts WHERE partition_id = $1 AND until <= $2;

-- name: prove
-- A commit with a flush, as batches make them, which writes nothing; and whether one of these sessions waits for somebody's lock.
-- The text comes back: it fills packets both ways, as batches do. A network may lose those alone.
SELECT pg_logical_emit_message(true, 'vivero', '') IS NOT NULL,
    EXISTS (SELECT FROM pg_stat_activity WHERE pid = ANY ($1::int[]) AND wait_event_type = 'Lock'), $2::text;
