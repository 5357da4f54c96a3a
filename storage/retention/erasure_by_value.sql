-- name: first
-- The partition behind $1 with the lowest number, and its last processed position.
SELECT p.id, coalesce((SELECT to_pos FROM batches b WHERE b.partition_id = p.id ORDER BY from_pos DESC LIMIT 1),
    p.id::bigint << 51)
FROM partitions p WHERE p.id >= $1 ORDER BY p.id LIMIT 1;

-- name: page
-- The next rows of a partition's event log, up to $4 and about $5 bytes, with the payload of the command at its own row. Sizes
-- are read without the texts. `tree`: the row belongs to a tree; `ended`: that has ended, or (NULL) it is not there any more.
SELECT e.position, e.seq, e.root_key, e.events, e.version, e.rejection, e.response, e.intent, e.payload,
    (SELECT p.ended_at IS NOT NULL FROM process_instances p WHERE p.process_instance_key = e.root_key)
FROM (
    SELECT l.position, l.seq, l.root_key, l.events, l.version, l.rejection::text, l.response::text, c.intent, c.payload,
        sum(l.size + coalesce(octet_length(c.payload), 0)) OVER (ORDER BY l.position, l.seq) - l.size
            - coalesce(octet_length(c.payload), 0) AS before
    FROM (
        SELECT position, seq, root_key, coalesce(events, large_events) AS events, version, rejection, response,
            coalesce(octet_length(events), octet_length(large_events)) AS size
        FROM event_log
        WHERE partition_id = $1 AND position >= $2 AND position < ($1::bigint + 1) << 51
            AND (position, seq) > ($2::bigint, $3::int)
        ORDER BY position, seq LIMIT $4
    ) l LEFT JOIN command_log c ON l.seq = 0 AND c.partition_id = $1 AND c.position = l.position
) e
WHERE e.before < $5
ORDER BY e.position, e.seq;

-- name: seen
-- Those of these positions whose commands the caller's tenants may see.
SELECT position FROM command_log
WHERE partition_id = $1 AND position = ANY ($2::bigint[]) AND string_to_array(tenant_id, ',') <@ $3::text[];

-- name: trees_at
-- The positions whose commands changed a tree that is still there: the commands stay with it.
SELECT DISTINCT e.position FROM event_log e JOIN process_instances p ON p.process_instance_key = e.root_key
WHERE e.partition_id = $1 AND e.position = ANY ($2::bigint[]);

-- name: live_channels
-- Those of these message channels in which something waits.
SELECT k.tenant, k.correlation_key FROM unnest($1::text[], $2::text[]) k(tenant, correlation_key)
WHERE EXISTS (SELECT FROM messages t WHERE t.slot = slot_of(k.tenant, k.correlation_key) AND t.tenant_id = k.tenant
        AND md5(t.correlation_key) = md5(k.correlation_key) AND t.correlation_key = k.correlation_key AND t.deadline_ms > 0)
    OR EXISTS (SELECT FROM channel_subscriptions t WHERE t.slot = slot_of(k.tenant, k.correlation_key) AND t.tenant_id = k.tenant
        AND md5(t.correlation_key) = md5(k.correlation_key) AND t.correlation_key = k.correlation_key)
    OR EXISTS (SELECT FROM start_locks t WHERE t.slot = slot_of(k.tenant, k.correlation_key) AND t.tenant_id = k.tenant
        AND md5(t.correlation_key) = md5(k.correlation_key) AND t.correlation_key = k.correlation_key);

-- name: replace
-- A row of no tree, or of a rejected command. The reason of a rejection may quote what was sent; its code stays.
UPDATE event_log SET events = $4, large_events = NULL,
    rejection = CASE WHEN rejection IS NOT NULL THEN json_build_object('code', rejection->>'code', 'reason', 'erased') END,
    response = CASE WHEN response IS NOT NULL THEN 'null'::json END
WHERE partition_id = $1 AND position = $2::bigint AND seq = $3::smallint;

-- name: record_trees
-- Their events are emptied: replay gives nothing of them.
UPDATE deleted_trees SET reason = 'ERASURE' WHERE root_key = ANY ($1::bigint[]);

-- name: messages
-- The next buffered messages, up to $2 and about $3 bytes.
SELECT m.message_key, m.tenant_id, m.correlation_key, m.name, m.message_id, m.business_id, m.variables::text
FROM (
    SELECT t.*, sum(pg_column_size(t.variables)) OVER (ORDER BY t.message_key) - pg_column_size(t.variables) AS before
    FROM (
        SELECT * FROM messages WHERE message_key > $1
            -- only tenants: AND tenant_id = ANY ($4::text[])
        ORDER BY message_key LIMIT $2
    ) t
) m
WHERE m.before < $3
ORDER BY m.message_key;

