-- name: waiting
-- The tenants with open jobs of each of these types. Each step of a recursion is one look into an index, however many jobs a
-- tenant has.
SELECT t.type, found.tenant_id
FROM unnest($1::text[]) AS t (type), LATERAL (
    WITH RECURSIVE waiting AS (
        (SELECT tenant_id FROM jobs WHERE type = t.type AND ready ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT tenant_id FROM jobs WHERE type = t.type AND ready AND tenant_id > w.tenant_id
            ORDER BY tenant_id LIMIT 1)
        FROM waiting w WHERE w.tenant_id IS NOT NULL
    ), leased AS (
        (SELECT tenant_id FROM jobs WHERE type = t.type AND NOT ready AND available_at IS NOT NULL
            ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT tenant_id FROM jobs WHERE type = t.type AND NOT ready AND available_at IS NOT NULL
            AND tenant_id > l.tenant_id ORDER BY tenant_id LIMIT 1)
        FROM leased l WHERE l.tenant_id IS NOT NULL
    )
    SELECT tenant_id FROM waiting WHERE tenant_id IS NOT NULL
    UNION
    SELECT tenant_id FROM leased WHERE tenant_id IS NOT NULL
) AS found;

-- name: latest_definitions
-- The latest active version of each process, for the webhooks of models. The index has the highest version first.
SELECT DISTINCT ON (tenant_id, process_id) process_definition_key, tenant_id, process_id, sha256, resource_name
FROM process_definitions WHERE state = 'ACTIVE'
ORDER BY tenant_id, process_id, version DESC;

-- name: texts_in_resources
-- The files among these that contain the texts: only they are parsed. A file never changes, so each is asked for once.
SELECT sha256, text FROM resources CROSS JOIN unnest($2::text[]) AS asked (text)
WHERE sha256 = ANY ($1::text[]) AND position(convert_to(text, 'UTF8') IN bytes) > 0;
