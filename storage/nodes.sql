-- name: register
-- The session of the heartbeats is new after each connect. Nodes that ended long ago are forgotten here, because it is rare.
WITH gone AS (
    DELETE FROM nodes WHERE id <> $1 AND heartbeat_at < clock_timestamp() - interval '1 min'
)
INSERT INTO nodes (id, roles, version, schema, host, port, pid, backend_start)
SELECT $1, $2::text[], $3, $4::int, $5, $6::int, pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()
ON CONFLICT (id) DO UPDATE SET pid = excluded.pid, backend_start = excluded.backend_start, heartbeat_at = clock_timestamp();

-- name: look
-- The heartbeat, and what all nodes do, in one statement a second. The list of nodes is from before the heartbeat. A server that has
-- just started has lost all sessions: nodes then stay alive while they connect again. A partition is free exactly when `claim` succeeds.
WITH beat AS (UPDATE nodes SET heartbeat_at = clock_timestamp(), ready = $2::int[] WHERE id = $1),
sessions AS MATERIALIZED (SELECT pid, backend_start FROM pg_stat_activity)
SELECT (
    SELECT json_agg(json_build_object(
        'id', id, 'number', number, 'roles', roles, 'version', version, 'schema', schema, 'host', host, 'port', port,
        'draining', draining, 'ready', ready, 'startedMs', to_epoch_ms(started_at), 'heartbeatMs', to_epoch_ms(heartbeat_at),
        'live', heartbeat_at > clock_timestamp() - make_interval(secs => $3) AND (
            pg_postmaster_start_time() > clock_timestamp() - make_interval(secs => $3)
            OR EXISTS (SELECT FROM sessions s WHERE s.pid = n.pid AND s.backend_start = n.backend_start))
    ) ORDER BY number) FROM nodes n
), (
    SELECT json_agg(json_build_object(
        'id', id, 'owner', CASE WHEN lease_until IS NOT NULL THEN owner_node END, 'epoch', epoch,
        'free', lease_until IS NULL
            OR lease_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + 2 * make_interval(secs => $4)
            OR NOT EXISTS (SELECT FROM sessions s WHERE s.pid = p.owner_pid AND s.backend_start = p.owner_backend_start)
    ) ORDER BY id) FROM partitions p
);

-- name: leave
-- A node that stops tells the others itself, because its announcer ends with it.
WITH gone AS (DELETE FROM nodes WHERE id = $1)
SELECT pg_notify($2, '{}');

-- name: set_draining
-- By the operator, on any node.
UPDATE nodes SET draining = $2 WHERE id = $1 RETURNING id;
