-- name: outdated
-- The definitions of running called instances at any depth, each with the latest version of its process. It looks at the first
-- callers only, and at so many instances: a tree may have a million.
WITH RECURSIVE callers AS MATERIALIZED (
    SELECT DISTINCT process_instance_key AS key FROM element_instances
    WHERE process_definition_key = $1 AND element_id = ANY ($2::text[]) AND ended_at IS NULL LIMIT $3
), tree AS (
    SELECT key, NULL::bigint AS definition FROM callers
    UNION ALL
    SELECT p.process_instance_key, p.process_definition_key
    FROM tree JOIN process_instances p ON p.parent_process_instance_key = tree.key AND p.ended_at IS NULL
), counted AS (
    SELECT definition, count(*) AS active FROM (SELECT definition FROM tree LIMIT $4) found
    WHERE definition IS NOT NULL GROUP BY definition
)
SELECT c.definition, d.process_id, d.version, c.active, latest.process_definition_key, latest.version
FROM counted c
JOIN process_definitions d ON d.process_definition_key = c.definition
CROSS JOIN LATERAL (
    SELECT process_definition_key, version FROM process_definitions
    WHERE tenant_id = d.tenant_id AND process_id = d.process_id AND state = 'ACTIVE' ORDER BY version DESC LIMIT 1) latest
WHERE latest.process_definition_key <> c.definition
    -- only tenants: AND d.tenant_id = ANY ($6::text[])
ORDER BY d.process_id, d.version LIMIT $5;
