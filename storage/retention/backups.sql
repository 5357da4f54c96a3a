-- name: owns
-- Row-level security hides rows from other roles: their dump would look complete. Superusers are members of every role.
SELECT pg_has_role(current_user, relowner, 'MEMBER') FROM pg_class WHERE oid = to_regclass('process_instances');

-- name: odd_settings
-- Those of these settings that a new session does not begin with as it should.
SELECT t.name FROM unnest($1::text[], $2::text[]) AS t (name, value) JOIN pg_settings s ON s.name = t.name
WHERE s.reset_val <> t.value;

-- name: own_schema
-- A backup has the installation's schema: others in the database may be of other programs, or of other users.
SELECT quote_ident(current_schema());

-- name: facts
-- The facts of the moment of the snapshot, which pg_dump is given.
SELECT pg_export_snapshot(), to_epoch_ms(clock_timestamp()), (SELECT max(version) FROM schema_migrations),
       (SELECT cluster_id::text FROM cluster);

-- name: sizes
-- The sizes of the tables whose rows are dumped, for the progress bar. Unlogged tables are not: they hold for this server only.
SELECT relname::text, pg_table_size(oid) FROM pg_class
WHERE relkind = 'r' AND relpersistence = 'p' AND relnamespace = to_regnamespace(quote_ident(current_schema())) ORDER BY relname;

-- name: existing
-- Those of these tables that this schema has. The first start of an installation may have been killed between two migrations.
SELECT name FROM unnest($1::text[]) WITH ORDINALITY AS t (name, n) WHERE to_regclass(name) IS NOT NULL ORDER BY n;

-- name: has_stores
-- An old schema has no documents, or all of them in its tables.
SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('document_contents') AND attname = 'object_name');

-- name: outside
-- Documents whose bytes are in no table: a dump has their metadata alone.
SELECT store_id, count(*), coalesce(sum(bytes), 0)::bigint FROM document_contents
WHERE object_name IS NOT NULL AND sha256 IS NOT NULL GROUP BY store_id ORDER BY store_id;

-- name: tables
-- All tables: a restore is for a schema without any.
SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND n.nspname = $1;

-- name: drops
-- Statements that drop what is in a schema, tables first. A restore that fails runs those that were not there before it.
SELECT format('DROP TABLE IF EXISTS %s CASCADE', c.oid::regclass), 1 AS turn
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname = $1
UNION ALL
SELECT format('DROP %s IF EXISTS %s CASCADE', CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'SEQUENCE' END, c.oid::regclass), 2
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('v', 'S') AND n.nspname = $1
UNION ALL
SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', p.oid::regprocedure), 3
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1
ORDER BY 2, 1;

-- name: server
-- The whole version, and its first number.
SELECT current_setting('server_version'), current_setting('server_version_num')::int / 10000;
