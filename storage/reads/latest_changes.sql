-- name: tree
-- By primary key: the root of a process instance, the version of its tree, and whether it has ended: no end is undone.
SELECT i.root_key, root.version, i.ended_at IS NOT NULL
FROM process_instances i JOIN process_instances root ON root.process_instance_key = i.root_key
WHERE i.process_instance_key = $1
    -- only tenants: AND i.tenant_id = ANY ($2::text[]);

-- name: latest
-- The rows of the latest position that changed a tree, the last one first, by the index on root_key, each with the request that
-- it follows from. Counting stops at $2 rows.
SELECT position, seq, coalesce(request, position), coalesce(events, large_events)::json, version FROM event_log
WHERE root_key = $1
    AND position = (SELECT position FROM event_log WHERE root_key = $1 ORDER BY position DESC, seq DESC LIMIT 1)
ORDER BY seq DESC LIMIT $2;

-- name: earlier
-- The rows before those of the latest command, the latest first: few, because only the last suspension is looked for.
SELECT coalesce(events, large_events)::json, version FROM event_log
WHERE root_key = $1 AND (position, seq) < ($2::bigint, $3::int)
ORDER BY position DESC, seq DESC LIMIT $4;

-- name: jobs
-- The open jobs of some process instances, by the index on instances: an order by key could lead to a scan of all jobs.
SELECT job_key FROM jobs WHERE process_instance_key = ANY ($1::bigint[]) AND ended_at IS NULL LIMIT $2;

-- name: taken
-- The first of these jobs that a worker has, or has had: a lease stays visible after its end.
SELECT job_key FROM jobs WHERE job_key = ANY ($1::bigint[]) AND lease_token IS NOT NULL ORDER BY job_key LIMIT 1;

-- name: had_worker
-- The end of a job clears its lease, and keeps the worker. A failure does so, too. A release of a lease that did not arrive
-- clears both.
SELECT job_key FROM jobs WHERE job_key = ANY ($1::bigint[]) AND worker IS NOT NULL ORDER BY job_key LIMIT 1;
