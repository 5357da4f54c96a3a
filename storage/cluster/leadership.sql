-- name: lock_first
-- Two programs may start at once. The row lock delays the first claim, too, so that a new database stays new while we hold it.
SELECT epoch = 0 FROM partitions WHERE id = 1 FOR UPDATE;

-- name: count
-- A statement of its own: that of the lock has a snapshot from before another program's commit.
SELECT count(*)::int FROM partitions;

-- name: make_partitions
-- Those from the first number to the last one.
SELECT make_partition(id) FROM generate_series($1::int, $2::int) AS id;

-- name: spread_slots
-- Evenly over the partitions. Nothing has a slot yet.
UPDATE slots SET partition_id = 1 + slot % $1::int;

-- name: transaction_timeout
-- Shorter than the lease: a frozen owner's transaction ends before a successor may claim (PostgreSQL 17 and newer).
SET transaction_timeout = '4s';

-- name: lock_timeout
-- A frozen owner may hold the row. Then we end its backend and try again (docs/design/log.md §4).
SET lock_timeout = '500ms';

-- name: claim
-- A claim succeeds at once if the last owner's backend has ended, otherwise after its lease. A lease that ends later than any new
-- one would, dates from before the server's clock was set back, and has no effect. The claim waits for a batch of the last term
-- that is still in doubt. It compares the epoch that was read before: a late claim deposes nobody. Leases use real time.
-- A program that was frozen while a migration ran alone must not load what later programs have written. It knows the schema $5.
UPDATE partitions p
SET epoch = epoch + 1, owner_node = $2, owner_pid = pg_backend_pid(),
    owner_backend_start = (SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()),
    lease_until = clock_timestamp() + make_interval(secs => $3)
WHERE id = $1 AND epoch = $4 AND (
    lease_until IS NULL OR owner_node = $2
    OR lease_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + 2 * make_interval(secs => $3)
    OR NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = p.owner_pid AND a.backend_start = p.owner_backend_start))
    AND NOT EXISTS (SELECT FROM schema_migrations WHERE version > $5 AND name LIKE 'alone\_%')
RETURNING epoch, handed_over;

-- name: hand_over
-- The last statement of a term, behind its last batch.
UPDATE partitions SET lease_until = NULL, handed_over = epoch WHERE id = $1 AND epoch = $2
RETURNING epoch;

-- name: owner
-- The owner, and the rest of its lease.
SELECT epoch, owner_node, extract(epoch FROM lease_until - clock_timestamp())::float8
FROM partitions WHERE id = $1;

-- name: end_owner
-- Ends only the backend that owns the partition, and only after its lease.
SELECT pg_terminate_backend(p.owner_pid)
FROM partitions p JOIN pg_stat_activity a ON a.pid = p.owner_pid AND a.backend_start = p.owner_backend_start
WHERE p.id = $1 AND p.owner_pid <> pg_backend_pid()
    AND p.lease_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + 2 * make_interval(secs => $2);

-- name: renew
-- The consumer renews between batches: a separate task would keep the lease of a hung consumer alive. The commit is not flushed,
-- because batches wait for it: a crash that undoes it also ends the owner's backend, and then any node may claim.
UPDATE partitions SET lease_until = clock_timestamp() + make_interval(secs => $3) WHERE id = $1 AND epoch = $2
RETURNING epoch, set_config('synchronous_commit', 'off', true);

-- name: skip_lost
-- Positions and keys jump if the database went back in time: another server's or a crash's last work may be missing here.
SELECT skip_lost_positions();

-- name: cursor
-- Read after the claim: no batch of the last term is in flight any more.
SELECT to_pos, next_key, epoch FROM batches WHERE partition_id = $1 ORDER BY from_pos DESC LIMIT 1;
