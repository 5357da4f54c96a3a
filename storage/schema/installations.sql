-- name: place
-- The schema of the session's new tables, the owner of a list of migrations there, the schema where it finds ours, all with one.
-- Lists of other programs have other columns. A setting of `search_path` that is not the default names the place.
WITH lists AS (
    SELECT c.oid, n.nspname::text AS schema,
           (SELECT count(*) = 4 FROM pg_attribute a
            WHERE a.attrelid = c.oid AND a.attname IN ('version', 'name', 'sha256', 'applied_at') AND NOT a.attisdropped) AS ours
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = 'schema_migrations' AND c.relkind IN ('r', 'v', 'p') AND n.nspname NOT LIKE 'pg\_temp\_%'
)
SELECT current_schema()::text,
       (SELECT ours FROM lists WHERE schema = current_schema()),
       (SELECT schema FROM lists WHERE oid = to_regclass('schema_migrations') AND ours),
       ARRAY(SELECT schema FROM lists WHERE ours ORDER BY schema),
       (SELECT setting FROM pg_settings WHERE name = 'search_path' AND source <> 'default');

-- name: exists
-- A restore makes a schema that does not exist.
SELECT count(*) = 1 FROM pg_namespace WHERE nspname = $1;

-- name: current
-- PostgreSQL itself says where tables would be made.
SELECT current_schema()::text;

-- name: quoted
-- A name as part of a statement.
SELECT format('%I', $1::text);
