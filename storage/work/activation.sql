-- fragment: engine
-- The engine's time is read once: each call of clock_now() in a statement is planned anew, which takes 15-25 us.
engine AS MATERIALIZED (
    SELECT coalesce(pinned_at, now() + shift) AS now FROM clock
),

-- fragment: all_variables
-- $6 is null: it stands here so that both statements have the same parameters. The outermost scope is the process instance.
                FROM variables
                WHERE process_instance_key = path[cardinality(path)] AND scope_key = ANY (path) AND $6::text[] IS NULL

-- fragment: named_variables
-- Each is looked up by scope and name, however many others there are. As a condition, names would be filtered, or be looked up
-- among all the variables of that name (variables_value).
                FROM (SELECT path[cardinality(path)] AS i, s, n FROM unnest(path) s, unnest($6::text[]) n OFFSET 0) wanted
                JOIN variables ON process_instance_key = i AND scope_key = s AND name = n

-- fragment: measure
-- The first part of activate, up to the variables of a job.
WITH
-- include: engine
first_end AS MATERIALIZED (
    SELECT available_at
    FROM jobs
    WHERE type = $1 AND tenant_id = $2 AND NOT ready AND available_at IS NOT NULL
        AND available_at <= (SELECT now FROM engine)
        AND available_at >= least(from_epoch_ms($11), (SELECT now FROM engine)) - interval '250 milliseconds'
    ORDER BY available_at
    LIMIT 1
), expired AS MATERIALIZED (
    SELECT job_key, path, lease_token, octet_length(headers::text) AS headers
    FROM jobs
    WHERE type = $1 AND tenant_id = $2 AND NOT ready AND available_at IS NOT NULL
        AND available_at <= (SELECT now FROM engine)
        AND available_at >= (SELECT available_at FROM first_end)
        AND NOT EXISTS (SELECT FROM void_leases WHERE token = $8)
    ORDER BY available_at
    LIMIT $3::int
    FOR UPDATE SKIP LOCKED
), returned AS MATERIALIZED (
    SELECT job_key, path, lease_token, octet_length(headers::text) AS headers, priority
    FROM jobs
    WHERE type = $1 AND tenant_id = $2 AND ready AND returned
        AND NOT EXISTS (SELECT FROM void_leases WHERE token = $8)
    ORDER BY priority DESC, job_key
    LIMIT $3::int
    FOR UPDATE SKIP LOCKED
), fresh AS MATERIALIZED (
    SELECT job.*, CASE WHEN job.priority = head.priority THEN head.job_key END AS first_key
    FROM unnest($12::int[], $13::int[], $14::bigint[], $15::bigint[]) AS bounds(highest, lowest, least_key, last_key)
    CROSS JOIN LATERAL (
        SELECT priority, job_key
        FROM jobs
        WHERE type = $1 AND tenant_id = $2 AND ready AND NOT returned
            AND priority <= highest AND priority >= lowest AND job_key >= least_key AND job_key <= last_key
        ORDER BY priority DESC, job_key
        LIMIT 1
    ) head
    CROSS JOIN LATERAL (
        SELECT job_key, path, lease_token, octet_length(headers::text) AS headers, priority
        FROM jobs
        WHERE type = $1 AND tenant_id = $2 AND ready AND NOT returned AND priority <= head.priority AND priority >= lowest
            AND job_key >= CASE WHEN highest = lowest THEN head.job_key ELSE least_key END AND job_key <= last_key
            AND NOT EXISTS (SELECT FROM void_leases WHERE token = $8)
        ORDER BY priority DESC, job_key
        LIMIT $3::int
        FOR UPDATE SKIP LOCKED
    ) job
    LIMIT $3::int
), chosen AS (
    SELECT *, row_number() OVER () AS place, least(60000, 240000 / count(*) OVER ()) AS small_size
    FROM (
        SELECT job_key, path, lease_token, headers, NULL::int AS fresh_priority, NULL::bigint AS first_key FROM expired
        UNION ALL
        SELECT job_key, path, lease_token, headers, fresh_priority, first_key
        FROM (
            SELECT job_key, path, lease_token, headers, priority, NULL::int AS fresh_priority, NULL::bigint AS first_key
            FROM returned
            UNION ALL
            SELECT job_key, path, lease_token, headers, priority, priority, first_key FROM fresh
            ORDER BY priority DESC, job_key
        ) waiting
        LIMIT $3::int
    ) c
), measured AS MATERIALIZED (
    SELECT place, job_key, lease_token, fresh_priority, first_key, seen.variables,
           CASE WHEN seen.complete THEN 700 + headers + seen.size END AS size,
           bool_and(seen.complete) OVER places AND sum(700 + headers + seen.size) OVER places <= $9::bigint AS fits
    FROM chosen CROSS JOIN LATERAL (
        SELECT coalesce(sum(octet_length(quoted) + octet_length(value) + 2), 0) AS size,
               coalesce(min(looked_at), 0) <= CASE WHEN place = 1 THEN $10::int ELSE least($10::int, 1000) END AS complete,
               CASE WHEN coalesce(bool_and(small), true)
                    THEN '{' || coalesce(string_agg(CASE WHEN small THEN quoted || ':' || value END, ','), '') || '}'
               END AS variables
        FROM (
            SELECT DISTINCT ON (name) to_json(name)::text AS quoted, value, count(*) OVER () AS looked_at,
                   octet_length(value) <= 2000
                   AND sum(octet_length(name) + octet_length(value)) OVER () <= small_size AS small
            FROM (
                SELECT scope_key, name, value

-- fragment: lease_measured
-- The rest of activate.
                LIMIT 1 + CASE WHEN place = 1 THEN $10::int ELSE least($10::int, 1000) END
            ) v
            ORDER BY name, array_position(path, scope_key)
        ) w
    ) seen
    WINDOW places AS (ORDER BY place ROWS UNBOUNDED PRECEDING)
), leased AS (
    UPDATE jobs j
    SET ready = false,
        available_at = (SELECT now FROM engine) + $4::bigint * interval '1 millisecond',
        worker = $5,
        lease_token = $8,
        expiries = j.expiries + (NOT j.ready AND j.lease_token IS NOT NULL)::int
    WHERE j.job_key = ANY (ARRAY (SELECT job_key FROM measured WHERE fits))
    RETURNING j AS job
)
SELECT m.job_key, coalesce((job).lease_token, m.lease_token)::text, fits, size,
       CASE WHEN fits AND bool_and(variables IS NOT NULL OR NOT fits) OVER ()
                AND sum(size) FILTER (WHERE fits) OVER () <= 60000
            THEN job_as_shown(job, variables, $7) END,
       fresh_priority, first_key, to_epoch_ms(coalesce((SELECT available_at FROM first_end), (SELECT now FROM engine))),
       extract(epoch FROM clock_timestamp() - statement_timestamp())::float8
