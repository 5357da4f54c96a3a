-- name: owns
-- Row-level security hides rows from other roles: their dump would look complete. Superusers are members of every role.
SELECT pg_has_role(current_user, relowner, 'MEMBER') FROM pg_class WHERE oid = to_regclass('process_instances');

-- name: facts
-- Of the moment of the snapshot, which pg_dump is given.
SELECT pg_export_snapshot(), to_epoch_ms(clock_timestamp()), (SELECT max(version) FROM schema_migrations),
       (SELECT cluster_id::text FROM cluster);

-- name: sizes
-- Of the tables whose rows are dumped, for the progress bar. Unlogged tables are not: what they say holds for this server only.
SELECT relname::text, pg_table_size(oid) FROM pg_class
WHERE relkind = 'r' AND relpersistence = 'p' AND relnamespace = current_schema()::regnamespace ORDER BY relname;

-- name: existing
-- Of these tables, those that this schema has. The first start of an installation may have been killed between two migrations.
SELECT name FROM unnest($1::text[]) WITH ORDINALITY AS t (name, n) WHERE to_regclass(name) IS NOT NULL ORDER BY n;

-- name: tables
-- Whatever there is: a restore is for an empty database.
SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace;

-- name: server
-- The whole version, and its first number.
SELECT current_setting('server_version'), current_setting('server_version_num')::int / 10000;
