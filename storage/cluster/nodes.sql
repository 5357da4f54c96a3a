-- name: register
-- The session of the heartbeats is new after each connect. Nodes that ended long ago are forgotten here, because it is rare. A
-- late call of an earlier session must not replace the later one. If the server's clock was set back, that one must have ended.
WITH gone AS (
    DELETE FROM nodes WHERE id <> $1 AND heartbeat_at < clock_timestamp() - interval '1 min'
)
INSERT INTO nodes (id, roles, version, schema, host, port, address, pid, backend_start)
SELECT $1, $2::text[], $3, $4::int, $5, $6::int, $7, pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()
ON CONFLICT (id) DO UPDATE SET pid = excluded.pid, backend_start = excluded.backend_start, heartbeat_at = clock_timestamp()
WHERE nodes.backend_start <= excluded.backend_start
    OR NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = nodes.pid AND a.backend_start = nodes.backend_start);

-- name: beat
-- Once a second at least. No row: somebody took the node for dead for a long time, and it registers again. Only the session that
-- registered counts: a late call of an earlier one would tell of connections that are closed.
UPDATE nodes SET heartbeat_at = clock_timestamp(), ready = $2::int[] WHERE id = $1 AND pid = pg_backend_pid() RETURNING id;

-- name: view
-- All nodes and all partitions in one statement. A server that has just started has lost all sessions: nodes then stay alive
-- while they connect again. A partition is free exactly when `claim` succeeds.
WITH sessions AS MATERIALIZED (SELECT pid, backend_start FROM pg_stat_activity)
SELECT (
    SELECT json_agg(json_build_object(
        'id', id, 'number', number, 'roles', roles, 'version', version, 'schema', schema, 'host', host, 'port', port,
        'address', address, 'draining', draining, 'logLevels', log_levels, 'ready', ready, 'startedMs', to_epoch_ms(started_at),
        'heartbeatMs', to_epoch_ms(heartbeat_at), 'live', heartbeat_at > clock_timestamp() - make_interval(secs => $1) AND (
            pg_postmaster_start_time() > clock_timestamp() - make_interval(secs => $1)
            OR EXISTS (SELECT FROM sessions s WHERE s.pid = n.pid AND s.backend_start = n.backend_start))
    ) ORDER BY number) FROM nodes n
), (
    SELECT json_agg(json_build_object(
        'id', id, 'owner', CASE WHEN lease_until IS NOT NULL THEN owner_node END, 'epoch', epoch,
        'free', lease_until IS NULL
            OR lease_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + 2 * make_interval(secs => $2)
            OR NOT EXISTS (SELECT FROM sessions s WHERE s.pid = p.owner_pid AND s.backend_start = p.owner_backend_start)
    ) ORDER BY id) FROM partitions p
), (
    SELECT coalesce(max(version), 0) FROM schema_migrations WHERE name LIKE 'alone\_%'
);

-- name: leave
-- A node that stops tells the others itself, because its announcer ends with it.
WITH gone AS (DELETE FROM nodes WHERE id = $1)
SELECT pg_notify($2, '{}');

-- name: running
-- The nodes that run now, for a program that starts. The schema may be older than the program: this reads only columns that the
-- table has had since the migration that made it.
SELECT id, version, host, port, roles FROM nodes n
WHERE heartbeat_at > clock_timestamp() - make_interval(secs => $1) AND (
    pg_postmaster_start_time() > clock_timestamp() - make_interval(secs => $1)
    OR EXISTS (SELECT FROM pg_stat_activity s WHERE s.pid = n.pid AND s.backend_start = n.backend_start))
ORDER BY number;

-- name: exists
-- Before the first migration of a new database, and in older schemas, there is no table.
SELECT to_regclass('nodes') IS NOT NULL;

-- name: row_version
-- Each heartbeat changes it.
SELECT xmin::text FROM nodes WHERE id = $1;

-- name: set_draining
-- By the operator, on any node. All nodes look at once. It compares the version that was read before: a late call must not undo a
-- newer one.
WITH changed AS (UPDATE nodes SET draining = $2 WHERE id = $1 AND xmin::text = $4 RETURNING id)
SELECT pg_notify($3, '{}') FROM changed;

-- name: set_log_levels
-- By the operator, on any node, which follows as soon as it looks. It compares the version that was read before, as
-- `set_draining` does.
WITH changed AS (UPDATE nodes SET log_levels = $2::json WHERE id = $1 AND xmin::text = $4 RETURNING id)
SELECT pg_notify($3, '{}') FROM changed;