FROM measured m LEFT JOIN leased ON (job).job_key = m.job_key
ORDER BY (job).priority DESC NULLS LAST, CASE WHEN fits THEN m.job_key ELSE place END;

-- name: activate
-- Expired leases come first, then ready jobs. Each has its own partial index, because one index on both would sort all jobs.
-- SKIP LOCKED, because only the engine may wait for a job's row. Keys are passed as an array, here and below: a plan made for
-- an empty table must not join, and so read the whole table later.
-- Jobs are measured before they are leased. octet_length does not read values that are stored out of line. The statement
-- examines at most $10 variables of the first job, and 1,000 of each other; a job that sees more does not fit. Small jobs
-- are returned whole, because an answer that fits into the socket keeps no row locked, read or not. If one job is not small,
-- no job is returned whole, and activated_jobs reads them; the texts made in vain take at most 240,000 bytes. `fits` is false
-- for a job that did not fit, with the token of a former lease; without a size the job sees too many variables.
-- The scans begin at bounds, behind the dead index entries that an old snapshot keeps. Leases begin at $11, minus a quarter
-- of a second, because transactions take time. Jobs that never returned begin at a least key for each range of priorities
-- ($12-$15, from high to low); of one priority, each partition is a range of its own, and those come first whose turn it is.
-- The first entry of each scan, locked or not, is read before anything is locked; the last columns return it for the next
-- bounds, and the seconds that the statement has taken so far (scan_bounds.py).
-- include: measure
-- include: all_variables
-- include: lease_measured

