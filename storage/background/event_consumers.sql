-- name: begin
-- A consumer's place in a partition. A new consumer begins with the first event that is kept, or ($3) with the next one.
WITH begun AS (
    INSERT INTO event_consumers (consumer, partition_id, position, seq, ordinal)
    SELECT $1, $2::int, CASE WHEN $3 THEN coalesce(last.position, $2::bigint << 51) ELSE $2::bigint << 51 END,
        CASE WHEN $3 THEN 32767 ELSE 0 END, 0
    FROM (
        SELECT max(position) AS position FROM event_log
        WHERE position BETWEEN $2::bigint << 51 AND (($2::bigint + 1) << 51) - 1
    ) last
    ON CONFLICT DO NOTHING RETURNING position, seq, ordinal
)
SELECT position, seq, ordinal FROM begun UNION ALL
SELECT position, seq, ordinal FROM event_consumers WHERE consumer = $1 AND partition_id = $2
LIMIT 1;

-- name: read
-- Rows from the place on, in the order of the log, up to a number of rows and of bytes, but at least one. One owner writes a
-- partition's rows, one batch after the other, so that none appears behind a row that was read.
SELECT position, seq, coalesce(events, large_events)::text, at, root_key, version
FROM (
    SELECT position, seq, root_key, version, events, large_events, to_epoch_ms(processed_at) AS at,
        sum(pg_column_size(coalesce(events, large_events))) OVER (ORDER BY position, seq ROWS UNBOUNDED PRECEDING)
            - pg_column_size(coalesce(events, large_events)) AS bytes_before
    FROM (
        SELECT position, seq, root_key, version, events, large_events, processed_at FROM event_log
        WHERE partition_id = $1 AND (position, seq) >= ($2::bigint, $3::smallint) AND position < ($1::bigint + 1) << 51
        ORDER BY position, seq LIMIT $4
    ) page
) sized
WHERE bytes_before < $5 ORDER BY position, seq;

-- name: acknowledge
-- Only forward, and only while the run has its lease ($6, $7).
UPDATE event_consumers SET position = $3, seq = $4, ordinal = $5, acknowledged_at = clock_timestamp()
WHERE consumer = $1 AND partition_id = $2 AND (position, seq, ordinal) <= ($3::bigint, $4::smallint, $5::int)
    AND EXISTS (SELECT FROM job_executions WHERE id = $6 AND lease = $7)
RETURNING position;

-- name: drop
-- A consumer that no node runs, as it was read before ($2, $3), with its executions, and with what the outbox has not delivered
-- ($4). A late call finds other places, or a node that runs it.
WITH gone AS (
    DELETE FROM event_consumers c USING unnest($2::int[], $3::bigint[]) AS seen (partition_id, position)
    WHERE c.consumer = $1 AND c.partition_id = seen.partition_id AND c.position = seen.position AND NOT EXISTS (
        SELECT FROM job_dispatchers d JOIN nodes n ON n.id = regexp_replace(d.node, '/chores$', '')
        WHERE $1 = ANY (d.types) AND n.heartbeat_at > clock_timestamp() - interval '1 min')
    RETURNING c.partition_id
), runs AS (
    DELETE FROM job_executions e USING gone WHERE e.job_type = $1 AND e.partition_id = gone.partition_id AND e.schedule IS NULL
), undelivered AS (
    DELETE FROM outbox_deliveries o USING gone WHERE $4::boolean AND o.partition_id = gone.partition_id
)
SELECT partition_id FROM gone;

-- name: places
-- For people: how far behind each consumer is, in positions of its partition.
SELECT c.consumer, c.partition_id, c.position, b.last_position - c.position, to_epoch_ms(c.acknowledged_at)
FROM event_consumers c CROSS JOIN LATERAL (
    SELECT coalesce(max(position), c.position) AS last_position FROM event_log
    WHERE position BETWEEN c.partition_id::bigint << 51 AND ((c.partition_id::bigint + 1) << 51) - 1
) b ORDER BY 1, 2;
