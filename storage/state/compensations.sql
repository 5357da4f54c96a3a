-- name: by_key
-- Completed scopes that a compensation is inside of, or that an event sub-process compensates.
SELECT compensation_key, process_instance_key, scope_key, element_instance_key, element_id, is_scope, handler, registered::text,
    running
FROM compensations WHERE compensation_key = ANY ($1::bigint[]);

-- name: latest
-- The latest completed activities in scopes, of each activity so many, without those that are in memory.
SELECT c.compensation_key, c.process_instance_key, c.scope_key, c.element_instance_key, c.element_id, c.is_scope, c.handler,
    c.registered::text, c.running
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::int[]) AS x(instance, scope, element, most)
CROSS JOIN LATERAL (
    SELECT * FROM compensations
    WHERE process_instance_key = x.instance AND scope_key = x.scope AND element_id = x.element
        AND compensation_key <> ALL ($5::bigint[]) AND NOT running
    ORDER BY compensation_key DESC LIMIT x.most) c
ORDER BY c.compensation_key DESC;

-- name: of_instances
-- All of a tree, for its snapshot, or of an instance, for its migration.
SELECT compensation_key, process_instance_key, scope_key, element_instance_key, element_id, is_scope, handler, registered::text,
    running
FROM compensations WHERE process_instance_key = ANY ($1::bigint[]) ORDER BY compensation_key LIMIT $2;
