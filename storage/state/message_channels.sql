-- name: starts
-- All of the partition's catalogue: a start event for each message or signal that starts a process.
SELECT subscription_key, process_definition_key, tenant_id, process_id, element_id, kind, name, to_epoch_ms(opened_at)
FROM start_subscriptions ORDER BY subscription_key;

-- name: subscriptions
-- Who waits in the channels; OFFSET 0 keeps it a look-up by index for each.
SELECT k.tenant, k.correlation_key, c.subscription_key, c.name, c.process_id, c.interrupting, c.state
FROM unnest($1::text[], $2::text[]) k(tenant, correlation_key), LATERAL (
    SELECT * FROM channel_subscriptions t
    WHERE t.slot = slot_of(k.tenant, k.correlation_key) AND t.tenant_id = k.tenant AND md5(t.correlation_key) = md5(k.correlation_key)
      AND t.correlation_key = k.correlation_key
    OFFSET 0
) c
ORDER BY c.subscription_key;

-- name: locks
-- Of the channels: instances that a message has started.
SELECT k.tenant, k.correlation_key, c.process_instance_key, c.process_id
FROM unnest($1::text[], $2::text[]) k(tenant, correlation_key), LATERAL (
    SELECT * FROM start_locks t
    WHERE t.slot = slot_of(k.tenant, k.correlation_key) AND t.tenant_id = k.tenant AND md5(t.correlation_key) = md5(k.correlation_key)
      AND t.correlation_key = k.correlation_key
    OFFSET 0
) c
ORDER BY c.process_instance_key;

-- name: messages
-- Of each channel as many as are loaded whole, and one more, which says that there are too many. Large bodies stay where
-- they are; their size stands in the row, so that telling it does not read them.
SELECT k.tenant, k.correlation_key, c.message_key, c.name, c.message_id, c.deadline_ms,
    CASE WHEN pg_column_size(c.variables) <= $4 THEN c.variables::text END, c.given, c.business_id
FROM unnest($1::text[], $2::text[]) k(tenant, correlation_key), LATERAL (
    SELECT * FROM messages t
    WHERE t.slot = slot_of(k.tenant, k.correlation_key) AND t.tenant_id = k.tenant AND md5(t.correlation_key) = md5(k.correlation_key)
      AND t.correlation_key = k.correlation_key
      AND t.deadline_ms > to_epoch_ms(clock_now())
    LIMIT $3
) c
ORDER BY c.message_key;

-- name: pages
-- Of channels with many messages: the next ones of a name that a process has not had.
SELECT k.tenant, k.correlation_key, c.message_key, c.name, c.message_id, c.deadline_ms,
    CASE WHEN pg_column_size(c.variables) <= $7 THEN c.variables::text END, c.given, c.business_id, k.process_id
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) k(tenant, correlation_key, name, process_id, after),
LATERAL (
    SELECT * FROM messages t
    WHERE t.slot = slot_of(k.tenant, k.correlation_key) AND t.tenant_id = k.tenant AND md5(t.correlation_key) = md5(k.correlation_key)
      AND t.correlation_key = k.correlation_key
      AND md5(t.name) = md5(k.name) AND t.name = k.name AND t.message_key > k.after
      AND t.deadline_ms > to_epoch_ms(clock_now()) AND NOT t.given @> ARRAY[k.process_id]
    ORDER BY t.message_key LIMIT $6
) c
ORDER BY c.message_key;

-- name: message_ids
-- Messages of channels that have these names and ids.
SELECT k.tenant, k.correlation_key, c.message_key, c.name, c.message_id, c.deadline_ms,
    CASE WHEN pg_column_size(c.variables) <= $5 THEN c.variables::text END, c.given, c.business_id
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) k(tenant, correlation_key, name, message_id), LATERAL (
    SELECT * FROM messages t
    WHERE t.slot = slot_of(k.tenant, k.correlation_key) AND t.tenant_id = k.tenant AND md5(t.correlation_key) = md5(k.correlation_key)
      AND t.correlation_key = k.correlation_key
      AND md5(t.message_id) = md5(k.message_id) AND t.message_id = k.message_id AND t.name = k.name
    OFFSET 0
) c
ORDER BY c.message_key;

-- name: keyed
-- Messages by their keys: such as have been given to somebody who did not take them.
SELECT k.tenant, k.correlation_key, c.message_key, c.name, c.message_id, c.deadline_ms,
    CASE WHEN pg_column_size(c.variables) <= $4 THEN c.variables::text END, c.given, c.business_id
FROM unnest($1::text[], $2::text[], $3::bigint[]) k(tenant, correlation_key, key), LATERAL (
    SELECT * FROM messages t WHERE t.message_key = k.key OFFSET 0
) c
ORDER BY c.message_key;

-- name: bodies
-- Of large messages that are given to somebody now.
SELECT message_key, variables::text FROM messages WHERE message_key = ANY ($1::bigint[]);

-- name: signals
-- A page of those who wait for each signal, behind a subscription.
SELECT k.tenant, k.name, k.after, c.subscription_key, c.root_key, c.part_key
FROM unnest($1::text[], $2::text[], $3::bigint[]) k(tenant, name, after), LATERAL (
    SELECT * FROM subscriptions t
    WHERE t.tenant_id = k.tenant AND md5(t.name) = md5(k.name) AND t.name = k.name AND t.kind = 'SIGNAL'
      AND t.ended_at IS NULL AND t.subscription_key > k.after
    ORDER BY t.subscription_key LIMIT $4
) c
ORDER BY c.subscription_key;

-- name: expire
-- Those that expired first; a row that a batch changes just now is not waited for. Keys as an array, here and below: a
-- plan that was made for an empty table must not join, and so read, all of it later.
DELETE FROM messages WHERE message_key = ANY (ARRAY(
    SELECT message_key FROM messages WHERE partition_id = $1 AND deadline_ms <= to_epoch_ms(clock_now())
    ORDER BY deadline_ms LIMIT $2 FOR UPDATE SKIP LOCKED));

-- name: purge_subscriptions
-- Ended ones only, the oldest first, in pieces; whoever else deletes or is about to end is not waited for. By age, here and
-- wherever something is purged: a moment that was read before would be wrong when the clock is set and this comes late.
DELETE FROM subscriptions WHERE subscription_key = ANY (ARRAY(
    SELECT subscription_key FROM subscriptions WHERE ended_at IS NOT NULL AND ended_at < clock_now() - $1::bigint * interval '1 millisecond'
    ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED));

-- name: purge_correlations
-- The history of messages, in pieces, the oldest first.
DELETE FROM message_correlations WHERE message_correlation_key = ANY (ARRAY(
    SELECT message_correlation_key FROM message_correlations WHERE correlated_at < clock_now() - $1::bigint * interval '1 millisecond'
    ORDER BY correlated_at LIMIT $2 FOR UPDATE SKIP LOCKED));