-- name: activate_named
-- As activate, for a worker that names its variables.
-- include: measure
-- include: named_variables
-- include: lease_measured

-- fragment: small_expired
-- The first part of activate_small.
WITH
-- include: engine
expired AS MATERIALIZED (
    SELECT job_key, path, octet_length(headers::text) AS headers
    FROM jobs
    WHERE type = $1 AND tenant_id = $2 AND NOT ready AND available_at IS NOT NULL
        AND available_at <= (SELECT now FROM engine)
    ORDER BY available_at
    LIMIT $3::int
    FOR UPDATE SKIP LOCKED
),

-- fragment: waiting
-- Jobs by priority and age. Those that returned have an index of their own.
returned AS MATERIALIZED (
    SELECT job_key, path, octet_length(headers::text) AS headers, priority
    FROM jobs
    WHERE type = $1 AND tenant_id = $2 AND ready AND returned
    ORDER BY priority DESC, job_key
    LIMIT $3::int
    FOR UPDATE SKIP LOCKED
), fresh AS MATERIALIZED (
    SELECT job_key, path, octet_length(headers::text) AS headers, priority
    FROM jobs
    WHERE type = $1 AND tenant_id = $2 AND ready AND NOT returned
    ORDER BY priority DESC, job_key
    LIMIT $3::int
    FOR UPDATE SKIP LOCKED
), chosen AS (
    SELECT job_key, path, headers FROM expired
    UNION ALL
    (SELECT job_key, path, headers
     FROM (SELECT * FROM returned UNION ALL SELECT * FROM fresh) waiting
     ORDER BY priority DESC, job_key)
    LIMIT $3::int
),

-- fragment: waiting_near
-- Among the jobs of the highest priority, those with keys from $10 to $11 come first; if they are too few, the others follow in
-- the usual order. A key range is a boundary of the index only together with one priority.
highest AS MATERIALIZED (
    SELECT max(head.priority) AS priority
    FROM (VALUES (true), (false)) AS halves(half) CROSS JOIN LATERAL (
        SELECT priority
        FROM jobs
        WHERE type = $1 AND tenant_id = $2 AND ready AND returned = half
        ORDER BY priority DESC
        LIMIT 1
    ) head
), near AS MATERIALIZED (
    SELECT job.*
    FROM (VALUES (true), (false)) AS halves(half) CROSS JOIN LATERAL (
        SELECT job_key, path, octet_length(headers::text) AS headers, priority
        FROM jobs
        WHERE type = $1 AND tenant_id = $2 AND ready AND returned = half AND priority = (SELECT priority FROM highest)
            AND job_key > $10::bigint AND job_key < $11::bigint
        ORDER BY job_key
        LIMIT $3::int
        FOR UPDATE SKIP LOCKED
    ) job
), far AS MATERIALIZED (
    SELECT job.*
    FROM (VALUES (true), (false)) AS halves(half) CROSS JOIN LATERAL (
        SELECT job_key, path, octet_length(headers::text) AS headers, priority
        FROM jobs
        WHERE type = $1 AND tenant_id = $2 AND ready AND returned = half
            AND (SELECT count(*) FROM near) < $3::int AND job_key <> ALL (ARRAY (SELECT job_key FROM near))
        ORDER BY priority DESC, job_key
        LIMIT $3::int
        FOR UPDATE SKIP LOCKED
    ) job
), chosen AS (
    SELECT job_key, path, headers FROM expired
    UNION ALL
    (SELECT job_key, path, headers
     FROM (SELECT *, false AS is_far FROM near UNION ALL SELECT *, true FROM far) waiting
     ORDER BY priority DESC, is_far, job_key)
    LIMIT $3::int
),

