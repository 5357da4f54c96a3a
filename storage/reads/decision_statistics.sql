-- name: decision_counts
-- For each version the newest rows only: nothing counts evaluations, and there may be millions. Keys have the order of time
-- within a partition. So the index on the key gives the newest rows of each partition, and the newest of those count.
SELECT coalesce(json_agg(json_build_object('decisionDefinitionKey', k.key::text, 'decisionInstances', least(n.found, $3),
    'failed', n.failed, 'hasMore', n.found > $3) ORDER BY k.place), '[]')
FROM unnest($1::bigint[]) WITH ORDINALITY AS k(key, place)
JOIN decision_definitions d ON d.decision_definition_key = k.key AND d.state <> 'DELETED'
    AND ($2::text[] IS NULL OR d.decision_id = ANY ($2::text[]))
    -- only tenants: AND d.tenant_id = ANY ($4::text[])
CROSS JOIN LATERAL (
    SELECT count(*) AS found, count(*) FILTER (WHERE r.place <= $3 AND r.state = 'FAILED') AS failed
    FROM (
        SELECT e.state, row_number() OVER (ORDER BY e.evaluated_at DESC, e.decision_instance_key DESC) AS place
        FROM partitions p CROSS JOIN LATERAL (
            SELECT i.state, i.evaluated_at, i.decision_instance_key FROM decision_instances i
            WHERE i.decision_definition_key = k.key
                AND i.decision_instance_key >= p.id::bigint << 51 AND i.decision_instance_key < (p.id + 1)::bigint << 51
                -- only tenants: AND i.tenant_id = ANY ($4::text[])
            ORDER BY i.decision_instance_key DESC LIMIT $3::int + 1
        ) e
        ORDER BY e.evaluated_at DESC, e.decision_instance_key DESC LIMIT $3::int + 1
    ) r
) n;

-- name: decision_rules
-- The newest rows of a version over all partitions, at most $2, and no more than have about $3 bytes of rules together as
-- they are stored: pg_column_size does not read a value that is stored apart. A rule matched at most once in an evaluation;
-- the index 0 stands for rules that were not kept.
WITH rows AS MATERIALIZED (
    SELECT i.rules, i.state, row_number() OVER newest AS place,
        sum(pg_column_size(i.rules)) OVER (newest ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes
    FROM (
        SELECT e.* FROM partitions p CROSS JOIN LATERAL (
            SELECT decision_instance_key, evaluated_at, rules, state FROM decision_instances
            WHERE decision_definition_key = $1
                AND decision_instance_key >= p.id::bigint << 51 AND decision_instance_key < (p.id + 1)::bigint << 51
                -- only tenants: AND tenant_id = ANY ($4::text[])
            ORDER BY decision_instance_key DESC LIMIT $2::int + 1
        ) e
        ORDER BY e.evaluated_at DESC, e.decision_instance_key DESC LIMIT $2::int + 1
    ) i
    WINDOW newest AS (ORDER BY i.evaluated_at DESC, i.decision_instance_key DESC)
), looked AS (
    SELECT rules, state FROM rows WHERE place <= $2 AND coalesce(bytes, 0) < $3
), matched AS (
    SELECT (r ->> 1)::int AS index, count(*) AS matches
    FROM looked, json_array_elements(looked.rules) AS r GROUP BY 1
)
SELECT json_build_object(
    'decisionInstances', (SELECT count(*) FROM looked),
    'failed', (SELECT count(*) FROM looked WHERE state = 'FAILED'),
    'hasMore', (SELECT count(*) FROM rows) > (SELECT count(*) FROM looked),
    'withoutAllRules', coalesce((SELECT matches FROM matched WHERE index = 0), 0),
    'rules', coalesce((SELECT json_agg(json_build_object('ruleIndex', index, 'matches', matches) ORDER BY index)
        FROM matched WHERE index > 0), '[]'))
FROM decision_definitions d WHERE d.decision_definition_key = $1 AND d.state <> 'DELETED'
    -- only tenants: AND d.tenant_id = ANY ($4::text[]);