-- name: pending_starts
-- The next pending starts behind the one with the deadline $1 and the key $2, up to $3 and about $4 bytes. Only they have a
-- deadline: the index of the deadlines finds them among the locks of running instances.
SELECT s.process_instance_key, s.tenant_id, s.correlation_key, s.kept::text, s.deadline_ms
FROM (
    SELECT t.*, sum(pg_column_size(t.kept)) OVER (ORDER BY t.deadline_ms, t.process_instance_key)
        - pg_column_size(t.kept) AS before
    FROM (
        SELECT * FROM start_locks WHERE deadline_ms IS NOT NULL AND deadline_ms >= $1
            AND (deadline_ms, process_instance_key) > ($1::bigint, $2::bigint)
            -- only tenants: AND tenant_id = ANY ($5::text[])
        ORDER BY deadline_ms, process_instance_key LIMIT $3
    ) t
) s
WHERE s.before < $4
ORDER BY s.deadline_ms, s.process_instance_key;

-- name: delete_expired
-- Those that have expired before their time, at once. The chore that deletes expired messages takes those that a batch holds.
DELETE FROM messages WHERE message_key = ANY (ARRAY(
    SELECT message_key FROM messages WHERE message_key = ANY ($1::bigint[]) AND deadline_ms = 0 FOR UPDATE SKIP LOCKED));

-- name: keys
-- The next idempotency keys, by their primary key, up to $3 and about $4 bytes.
SELECT k.tenant, k.key
FROM (
    SELECT t.*, sum(octet_length(t.key)) OVER (ORDER BY t.tenant, t.key) - octet_length(t.key) AS before
    FROM (
        SELECT tenant, key FROM idempotency_keys WHERE (tenant, key) > ($1, $2)
            -- only tenants: AND string_to_array(tenant, ',') <@ $5::text[]
        ORDER BY tenant, key LIMIT $3
    ) t
) k
WHERE k.before < $4
ORDER BY k.tenant, k.key;

-- name: delete_keys
-- A client that repeats the request with the key repeats the command.
DELETE FROM idempotency_keys k USING unnest($1::text[], $2::text[]) AS x(tenant, key) WHERE k.tenant = x.tenant AND k.key = x.key;

-- name: queued
-- The next commands of clients' own transactions, up to $3 and about $4 bytes.
SELECT q.target_partition, q.id, convert_from(q.payload, 'UTF8')
FROM (
    SELECT t.*, sum(t.size) OVER (ORDER BY t.target_partition, t.id) - t.size AS before
    FROM (
        SELECT * FROM transaction_inbox WHERE (target_partition, id) > ($1::int, $2::bigint)
            -- only tenants: AND string_to_array(tenant_id, ',') <@ $5::text[]
        ORDER BY target_partition, id LIMIT $3
    ) t
) q
WHERE q.before < $4
ORDER BY q.target_partition, q.id;

-- name: delete_queued
-- The outcome without a position says what became of it. One that is being moved is found in the log. Those who delete
-- lock them in one order.
WITH gone AS (
    DELETE FROM transaction_inbox q WHERE (q.target_partition, q.id) IN (
        SELECT t.target_partition, t.id FROM transaction_inbox t
        JOIN unnest($1::int[], $2::bigint[]) AS x(partition, id) ON t.target_partition = x.partition AND t.id = x.id
        ORDER BY t.target_partition, t.id FOR UPDATE OF t)
    RETURNING q.*
)
INSERT INTO transaction_outcomes (target_partition, id, tenant_id, role_name, moved_at)
SELECT target_partition, id, tenant_id, role_name, clock_timestamp() FROM gone;

-- name: comments
-- The next comments on user tasks, up to $3 and about $4 bytes.
SELECT c.user_task_key, c.comment_key, c.author, c.text
FROM (
    SELECT t.*, sum(octet_length(t.text)) OVER (ORDER BY t.user_task_key, t.comment_key) - octet_length(t.text) AS before
    FROM (
        SELECT * FROM user_task_comments WHERE (user_task_key, comment_key) > ($1::bigint, $2::bigint)
            -- only tenants: AND tenant_id = ANY ($5::text[])
        ORDER BY user_task_key, comment_key LIMIT $3
    ) t
) c
WHERE c.before < $4
ORDER BY c.user_task_key, c.comment_key;

