-- name: starts
-- All start subscriptions: one for each message or signal that starts a process.
SELECT subscription_key, process_definition_key, tenant_id, process_id, element_id, kind, name, to_epoch_ms(opened_at), together,
    properties
FROM start_subscriptions ORDER BY subscription_key;

-- name: subscriptions
-- The subscriptions of the channels. OFFSET 0 keeps a look-up by index for each channel.
SELECT k.tenant, k.correlation_key, c.subscription_key, c.name, c.process_id, c.interrupting, c.state, c.business_id
FROM unnest($1::text[], $2::text[]) k(tenant, correlation_key), LATERAL (
    SELECT * FROM channel_subscriptions t
    WHERE t.slot = slot_of(k.tenant, k.correlation_key) AND t.tenant_id = k.tenant
      AND md5(t.correlation_key) = md5(k.correlation_key)
      AND t.correlation_key = k.correlation_key
    OFFSET 0
) c
ORDER BY c.subscription_key;

-- name: locks
-- The start locks of the channels: instances that a message has started, and messages that start one together with others.
SELECT k.tenant, k.correlation_key, c.process_instance_key, c.process_id, c.element_id, c.kept::text, c.deadline_ms
FROM unnest($1::text[], $2::text[]) k(tenant, correlation_key), LATERAL (
    SELECT * FROM start_locks t
    WHERE t.slot = slot_of(k.tenant, k.correlation_key) AND t.tenant_id = k.tenant
      AND md5(t.correlation_key) = md5(k.correlation_key)
      AND t.correlation_key = k.correlation_key
    OFFSET 0
) c
ORDER BY c.process_instance_key;

-- name: messages
-- For each channel up to one page of messages, and one more, which says that the channel has further ones. Large bodies are not
-- loaded; the row stores their size, so the comparison does not read them.
SELECT k.tenant, k.correlation_key, c.message_key, c.name, c.message_id, c.deadline_ms,
    CASE WHEN pg_column_size(c.variables) <= $4 THEN c.variables::text END, c.given, c.business_id
FROM unnest($1::text[], $2::text[]) k(tenant, correlation_key), LATERAL (
    SELECT * FROM messages t
    WHERE t.slot = slot_of(k.tenant, k.correlation_key) AND t.tenant_id = k.tenant
      AND md5(t.correlation_key) = md5(k.correlation_key)
      AND t.correlation_key = k.correlation_key
      AND t.deadline_ms > to_epoch_ms(clock_now())
    LIMIT $3
) c
ORDER BY c.message_key;

-- name: pages
-- For channels with many messages: the next messages with a name that a process has not received, of all business ids or of those
-- that a subscription takes.
SELECT k.tenant, k.correlation_key, c.message_key, c.name, c.message_id, c.deadline_ms,
    CASE WHEN pg_column_size(c.variables) <= $8 THEN c.variables::text END, c.given, c.business_id, k.process_id, k.own_id
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
    k(tenant, correlation_key, name, process_id, after, own_id),
LATERAL (
    SELECT * FROM messages t
    WHERE t.slot = slot_of(k.tenant, k.correlation_key) AND t.tenant_id = k.tenant
      AND md5(t.correlation_key) = md5(k.correlation_key)
      AND t.correlation_key = k.correlation_key
      AND md5(t.name) = md5(k.name) AND t.name = k.name AND t.message_key > k.after
      AND t.deadline_ms > to_epoch_ms(clock_now()) AND NOT t.given @> ARRAY[k.process_id]
      AND (k.own_id IS NULL OR t.business_id IS NULL OR t.business_id = k.own_id)
    ORDER BY t.message_key LIMIT $7
) c
ORDER BY c.message_key;

-- name: message_ids
-- The messages of channels with these names and ids.
SELECT k.tenant, k.correlation_key, c.message_key, c.name, c.message_id, c.deadline_ms,
    CASE WHEN pg_column_size(c.variables) <= $5 THEN c.variables::text END, c.given, c.business_id
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) k(tenant, correlation_key, name, message_id), LATERAL (
    SELECT * FROM messages t
    WHERE t.slot = slot_of(k.tenant, k.correlation_key) AND t.tenant_id = k.tenant
      AND md5(t.correlation_key) = md5(k.correlation_key)
      AND t.correlation_key = k.correlation_key
      AND md5(t.message_id) = md5(k.message_id) AND t.message_id = k.message_id AND t.name = k.name
    OFFSET 0
) c
ORDER BY c.message_key;

