-- name: variables
-- Those of the cluster and of a tenant as two JSON objects. By the unique index.
SELECT '{' || coalesce(string_agg(to_json(name) || ':' || value, ',') FILTER (WHERE tenant_id = ''), '') || '}',
       '{' || coalesce(string_agg(to_json(name) || ':' || value, ',') FILTER (WHERE tenant_id <> ''), '') || '}'
FROM cluster_variables WHERE tenant_id = ANY (ARRAY['', $1::text]);

-- name: instance
-- The process instance that an element belongs to, or that has the key itself.
SELECT tenant_id, process_instance_key, business_id FROM process_instances
WHERE process_instance_key = coalesce((
    SELECT process_instance_key FROM element_instances WHERE element_instance_key = $1), $1)
    -- only tenants: AND tenant_id = ANY ($2::text[]);

-- name: known
-- Those of some variables that a tenant sees. By the unique index.
SELECT tenant_id, name FROM cluster_variables WHERE tenant_id = ANY (ARRAY['', $1::text]) AND name = ANY ($2::text[]);
