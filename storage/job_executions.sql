-- name: session
-- The number of this node's last connection, if it had one.
SELECT session FROM job_dispatchers WHERE node = $1;

-- name: register
-- A new connection of this node's dispatcher. It compares the session that was read before, because a late call must not replace a newer
-- one. What earlier connections pulled and this program does not run ($3: its leases) goes back: the answer of that pull was lost. Dispatchers of
-- nodes that are gone are forgotten here, because it is rare.
WITH gone AS (
    DELETE FROM job_dispatchers d
    WHERE d.seen_at < clock_timestamp() - interval '1 day' AND NOT EXISTS (SELECT FROM nodes n WHERE n.id = d.node)
), registered AS (
    INSERT INTO job_dispatchers AS d (node) SELECT $1 WHERE $2::bigint IS NULL OR EXISTS (SELECT FROM job_dispatchers WHERE node = $1)
    ON CONFLICT (node) DO UPDATE SET session = d.session + 1, seen_at = clock_timestamp() WHERE d.session = $2
    RETURNING session
), back AS (
    UPDATE job_executions SET state = 'pending', alive_at = NULL, node = NULL, lease = NULL
    WHERE state = 'running' AND node = $1 AND lease <> ALL ($3::uuid[]) AND EXISTS (SELECT FROM registered)
)
SELECT session FROM registered;

-- name: hand_back
-- A node stops. No attempt is counted.
WITH stopped AS (
    DELETE FROM job_dispatchers WHERE node = $1 AND session = $2 RETURNING node
)
UPDATE job_executions SET state = 'pending', alive_at = NULL, node = NULL, lease = NULL
WHERE state = 'running' AND node = (SELECT node FROM stopped) AND lease <> ALL ($3::uuid[]);

-- name: pull
-- The oldest due executions of these types. Each type's candidates come from the index, so that many executions of a paused or unknown
-- type cost nothing. Two nodes may look at the same candidates; SKIP LOCKED lets each have some.
WITH dispatcher AS MATERIALIZED (
    SELECT FROM job_dispatchers WHERE node = $1 AND session = $2
), candidates AS MATERIALIZED (
    SELECT due.id FROM unnest($3::text[]) AS types (type)
    CROSS JOIN LATERAL (
        SELECT e.id, e.execute_at FROM job_executions e
        WHERE e.job_type = types.type AND e.state = 'pending' AND e.execute_at <= (SELECT clock_now())
        ORDER BY e.execute_at LIMIT $4
    ) due
    WHERE EXISTS (SELECT FROM dispatcher) AND NOT EXISTS (SELECT FROM paused_job_types p WHERE p.job_type = types.type)
    ORDER BY due.execute_at LIMIT $4
), locked AS MATERIALIZED (
    SELECT e.id FROM job_executions e JOIN candidates c ON c.id = e.id WHERE e.state = 'pending' FOR UPDATE OF e SKIP LOCKED
)
UPDATE job_executions e SET state = 'running', alive_at = clock_timestamp(), node = $1, lease = gen_random_uuid()
FROM locked WHERE e.id = locked.id
RETURNING e.id::text, e.job_type, e.attempt_index, e.payload::text, e.trace_context::text, e.partition_id, e.lease::text, e.occurrence,
    to_epoch_ms(e.execute_at), to_epoch_ms(e.created_at);

-- name: next_due
-- The engine's time, when the next execution of these types is due (NULL while there is none), and whether the session may still pull.
SELECT to_epoch_ms(clock_now()), EXISTS (SELECT FROM job_dispatchers WHERE node = $2 AND session = $3), (SELECT to_epoch_ms(min(due.execute_at)) FROM unnest($1::text[]) AS types (type)
    CROSS JOIN LATERAL (
        SELECT e.execute_at FROM job_executions e WHERE e.job_type = types.type AND e.state = 'pending'
        ORDER BY e.execute_at LIMIT 1
    ) due
    WHERE NOT EXISTS (SELECT FROM paused_job_types p WHERE p.job_type = types.type));

-- name: keep_alive
-- The heartbeat of all runs of a node at once. A run whose lease does not come back has been taken from the node.
UPDATE job_executions e SET alive_at = clock_timestamp() FROM unnest($1::uuid[]) AS held (lease)
WHERE e.lease = held.lease AND e.state = 'running' RETURNING e.lease::text;

-- name: complete
-- Of the runs that still have their leases.
DELETE FROM job_executions e USING unnest($1::uuid[], $2::uuid[]) AS held (id, lease)
WHERE e.id = held.id AND e.lease = held.lease RETURNING e.lease::text;