-- name: keyed
-- Messages by their keys: those that were offered to an instance that did not accept them.
SELECT k.tenant, k.correlation_key, c.message_key, c.name, c.message_id, c.deadline_ms,
    CASE WHEN pg_column_size(c.variables) <= $4 THEN c.variables::text END, c.given, c.business_id
FROM unnest($1::text[], $2::text[], $3::bigint[]) k(tenant, correlation_key, key), LATERAL (
    SELECT * FROM messages t WHERE t.message_key = k.key OFFSET 0
) c
ORDER BY c.message_key;

-- name: bodies
-- The bodies of large messages that are correlated now.
SELECT message_key, variables::text FROM messages WHERE message_key = ANY ($1::bigint[]);

-- name: signals
-- The next page of subscriptions to each signal, after a subscription key, in the partition whose keys lie between $5 and $6.
SELECT k.tenant, k.name, k.after, c.subscription_key, c.root_key, c.part_key
FROM unnest($1::text[], $2::text[], $3::bigint[]) k(tenant, name, after), LATERAL (
    SELECT * FROM subscriptions t
    WHERE t.tenant_id = k.tenant AND md5(t.name) = md5(k.name) AND t.name = k.name AND t.kind = 'SIGNAL'
      AND t.ended_at IS NULL AND t.subscription_key > greatest(k.after, $5) AND t.subscription_key < $6
    ORDER BY t.subscription_key LIMIT $4
) c
ORDER BY c.subscription_key;

-- name: expire
-- Deletes the earliest expired messages, if the term ($3) of the partition has not ended, and pending starts of any partition
-- whose time is over, with the documents of the messages that they kept, except those that another process got as well: such a
-- message may still be here, or ends in this statement. SKIP LOCKED: it does not wait for a row that a batch is changing. The
-- keys are an array, here and below: a plan that was made for an empty table would join, and later read the whole table.
WITH given_up AS (DELETE FROM start_locks WHERE process_instance_key = ANY (ARRAY(
    SELECT process_instance_key FROM start_locks
    WHERE deadline_ms <= to_epoch_ms(clock_now()) AND EXISTS (SELECT FROM partitions p WHERE (p.id, p.epoch) = ($1, $3))
    ORDER BY deadline_ms LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING kept
), unused AS (UPDATE documents SET expires_at = '-infinity' WHERE message_key = ANY (ARRAY(
    SELECT one.message FROM given_up CROSS JOIN json_to_recordset(given_up.kept) AS one (message bigint)
    WHERE coalesce((SELECT cardinality(m.given) FROM messages m WHERE m.message_key = one.message), 1) = 1)))
DELETE FROM messages WHERE message_key = ANY (ARRAY(
    SELECT message_key FROM messages
    WHERE partition_id = (SELECT id FROM partitions WHERE id = $1 AND epoch = $3) AND deadline_ms <= to_epoch_ms(clock_now())
    ORDER BY deadline_ms LIMIT $2 FOR UPDATE SKIP LOCKED));

-- name: purge_subscriptions
-- Deletes a limited number of ended subscriptions, the oldest first. It waits for no other session. $1 is an age, here and in
-- all purges: a point in time that was read earlier would be wrong if the clock is set before this statement arrives.
DELETE FROM subscriptions WHERE subscription_key = ANY (ARRAY(
    SELECT subscription_key FROM subscriptions
    WHERE ended_at IS NOT NULL AND ended_at < clock_now() - $1::bigint * interval '1 millisecond'
    ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED));

-- name: purge_correlations
-- Deletes a limited number of correlations, the oldest first.
DELETE FROM message_correlations WHERE message_correlation_key = ANY (ARRAY(
    SELECT message_correlation_key FROM message_correlations
    WHERE correlated_at < clock_now() - $1::bigint * interval '1 millisecond'
    ORDER BY correlated_at LIMIT $2 FOR UPDATE SKIP LOCKED));
