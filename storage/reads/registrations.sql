-- name: latest
-- Only as many rows of each activity as the page can have: the index finds the activities of a scope one after the other,
-- and the latest rows of each, so that a page costs the same among 100,000 rows.
WITH RECURSIVE activities AS (
    (SELECT element_id FROM compensations WHERE process_instance_key = $1 AND scope_key = $2 ORDER BY element_id LIMIT 1)
    UNION ALL
    SELECT (
        SELECT c.element_id FROM compensations c
        WHERE c.process_instance_key = $1 AND c.scope_key = $2 AND c.element_id > a.element_id ORDER BY c.element_id LIMIT 1)
    FROM activities a WHERE a.element_id IS NOT NULL
)
SELECT c.compensation_key, c.element_instance_key, c.element_id, c.handler, c.registered::text, c.running
FROM activities a
CROSS JOIN LATERAL (
    SELECT * FROM compensations c
    WHERE c.process_instance_key = $1 AND c.scope_key = $2 AND c.element_id = a.element_id AND c.compensation_key < $4
        -- only tenants: AND c.tenant_id = ANY ($6::text[])
    ORDER BY c.compensation_key DESC LIMIT $5) c
WHERE $3::text IS NULL OR a.element_id = $3
ORDER BY c.compensation_key DESC LIMIT $5;
