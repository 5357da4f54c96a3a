-- name: session
-- The number of this node's last connection, if it had one.
SELECT session FROM job_dispatchers WHERE node = $1;

-- name: register
-- A new connection of this node's dispatcher. It compares the session that was read before, because a late call must not
-- replace a newer one. What earlier connections pulled and this program does not run ($3: its leases) goes back: the answer of
-- that pull was lost. Dispatchers of nodes that are gone are forgotten here, because it is rare: after a week, or when this one
-- runs all of their types. Until then people may add executions of these types.
WITH gone AS (
    DELETE FROM job_dispatchers d
    WHERE (d.seen_at < clock_timestamp() - interval '7 days'
            OR d.seen_at < clock_timestamp() - interval '1 min' AND d.types <@ $4)
        AND NOT EXISTS (SELECT FROM nodes n WHERE n.id = regexp_replace(d.node, '/chores$', ''))
), registered AS (
    INSERT INTO job_dispatchers AS d (node, types)
    SELECT $1, $4::text[] WHERE $2::bigint IS NULL OR EXISTS (SELECT FROM job_dispatchers WHERE node = $1)
    ON CONFLICT (node) DO UPDATE SET session = d.session + 1, seen_at = clock_timestamp(), types = excluded.types
    WHERE d.session = $2
    RETURNING session
), back AS (
    UPDATE job_executions SET state = 'pending', alive_at = NULL, node = NULL, lease = NULL
    WHERE state = 'running' AND node = $1 AND lease <> ALL ($3::uuid[]) AND EXISTS (SELECT FROM registered)
)
SELECT session FROM registered;

-- name: hand_back
-- A node stops. No attempt is counted. Its types stay known: it may only be restarted.
WITH stopped AS (
    UPDATE job_dispatchers SET session = session + 1, seen_at = clock_timestamp() WHERE node = $1 AND session = $2 RETURNING node
)
UPDATE job_executions SET state = 'pending', alive_at = NULL, node = NULL, lease = NULL
WHERE state = 'running' AND node = (SELECT node FROM stopped) AND lease <> ALL ($3::uuid[]);

-- name: one_at_a_time
-- Before a pull of types that have a limit over all nodes: the statement behind it then sees what the others have pulled.
SELECT pg_advisory_xact_lock(4713, 0);

-- name: pull
-- The oldest due executions of these types. Each type's candidates come from the index, so that many executions of a paused or
-- unknown type cost nothing. Two nodes may look at the same candidates; SKIP LOCKED lets each have some. $5: up to so many of
-- each type; $6: of those with a limit over all nodes, as many as are missing. $7 is the node of a dispatcher of chores: those
-- of its own partitions are due, by real time, because the engine's clock may stand still.
WITH dispatcher AS MATERIALIZED (
    SELECT FROM job_dispatchers WHERE node = $1 AND session = $2
), candidates AS MATERIALIZED (
    SELECT due.id FROM unnest($3::text[], $5::int[], $6::int[]) AS types (type, most, in_cluster)
    CROSS JOIN LATERAL (
        SELECT e.id, e.execute_at FROM job_executions e
        WHERE e.job_type = types.type AND e.state = 'pending'
            AND e.execute_at <= (SELECT CASE WHEN $7::text IS NULL THEN clock_now() ELSE clock_timestamp() END)
            AND ($7::text IS NULL OR e.partition_id IS NULL OR EXISTS (
                SELECT FROM partitions p
                WHERE p.id = e.partition_id AND p.owner_node = $7 AND p.lease_until > clock_timestamp()))
        ORDER BY e.execute_at
        LIMIT CASE WHEN types.in_cluster IS NULL THEN types.most ELSE greatest(0, least(types.most, types.in_cluster
            - (SELECT count(*) FROM job_executions r WHERE r.job_type = types.type AND r.state = 'running'))) END
    ) due
    WHERE EXISTS (SELECT FROM dispatcher) AND NOT EXISTS (SELECT FROM paused_job_types p WHERE p.job_type = types.type)
    ORDER BY due.execute_at LIMIT $4
), locked AS MATERIALIZED (
    SELECT e.id FROM job_executions e JOIN candidates c ON c.id = e.id WHERE e.state = 'pending' FOR UPDATE OF e SKIP LOCKED
)
UPDATE job_executions e SET state = 'running', alive_at = clock_timestamp(), node = $1, lease = gen_random_uuid()
FROM locked WHERE e.id = locked.id
RETURNING e.id::text, e.job_type, e.attempt_index, e.payload::text, e.trace_context::text, e.partition_id, e.lease::text,
    e.occurrence, to_epoch_ms(e.execute_at), to_epoch_ms(e.created_at),
    (SELECT p.epoch FROM partitions p WHERE $7::text IS NOT NULL AND p.id = e.partition_id AND p.owner_node = $7);

