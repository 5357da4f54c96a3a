-- name: create
-- A repeated request with the same key creates no second batch. The notification wakes the owner of partition 1, on any node.
WITH made AS (
    INSERT INTO batch_operations (type, resource, filter, actor_kind, actor_id, mapping_rules, tenants, processes, request_key,
        body_sha, actor_provider, plan)
    VALUES ($1, $2, $3::json, $4, $5, $6, $7, $8, $9, $10, $12, $13::json)
    ON CONFLICT (request_key) DO NOTHING RETURNING batch_operation_key)
SELECT batch_operation_key, pg_notify($11, '') FROM made;

-- name: created
-- The batch that an earlier request with the same key created.
SELECT batch_operation_key, body_sha FROM batch_operations WHERE request_key = $1;

-- name: status
-- A batch belongs to all tenants that it may touch: readers must have them all.
SELECT state, changes, scanned FROM batch_operations
WHERE batch_operation_key = $1
    -- only tenants: AND tenants <@ $2::text[];

-- name: change
-- By a client. It compares the number of changes that was read before: a late call must not undo a newer one.
WITH changed AS (
    UPDATE batch_operations SET state = $3, changes = changes + 1, ended_at = CASE WHEN $3 = 'CANCELED' THEN clock_now() END
    WHERE batch_operation_key = $1 AND changes = $2 AND state IN ('CREATED', 'ACTIVE', 'SUSPENDED')
    RETURNING batch_operation_key)
SELECT batch_operation_key, pg_notify($4, '') FROM changed;

-- name: open_operations
-- A limited number, in turns: those with a higher key than the last turn's first, then the others. A suspended batch takes part
-- only while commands of it are in the log.
SELECT batch_operation_key, type, state, resource, scan_cursor, scan_at, actor_kind, actor_id, mapping_rules, tenants, processes,
    created_at, actor_provider
FROM batch_operations b
WHERE open AND (state <> 'SUSPENDED' OR EXISTS (
    SELECT FROM batch_operation_items i
    WHERE i.batch_operation_key = b.batch_operation_key AND i.state = 'ACTIVE' AND i.position IS NOT NULL))
ORDER BY batch_operation_key <= $1, batch_operation_key LIMIT $2;

-- name: filter
-- Apart from the other columns, because only the scan needs it, and it may be long.
SELECT filter FROM batch_operations WHERE batch_operation_key = $1;

-- name: plan
-- Apart from the other columns, because it may be long. It never changes.
SELECT plan FROM batch_operations WHERE batch_operation_key = $1;

-- name: add_items
-- The next portion of the scan, with the cursor behind it. It compares the cursor and the epoch, so that no portion comes twice.
WITH operation AS (
    UPDATE batch_operations SET scan_cursor = $3, scan_at = $11::timestamptz, scanned = $4,
        total = total + cardinality($5::bigint[]), state = CASE WHEN $4 THEN 'ACTIVE' ELSE state END,
        started_at = coalesce(started_at, clock_now())
    WHERE batch_operation_key = $1 AND state = 'CREATED' AND scan_cursor = $2 AND NOT scanned
        AND EXISTS (SELECT FROM partitions WHERE id = 1 AND epoch = $10)
    RETURNING batch_operation_key, type),
added AS (
    INSERT INTO batch_operation_items (batch_operation_key, type, item_key, process_instance_key, root_key, process_id, tenant_id)
    SELECT o.batch_operation_key, o.type, x.* FROM operation o
    CROSS JOIN unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::text[], $9::text[]) AS x)
SELECT batch_operation_key FROM operation;

-- name: reject_filter
-- The filter cannot be evaluated. The items that exist already are canceled next.
UPDATE batch_operations SET state = 'FAILED', error = $2, ended_at = clock_now()
WHERE batch_operation_key = $1 AND state = 'CREATED' AND EXISTS (SELECT FROM partitions WHERE id = 1 AND epoch = $3)
RETURNING batch_operation_key;

-- name: sent
-- Items whose commands may be in the log, those without a known position first; and whether the command waits to be processed.
SELECT item_key, process_id, tenant_id, position, position > (
    SELECT to_pos FROM batches WHERE partition_id = (i.position >> 51)::int ORDER BY from_pos DESC LIMIT 1)
FROM batch_operation_items i
WHERE batch_operation_key = $1 AND state = 'ACTIVE' AND position IS NOT NULL
ORDER BY position LIMIT $2;

