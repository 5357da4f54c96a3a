-- name: activate
-- Expired leases first, then what is ready: each by its own partial index, because one index on both makes a sort of all.
-- SKIP LOCKED, because only the engine may wait for a job's row. clock_now() is stable and so an index condition. Keys as
-- an array, here and below: a plan that was made for an empty table must not join, and so read, all of it later.
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
)
UPDATE jobs j
SET ready = false,
    available_at = clock_now() + $4::bigint * interval '1 millisecond',
    worker = $5,
    lease_token = gen_random_uuid(),
    expiries = j.expiries + (NOT j.ready AND j.lease_token IS NOT NULL)::int
WHERE j.job_key = ANY (ARRAY (SELECT job_key FROM chosen))
RETURNING j.job_key, j.lease_token::text;

-- name: activated_jobs
-- A statement of its own that locks nothing: a client that reads slowly holds no row. Only leases that are still the ones
-- given: a job that was cancelled since is left out. The innermost variable of a name is the one that is seen.
SELECT json_build_object(
    'type', j.type,
    'processDefinitionId', j.process_id,
    'processDefinitionVersion', j.process_version,
    'elementId', j.element_id,
    'customHeaders', j.headers,
    'worker', coalesce(j.worker, ''),
    'retries', j.retries,
    'deadline', to_epoch_ms(j.available_at),
    'variables', coalesce(seen.variables, '{}')::json,
    'tenantId', j.tenant_id,
    'physicalTenantId', 'default',
    'jobKey', j.job_key::text,
    'processInstanceKey', j.process_instance_key::text,
    'processDefinitionKey', j.process_definition_key::text,
    'elementInstanceKey', j.element_instance_key::text,
    'kind', j.kind,
    'listenerEventType', j.listener_event,
    'userTask', NULL,
    'tags', j.tags,
    'rootProcessInstanceKey', j.root_key::text,
    'businessId', j.business_id,
    'priority', j.priority,
    'jobLeaseToken', CASE WHEN $4::boolean THEN j.lease_token END
)
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
-- Tells a lease that is another's from one that is not there.
SELECT NOT ready AND lease_token IS NOT NULL AND available_at > clock_now() FROM jobs WHERE job_key = $1;
