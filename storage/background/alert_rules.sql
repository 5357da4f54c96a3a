-- name: lock
-- Rules are saved and deleted rarely. With the lock nobody exceeds their number. Evaluations, which lock single rows, wait for
-- their commit at most.
LOCK TABLE alert_rules IN SHARE ROW EXCLUSIVE MODE;

-- name: process_of
-- By the unique index, behind `lock`.
SELECT process_id FROM alert_rules WHERE tenant_id = $1 AND name = $2;

-- name: drop_waiting
-- Before a rule watches something else ($3, $4), or tells somebody else ($5, $6). A notice that waits would give its value as
-- that of the new figure.
DELETE FROM alert_deliveries d USING alert_rules r
WHERE r.tenant_id = $1 AND r.name = $2
    AND (r.process_id, r.metric, r.url, r.to_outbox) IS DISTINCT FROM ($3::text, $4::text, $5::text, $6::boolean)
    AND d.alert_rule_key = r.alert_rule_key AND d.state = 'PENDING';

-- name: save
-- A rule of the same name is replaced, and evaluated at once. One that watches something else, or tells somebody else, begins
-- anew. Nothing if the tenant has $12 others.
INSERT INTO alert_rules AS old (tenant_id, name, process_id, metric, threshold, clears_at, every_s, url, to_outbox, secret,
    made_by, created_at, updated_at, next_at, since)
SELECT $1::text, $2::text, $3::text, $4::text, $5::bigint, $6::bigint, $7::int, $8::text, $9::boolean, $10::text,
    $11::text, clock_timestamp(), clock_timestamp(), clock_timestamp(), clock_timestamp()
WHERE (SELECT count(*) FROM alert_rules r WHERE r.tenant_id = $1 AND r.name <> $2) < $12
ON CONFLICT (tenant_id, name) DO UPDATE
SET process_id = excluded.process_id, metric = excluded.metric, threshold = excluded.threshold, clears_at = excluded.clears_at,
    every_s = excluded.every_s, url = excluded.url, to_outbox = excluded.to_outbox, secret = excluded.secret,
    made_by = excluded.made_by, updated_at = excluded.updated_at, next_at = excluded.next_at, revision = old.revision + 1,
    (value, is_raised, is_told, since) = (
        SELECT CASE WHEN same THEN old.value END, same AND old.is_raised, same AND old.is_told,
            CASE WHEN same THEN old.since ELSE excluded.since END
        FROM (SELECT (old.process_id, old.metric, old.url, old.to_outbox)
            = (excluded.process_id, excluded.metric, excluded.url, excluded.to_outbox) AS same) s)
RETURNING alert_rule_key;

-- name: find
-- By primary key, behind `lock`.
SELECT process_id FROM alert_rules WHERE alert_rule_key = $1
    -- only tenants: AND tenant_id = ANY ($2::text[])
;

-- name: mute
-- Behind `find`. The next evaluation tells what has changed meanwhile, once the time is over.
UPDATE alert_rules SET muted_until = $2, updated_at = clock_timestamp(), revision = revision + 1 WHERE alert_rule_key = $1;

-- name: delete
-- Behind `find`, with its deliveries.
DELETE FROM alert_rules WHERE alert_rule_key = $1;

-- name: test
-- Behind `find`. A test that waits for a receiver is enough: that one gets no other. Both receivers have a number of their own.
WITH rule AS (
    UPDATE alert_rules r SET revision = revision + 2 WHERE r.alert_rule_key = $1
    RETURNING alert_rule_key, revision, value, url, to_outbox
)
INSERT INTO alert_deliveries (alert_rule_key, revision, receiver, kind, value, state, made_at, due_at)
SELECT r.alert_rule_key, r.revision - x.before, x.receiver, 'TEST', r.value, 'PENDING', clock_timestamp(), clock_timestamp()
FROM rule r JOIN (VALUES ('URL', 1), ('OUTBOX', 0)) AS x(receiver, before)
    ON CASE x.receiver WHEN 'URL' THEN r.url <> '' ELSE r.to_outbox END
WHERE NOT EXISTS (SELECT FROM alert_deliveries d
    WHERE d.alert_rule_key = $1 AND d.receiver = x.receiver AND d.kind = 'TEST' AND d.state = 'PENDING')
RETURNING revision;

-- name: trim
-- The newest $2 deliveries of each receiver stay, so that one that is away costs a bounded number of rows and calls.
DELETE FROM alert_deliveries d WHERE d.alert_rule_key = $1 AND d.revision < (
    SELECT min(revision) FROM (
        SELECT n.revision FROM alert_deliveries n WHERE n.alert_rule_key = $1 AND n.receiver = d.receiver
        ORDER BY n.revision DESC LIMIT $2) newest);

-- name: due
-- The rules to evaluate. One that is due later than its interval allows is due, too: the clock was set back.
SELECT alert_rule_key, revision, tenant_id, process_id, metric FROM alert_rules
WHERE next_at <= clock_timestamp() OR next_at > clock_timestamp() + every_s * $2::int * interval '1 second'
ORDER BY next_at LIMIT $1;

-- name: running
-- The sum of the counts that batches keep.
SELECT least(coalesce(sum(c.active), 0), $3)::bigint FROM counted_elements c
JOIN process_definitions d ON d.process_definition_key = c.process_definition_key
WHERE c.element_id = '' AND d.tenant_id = $1 AND ($2 = '' OR d.process_id = $2);