-- name: go_on
-- The execution waits again: for its next time, for its next attempt, or because its node stops. A failure keeps its error.
UPDATE job_executions e SET state = 'pending', alive_at = NULL, node = NULL, lease = NULL,
    execute_at = from_epoch_ms(held.due_ms), attempt_index = held.attempt, occurrence = held.occurrence,
    error = coalesce(held.error, CASE WHEN held.attempt > 0 THEN e.error END)
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::bigint[], $6::text[])
    AS held (id, lease, due_ms, attempt, occurrence, error)
WHERE e.id = held.id AND e.lease = held.lease RETURNING e.lease::text;

-- name: fail
-- Its last attempt failed. It stays, for people to see and to retry.
UPDATE job_executions e SET state = 'failed', alive_at = NULL, node = NULL, lease = NULL, attempt_index = attempt_index + 1,
    error = held.error, failed_at = clock_now()
FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS held (id, lease, error)
WHERE e.id = held.id AND e.lease = held.lease RETURNING e.lease::text;

-- name: fail_scheduled
-- The last attempt of a scheduled run failed: a row of its own keeps that, and the schedule goes on.
WITH runs AS (
    UPDATE job_executions e SET state = 'pending', alive_at = NULL, node = NULL, lease = NULL, attempt_index = 0, error = NULL,
        execute_at = from_epoch_ms(held.due_ms), occurrence = held.occurrence
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::bigint[], $6::text[])
        AS held (id, lease, due_ms, attempt, occurrence, error)
    WHERE e.id = held.id AND e.lease = held.lease RETURNING held.lease, held.attempt, held.error, e.job_type, e.payload, e.created_at
), kept AS (
    INSERT INTO job_executions (job_type, execute_at, state, attempt_index, payload, error, failed_at, created_at)
    SELECT job_type, clock_now(), 'failed', attempt, payload, error, clock_now(), created_at FROM runs
)
SELECT lease::text FROM runs;

-- name: recover
-- Runs without a heartbeat: their node died, or it is frozen. That was an attempt. With its last one the execution has failed, unless
-- it is scheduled or a consumer, which never end.
UPDATE job_executions e SET lease = NULL, alive_at = NULL, node = NULL, attempt_index = e.attempt_index + 1,
    state = CASE WHEN last THEN 'failed' ELSE 'pending' END, failed_at = CASE WHEN last THEN clock_now() END,
    error = format('no heartbeat from node %s since %s', e.node, e.alive_at)
FROM (
    SELECT s.id, s.lease, s.schedule IS NULL AND s.partition_id IS NULL AND types.most BETWEEN 1 AND s.attempt_index + 1 AS last
    FROM job_executions s JOIN unnest($1::text[], $2::int[]) AS types (type, most) ON types.type = s.job_type
    WHERE s.state = 'running' AND s.alive_at < clock_timestamp() - make_interval(secs => $3)
    FOR UPDATE OF s SKIP LOCKED
) stale
WHERE e.id = stale.id AND e.lease = stale.lease
RETURNING e.id::text, e.job_type, e.state;

-- name: ensure_scheduled
-- Each scheduled job has one execution. A changed schedule begins with its next time; a running one goes on by itself.
INSERT INTO job_executions (job_type, schedule, execute_at)
SELECT type, schedule, from_epoch_ms(due_ms) FROM unnest($1::text[], $2::text[], $3::bigint[]) AS wanted (type, schedule, due_ms)
WHERE EXISTS (SELECT FROM job_dispatchers WHERE node = $4 AND session = $5)
ON CONFLICT (job_type) WHERE schedule IS NOT NULL AND state <> 'failed' DO UPDATE
SET schedule = excluded.schedule,
    execute_at = CASE WHEN job_executions.state = 'pending' THEN excluded.execute_at ELSE job_executions.execute_at END
WHERE job_executions.schedule <> excluded.schedule;

-- name: ensure_consumers
-- Each consumer has one execution in each partition.
INSERT INTO job_executions (job_type, partition_id)
SELECT type, p.id FROM unnest($1::text[]) AS wanted (type) CROSS JOIN partitions p
WHERE NOT EXISTS (SELECT FROM job_executions e WHERE e.job_type = wanted.type AND e.partition_id = p.id)
ON CONFLICT (job_type, partition_id) WHERE partition_id IS NOT NULL DO NOTHING;

