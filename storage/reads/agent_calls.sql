-- name: of_instance
-- A page in the order in which the calls have ended, by the index of the instance: of all of its elements, or of $4. $2: the last
-- call of the page before.
SELECT c.call_id, c.job_key, c.element_id, c.element_instance_key, c.ended_at, c.turn, c.cause, c.duration_ms, c.provider,
    c.model, c.outcome, c.request_digest, c.answer_digest, c.input_tokens, c.output_tokens, c.cached_tokens, c.cost,
    c.currency, c.tools_offered, c.tools_called
FROM agent_calls c
WHERE c.process_instance_key = $1
    AND ($2::text IS NULL OR (c.ended_at, c.call_id) > (
        SELECT b.ended_at, b.call_id FROM agent_calls b WHERE b.process_instance_key = $1 AND b.call_id = $2))
    AND ($4::text IS NULL OR c.element_id = $4)
    -- only tenants: AND c.tenant_id = ANY ($5::text[])
ORDER BY c.ended_at, c.call_id LIMIT $3;

-- name: by_element
-- The sums of an instance. The prices of one element may have had several currencies.
SELECT c.element_id, c.currency, count(*), count(*) FILTER (WHERE c.outcome <> 'ANSWERED'),
    coalesce(sum(c.input_tokens), 0)::bigint, coalesce(sum(c.output_tokens), 0)::bigint,
    coalesce(sum(c.cached_tokens), 0)::bigint, sum(c.cost)::text
FROM agent_calls c
WHERE c.process_instance_key = $1
    -- only tenants: AND c.tenant_id = ANY ($2::text[])
GROUP BY c.element_id, c.currency ORDER BY c.element_id, c.currency;

-- name: agents_of
-- The agents of an instance with the variables of their scopes, which stay as long as the instance.
SELECT j.element_id, j.element_instance_key, j.process_definition_key, j.tenant_id, j.job_key, j.type, j.headers::text,
    coalesce((SELECT json_object_agg(v.name, v.value) FROM variables v WHERE v.process_instance_key = $1
        AND v.scope_key = j.element_instance_key), '{}')::text
FROM jobs j JOIN (SELECT max(c.job_key) AS job_key FROM agent_calls c WHERE c.process_instance_key = $1
    -- only tenants: AND c.tenant_id = ANY ($2::text[])
    GROUP BY c.element_instance_key) latest ON latest.job_key = j.job_key
ORDER BY j.element_instance_key;

-- name: by_model
-- The sums of a process, all of its versions, in a time from $2 to $3 by the index of the process. $1: the key of one version.
SELECT c.element_id, c.currency, count(*), count(*) FILTER (WHERE c.outcome <> 'ANSWERED'),
    coalesce(sum(c.input_tokens), 0)::bigint, coalesce(sum(c.output_tokens), 0)::bigint,
    coalesce(sum(c.cached_tokens), 0)::bigint, sum(c.cost)::text, c.model, count(DISTINCT c.process_instance_key)
FROM process_definitions d
JOIN agent_calls c ON c.tenant_id = d.tenant_id AND c.process_id = d.process_id AND c.ended_at >= $2 AND c.ended_at < $3
WHERE d.process_definition_key = $1
    -- only tenants: AND d.tenant_id = ANY ($4::text[])
GROUP BY c.element_id, c.model, c.currency ORDER BY c.element_id, c.model, c.currency;