-- fragment: measure_small
-- Up to the variables of a job.
seen AS MATERIALIZED (
    SELECT job_key, headers, variables, small
    FROM chosen CROSS JOIN LATERAL (
        SELECT coalesce('{' || string_agg(
                   to_json(name) || ':' || CASE WHEN octet_length(value) <= 2000 THEN value END, ',') || '}', '{}') AS variables,
               coalesce(bool_and(octet_length(value) <= 2000), true) AND coalesce(min(looked_at), 0) <= 50 AS small
        FROM (
            SELECT DISTINCT ON (name) name, value, count(*) OVER () AS looked_at
            FROM (
                SELECT scope_key, name, value

-- fragment: lease_small
-- The rest of activate_small.
                LIMIT 51
            ) v
            ORDER BY name, array_position(path, scope_key)
        ) w
    ) s
), measured AS MATERIALIZED (
    SELECT array_agg(job_key) AS keys,
           bool_and(small) AND sum(700 + headers + octet_length(variables)) <= $9::bigint AS fits
    FROM seen
), leased AS (
    UPDATE jobs j
    SET ready = false,
        available_at = (SELECT now FROM engine) + $4::bigint * interval '1 millisecond',
        worker = $5,
        lease_token = $8,
        expiries = j.expiries + (NOT j.ready AND j.lease_token IS NOT NULL)::int
    WHERE j.job_key = ANY ((
        SELECT keys FROM measured WHERE fits AND NOT EXISTS (SELECT FROM void_leases WHERE token = $8)
    )::bigint[])
    RETURNING j.job_key, j.priority, j.lease_token,
        job_as_shown(j, (SELECT variables FROM seen WHERE seen.job_key = j.job_key), $7) AS job
)
SELECT * FROM (SELECT job_key, lease_token::text, true, job FROM leased ORDER BY priority DESC, job_key) shown
UNION ALL
SELECT NULL, NULL, coalesce(fits, true), NULL
FROM measured
WHERE NOT fits OR clock_timestamp() - statement_timestamp() >= interval '3 milliseconds';

-- name: activate_small
-- The usual activation: it has no bounds, and leases all jobs that it looks at or none. Everything that it does not need is left
-- out, because starting and ending its scans costs more than reading a few jobs. Jobs are small if each sees at most 50 variables
-- of 2,000 bytes, and all together fit into $9 bytes; the texts that are made in vain, if one is not small, take 5 MB at worst.
-- One more row, without a job, says that they are not small, or that the statement took 3 ms or more, for activate to do the next
-- (scan_bounds.py). Rows are shown as they are leased: to take a row apart costs more than the lease.
-- include: small_expired
-- include: waiting
-- include: measure_small
-- include: all_variables
-- include: lease_small

-- name: activate_small_named
-- As activate_small, for a worker that names its variables.
-- include: small_expired
-- include: waiting
-- include: measure_small
-- include: named_variables
-- include: lease_small

-- name: activate_near
-- As activate_small, for a look under a backlog in a database with several partitions. Keys begin with the partition, so that the
-- order of keys would leave all jobs of later partitions waiting.
-- include: small_expired
-- include: waiting_near
-- include: measure_small
-- include: all_variables
-- include: lease_small

-- name: activate_near_named
-- As activate_near, for a worker that names its variables.
-- include: small_expired
-- include: waiting_near
-- include: measure_small
-- include: named_variables
-- include: lease_small

-- fragment: show
-- The first part of activated_jobs, up to the variables of a job.
SELECT job_as_shown(j, seen.variables, $4)
FROM jobs j
LEFT JOIN LATERAL (
    SELECT '{' || string_agg(to_json(v.name) || ':' || v.value, ',') || '}' AS variables
    FROM (
        SELECT DISTINCT ON (name) name, value

-- fragment: shown
-- The rest of activated_jobs.
        ORDER BY name, array_position(j.path, scope_key)
    ) v
) seen ON true
WHERE j.job_key = ANY ($1::bigint[]) AND j.lease_token = ANY ($2::uuid[])
ORDER BY j.priority DESC, j.job_key;

-- name: activated_jobs
-- This statement locks nothing, so a client that reads slowly holds no row. It reads only jobs whose lease is still the given
-- one, and leaves out jobs that were cancelled since. A job sees the innermost variable of a name.
-- include: show
        FROM variables v
        WHERE v.process_instance_key = j.process_instance_key AND scope_key = ANY (j.path) AND $3::text[] IS NULL
-- include: shown

-- name: activated_jobs_named
-- As activated_jobs, for a worker that names its variables.
-- include: show
        FROM (SELECT j.process_instance_key AS i, s, n FROM unnest(j.path) s, unnest($3::text[]) n OFFSET 0) wanted
        JOIN variables ON process_instance_key = i AND scope_key = s AND name = n
