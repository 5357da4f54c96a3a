-- The figures of the whole database, for metrics. One node reads them, now and then. Each statement is by itself: what fails or
-- takes too long is left out, and the others are read all the same.

-- name: partitions
-- The lag of each partition's consumer behind its log, on any node: processing need not go on for the truth. Positions have
-- gaps, so rows are counted, up to a limit. The engine's clock wrote `at`.
SELECT p.id, coalesce(p.lease_until > clock_timestamp(), false),
       (SELECT count(*) FROM (
           SELECT FROM command_log l WHERE l.partition_id = p.id AND l.position > cursor.to_pos LIMIT 100000) behind),
       coalesce((SELECT greatest(extract(epoch FROM clock_now() - l.at), 0)::float8 FROM command_log l
                 WHERE l.partition_id = p.id AND l.position > cursor.to_pos ORDER BY l.position LIMIT 1), 0)
FROM partitions p
CROSS JOIN LATERAL (SELECT to_pos FROM batches b WHERE b.partition_id = p.id ORDER BY from_pos DESC LIMIT 1) cursor
ORDER BY p.id;

-- name: jobs
-- Live jobs only, by the index of live ones. The most frequent types come first, and the caller folds the rest.
SELECT type, CASE WHEN ready THEN 'ready' WHEN lease_token IS NOT NULL THEN 'leased'
                  WHEN available_at IS NOT NULL THEN 'backoff' ELSE 'failed' END,
       count(*), coalesce(extract(epoch FROM clock_now() - min(created_at) FILTER (WHERE ready)), 0)::float8
FROM jobs WHERE ended_at IS NULL
GROUP BY 1, 2 ORDER BY sum(count(*)) OVER (PARTITION BY type) DESC, 1, 2;

-- name: incidents
-- Open ones, by the index of live ones.
SELECT type, count(*) FROM incidents WHERE resolved_at IS NULL GROUP BY type ORDER BY type;

-- name: timers
-- Seconds until the next one is due; negative: it is overdue.
SELECT count(*), (min(due_at_ms) - to_epoch_ms(clock_now()))::float8 / 1000 FROM timers WHERE state = 'PENDING';

-- name: instances
-- The counts that the engine keeps: the process instance itself is counted under the element ''.
SELECT coalesce(sum(active), 0)::bigint FROM counted_elements WHERE element_id = '';

-- name: waiting
-- Buffered messages, and open user tasks.
SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM user_tasks WHERE ended_at IS NULL);

-- name: documents
-- By store: complete contents and their bytes, and the bytes of others, which arrive or wait for their deletion.
SELECT store_id, count(*) FILTER (WHERE sha256 IS NOT NULL),
       coalesce(sum(bytes) FILTER (WHERE sha256 IS NOT NULL), 0)::bigint,
       coalesce(sum(bytes) FILTER (WHERE sha256 IS NULL), 0)::bigint
FROM document_contents GROUP BY 1 ORDER BY 1;

-- name: retention
-- The lag of each partition's clock of retention behind the engine's, how many instance trees retention has deleted, the time
-- since its last run, how long the oldest tree is overdue, how long the archive has been away, whether something keeps old log
-- partitions, and what.
SELECT partition_id, greatest(extract(epoch FROM clock_now() - at), 0)::float8, deleted,
    coalesce(extract(epoch FROM clock_timestamp() - ran_at), 0)::float8,
    coalesce(greatest(extract(epoch FROM clock_now() - kept_due), 0), 0)::float8,
    coalesce(extract(epoch FROM clock_timestamp() - problem_since), 0)::float8,
    (logs_kept_by IS NOT NULL)::int, coalesce(logs_kept_by, 'none'), ran_deleted, kept_key, kept_by
FROM retention_clocks ORDER BY 1;

-- name: executions
-- Background jobs, and how many of those that wait no node runs. Completed executions are deleted, so the table is small.
SELECT e.job_type, e.state, count(*), CASE WHEN e.state = 'pending' AND NOT EXISTS (
    SELECT FROM job_dispatchers d JOIN nodes n ON n.id = regexp_replace(d.node, '/chores$', '')
    WHERE e.job_type = ANY (d.types) AND n.heartbeat_at > clock_timestamp() - interval '1 min') THEN count(*) ELSE 0 END
FROM job_executions e GROUP BY 1, 2 ORDER BY 1, 2;

-- name: tables
-- The partitions of a log count as the log.
SELECT coalesce(nullif(pg_partition_root(s.relid), s.relid), s.relid)::regclass::text,
       sum(pg_table_size(s.relid))::bigint, sum(pg_indexes_size(s.relid))::bigint,
       sum(s.n_live_tup)::bigint, sum(s.n_dead_tup)::bigint
FROM pg_stat_user_tables s WHERE s.schemaname = current_schema() GROUP BY 1 ORDER BY 1;

-- name: server
-- The size of the database, the limit of connections, the bytes of WAL ever written, and the age of the oldest transaction.
SELECT pg_database_size(current_database()), current_setting('max_connections')::int,
       pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8,
       coalesce((SELECT extract(epoch FROM max(clock_timestamp() - xact_start)) FROM pg_stat_activity
                 WHERE backend_type = 'client backend'), 0)::float8;

-- name: connections
-- Those of all databases: they share the limit. Without the right to see the statistics of other roles, the state and the
-- kind of their sessions are unknown.
SELECT coalesce(state, 'unknown'), count(*) FROM pg_stat_activity
WHERE coalesce(backend_type, 'client backend') = 'client backend' AND usesysid IS NOT NULL AND datid IS NOT NULL
GROUP BY 1 ORDER BY 1;

-- name: replication
-- Bytes that a standby has yet to replay.
SELECT application_name, greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::float8
FROM pg_stat_replication WHERE replay_lsn IS NOT NULL ORDER BY 1;
