-- name: activate
-- Expired leases first, then what is ready: each by its own partial index, because one index on both makes a sort of all.
-- SKIP LOCKED, because only the engine may wait for a job's row. clock_now() is stable and so an index condition. Keys as
-- an array, here and below: a plan that was made for an empty table must not join, and so read, all of it later.
-- Few jobs with small variables are shown at once: an answer that fits into the socket keeps no row locked, whether it is
-- read or not. Where one of them does not fit, none is shown, and activated_jobs reads them.
WITH expired AS MATERIALIZED (
    SELECT job_key
    FROM jobs
    WHERE type = $1 AND tenant_id = $2 AND NOT ready AND available_at IS NOT NULL AND available_at <= clock_now()
    ORDER BY available_at
    LIMIT $3::int
    FOR UPDATE SKIP LOCKED
), waiting AS MATERIALIZED (
    SELECT job_key
    FROM jobs
    WHERE type = $1 AND tenant_id = $2 AND ready
    ORDER BY priority DESC, job_key
    LIMIT $3::int
    FOR UPDATE SKIP LOCKED
), chosen AS (
    SELECT * FROM expired UNION ALL SELECT * FROM waiting LIMIT $3::int
), leased AS (
    UPDATE jobs j
    SET ready = false,
        available_at = clock_now() + $4::bigint * interval '1 millisecond',
        worker = $5,
        lease_token = $8,
        expiries = j.expiries + (NOT j.ready AND j.lease_token IS NOT NULL)::int
    WHERE j.job_key = ANY (ARRAY (SELECT job_key FROM chosen))
    RETURNING j AS job
), shown AS MATERIALIZED (
    SELECT job, CASE WHEN seen.complete THEN job_as_shown(job, seen.variables, $7) END AS document
    FROM leased CROSS JOIN LATERAL (
        SELECT '{' || string_agg(to_json(name) || ':' || CASE WHEN octet_length(value) <= 2000 THEN value END, ',') || '}' AS variables,
               (SELECT count(*) <= 50 FROM chosen) AND coalesce(bool_and(octet_length(value) <= 2000), true) AS complete
        FROM (
            SELECT DISTINCT ON (name) name, value
            FROM variables
            WHERE scope_key = ANY ((job).path) AND ($6::text[] IS NULL OR name = ANY ($6::text[]))
                AND (SELECT count(*) <= 50 FROM chosen)
            ORDER BY name, array_position((job).path, scope_key)
        ) v
    ) seen
)
SELECT (job).job_key, (job).lease_token::text,
       CASE WHEN bool_and(document IS NOT NULL) OVER () AND sum(octet_length(document::text)) OVER () <= 60000 THEN document END
FROM shown
ORDER BY (job).priority DESC, (job).job_key;

-- name: activated_jobs
-- A statement of its own that locks nothing: a client that reads slowly holds no row. Only leases that are still the ones
-- given: a job that was cancelled since is left out. The innermost variable of a name is the one that is seen.
SELECT job_as_shown(j, seen.variables, $4)
FROM jobs j
LEFT JOIN LATERAL (
    SELECT '{' || string_agg(to_json(v.name) || ':' || v.value, ',') || '}' AS variables
    FROM (
        SELECT DISTINCT ON (name) name, value
        FROM variables
        WHERE scope_key = ANY (j.path) AND ($3::text[] IS NULL OR name = ANY ($3::text[]))
        ORDER BY name, array_position(j.path, scope_key)
    ) v
) seen ON true
WHERE j.job_key = ANY ($1::bigint[]) AND j.lease_token = ANY ($2::uuid[])
ORDER BY j.priority DESC, j.job_key;

-- name: take_back
-- What was leased to nobody, because the answer was lost. The jobs of a type that are leased: their index has them. SKIP
-- LOCKED: while this holds one, it must not wait for another that the engine saves; the next look comes to that.
UPDATE jobs
SET ready = true, available_at = NULL, worker = NULL, lease_token = NULL
WHERE job_key = ANY (ARRAY (
    SELECT job_key FROM jobs
    WHERE type = $1 AND tenant_id = $2 AND NOT ready AND available_at IS NOT NULL AND lease_token = ANY ($3::uuid[])
    FOR UPDATE SKIP LOCKED));

-- name: release
-- Gives back what was activated for a client that is gone; the token says that it is still that activation.
UPDATE jobs j
SET ready = true, available_at = NULL, worker = NULL, lease_token = NULL
WHERE j.job_key = ANY ($1::bigint[]) AND j.lease_token = ANY ($2::uuid[])
RETURNING j.type, j.tenant_id;

-- name: next_available
-- When the first lease or backoff of the type ends, in ms from now: the head of an index.
SELECT greatest(0, to_epoch_ms(available_at) - to_epoch_ms(clock_now()))
FROM jobs
WHERE type = $1 AND tenant_id = $2 AND NOT ready AND available_at IS NOT NULL
ORDER BY available_at
LIMIT 1;

-- name: extend
-- The time of a lease is the lease's own: no command, no part of replay. Of a token that is given it must be the one. It
-- may wait for the engine to save this one job: it holds no other lock while it does.
UPDATE jobs
SET available_at = clock_now() + $2::bigint * interval '1 millisecond'
WHERE job_key = $1 AND NOT ready AND lease_token IS NOT NULL AND available_at > clock_now()
    AND ($3::uuid IS NULL OR lease_token = $3::uuid)
RETURNING type, tenant_id;

-- name: is_leased
-- Tells a lease that is another's from one that is not there, and that from a job that is not there.
SELECT NOT ready AND lease_token IS NOT NULL AND available_at > clock_now() FROM jobs
WHERE job_key = $1 AND ended_at IS NULL;
