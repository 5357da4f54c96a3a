-- name: seen
-- By the unique index. Batches read it only if an expression names the context, once for each number of the catalogue.
SELECT tenant_id, name, value FROM cluster_variables WHERE tenant_id = ANY ($1::text[]) ORDER BY name;

-- name: changed
-- Every batch reads this number: what was answered holds for the next expression.
UPDATE definitions_seq SET n = n + 1;

-- name: tenant
-- A deletion of the tenant waits for the end of the transaction, and then takes the variable with it.
SELECT FROM tenants WHERE tenant_id = $1 FOR KEY SHARE;

-- name: others
-- The other variables of the cluster or the tenant, for the limits. By the unique index.
SELECT count(*), coalesce(sum(length(value)), 0)::bigint FROM cluster_variables WHERE tenant_id = $1 AND name <> $2;

-- name: create
-- No row for a name that is taken: the request says so.
INSERT INTO cluster_variables (tenant_id, name, value, normal, metadata) VALUES ($1, $2, $3, $4, $5::text::jsonb)
ON CONFLICT (tenant_id, name) DO NOTHING RETURNING 1;

-- name: replace
-- Events have the results of expressions, so nothing that happened depends on the former value.
UPDATE cluster_variables SET value = $3, normal = $4, metadata = $5::text::jsonb WHERE tenant_id = $1 AND name = $2 RETURNING 1;

-- name: delete
-- Later expressions see null.
DELETE FROM cluster_variables WHERE tenant_id = $1 AND name = $2 RETURNING 1;