-- name: incidents
-- Open incidents are a partial index. No more than $3 are counted.
SELECT count(*) FROM (
    SELECT FROM incidents i WHERE i.resolved_at IS NULL AND i.tenant_id = $1 AND ($2 = '' OR i.process_id = $2) LIMIT $3) found;

-- name: new_incidents
-- Those of the past hour, from its first quarter on.
SELECT least(coalesce(sum(c.incidents), 0), $3)::bigint FROM counted_instances c
JOIN process_definitions d ON d.process_definition_key = c.process_definition_key
WHERE c.period >= usage_period(clock_now() - interval '1 hour') AND d.tenant_id = $1 AND ($2 = '' OR d.process_id = $2);

-- name: open_tasks
-- No more than $3 are counted.
SELECT count(*) FROM (
    SELECT FROM user_tasks t WHERE t.ended_at IS NULL AND t.tenant_id = $1 AND ($2 = '' OR t.process_id = $2) LIMIT $3) found;

-- name: oldest_seconds
-- The age of the oldest running instance, by the engine's clock. Live instances are a partial index. OFFSET 0 keeps PostgreSQL
-- from walking the index by start instead, over all ended instances that are older.
SELECT least(greatest(coalesce(floor(extract(epoch FROM clock_now() - min(live.started_at))), 0), 0), $3)::bigint
FROM (
    SELECT i.started_at FROM process_instances i
    WHERE i.ended_at IS NULL AND i.tenant_id = $1 AND ($2 = '' OR i.process_id = $2)
    OFFSET 0) live;

-- name: evaluated
-- One evaluation, unless the rule has changed since it was read. $3 is the value, null with the error $4; then the next one comes
-- after $5 intervals, and after $6 seconds at least. A change that nobody has been told of gives a delivery to each receiver,
-- with a number of its own, unless the rule is muted.
WITH old AS (
    SELECT alert_rule_key, is_raised, is_told, coalesce(muted_until > clock_timestamp(), false) AS muted,
        CASE WHEN $3::bigint > threshold THEN true WHEN $3::bigint <= clears_at THEN false ELSE is_raised END AS raised
    FROM alert_rules WHERE alert_rule_key = $1 AND revision = $2 FOR UPDATE
), rule AS (
    UPDATE alert_rules r
    SET revision = r.revision + 2, value = coalesce($3, r.value), error = $4, evaluated_at = clock_timestamp(),
        next_at = clock_timestamp() + greatest(r.every_s * $5::int, $6::float8) * interval '1 second',
        is_raised = old.raised,
        is_told = CASE WHEN old.muted THEN r.is_told ELSE old.raised END,
        since = CASE WHEN old.raised = old.is_raised THEN r.since ELSE clock_timestamp() END
    FROM old WHERE r.alert_rule_key = old.alert_rule_key
    RETURNING r.alert_rule_key, r.revision, r.value, r.is_raised, r.url, r.to_outbox,
        old.raised <> old.is_told AND NOT old.muted AS tells
)
INSERT INTO alert_deliveries (alert_rule_key, revision, receiver, kind, value, state, made_at, due_at)
SELECT r.alert_rule_key, r.revision - x.before, x.receiver, CASE WHEN r.is_raised THEN 'RAISED' ELSE 'CLEARED' END, r.value,
    'PENDING', clock_timestamp(), clock_timestamp()
FROM rule r JOIN (VALUES ('URL', 1), ('OUTBOX', 0)) AS x(receiver, before)
    ON CASE x.receiver WHEN 'URL' THEN r.url <> '' ELSE r.to_outbox END
WHERE r.tells
RETURNING revision;

-- name: claim
-- The oldest pending delivery to each receiver of a rule, so that it hears of the beginning before the end. If nobody writes the
-- outcome until $2 seconds later, it is tried again. A clock that was set back does not hold a delivery for more than a day.
WITH due AS (
    SELECT d.alert_rule_key, d.revision FROM alert_deliveries d
    WHERE d.state = 'PENDING'
        AND (d.due_at <= clock_timestamp() OR d.due_at > clock_timestamp() + interval '1 day')
        AND NOT EXISTS (SELECT FROM alert_deliveries e
            WHERE e.state = 'PENDING' AND e.alert_rule_key = d.alert_rule_key AND e.receiver = d.receiver
                AND e.revision < d.revision)
    ORDER BY d.due_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE alert_deliveries d SET attempts = d.attempts + 1, due_at = clock_timestamp() + $2::int * interval '1 second'
FROM due JOIN alert_rules r ON r.alert_rule_key = due.alert_rule_key
WHERE d.alert_rule_key = due.alert_rule_key AND d.revision = due.revision
RETURNING d.alert_rule_key, d.revision, d.kind, d.value, d.made_at, d.attempts, r.name, r.tenant_id, r.process_id, r.metric,
    r.threshold, d.receiver, r.url, r.secret, extract(epoch FROM clock_timestamp())::bigint;

-- name: tried
-- The outcome of an attempt ($3). $4 is the state; a pending one is due again after $6 seconds.
UPDATE alert_deliveries
SET state = $4, error = $5, due_at = clock_timestamp() + $6::float8 * interval '1 second',
    ended_at = CASE WHEN $4 <> 'PENDING' THEN clock_timestamp() END
WHERE alert_rule_key = $1 AND revision = $2 AND attempts = $3 AND state = 'PENDING';
