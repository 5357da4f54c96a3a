-- name: find_answer
-- The answer to a request of a job. The job's tenant is that of the caller's job. A job that has failed since gets
-- another answer: this one may be the reason.
SELECT a.answer FROM agent_answers a JOIN jobs j ON j.job_key = a.job_key
WHERE a.job_key = $1 AND a.digest = $2 || '@' || to_epoch_ms(j.updated_at);

-- name: keep_answer
-- A call of this statement that comes late, or twice, finds its row, or a job that has ended. The outcomes of the
-- instance's jobs that have ended are in the log, so their answers go.
WITH job AS (
    SELECT process_instance_key, to_epoch_ms(updated_at) AS changed_at FROM jobs WHERE job_key = $1 AND ended_at IS NULL
), gone AS (
    DELETE FROM agent_answers a USING job, jobs j
    WHERE a.process_instance_key = job.process_instance_key AND j.job_key = a.job_key AND j.ended_at IS NOT NULL
)
INSERT INTO agent_answers (job_key, digest, process_instance_key, tenant_id, created_at, answer)
SELECT $1, $2::text || '@' || job.changed_at, job.process_instance_key, $3, clock_timestamp(), $4 FROM job
ON CONFLICT DO NOTHING;

-- name: reserve
-- One call and $5 tokens within a budget of $6 calls and $7 tokens, 0 for none. No row: it would be exceeded. The row is locked
-- until the transaction ends, so that two nodes never reserve the same.
INSERT INTO agent_usage AS u (tenant_id, process_id, process_instance_key, day, calls, tokens)
SELECT $1, $2, $3, CASE WHEN $4::text = 'today' THEN (clock_timestamp() AT TIME ZONE 'UTC')::date ELSE $4::text::date END, 1,
    $5::bigint
WHERE $7::bigint = 0 OR $5::bigint <= $7::bigint
ON CONFLICT (tenant_id, process_id, process_instance_key, day) DO UPDATE
SET calls = u.calls + 1, tokens = u.tokens + excluded.tokens
WHERE ($6::bigint = 0 OR u.calls < $6::bigint) AND ($7::bigint = 0 OR u.tokens + excluded.tokens <= $7::bigint)
RETURNING calls, day::text;

-- name: settle
-- The difference between the reported tokens and the reserved ones.
UPDATE agent_usage SET tokens = greatest(tokens + $5::bigint, 0)
WHERE tenant_id = $1 AND process_id = $2 AND process_instance_key = $3 AND day = $4::text::date;

-- name: forget_usage
-- Days that no budget reads any more.
DELETE FROM agent_usage WHERE day <> '-infinity' AND day < (clock_timestamp() AT TIME ZONE 'UTC')::date - 400;

-- name: stops
-- A handful of rows at most, which each node reads once a second while it calls models.
SELECT tenant_id, process_id, model FROM agent_stops ORDER BY tenant_id, process_id, model;

-- name: stop
-- No row: they are stopped already.
INSERT INTO agent_stops (tenant_id, process_id, model, stopped_at) VALUES ($1, $2, $3, clock_timestamp())
ON CONFLICT DO NOTHING RETURNING tenant_id;

-- name: resume
-- Exactly these: a wider stop goes on.
DELETE FROM agent_stops WHERE tenant_id = $1 AND process_id = $2 AND model = $3 RETURNING tenant_id;
