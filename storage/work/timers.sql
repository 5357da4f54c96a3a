-- name: now
-- The engine's time: only the database decides whether a timer is due. A pinned clock stands still.
SELECT to_epoch_ms(clock_now()), revision, pinned_at IS NOT NULL FROM clock;

-- name: window
-- The nearest due dates, with overdue ones: one range of the partial index, however many timers are pending.
-- Stuck timers are left out by their primary key, row by row: their table is nearly always empty.
SELECT timer_key, due_at_ms, tenant_id FROM timers AS t
WHERE partition_id = $1 AND state = 'PENDING'
    AND NOT EXISTS (
        SELECT FROM stuck_timers AS s WHERE s.timer_key = t.timer_key AND s.due_at_ms = t.due_at_ms AND s.partition_id = $1)
ORDER BY due_at_ms, timer_key
LIMIT $2;

-- name: note_stuck
-- Runs in the batch that rejects the trigger. All nodes skip the timer until its due date changes.
INSERT INTO stuck_timers (timer_key, due_at_ms, partition_id, noted_at, reason)
VALUES ($1, $2, $3, clock_now(), $4) ON CONFLICT DO NOTHING;

-- name: stuck
-- Read at the beginning of a term. The latest ones: the consumer remembers a limited number.
SELECT timer_key, due_at_ms, reason FROM stuck_timers WHERE partition_id = $1 ORDER BY noted_at DESC LIMIT $2;

-- name: purge_stuck
-- Deletes the records of timers that have ended, have another due date, or no longer exist.
DELETE FROM stuck_timers AS s WHERE NOT EXISTS (
    SELECT FROM timers AS t WHERE t.timer_key = s.timer_key AND t.due_at_ms = s.due_at_ms AND t.state = 'PENDING');

-- name: purge
-- Deletes a limited number of ended timers, the oldest first. Every ended timer has an end, whether it fired or was cancelled.
-- It waits for no other session: the deletion of a tree locks timers in another order.
DELETE FROM timers WHERE timer_key = ANY (ARRAY(
    SELECT timer_key FROM timers WHERE ended_at IS NOT NULL AND ended_at < clock_now() - $1::bigint * interval '1 millisecond'
    ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED));