-- name: next_due
-- The time, when the next execution of these types is due (NULL while there is none), and whether the session may still pull.
-- Only those count that this node may pull, as above ($4, $5). The time is the engine's, or the real one.
SELECT to_epoch_ms(CASE WHEN $4::text IS NULL THEN clock_now() ELSE clock_timestamp() END),
    EXISTS (SELECT FROM job_dispatchers WHERE node = $2 AND session = $3),
    (SELECT to_epoch_ms(min(due.execute_at)) FROM unnest($1::text[], $5::int[]) AS types (type, in_cluster)
    CROSS JOIN LATERAL (
        SELECT e.execute_at FROM job_executions e
        WHERE e.job_type = types.type AND e.state = 'pending' AND ($4::text IS NULL OR e.partition_id IS NULL OR EXISTS (
            SELECT FROM partitions p WHERE p.id = e.partition_id AND p.owner_node = $4 AND p.lease_until > clock_timestamp()))
        ORDER BY e.execute_at LIMIT 1
    ) due
    WHERE NOT EXISTS (SELECT FROM paused_job_types p WHERE p.job_type = types.type)
        AND (types.in_cluster IS NULL OR types.in_cluster > (
            SELECT count(*) FROM job_executions r WHERE r.job_type = types.type AND r.state = 'running')));

-- name: keep_alive
-- The heartbeat of all runs of a node at once. A run whose lease does not come back has been taken from the node.
UPDATE job_executions e SET alive_at = clock_timestamp() FROM unnest($1::uuid[]) AS held (lease)
WHERE e.lease = held.lease AND e.state = 'running' RETURNING e.lease::text;

-- name: complete
-- Only runs that still have their leases are completed.
DELETE FROM job_executions e USING unnest($1::uuid[], $2::uuid[]) AS held (id, lease)
WHERE e.id = held.id AND e.lease = held.lease RETURNING e.lease::text;

-- name: go_on
-- The execution waits again: for its next time, for its next attempt, or because its node stops. A failure keeps its error.
UPDATE job_executions e SET state = 'pending', alive_at = NULL, node = NULL, lease = NULL,
    execute_at = from_epoch_ms(held.due_ms), attempt_index = held.attempt, occurrence = held.occurrence,
    error = coalesce(held.error, CASE WHEN held.attempt > 0 THEN e.error END)
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::bigint[], $6::text[])
    AS held (id, lease, due_ms, attempt, occurrence, error)
WHERE e.id = held.id AND e.lease = held.lease RETURNING held.lease::text;

-- name: fail
-- Its last attempt failed. It stays, for people to see and to retry.
UPDATE job_executions e SET state = 'failed', alive_at = NULL, node = NULL, lease = NULL, attempt_index = attempt_index + 1,
    error = held.error, failed_at = clock_now()
FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS held (id, lease, error)
WHERE e.id = held.id AND e.lease = held.lease RETURNING held.lease::text;

-- name: fail_scheduled
-- The last attempt of a scheduled run failed: a row of its own keeps that, and the schedule goes on.
WITH runs AS (
    UPDATE job_executions e SET state = 'pending', alive_at = NULL, node = NULL, lease = NULL, attempt_index = 0, error = NULL,
        execute_at = from_epoch_ms(held.due_ms), occurrence = held.occurrence
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::bigint[], $6::text[])
        AS held (id, lease, due_ms, attempt, occurrence, error)
    WHERE e.id = held.id AND e.lease = held.lease
    RETURNING held.lease, held.attempt, held.error, e.job_type, e.payload, e.created_at
), kept AS (
    INSERT INTO job_executions (job_type, execute_at, state, attempt_index, payload, error, failed_at, created_at)
    SELECT job_type, clock_now(), 'failed', attempt, payload, error, clock_now(), created_at FROM runs
)
SELECT lease::text FROM runs;

-- name: recover
-- Runs without a heartbeat: their node died, or it is frozen. That was an attempt. With its last one the execution has failed,
-- unless it is scheduled or a consumer, which never end.
UPDATE job_executions e SET lease = NULL, alive_at = NULL, node = NULL, attempt_index = e.attempt_index + 1,
    state = CASE WHEN last THEN 'failed' ELSE 'pending' END, failed_at = CASE WHEN last THEN clock_now() END,
    error = format('no heartbeat from node %s since %s', e.node, e.alive_at)
