-- name: of_business_id
-- The trees with an instance that has this business id, the next ones behind a root.
SELECT DISTINCT root_key FROM process_instances
WHERE business_id = $1 AND root_key > $2
    -- only tenants: AND tenant_id = ANY ($4::text[])
ORDER BY root_key LIMIT $3;

-- name: of_texts
-- The same for several. The search of the logs finds the other ones.
SELECT DISTINCT root_key FROM process_instances
WHERE business_id = ANY ($1::text[]) AND root_key > $2
    -- only tenants: AND tenant_id = ANY ($4::text[])
ORDER BY root_key LIMIT $3;

-- name: of_variable
-- The trees with a variable that has this value in normal form, or another spelling with this hash.
SELECT DISTINCT root_key FROM variables
WHERE name = $1 AND (md5(value) = md5($2) AND value = $2 OR normal_hash = $3::uuid)
    AND root_key > $4
        -- only tenants: AND tenant_id = ANY ($6::text[])
ORDER BY root_key LIMIT $5;

-- name: positions
-- The commands whose events changed these trees, and the commands that these go back to.
SELECT position FROM event_log WHERE root_key = ANY ($1::bigint[])
UNION SELECT request FROM event_log WHERE root_key = ANY ($1::bigint[]) AND request IS NOT NULL;

-- name: of_no_tree
-- Rows of these commands that belong to no tree: messages, signals, conditions.
SELECT position, seq, coalesce(events, large_events), version FROM event_log
WHERE partition_id IN (SELECT id FROM partitions) AND position = ANY ($1::bigint[]) AND root_key IS NULL;

-- name: empty_events
-- The rows stay, because consumers and readers of the log count positions. Where an answer was, an empty one is.
UPDATE event_log SET events = '[]', large_events = NULL, rejection = NULL,
    response = CASE WHEN response IS NOT NULL THEN 'null'::json END
WHERE root_key = ANY ($1::bigint[]);

-- name: replace_events
-- Events of no tree, without what they carried. A rejection may quote that.
UPDATE event_log SET events = $3, large_events = NULL,
    rejection = CASE WHEN rejection IS NOT NULL THEN json_build_object('code', rejection->>'code', 'reason', 'erased') END
WHERE partition_id = ($1::bigint >> 51)::int AND position = $1::bigint AND seq = $2::smallint;

-- name: empty_commands
-- All of them are processed: the engine never reads them again. A trace context has texts of the client, too.
UPDATE command_log SET payload = '', trace = NULL
WHERE partition_id IN (SELECT id FROM partitions) AND position = ANY ($1::bigint[]);

-- name: forget_keys
-- They name what they created. A client that repeats such a request repeats its command. The table has the keys of a day.
DELETE FROM idempotency_keys WHERE position = ANY ($1::bigint[]);
