-- name: store_resources
-- One JSON document for all files. A file's name is the hash of its content, so a second store changes nothing. It runs before
-- the append: a command may only name files that exist.
INSERT INTO resources (sha256, bytes)
SELECT DISTINCT ON (sha256) sha256, decode(bytes, 'base64')
FROM json_to_recordset($1::json) AS r(sha256 text, bytes text)
ORDER BY sha256
ON CONFLICT (sha256) DO UPDATE SET stored_at = now();

-- name: resource
-- The deployed bytes, unchanged.
SELECT bytes FROM resources WHERE sha256 = $1;

-- name: definition
-- In any state: running instances need draining definitions. Callers that start instances check the state.
SELECT process_definition_key, deployment_key, tenant_id, process_id, version, name, version_tag, resource_name, sha256,
       state, to_epoch_ms(deployed_at)
FROM process_definitions
WHERE process_definition_key = $1 AND tenant_id = $2;

-- name: latest_definition
-- Only ACTIVE definitions can be started. The index has the highest version first.
SELECT process_definition_key, deployment_key, tenant_id, process_id, version, name, version_tag, resource_name, sha256,
       state, to_epoch_ms(deployed_at)
FROM process_definitions
WHERE tenant_id = $1 AND process_id = $2 AND state = 'ACTIVE'
ORDER BY version DESC
LIMIT 1;

-- name: definitions_in_use
-- The definitions with running instances, the busiest first, then the newest: a cache loads them before commands need them.
SELECT d.process_definition_key, d.deployment_key, d.tenant_id, d.process_id, d.version, d.name, d.version_tag,
       d.resource_name, d.sha256, d.state, to_epoch_ms(d.deployed_at)
FROM process_definitions d
LEFT JOIN (
    SELECT process_definition_key, sum(active) AS running FROM counted_elements
    WHERE element_id = '' GROUP BY 1 HAVING sum(active) > 0
) u USING (process_definition_key)
WHERE u.running > 0 OR d.state = 'ACTIVE'
ORDER BY u.running DESC NULLS LAST, d.process_definition_key DESC
LIMIT $1;
