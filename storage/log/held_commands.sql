-- name: waiting
-- The key of a root tells its partition. Few trees are held at a time.
SELECT held_by, min(tenant_id), count(*), sum(octet_length(payload))::bigint FROM inbox
WHERE held_by >= $1::bigint << 51 AND held_by < ($1::bigint + 1) << 51 GROUP BY held_by;

-- name: returning
-- Once a term: the inbox and what is not yet processed of the log have no index by intent.
SELECT key, count(*) FROM (
    SELECT key FROM inbox WHERE target_partition = $1 AND intent = $3
    UNION ALL SELECT key FROM command_log WHERE partition_id = $1 AND position > $2 AND intent = $3) ends
GROUP BY key;
