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
-- One call, $5 tokens and a cost of $8 within a budget of $6 calls, $7 tokens and a cost of $9, 0 for none. No row: it would
-- be exceeded. The row is locked until the transaction ends, so that two nodes never reserve the same.
INSERT INTO agent_usage AS u (tenant_id, process_id, process_instance_key, day, calls, tokens, cost)
SELECT $1, $2, $3, CASE WHEN $4::text = 'today' THEN (clock_timestamp() AT TIME ZONE 'UTC')::date ELSE $4::text::date END, 1,
    $5::bigint, $8::bigint
WHERE ($7::bigint = 0 OR $5::bigint <= $7::bigint) AND ($9::bigint = 0 OR $8::bigint <= $9::bigint)
ON CONFLICT (tenant_id, process_id, process_instance_key, day) DO UPDATE
SET calls = u.calls + 1, tokens = u.tokens + excluded.tokens, cost = u.cost + excluded.cost
WHERE ($6::bigint = 0 OR u.calls < $6::bigint) AND ($7::bigint = 0 OR u.tokens + excluded.tokens <= $7::bigint)
    AND ($9::bigint = 0 OR u.cost + excluded.cost <= $9::bigint)
RETURNING calls, day::text;

-- name: settle
-- The differences between the reported tokens and cost and the reserved ones.
UPDATE agent_usage SET tokens = greatest(tokens + $5::bigint, 0), cost = greatest(cost + $6::bigint, 0)
WHERE tenant_id = $1 AND process_id = $2 AND process_instance_key = $3 AND day = $4::text::date;

-- name: record_call
-- A call that comes late, or twice, finds its row. The lock on the job lets a deletion of its tree come before or after: no row
-- stays behind.
WITH job AS (
    SELECT job_key, process_instance_key, element_instance_key, process_id, element_id, tenant_id FROM jobs
    WHERE job_key = $1 FOR KEY SHARE
)
INSERT INTO agent_calls (job_key, call_id, process_instance_key, element_instance_key, process_id, element_id, tenant_id,
    ended_at, turn, cause, duration_ms, provider, model, outcome, request_digest, answer_digest, input_tokens, output_tokens,
    cached_tokens, cost, currency, tools_offered, tools_called)
SELECT job_key, $2::text, process_instance_key, element_instance_key, process_id, element_id, tenant_id, clock_timestamp(),
    $3::int, $4::text, $5::bigint, $6::text, $7::text, $8::text, $9::text, $10::text, $11::bigint, $12::bigint, $13::bigint,
    $14::bigint, $15::text, $16::text[], $17::text[]
FROM job ON CONFLICT DO NOTHING;

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