-- name: nudge
-- There are new events in these partitions. A consumer that waits for its next attempt is left alone.
UPDATE job_executions SET execute_at = clock_now()
WHERE job_type = ANY ($1::text[]) AND partition_id = ANY ($2::int[]) AND state = 'pending' AND attempt_index = 0
    AND execute_at > clock_now();

-- name: complete_one
-- In the transaction of the handler: what it wrote counts only if the run still has its lease.
DELETE FROM job_executions WHERE id = $1 AND lease = $2 RETURNING id;

-- name: go_on_one
-- Likewise, for an execution that runs again.
UPDATE job_executions SET state = 'pending', alive_at = NULL, node = NULL, lease = NULL, attempt_index = 0, error = NULL,
    execute_at = from_epoch_ms($3), occurrence = occurrence + 1
WHERE id = $1 AND lease = $2 RETURNING id;

-- name: add
-- A new execution. Its key makes it one effect, however often the call is repeated.
WITH added AS (
    INSERT INTO job_executions (id, job_type, payload, execute_at, trace_context)
    VALUES ($1, $2, $3::jsonb, coalesce(from_epoch_ms($4), clock_now()), $5::jsonb)
    ON CONFLICT (id) DO NOTHING RETURNING id
)
SELECT pg_notify($6, '') FROM added;

-- name: search
-- For people: the newest first.
SELECT e.id::text, e.job_type, e.state, e.attempt_index, to_epoch_ms(e.execute_at), to_epoch_ms(e.alive_at), to_epoch_ms(e.created_at),
    to_epoch_ms(e.failed_at), e.payload::text, e.error, e.node, e.schedule, e.partition_id, e.occurrence,
    count(*) OVER ()
FROM job_executions e
WHERE ($1::text IS NULL OR e.id::text = $1) AND ($2::text IS NULL OR e.job_type = $2) AND ($3::text IS NULL OR e.state = $3)
ORDER BY e.execute_at DESC, e.id OFFSET $4 LIMIT $5;

-- name: types
-- Each type with executions, or paused: counts by state.
SELECT coalesce(e.job_type, p.job_type), count(e.id) FILTER (WHERE e.state = 'pending'), count(e.id) FILTER (WHERE e.state = 'running'),
    count(e.id) FILTER (WHERE e.state = 'failed'), max(e.schedule), p.job_type IS NOT NULL
FROM job_executions e FULL JOIN paused_job_types p ON p.job_type = e.job_type
GROUP BY coalesce(e.job_type, p.job_type), p.job_type ORDER BY 1;

-- name: run_now
-- As it was read before ($2, $3): a late call changes nothing that has run meanwhile.
WITH changed AS (
    UPDATE job_executions SET execute_at = clock_now()
    WHERE id = $1 AND state = 'pending' AND occurrence = $2 AND attempt_index = $3 AND execute_at > clock_now() RETURNING id)
SELECT pg_notify($4, '') FROM changed;

-- name: retry
-- A failed one gets all of its attempts again. Likewise.
WITH changed AS (
    UPDATE job_executions SET state = 'pending', execute_at = clock_now(), attempt_index = 0, failed_at = NULL
    WHERE id = $1 AND state = 'failed' AND to_epoch_ms(failed_at) = $2 RETURNING id)
SELECT pg_notify($3, '') FROM changed;

-- name: delete
-- Neither one that runs, nor the one of a schedule or a consumer. Likewise.
DELETE FROM job_executions
WHERE id = $1 AND state = $2 AND attempt_index = $3 AND occurrence = $4
    AND (state = 'failed' OR state = 'pending' AND schedule IS NULL AND partition_id IS NULL)
RETURNING id;

-- name: pause
-- Runs go on; no new ones begin. `pauses` was read before: a late call must not undo a newer one.
WITH changed AS (
    INSERT INTO paused_job_types (job_type) SELECT $1 WHERE (SELECT pauses FROM job_pauses) = $2
    ON CONFLICT DO NOTHING)
UPDATE job_pauses SET pauses = pauses + 1 WHERE pauses = $2 RETURNING pauses;

-- name: resume
-- Like a pause, it compares the number that was read before.
WITH changed AS (DELETE FROM paused_job_types WHERE job_type = $1 AND (SELECT pauses FROM job_pauses) = $2),
counted AS (UPDATE job_pauses SET pauses = pauses + 1 WHERE pauses = $2 RETURNING pauses)
SELECT pauses, pg_notify($3, '') FROM counted;

-- name: pauses
-- Rises with each pause and each resumption.
SELECT pauses FROM job_pauses;