FROM (
    SELECT s.id, s.lease, s.schedule IS NULL AND s.partition_id IS NULL AND types.most BETWEEN 1 AND s.attempt_index + 1 AS last
    FROM job_executions s
    JOIN unnest($1::text[], $2::int[], $3::bigint[]) AS types (type, most, stale_ms) ON types.type = s.job_type
    WHERE s.state = 'running' AND s.alive_at < clock_timestamp() - types.stale_ms * interval '1 ms'
    FOR UPDATE OF s SKIP LOCKED
) stale
WHERE e.id = stale.id AND e.lease = stale.lease
RETURNING e.id::text, e.job_type, e.state;

-- name: ensure_scheduled
-- Each scheduled job has one execution, or one in each partition. A changed schedule begins with its next time; a running one
-- goes on by itself.
INSERT INTO job_executions (job_type, schedule, execute_at, partition_id)
SELECT type, schedule, from_epoch_ms(due_ms), p.id
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::int[]) AS wanted (type, schedule, due_ms, by_partition)
LEFT JOIN partitions p ON wanted.by_partition = 1
WHERE EXISTS (SELECT FROM job_dispatchers WHERE node = $5 AND session = $6)
ON CONFLICT (job_type, coalesce(partition_id, 0)) WHERE schedule IS NOT NULL AND state <> 'failed' DO UPDATE
SET schedule = excluded.schedule,
    execute_at = CASE WHEN job_executions.state = 'pending' THEN excluded.execute_at ELSE job_executions.execute_at END
WHERE job_executions.schedule <> excluded.schedule;

-- name: ensure_consumers
-- Each consumer has one execution in each partition.
INSERT INTO job_executions (job_type, partition_id)
SELECT type, p.id FROM unnest($1::text[]) AS wanted (type) CROSS JOIN partitions p
WHERE NOT EXISTS (SELECT FROM job_executions e WHERE e.job_type = wanted.type AND e.partition_id = p.id AND e.schedule IS NULL)
ON CONFLICT (job_type, partition_id) WHERE partition_id IS NOT NULL AND schedule IS NULL DO NOTHING;

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
-- A new execution, or the one that is there: with this id, because a repeated call is one effect, or with the unique key of
-- this type. No row: one was added meanwhile, and is visible to the next attempt.
WITH present AS (
    SELECT id FROM job_executions WHERE id = $1 OR (job_type = $2 AND unique_key = $7 AND state <> 'failed') LIMIT 1
), added AS (
    INSERT INTO job_executions (id, job_type, payload, execute_at, trace_context, unique_key)
    SELECT $1, $2, $3::jsonb, coalesce(from_epoch_ms($4), clock_now()), $5::jsonb, $7 WHERE NOT EXISTS (SELECT FROM present)
    ON CONFLICT DO NOTHING RETURNING id
)
SELECT id::text, pg_notify($6, '')::text FROM added UNION ALL SELECT id::text, NULL FROM present;

-- name: take_queued
-- Those that clients queued in their own transactions become executions. Selects by state: a repeated call adds nothing twice.
SELECT last_id FROM take_background_jobs($1, $2, $3, $4);

-- name: search
-- For people: the newest first.
SELECT e.id::text, e.job_type, e.state, e.attempt_index, to_epoch_ms(e.execute_at), to_epoch_ms(e.alive_at),
    to_epoch_ms(e.created_at), to_epoch_ms(e.failed_at), e.payload::text, e.error, regexp_replace(e.node, '/chores$', ''),
    e.schedule, e.partition_id, e.occurrence, e.unique_key, count(*) OVER ()
FROM job_executions e
WHERE ($1::text IS NULL OR e.id::text = $1) AND ($2::text IS NULL OR e.job_type = $2) AND ($3::text IS NULL OR e.state = $3)
    AND ($6::boolean IS NULL OR starts_with(e.job_type, 'vivero.') = $6)
ORDER BY e.execute_at DESC, e.id OFFSET $4 LIMIT $5;

-- name: types
-- Each type that has executions, is paused, or is known to a node that lives: counts by state, and how many nodes run it.
WITH known AS (
    SELECT types.type, count(*) AS nodes FROM job_dispatchers d CROSS JOIN LATERAL unnest(d.types) AS types (type)
    WHERE EXISTS (
        SELECT FROM nodes n WHERE n.id = regexp_replace(d.node, '/chores$', '')
            AND n.heartbeat_at > clock_timestamp() - interval '1 min')
    GROUP BY types.type
), counted AS (
    SELECT job_type, count(*) FILTER (WHERE state = 'pending') AS pending, count(*) FILTER (WHERE state = 'running') AS running,
        count(*) FILTER (WHERE state = 'failed') AS failed, max(schedule) AS schedule
    FROM job_executions GROUP BY job_type
), names AS (
    SELECT type FROM known UNION SELECT job_type FROM counted UNION SELECT job_type FROM paused_job_types
)
SELECT names.type, coalesce(c.pending, 0), coalesce(c.running, 0), coalesce(c.failed, 0), c.schedule, p.job_type IS NOT NULL,
    coalesce(k.nodes, 0)