-- include: shown

-- name: take_back
-- Makes jobs available again whose activation was lost, now or later: an activation that arrives late finds its token void.
-- (No connection on which one could arrive lives longer than a day.) The index of leased jobs finds them. SKIP LOCKED,
-- because the statement must not wait for a row that the engine saves while it holds others; the next call finds that job.
WITH voided AS (
    INSERT INTO void_leases (token) SELECT unnest($3::uuid[]) ON CONFLICT DO NOTHING
), forgotten AS (
    DELETE FROM void_leases WHERE at < clock_timestamp() - interval '1 day'
)
UPDATE jobs
SET ready = true, returned = true, available_at = NULL, worker = NULL, lease_token = NULL
WHERE job_key = ANY (ARRAY (
    SELECT job_key FROM jobs
    WHERE type = $1 AND tenant_id = $2 AND NOT ready AND available_at IS NOT NULL AND lease_token = ANY ($3::uuid[])
    FOR UPDATE SKIP LOCKED));

-- fragment: give_back
-- A suspended job returns when its instance is resumed.
UPDATE jobs
SET ready = suspended_ready IS NULL, returned = true, available_at = NULL, worker = NULL, lease_token = NULL,
    suspended_ready = CASE WHEN suspended_ready IS NOT NULL THEN true END, suspended_until = NULL

-- name: release
-- Returns the jobs of a client that is gone. The token tells whether the lease is still that of its activation. SKIP LOCKED, as
-- in take_back: the engine may wait for a row that this statement has locked. The second part has the jobs that were skipped.
WITH released AS (
-- include: give_back
WHERE job_key = ANY (ARRAY(
    SELECT job_key FROM jobs WHERE job_key = ANY ($1::bigint[]) AND lease_token = ANY ($2::uuid[]) FOR UPDATE SKIP LOCKED))
RETURNING job_key, type, tenant_id
)
SELECT job_key, type, tenant_id, true FROM released
UNION ALL
SELECT job_key, type, tenant_id, false FROM jobs
WHERE job_key = ANY ($1::bigint[]) AND lease_token = ANY ($2::uuid[]) AND job_key NOT IN (SELECT job_key FROM released);

-- name: release_one
-- Returns a job that was locked. It may wait for the engine: it holds no other lock while it does.
-- include: give_back
WHERE job_key = $1 AND lease_token = ANY ($2::uuid[])
RETURNING type, tenant_id;

-- name: next_available
-- When the first lease or backoff of the type ends, in ms from now: the head of an index. $3: the bound, as for activate. $4:
-- in ms, how far to look: the entries after it may be many and dead, and nobody waits so long without another look.
SELECT greatest(0, to_epoch_ms(available_at) - to_epoch_ms(clock_now()))
FROM jobs
WHERE type = $1 AND tenant_id = $2 AND NOT ready AND available_at IS NOT NULL
    AND available_at >= least(from_epoch_ms($3), clock_now()) - interval '250 milliseconds'
    AND available_at <= clock_now() + $4::bigint * interval '1 millisecond'
ORDER BY available_at
LIMIT 1;

-- name: extend
-- The time of a lease is the lease's own: no command, no part of replay. Only of the lease, and the end, that was read: what
-- comes late must not undo what was done since. It may wait for the engine to save this one job: it holds no other lock while
-- it does.
UPDATE jobs
SET available_at = clock_now() + $2::bigint * interval '1 millisecond'
WHERE job_key = $1 AND NOT ready AND available_at > clock_now()
    AND lease_token = $3::uuid AND extract(epoch FROM available_at)::text = $4
RETURNING type, tenant_id;

-- name: lease
-- Tells a lease that is another's from one that is not there, and that from a job that is not there. The end as a text: it is
-- compared to the microsecond. The second condition is one that no index of live rows fits (load.roots).
SELECT NOT ready AND lease_token IS NOT NULL AND available_at > clock_now(), lease_token::text,
    extract(epoch FROM available_at)::text
FROM jobs
WHERE job_key = $1 AND coalesce(ended_at, 'infinity') = 'infinity' AND ($2::text[] IS NULL OR tenant_id = ANY ($2::text[]));
