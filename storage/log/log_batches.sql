-- name: read_batch
-- The log after the cursor, with the time and the catalogue's number, in one snapshot. Without commands the result is one row
-- without a position: every read brings time and number. At most 4 MB, measured before each row.
SELECT b.position, b.tenant_id, b.intent, b.request, b.payload, b.audit, b.trace,
       to_epoch_ms(clock_now()), (SELECT revision FROM clock), (SELECT n FROM definitions_seq)
FROM (SELECT 1) one LEFT JOIN LATERAL (
    SELECT * FROM (
        SELECT position, tenant_id, intent, request, payload, audit, trace,
               sum(octet_length(payload)) OVER (ORDER BY position) - octet_length(payload) AS before
        FROM (SELECT * FROM command_log WHERE partition_id = $1 AND position > $2 ORDER BY position LIMIT $3) l
    ) w WHERE before < 4000000) b ON true
ORDER BY b.position;
