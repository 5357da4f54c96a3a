-- name: role
-- Quoted, with the schema of the installation, for statements that take no parameters. No row: there is no such role.
SELECT quote_ident(rolname), quote_ident(current_schema()) FROM pg_roles WHERE rolname = $1;

-- name: unknown_tenants
-- Those that are not there. The star stands for all.
SELECT id FROM unnest($1::text[]) AS x(id)
WHERE id NOT IN ('*', '<default>') AND NOT EXISTS (SELECT FROM tenants t WHERE t.tenant_id = id);

-- name: functions
-- The functions of clients, by their whole names.
SELECT p.oid::regprocedure::text FROM pg_proc p
WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.prosecdef
    AND p.proname IN ('start_process', 'publish_message', 'complete_job', 'defer', 'outcome');

-- name: forget
-- The tenants of a role that was dropped are not those of a later one of the same name, which has no right to call yet.
DELETE FROM database_roles d WHERE d.role_name = $1 AND NOT EXISTS (
    SELECT FROM pg_proc p CROSS JOIN LATERAL aclexplode(p.proacl) a JOIN pg_roles r ON r.oid = a.grantee
    WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.prosecdef AND p.proname = 'start_process'
        AND r.rolname = d.role_name);

-- name: grant
-- A repeated call changes nothing.
INSERT INTO database_roles (role_name, tenant_id) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING;

-- name: revoke
-- All tenants of a role.
DELETE FROM database_roles WHERE role_name = $1;

-- name: grants
-- Each role with its tenants, and whether it is still there: a grant outlives its role, and begins anew for a later one of the
-- same name.
SELECT d.role_name, array_agg(d.tenant_id ORDER BY d.tenant_id COLLATE "C"),
    EXISTS (SELECT FROM pg_roles r WHERE r.rolname = d.role_name)
FROM database_roles d GROUP BY d.role_name ORDER BY d.role_name COLLATE "C";