FROM names LEFT JOIN counted c ON c.job_type = names.type LEFT JOIN known k ON k.type = names.type
LEFT JOIN paused_job_types p ON p.job_type = names.type ORDER BY 1;

-- name: repeats
-- True for a type that has a schedule or follows events: its executions go on for ever.
-- Each half has the condition of a unique index: the type may have millions of other executions.
SELECT EXISTS (SELECT FROM job_executions e WHERE e.job_type = $1 AND e.schedule IS NOT NULL AND e.state <> 'failed')
    OR EXISTS (SELECT FROM job_executions e WHERE e.job_type = $1 AND e.partition_id IS NOT NULL AND e.schedule IS NULL);

-- name: known
-- The types that a node runs, or has run lately.
SELECT DISTINCT types.type FROM job_dispatchers d CROSS JOIN LATERAL unnest(d.types) AS types (type) ORDER BY 1;

-- name: run_now
-- As it was read before ($2, $3): a late call changes nothing that has run meanwhile. Chores run by real time, the others by
-- the engine's.
WITH changed AS (
    UPDATE job_executions SET execute_at = least(clock_now(), clock_timestamp())
    WHERE id = $1 AND state = 'pending' AND occurrence = $2 AND attempt_index = $3
        AND execute_at > least(clock_now(), clock_timestamp())
    RETURNING id)
SELECT pg_notify($4, '') FROM changed;

-- name: retry
-- A failed one gets all of its attempts again, unless another has its unique key. Likewise.
WITH changed AS (
    UPDATE job_executions e SET state = 'pending', execute_at = clock_now(), attempt_index = 0, failed_at = NULL
    WHERE id = $1 AND state = 'failed' AND to_epoch_ms(failed_at) = $2 AND NOT EXISTS (
        SELECT FROM job_executions o WHERE o.job_type = e.job_type AND o.unique_key = e.unique_key AND o.state <> 'failed')
    RETURNING id)
SELECT pg_notify($3, '') FROM changed;

-- name: cancel
-- One that runs, as it was read before. It has failed and lost its lease: its node ends it at the next heartbeat. A run that
-- never ends, because it has a schedule or follows events, cannot be cancelled: it would be lost, or begin again.
UPDATE job_executions SET state = 'failed', alive_at = NULL, node = NULL, lease = NULL, error = 'cancelled',
    failed_at = clock_now()
WHERE id = $1 AND state = 'running' AND attempt_index = $2 AND occurrence = $3 AND schedule IS NULL AND partition_id IS NULL
RETURNING id;

-- name: delete
-- Neither one that runs, nor the one of a schedule or a consumer. Likewise.
DELETE FROM job_executions
WHERE id = $1 AND state = $2 AND attempt_index = $3 AND occurrence = $4
    AND (state = 'failed' OR state = 'pending' AND schedule IS NULL AND partition_id IS NULL)
RETURNING id;

-- name: delete_failed
-- A bounded number of those that failed before ($2, exclusive), the oldest first. A late call finds none that failed since.
DELETE FROM job_executions WHERE id = ANY (ARRAY(
    SELECT id FROM job_executions
    WHERE state = 'failed' AND ($1::text IS NULL OR job_type = $1) AND failed_at < from_epoch_ms($2)
    ORDER BY failed_at LIMIT $3 FOR UPDATE SKIP LOCKED));

-- name: delete_pending
-- Likewise, of those that wait for their only run and were added before, the oldest first.
DELETE FROM job_executions WHERE id = ANY (ARRAY(
    SELECT id FROM job_executions
    WHERE state = 'pending' AND ($1::text IS NULL OR job_type = $1) AND created_at < from_epoch_ms($2)
        AND schedule IS NULL AND partition_id IS NULL
    ORDER BY created_at LIMIT $3 FOR UPDATE SKIP LOCKED));

-- name: purge
-- A bounded number of those that failed long ago, by the engine's clock, the oldest first.
DELETE FROM job_executions WHERE id = ANY (ARRAY(
    SELECT id FROM job_executions
    WHERE state = 'failed' AND failed_at < clock_now() - $1::bigint * interval '1 millisecond'
    ORDER BY failed_at LIMIT $2 FOR UPDATE SKIP LOCKED));

-- name: now
-- The engine's time, which executions have.
SELECT to_epoch_ms(clock_now());

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
