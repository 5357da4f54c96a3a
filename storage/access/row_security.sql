-- name: role
-- Not subject to row-level security: superusers, roles that bypass it, and members of the role that owns the tables.
SELECT r.rolsuper OR r.rolbypassrls OR pg_has_role(r.oid, c.relowner, 'MEMBER')
FROM pg_roles r, pg_class c
WHERE r.rolname = $1 AND c.oid = 'process_instances'::regclass;

-- name: names
-- Quoted, for statements that take no parameters. The owner's policy holds for the members of the owner, too.
SELECT quote_ident(current_schema()), quote_ident(pg_get_userbyid(c.relowner)), quote_ident($1)
FROM pg_class c WHERE c.oid = 'process_instances'::regclass;

-- name: unprotected
-- Tables without the policies of this version, and those that the role may not read. Looking first saves exclusive locks.
SELECT name FROM unnest($1::text[], $2::text[]) AS x(name, digest)
WHERE NOT has_table_privilege($3, name::regclass, 'SELECT') OR digest <> '' AND NOT EXISTS (
    SELECT FROM pg_class c
    JOIN pg_policy p ON p.polrelid = c.oid AND p.polname = 'tenants'
    JOIN pg_policy engine ON engine.polrelid = c.oid AND engine.polname = 'engine' AND engine.polroles = ARRAY[c.relowner]
    WHERE c.oid = name::regclass AND c.relrowsecurity AND c.relforcerowsecurity AND obj_description(p.oid, 'pg_policy') = digest);

-- name: place
-- The tables that a session sees: both roles must see the same ones.
SELECT current_user::text, current_database()::text, current_schema()::text, to_regclass('process_instances')::oid::bigint;