-- name: unsent
-- The next items in the order of their keys.
SELECT item_key, process_id, tenant_id, NULL::bigint, NULL::boolean FROM batch_operation_items
WHERE batch_operation_key = $1 AND state = 'ACTIVE' AND position IS NULL
ORDER BY item_key LIMIT $2;

-- name: take
-- Before the commands are appended: from now on they may be in the log. Nothing is taken from a suspended or canceled batch.
UPDATE batch_operation_items SET position = 0
WHERE batch_operation_key = $1 AND item_key = ANY ($2::bigint[]) AND state = 'ACTIVE' AND position IS NULL
    AND EXISTS (SELECT FROM batch_operations WHERE batch_operation_key = $1 AND state = 'ACTIVE')
    AND EXISTS (SELECT FROM partitions WHERE id = 1 AND epoch = $3)
RETURNING item_key;

-- name: mark
-- The positions of commands that are in the log. They are the same, whoever appended them and however often. `ANY`: as in
-- `settle`.
UPDATE batch_operation_items i SET position = x.position
FROM unnest($2::bigint[], $3::bigint[]) AS x(item_key, position)
WHERE i.batch_operation_key = $1 AND i.item_key = ANY ($2::bigint[]) AND i.item_key = x.item_key AND i.state = 'ACTIVE'
    AND i.position = 0
    AND EXISTS (SELECT FROM partitions WHERE id = 1 AND epoch = $4);

-- name: settle
-- The ends of items, and the counts of their batch: an item is counted by the statement that ends it, and by no other. An item
-- that may be in the log is never canceled. `ANY`: statistics that do not know the batch promise no items of it. The join alone
-- would then read all of them for each portion.
WITH ended AS (
    UPDATE batch_operation_items i SET state = x.state, error = x.error, processed_at = clock_now()
    FROM unnest($2::bigint[], $3::text[], $4::text[]) AS x(item_key, state, error)
    WHERE i.batch_operation_key = $1 AND i.item_key = ANY ($2::bigint[]) AND i.item_key = x.item_key AND i.state = 'ACTIVE'
        AND (x.state <> 'CANCELED' OR i.position IS NULL)
        AND EXISTS (SELECT FROM partitions WHERE id = 1 AND epoch = $5)
    RETURNING i.state),
counted AS (
    SELECT count(*) AS ended, count(*) FILTER (WHERE state = 'COMPLETED') AS completed,
        count(*) FILTER (WHERE state = 'FAILED') AS failed, count(*) FILTER (WHERE state = 'SKIPPED') AS skipped,
        count(*) FILTER (WHERE state = 'CANCELED') AS canceled
    FROM ended)
UPDATE batch_operations b SET completed = b.completed + c.completed, failed = b.failed + c.failed,
    skipped = b.skipped + c.skipped, canceled = b.canceled + c.canceled
FROM counted c WHERE b.batch_operation_key = $1 AND c.ended > 0
RETURNING c.ended;

-- name: finish
-- When no item is left. A batch whose items all failed has failed.
UPDATE batch_operations b SET open = false, ended_at = coalesce(ended_at, clock_now()), state = CASE
    WHEN state <> 'ACTIVE' THEN state WHEN failed = 0 THEN 'COMPLETED' WHEN failed = total THEN 'FAILED'
    ELSE 'PARTIALLY_COMPLETED' END
WHERE batch_operation_key = $1 AND open AND state IN ('ACTIVE', 'CANCELED', 'FAILED')
    AND NOT EXISTS (SELECT FROM batch_operation_items i
        WHERE i.batch_operation_key = b.batch_operation_key AND i.state = 'ACTIVE')
    AND EXISTS (SELECT FROM partitions WHERE id = 1 AND epoch = $2)
RETURNING state;

-- name: purge_items
-- A limited number of items of the batch that ended first, if it ended longer ago than $1 ms.
DELETE FROM batch_operation_items WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM batch_operation_items WHERE batch_operation_key = (
        SELECT batch_operation_key FROM batch_operations
        WHERE NOT open AND ended_at < clock_now() - $1::bigint * interval '1 millisecond' ORDER BY ended_at LIMIT 1)
    LIMIT $2 FOR UPDATE SKIP LOCKED));

-- name: purge_operations
-- Batches that ended so long ago, and whose items are gone.
DELETE FROM batch_operations WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM batch_operations b
    WHERE NOT open AND ended_at < clock_now() - $1::bigint * interval '1 millisecond'
        AND NOT EXISTS (SELECT FROM batch_operation_items i WHERE i.batch_operation_key = b.batch_operation_key)
    ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED));