-- name: empty_comments
-- Those of running instances, too: the engine never reads comments.
UPDATE user_task_comments c SET author = 'erased', text = 'erased'
FROM unnest($1::bigint[], $2::bigint[]) AS x(task, comment) WHERE c.user_task_key = x.task AND c.comment_key = x.comment;

-- name: views
-- The next saved views of lists, up to $2 and about $3 bytes.
SELECT v.view_key, v.query, v.owner_id, v.name
FROM (
    SELECT t.*, sum(octet_length(t.query)) OVER (ORDER BY t.view_key) - octet_length(t.query) AS before
    FROM (
        SELECT * FROM saved_views WHERE view_key > $1
            -- only tenants: AND tenant_id = ANY ($4::text[])
        ORDER BY view_key LIMIT $2
    ) t
) v
WHERE v.before < $3
ORDER BY v.view_key;

-- name: delete_views
-- Nothing depends on a view. A link to what it shows has the filters itself.
DELETE FROM saved_views WHERE view_key = ANY ($1::bigint[]);

-- name: drafts
-- The next drafts of models, up to $2 and about $3 bytes.
SELECT d.draft_key, d.name, d.content, d.created_by, d.updated_by
FROM (
    SELECT t.*, sum(t.bytes) OVER (ORDER BY t.draft_key) - t.bytes AS before
    FROM (
        SELECT draft_key, name, content, created_by, updated_by,
            octet_length(content) + octet_length(created_by) + octet_length(updated_by) AS bytes
        FROM model_drafts WHERE draft_key > $1
            -- only tenants: AND tenant_id = ANY ($4::text[])
        ORDER BY draft_key LIMIT $2
    ) t
) d
WHERE d.before < $3
ORDER BY d.draft_key;

-- name: delete_drafts
-- Nothing depends on a draft: what was deployed from it is in the files of the deployment.
DELETE FROM model_drafts WHERE draft_key = ANY ($1::bigint[]);

-- name: erase_creators
-- A draft of others stays when an author is erased, with the name of the other one.
UPDATE model_drafts SET created_by = 'erased' WHERE draft_key = ANY ($1::bigint[]);

-- name: erase_editors
-- The same for the last one who changed it.
UPDATE model_drafts SET updated_by = 'erased' WHERE draft_key = ANY ($1::bigint[]);

-- name: rules
-- The next alert rules, up to $2 and about $3 bytes.
SELECT r.alert_rule_key, r.url, r.name, r.made_by
FROM (
    SELECT t.*, sum(t.bytes) OVER (ORDER BY t.alert_rule_key) - t.bytes AS before
    FROM (
        SELECT alert_rule_key, url, name, made_by, octet_length(url) + octet_length(name) + octet_length(made_by) AS bytes
        FROM alert_rules WHERE alert_rule_key > $1
            -- only tenants: AND tenant_id = ANY ($4::text[])
        ORDER BY alert_rule_key LIMIT $2
    ) t
) r
WHERE r.before < $3
ORDER BY r.alert_rule_key;

-- name: delete_rules
-- A rule that tells the person has nobody else to tell. Its deliveries go with it.
DELETE FROM alert_rules WHERE alert_rule_key = ANY ($1::bigint[]);

-- name: rename_rules
-- The figure is watched further on. The key keeps names of a tenant different; no client can give a name with a space before.
UPDATE alert_rules SET name = ' erased ' || alert_rule_key WHERE alert_rule_key = ANY ($1::bigint[]);

-- name: erase_makers
-- A rule belongs to its tenant, not to its maker.
UPDATE alert_rules SET made_by = 'erased' WHERE alert_rule_key = ANY ($1::bigint[]);

-- name: notices
-- The next deliveries of alert rules, with their errors, up to $3 and about $4 bytes.
SELECT d.alert_rule_key, d.revision, d.error
FROM (
    SELECT t.*, sum(coalesce(octet_length(t.error), 0)) OVER (ORDER BY t.alert_rule_key, t.revision)
        - coalesce(octet_length(t.error), 0) AS before
    FROM (
        SELECT n.alert_rule_key, n.revision, n.error FROM alert_deliveries n
        WHERE (n.alert_rule_key, n.revision) > ($1::bigint, $2::bigint)
            -- only tenants: AND alert_rule_key IN (SELECT r.alert_rule_key FROM alert_rules r WHERE r.tenant_id = ANY ($5))
        ORDER BY n.alert_rule_key, n.revision LIMIT $3
    ) t
) d
WHERE d.before < $4
ORDER BY d.alert_rule_key, d.revision;

