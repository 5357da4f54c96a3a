-- name: definitions
-- All definitions, for the receivers of their models, and whether each is the latest active version of its process.
SELECT d.process_definition_key, d.tenant_id, d.process_id, d.sha256, d.resource_name, d.version = (
    SELECT max(l.version) FROM process_definitions l
    WHERE l.tenant_id = d.tenant_id AND l.process_id = d.process_id AND l.state = 'ACTIVE')
FROM process_definitions d ORDER BY d.process_definition_key;

-- name: lock
-- One node at a time works the receivers of a schema. The lock ends with its session.
SELECT pg_try_advisory_lock(4717, hashtext(current_schema()));

-- name: waits
-- The subscriptions of one element that wait, by the index of open ones. Suspended ones wait for nothing.
SELECT subscription_key FROM subscriptions
WHERE process_definition_key = $1 AND kind = 'MESSAGE' AND ended_at IS NULL AND target_element_id = $2 AND NOT suspended
ORDER BY process_instance_key LIMIT $3;

-- name: wait
-- One of them, as of now. No row: it does not wait any more.
SELECT process_instance_key, element_instance_key, correlation_key FROM subscriptions
WHERE subscription_key = $1 AND ended_at IS NULL AND NOT suspended;

-- name: variables
-- The variables that an element sees, the nearest of each name. Null: its value is larger than $4 bytes.
SELECT DISTINCT ON (v.name) v.name, CASE WHEN octet_length(v.value) <= $4 THEN v.value END
FROM unnest(coalesce((SELECT path FROM element_instances WHERE element_instance_key = $2), ARRAY[$2::bigint]))
    WITH ORDINALITY AS scope (key, depth)
JOIN variables v ON v.process_instance_key = $1 AND v.scope_key = scope.key AND v.name = ANY ($3::text[])
ORDER BY v.name, scope.depth;

-- name: save
-- The state of a receiver. Its owner alone writes it. The second of two equal calls changes nothing. Ages in ms become times.
INSERT INTO inbound_connectors AS i (process_definition_key, element_id, tenant_id, process_id, type, state, waiting, events,
    errors, event_at, error_at, error, node, updated_at)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp() - $10::float8 * interval '1 ms',
    clock_timestamp() - $11::float8 * interval '1 ms', $12, $13, clock_timestamp()
ON CONFLICT (process_definition_key, element_id) DO UPDATE
SET state = excluded.state, waiting = excluded.waiting, events = excluded.events, errors = excluded.errors,
    event_at = coalesce(excluded.event_at, i.event_at), error_at = coalesce(excluded.error_at, i.error_at),
    error = coalesce(excluded.error, i.error), node = excluded.node, updated_at = excluded.updated_at
WHERE (i.state, i.waiting, i.events, i.errors, i.node)
    IS DISTINCT FROM (excluded.state, excluded.waiting, excluded.events, excluded.errors, excluded.node);

-- name: forget
-- Those that no receiver works any more.
DELETE FROM inbound_connectors i
WHERE NOT EXISTS (SELECT FROM unnest($1::bigint[], $2::text[]) AS kept (definition_key, element_id)
    WHERE kept.definition_key = i.process_definition_key AND kept.element_id = i.element_id);

-- name: count
-- As many as the elements of models that receivers work.
SELECT count(*) FROM inbound_connectors;

-- name: page
-- A row for each element of a model; $1 rows come before the page of at most $2.
SELECT process_definition_key, element_id, tenant_id, process_id, type, state, waiting, events, errors,
    to_epoch_ms(event_at), to_epoch_ms(error_at), error, node, to_epoch_ms(updated_at)
FROM inbound_connectors ORDER BY tenant_id, process_id, process_definition_key, element_id LIMIT $2 OFFSET $1;
