-- The questions of `vivero doctor` to a server. Each statement reads the server's own views, so it costs little at any size.

-- name: server
-- The age of the oldest transaction id decides how near the server is to stopping for a vacuum: at two thousand million.
SELECT version(), current_setting('server_version'), extract(epoch FROM clock_timestamp())::float8,
       pg_database_size(current_database()), age(datfrozenxid)
FROM pg_database WHERE datname = current_database();

-- name: settings
-- Those on which safety or speed depends, as a new session of this user begins: this one has made settings of its own. A
-- setting that a version lacks is left out.
SELECT name, reset_val, unit FROM pg_settings WHERE name = ANY ($1::text[]);

-- name: settings_of_role
-- Settings that somebody has made for this user or database, in the order in which it holds.
SELECT split_part(one, '=', 1), substr(one, strpos(one, '=') + 1)
FROM pg_db_role_setting, unnest(setconfig) AS one
WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    AND setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = session_user)) AND (setdatabase, setrole) <> (0, 0)
ORDER BY setrole <> 0, setdatabase <> 0;

-- name: connections
-- In use, and those that sit inside a transaction. Of other roles' sessions, a role without pg_read_all_stats sees the
-- database alone.
SELECT count(*),
       count(*) FILTER (WHERE state LIKE 'idle in transaction%' AND state_change < clock_timestamp() - interval '1 minute'),
       coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0)::float8,
       pg_has_role('pg_read_all_stats', 'USAGE')
FROM pg_stat_activity
WHERE coalesce(backend_type, 'client backend') = 'client backend' AND usesysid IS NOT NULL AND datid IS NOT NULL;

-- name: invalid_indexes
-- An index whose creation failed is written and never read.
SELECT indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE NOT i.indisvalid AND c.relnamespace = to_regnamespace(quote_ident(current_schema())) ORDER BY 1;

-- name: dead_rows
-- Tables of which a fifth is dead, so that vacuum does not keep up: it begins at a twentieth of a large table.
SELECT relid::regclass::text, n_live_tup, n_dead_tup,
    coalesce(extract(epoch FROM clock_timestamp() - last_autovacuum), -1)::float8
FROM pg_stat_user_tables
WHERE schemaname = current_schema() AND n_dead_tup > greatest(50000, n_live_tup / 4) ORDER BY n_dead_tup DESC LIMIT 10;

-- name: slots
-- A slot that nobody reads keeps WAL for ever.
SELECT slot_name, active, coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::float8 FROM pg_replication_slots
ORDER BY 1;

-- name: standbys
-- The bytes that each has yet to replay. Without the right to see them they are NULL.
SELECT application_name, sync_state, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8 FROM pg_stat_replication
ORDER BY 1;

-- name: prepared_transactions
-- Vivero makes none. A forgotten one holds back vacuum, as an open transaction does.
SELECT gid FROM pg_prepared_xacts WHERE database = current_database() ORDER BY 1;

-- name: schema_version
-- The newest migration.
SELECT coalesce(max(version), 0) FROM schema_migrations;

-- name: engine_clock
-- Seconds by which the engine's clock differs from the server's.
SELECT extract(epoch FROM clock_now() - clock_timestamp())::float8;
