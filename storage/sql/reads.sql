-- name: cluster
-- The partitions with who leads them; a lease is real time, whatever the engine's clock says.
SELECT p.id, CASE WHEN p.lease_until > now() THEN p.owner_node END, (SELECT cluster_id::text FROM cluster)
FROM partitions p
ORDER BY p.id;

-- name: definition_xml
-- The file as it was deployed.
SELECT r.bytes
FROM process_definitions d JOIN resources r ON r.sha256 = d.sha256
WHERE d.process_definition_key = $1 AND d.state <> 'DELETED';

-- name: result
-- The state of an instance that has ended, and variables of its outermost scope: one snapshot, so that they fit.
SELECT p.state, (
    SELECT '{' || string_agg(to_json(v.name) || ':' || v.value, ',' ORDER BY v.name) || '}'
    FROM variables v
    WHERE v.scope_key = p.process_instance_key AND ($2::text[] IS NULL OR v.name = ANY ($2::text[]))
)
FROM process_instances p
WHERE p.process_instance_key = $1 AND p.ended_at IS NOT NULL;

-- name: instance_exists
-- By primary key.
SELECT FROM process_instances WHERE process_instance_key = $1;

-- name: scope
-- The engine's time, and what an element instance, or a process instance, sees: of each name the innermost variable.
SELECT to_epoch_ms(clock_now()), scope.path IS NOT NULL, (
    SELECT '{' || string_agg(to_json(v.name) || ':' || v.value, ',') || '}'
    FROM (
        SELECT DISTINCT ON (name) name, value
        FROM variables
        WHERE scope_key = ANY (scope.path)
        ORDER BY name, array_position(scope.path, scope_key)
    ) v
)
FROM (SELECT) one
LEFT JOIN (
    SELECT path FROM element_instances WHERE element_instance_key = $1
    UNION ALL
    SELECT ARRAY[process_instance_key] FROM process_instances WHERE process_instance_key = $1
) scope ON true;
