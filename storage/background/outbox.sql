-- name: add
-- In the run's transaction, which acknowledges the events: each comes here once. Of a tree without waiting rows, the first is
-- pending.
INSERT INTO outbox_deliveries (partition_id, position, seq, ordinal, root_key, type, document, state)
SELECT $1, n.position, n.seq, n.ordinal, n.root_key, n.type, n.document,
    CASE WHEN row_number() OVER (PARTITION BY n.root_key ORDER BY n.position, n.seq, n.ordinal) = 1
        AND NOT EXISTS (SELECT FROM outbox_deliveries o WHERE o.partition_id = $1 AND o.root_key = n.root_key)
    THEN 'pending' ELSE 'held' END
FROM unnest($2::bigint[], $3::smallint[], $4::int[], $5::bigint[], $6::text[], $7::text[])
    AS n (position, seq, ordinal, root_key, type, document)
WHERE EXISTS (SELECT FROM job_executions WHERE id = $8 AND lease = $9)
ON CONFLICT DO NOTHING;

-- name: due
-- At most one row of each tree is pending or dropped. Times are real ones, for signatures and pauses. $3: with traces.
SELECT position, seq, ordinal, root_key, type, document, state, attempts, forgiven, extract(epoch FROM clock_timestamp())::bigint,
    CASE WHEN $3 THEN (SELECT trace FROM process_instances WHERE process_instance_key = root_key) END
FROM outbox_deliveries
WHERE partition_id = $1 AND state IN ('pending', 'dropped') AND due_at <= clock_timestamp()
ORDER BY due_at LIMIT $2;

-- name: backlog
-- In how many seconds the next row is due, and how many rows there are, counted up to a limit.
SELECT
    (SELECT extract(epoch FROM min(due_at) - clock_timestamp())::float8 FROM outbox_deliveries
     WHERE partition_id = $1 AND state IN ('pending', 'dropped')),
    (SELECT count(*) FROM (SELECT FROM outbox_deliveries WHERE partition_id = $1 LIMIT $2) counted);

-- name: done
-- The row is delivered or dropped, and the next one of its tree follows. Only while the run has its lease.
WITH gone AS (
    DELETE FROM outbox_deliveries
    WHERE partition_id = $1 AND position = $2 AND seq = $3::smallint AND ordinal = $4 AND state IN ('pending', 'dropped')
        AND EXISTS (SELECT FROM job_executions WHERE id = $5 AND lease = $6)
    RETURNING root_key
)
UPDATE outbox_deliveries SET state = 'pending', due_at = clock_timestamp()
WHERE state = 'held' AND partition_id = $1 AND (position, seq, ordinal) = (
    SELECT o.position, o.seq, o.ordinal FROM outbox_deliveries o JOIN gone USING (root_key)
    WHERE o.partition_id = $1 AND (o.position, o.seq, o.ordinal) > ($2::bigint, $3::smallint, $4::int)
    ORDER BY o.position, o.seq, o.ordinal LIMIT 1);

-- name: failed
-- One more attempt has failed. The number of attempts ($7) tells a repetition of this statement.
UPDATE outbox_deliveries
SET attempts = attempts + 1, error = $8, state = CASE WHEN $9::boolean THEN 'dead' ELSE 'pending' END,
    due_at = clock_timestamp() + $10::float8 * interval '1 second'
WHERE partition_id = $1 AND position = $2 AND seq = $3::smallint AND ordinal = $4 AND state = 'pending' AND attempts = $7
    AND EXISTS (SELECT FROM job_executions WHERE id = $5 AND lease = $6);

-- name: retry
-- A dead letter is tried again, with all attempts. Only the one that was seen, after so many attempts.
UPDATE outbox_deliveries SET state = 'pending', forgiven = attempts, due_at = clock_timestamp()
WHERE partition_id = $1 AND position = $2 AND seq = $3::smallint AND ordinal = $4 AND state = 'dead' AND attempts = $5
RETURNING position;

-- name: drop
-- A dead letter is given up. The next run deletes it, so that only runs change which row of a tree is the first.
UPDATE outbox_deliveries SET state = 'dropped', due_at = clock_timestamp()
WHERE partition_id = $1 AND position = $2 AND seq = $3::smallint AND ordinal = $4 AND state = 'dead' AND attempts = $5
RETURNING position;

-- name: search
-- Dead letters first, then what waits, the oldest first.
SELECT partition_id, position, seq, ordinal, root_key, type, document, state, attempts, to_epoch_ms(due_at), error
FROM outbox_deliveries
WHERE ($1::text IS NULL OR state = $1)
    AND ($2::int IS NULL OR (partition_id, position, seq, ordinal) = ($2, $3::bigint, $4::smallint, $5::int))
ORDER BY state <> 'dead', partition_id, position, seq, ordinal
LIMIT $6;

-- name: counts
-- For people; the tables of a healthy receiver are small.
SELECT state, count(*) FROM outbox_deliveries GROUP BY 1;
