-- name: store_resources
-- One JSON document for all files. A file's name is the hash of its content, so a second store changes nothing. It runs before
-- the append: a command may only name files that exist. A file that was unused counts as new.
INSERT INTO resources (sha256, bytes)
SELECT DISTINCT ON (sha256) sha256, decode(bytes, 'base64')
FROM json_to_recordset($1::json) AS r(sha256 text, bytes text)
ORDER BY sha256
ON CONFLICT (sha256) DO UPDATE SET stored_at = now(), unused_since = NULL;

-- name: resource
-- The deployed bytes, unchanged.
SELECT bytes FROM resources WHERE sha256 = $1;

-- name: definition_source
-- In any state: running instances need the models of draining and deleted definitions.
SELECT sha256, process_id FROM process_definitions WHERE process_definition_key = $1 AND tenant_id = $2;

-- name: definitions_in_use
-- The definitions with running instances, the busiest first, then the newest: a cache loads them before commands need them.
SELECT d.sha256
FROM process_definitions d
LEFT JOIN (
    SELECT process_definition_key, sum(active) AS running FROM counted_elements
    WHERE element_id = '' GROUP BY 1 HAVING sum(active) > 0
) u USING (process_definition_key)
WHERE u.running > 0 OR d.state = 'ACTIVE'
ORDER BY u.running DESC NULLS LAST, d.process_definition_key DESC
LIMIT $1;

-- name: decisions_in_use
-- The newest files of decisions, which a cache loads before commands need them. Old versions are loaded when they are needed.
SELECT r.sha256, d.imports
FROM (
    SELECT decision_requirements_key, sha256 FROM decision_requirements
    WHERE state = 'ACTIVE'
    ORDER BY decision_requirements_key DESC LIMIT $1
) r CROSS JOIN LATERAL (
    SELECT imports FROM decision_definitions d
    WHERE d.decision_requirements_key = r.decision_requirements_key
    LIMIT 1
) d
ORDER BY r.decision_requirements_key DESC;