-- name: empty_notices
-- Nothing reads the error of a delivery again but people.
UPDATE alert_deliveries d SET error = 'erased' FROM unnest($1::bigint[], $2::bigint[]) AS x(rule, revision)
WHERE d.alert_rule_key = x.rule AND d.revision = x.revision AND d.error IS NOT NULL;

-- name: batches
-- The next batch operations that have ended, with the texts that their creators gave, up to $2 and about $3 bytes.
SELECT b.batch_operation_key, b.filter, b.error
FROM (
    SELECT t.*, sum(octet_length(t.filter)) OVER (ORDER BY t.batch_operation_key) - octet_length(t.filter) AS before
    FROM (
        SELECT batch_operation_key, filter::text AS filter, error FROM batch_operations
        WHERE batch_operation_key > $1 AND NOT open ORDER BY batch_operation_key LIMIT $2
    ) t
) b
WHERE b.before < $3
ORDER BY b.batch_operation_key;

-- name: empty_batches
-- They have ended: nobody evaluates the filter again.
UPDATE batch_operations SET filter = '{}', error = CASE WHEN error IS NOT NULL THEN 'erased' END
WHERE batch_operation_key = ANY ($1::bigint[]) AND NOT open;

-- name: items
-- The next items of batch operations, with the errors of those that have ended, up to $2 and about $3 bytes. An operation may
-- have millions of items: their errors together are no value that could be read.
SELECT i.item_number, i.error
FROM (
    SELECT t.*, sum(coalesce(octet_length(t.error), 0)) OVER (ORDER BY t.item_number)
        - coalesce(octet_length(t.error), 0) AS before
    FROM (
        SELECT n.item_number, CASE WHEN b.open IS NOT TRUE THEN n.error END AS error
        FROM batch_operation_items n LEFT JOIN batch_operations b USING (batch_operation_key)
        WHERE n.item_number > $1 ORDER BY n.item_number LIMIT $2
    ) t
) i
WHERE i.before < $3
ORDER BY i.item_number;

-- name: empty_items
-- Nothing reads the error of an item again but people.
UPDATE batch_operation_items SET error = 'erased' WHERE item_number = ANY ($1::bigint[]) AND error IS NOT NULL;

-- name: executions
-- The next failed executions of background jobs, up to $2 and about $3 bytes: the others still run, and go.
SELECT e.id, e.payload, e.error, e.trace_context
FROM (
    SELECT t.*, sum(t.size) OVER (ORDER BY t.id::uuid) - t.size AS before
    FROM (
        SELECT id::text, payload::text, error, trace_context::text,
            coalesce(octet_length(payload::text), 0) + coalesce(octet_length(error), 0) AS size
        FROM job_executions WHERE state = 'failed' AND id > $1::uuid ORDER BY job_executions.id LIMIT $2
    ) t
) e
WHERE e.before < $3
ORDER BY e.id::uuid;

-- name: delete_executions
-- Nobody can retry them any more.
DELETE FROM job_executions WHERE id = ANY ($1::text[]::uuid[]) AND state = 'failed';

-- name: workers
-- The next names of workers in the statistics, up to $2 and about $3 bytes.
SELECT w.worker
FROM (
    SELECT t.worker, sum(octet_length(t.worker)) OVER (ORDER BY t.worker) - octet_length(t.worker) AS before
    FROM (
        SELECT worker FROM (SELECT worker FROM job_counts UNION SELECT worker FROM job_count_changes) known
        WHERE worker > $1 ORDER BY worker LIMIT $2
    ) t
) w
WHERE w.before < $3
ORDER BY w.worker;

-- name: rename_workers
-- The sums stay, under another name.
WITH changed AS (UPDATE job_count_changes SET worker = 'erased' WHERE worker = ANY ($1::text[])),
     gone AS (DELETE FROM job_counts WHERE worker = ANY ($1::text[]) RETURNING *)
INSERT INTO job_counts AS c (period, tenant_id, type, status, worker, partition_id, jobs, last_at)
SELECT period, tenant_id, type, status, 'erased', partition_id, sum(jobs), max(last_at) FROM gone
GROUP BY period, tenant_id, type, status, partition_id
ON CONFLICT (period, tenant_id, type, status, worker, partition_id)
DO UPDATE SET jobs = c.jobs + EXCLUDED.jobs, last_at = greatest(c.last_at, EXCLUDED.last_at);
