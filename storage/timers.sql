-- name: now
-- The engine's time, not this computer's: only the database decides what is due. A pinned clock stands still.
SELECT to_epoch_ms(clock_now()), revision, pinned_at IS NOT NULL FROM clock;

-- name: window
-- The nearest due dates, overdue ones included: one range of the partial index, however many timers are pending.
SELECT timer_key, due_at_ms, tenant_id FROM timers
WHERE partition_id = $1 AND state = 'PENDING'
ORDER BY due_at_ms, timer_key
LIMIT $2;

-- name: purge
-- Ended ones only, the oldest first, in pieces: by their end, which every ended timer has, however it ended.
DELETE FROM timers WHERE timer_key IN (
    SELECT timer_key FROM timers WHERE ended_at IS NOT NULL AND ended_at < clock_now() - $1::bigint * interval '1 millisecond'
    ORDER BY ended_at LIMIT $2);
