-- name: recent
-- By the primary keys of both logs, backwards from a position. A command's own row says whether it was rejected; for one that was
-- held or forwarded, the row that answers it does, by the index on requests. A conditional command says what it changes, unless
-- its payload is erased.
SELECT c.position, c.tenant_id, c.intent,
    CASE WHEN c.intent = 'PROCESS_INSTANCE:CHANGE_IF_MATCH' AND length(c.payload) > 0
        THEN convert_from(c.payload, 'UTF8')::json ->> 'change' END,
    c.key, to_epoch_ms(c.at), to_epoch_ms(e.processed_at),
    coalesce(e.rejection, CASE WHEN e.response IS NULL THEN (
        SELECT a.rejection FROM event_log a WHERE a.request = c.position AND a.response IS NOT NULL
        ORDER BY a.position, a.seq LIMIT 1) END)
FROM command_log c
LEFT JOIN event_log e ON e.partition_id = c.partition_id AND e.position = c.position AND e.seq = 0
WHERE c.partition_id = $1 AND c.position < $2
    -- only tenants: AND (string_to_array(c.tenant_id, ',') <@ $4::text[] OR EXISTS (
    -- only tenants:     SELECT FROM event_log o JOIN process_instances p ON p.process_instance_key = o.root_key
    -- only tenants:     WHERE o.partition_id = c.partition_id AND o.position = c.position AND p.tenant_id = ANY ($4::text[])))
ORDER BY c.position DESC
LIMIT $3;

-- name: partitions
-- There are few: a caller pages through one of them at a time, because positions of different partitions have no order.
SELECT id FROM partitions ORDER BY id;
