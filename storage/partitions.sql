-- name: transaction_timeout
-- Below the lease: a frozen owner's transaction ends before its successor may claim (PostgreSQL 17 and newer).
SET transaction_timeout = '4s';

-- name: lock_timeout
-- A frozen owner may hold the row; then it is ended and we try again (docs/design/log.md §4).
SET lock_timeout = '500ms';

-- name: claim
-- Allowed at once when the last owner's backend is gone, otherwise when its lease has run out; one that ends later than any
-- that is given now is of the time before the server's clock was set back. Waits for a batch of the last term that is still in
-- doubt. Only after the epoch that was read: a claim that comes late deposes nobody. Leases are real time, not the engine's.
UPDATE partitions p
SET epoch = epoch + 1, owner_node = $2, owner_pid = pg_backend_pid(),
    owner_backend_start = (SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()),
    lease_until = clock_timestamp() + make_interval(secs => $3)
WHERE id = $1 AND epoch = $4 AND (
    lease_until IS NULL OR owner_node = $2
    OR lease_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + 2 * make_interval(secs => $3)
    OR NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = p.owner_pid AND a.backend_start = p.owner_backend_start))
RETURNING epoch;

-- name: owner
-- Who has it, and for how long.
SELECT epoch, owner_node, extract(epoch FROM lease_until - clock_timestamp())::float8
FROM partitions WHERE id = $1;

-- name: end_owner
-- Only the very backend that owns the partition and whose lease has run out.
SELECT pg_terminate_backend(p.owner_pid)
FROM partitions p JOIN pg_stat_activity a ON a.pid = p.owner_pid AND a.backend_start = p.owner_backend_start
WHERE p.id = $1 AND p.owner_pid <> pg_backend_pid()
    AND p.lease_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + 2 * make_interval(secs => $2);

-- name: renew
-- By the consumer itself, between batches: a separate renewer would keep a hung consumer's lease alive. Not flushed, as
-- batches wait for it: a crash that undoes it ends the owner's backend, and then anybody may claim.
UPDATE partitions SET lease_until = clock_timestamp() + make_interval(secs => $3) WHERE id = $1 AND epoch = $2
RETURNING epoch, set_config('synchronous_commit', 'off', true);

-- name: cursor
-- Read after the claim: whatever the last term had in flight has been decided then.
SELECT to_pos, next_key, epoch FROM batches WHERE partition_id = $1 ORDER BY from_pos DESC LIMIT 1;
