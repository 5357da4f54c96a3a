-- name: instance
-- By primary key: the root and the version of the tree, how many of its live elements are loaded in parts, and the engine's time.
SELECT i.root_key, root.version, root.in_parts, root.ended_at IS NOT NULL, i.tenant_id, to_epoch_ms(clock_now())
FROM process_instances i JOIN process_instances root ON root.process_instance_key = i.root_key
WHERE i.process_instance_key = $1
    -- only tenants: AND i.tenant_id = ANY ($2::text[]);

-- name: live_elements
-- The number of live elements that are loaded with a root. Counting stops at the limit.
SELECT count(*) FROM (
    SELECT FROM element_instances WHERE part_key = $1 AND ended_at IS NULL LIMIT $2) counted;

-- name: inner_instances
-- The live inner instances of paged loops.
SELECT element_instance_key FROM element_instances
WHERE scope_key = ANY ($1::bigint[]) AND ended_at IS NULL AND part_key = element_instance_key;

-- name: all_loop_items
-- All items of paged loops, in the rows in which they are stored.
SELECT body_key, items FROM paged_loop_items WHERE body_key = ANY ($1::bigint[]) ORDER BY body_key, first;

-- name: characters
-- The length of all variables of scopes ($2), found by their instances ($1), of the items and of the results of loops.
SELECT (SELECT coalesce(sum(v.size), 0) FROM unnest($1::bigint[], $2::bigint[]) AS x(instance, scope) CROSS JOIN LATERAL (
            SELECT length(value) AS size FROM variables
            WHERE process_instance_key = x.instance AND scope_key = x.scope OFFSET 0) v)
     + (SELECT coalesce(sum(coalesce(length(item), 0) + coalesce(length(result), 0)), 0)
        FROM loop_items WHERE body_key = ANY ($2::bigint[]))
     + (SELECT coalesce(sum(length(items)), 0) FROM paged_loop_items WHERE body_key = ANY ($2::bigint[]));

-- name: ended_instance
-- The row of an ended root.
SELECT i.process_id, i.state, to_epoch_ms(i.started_at), to_epoch_ms(i.ended_at), i.business_id, i.tags, i.created_position,
       i.process_definition_key, i.process_version, i.process_name, i.version_tag, d.sha256, d.resource_name
FROM process_instances i JOIN process_definitions d USING (process_definition_key)
WHERE i.process_instance_key = $1;
