-- The figures of the whole database for people (`GET /cluster/figures`). Callers may ask at any time, so each statement reads
-- at most $1 rows of a table, whatever waits there. The metrics (figures.sql) count everything, but rarely.

-- name: jobs
-- By the index of live jobs. The states are those of the rows that were read.
SELECT state, count(*) FROM (
    SELECT CASE WHEN ready THEN 'ready' WHEN lease_token IS NOT NULL THEN 'leased'
                WHEN available_at IS NOT NULL THEN 'backoff' ELSE 'failed' END AS state
    FROM jobs WHERE ended_at IS NULL LIMIT $1) live
GROUP BY 1 ORDER BY 1;

-- name: incidents
-- By the index of live incidents.
SELECT count(*) FROM (SELECT FROM incidents WHERE resolved_at IS NULL LIMIT $1) active;

-- name: timers
-- The next due date is the first entry of each partition's index. Negative: it is overdue.
SELECT (SELECT count(*) FROM (SELECT FROM timers WHERE state = 'PENDING' LIMIT $1) pending),
       (SELECT (min(next.due_at_ms) - to_epoch_ms(clock_now()))::float8 / 1000
        FROM partitions p CROSS JOIN LATERAL (
            SELECT due_at_ms FROM timers t WHERE t.partition_id = p.id AND t.state = 'PENDING' ORDER BY due_at_ms LIMIT 1) next);

-- name: waiting
-- Buffered messages, and open user tasks.
SELECT (SELECT count(*) FROM (SELECT FROM messages LIMIT $1) buffered),
       (SELECT count(*) FROM (SELECT FROM user_tasks WHERE ended_at IS NULL LIMIT $1) open);
