-- name: fence
-- The first statement of a batch with commands: it raises unless this epoch still owns the partition and the cursor has not
-- moved.
SELECT fence($1, $2, $3, $4, $5);

-- name: fence_between
-- The first statement of a batch between commands: it writes nothing, and the event log's primary key lets it happen once.
SELECT fence_between($1, $2, $3, $4, $5);

-- name: require_untaken
-- The second statement of a batch with undos: it raises if a worker has got one of these jobs since their leases were read.
SELECT require_untaken($1);

-- name: event_log
-- One row for each handled command; each column is a parameter. Events keep their text. A large text is stored in a column
-- without slow compression.
INSERT INTO event_log (partition_id, position, seq, root_key, request, events, large_events, rejection, response, version,
    processed_at)
SELECT $8, x.position, x.seq, x.root_key, x.request,
    CASE WHEN octet_length(x.events) <= $11 THEN x.events END, CASE WHEN octet_length(x.events) > $11 THEN x.events END,
    x.rejection::json, x.response::json, $9, from_epoch_ms($10)
FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[])
    AS x(position, seq, root_key, request, events, rejection, response);

-- name: inbox
-- Commands that are deferred to the inbox, in the batch's own transaction. The appender moves them to the log, but for those that
-- are held.
INSERT INTO inbox (target_partition, request, tenant_id, intent, key, payload, audit, trace, held_by)
SELECT x.partition, x.request, x.tenant, x.intent, x.key, convert_to(x.payload, 'UTF8'), x.audit, x.trace, x.held_by
FROM ROWS FROM (json_to_recordset($1) AS (partition int, request bigint, tenant text, intent text, key bigint, payload text,
        audit text, trace text, held_by bigint))
    WITH ORDINALITY AS x(partition, request, tenant, intent, key, payload, audit, trace, held_by, ord)
ORDER BY x.ord;

-- name: returned_commands
-- The first $2 commands of earlier batches that waited for a tree: this batch has handled them.
DELETE FROM inbox
WHERE target_partition = 0 AND id = ANY (ARRAY(SELECT id FROM inbox WHERE held_by = $1::bigint ORDER BY id LIMIT $2));

-- name: released_commands
-- The first $2 commands of earlier batches that wait for a tree. They keep their ids, which are lower than those of newer rows,
-- and hence their order.
UPDATE inbox SET target_partition = $3, held_by = NULL
WHERE target_partition = 0 AND id = ANY (ARRAY(SELECT id FROM inbox WHERE held_by = $1::bigint ORDER BY id LIMIT $2));

-- name: new_instances
-- New rows in their last state: an instance that also ended in the batch is written once. A field that a document omits, here and
-- for elements, variables and jobs, has its usual value.
INSERT INTO process_instances (process_instance_key, root_key, part_key, parent_element_instance_key, state, started_at,
    ended_at, tokens, live, then_, interrupted, request, incidents, registered, awaiting_reset, occurrences,
    process_definition_key, process_id, process_version, version_tag, process_name, tenant_id, business_id, tags, depth,
    created_position, parent_process_instance_key, start, start_lock, terminate_after, suspended_at, suspended_reason,
    suspended_work, suspended_rows, due_at, trace, work, work_rows, version, in_parts)
SELECT x.key, coalesce(x.root, x.key), coalesce(x.part, x.root, x.key), x.caller, x.state, from_epoch_ms(x.started_at),
    from_epoch_ms(x.ended_at), coalesce(x.tokens, '{}'), coalesce(x.live, 0), x.then_, coalesce(x.interrupted, false),
    x.request, coalesce(x.incidents, 0), x.registered, x.awaiting_reset, x.occurrences, x.definition, x.process_id, x.number,
    x.version_tag, x.name, x.tenant, x.business_id, coalesce(x.tags, '{}'), coalesce(x.depth, 1), x.position, x.parent, x.start,
    x.start_lock, x.terminate_after, from_epoch_ms(x.suspended_at), x.suspended_reason, x.suspended_work,
    coalesce(x.suspended_rows, 0), from_epoch_ms(x.due_at), x.trace, x.work, coalesce(x.work_rows, 0), x.revision,
    coalesce(x.in_parts, 0)
FROM json_to_recordset($1) AS x(key bigint, root bigint, part bigint, caller bigint, state text, started_at bigint,
    ended_at bigint, tokens json, live int, then_ json, interrupted boolean, request bigint, incidents int, registered json,
    awaiting_reset json, occurrences json, definition bigint, process_id text, number int, version_tag text, name text,
    tenant text, business_id text, tags text[], depth int, position bigint, parent bigint, start json, start_lock text,
    terminate_after text[], suspended_at bigint, suspended_reason text, suspended_work json, suspended_rows int, due_at bigint,
    trace text, work json, work_rows int, revision bigint, in_parts int);

-- name: instances
-- The columns that may change. Those that an index has or asks for, such as `ended_at` and `due_at`, change seldom.
UPDATE process_instances t
SET state = x.state, ended_at = from_epoch_ms(x.ended_at), tokens = coalesce(x.tokens, '{}'), live = coalesce(x.live, 0),
    then_ = x.then_, interrupted = coalesce(x.interrupted, false), request = x.request, incidents = coalesce(x.incidents, 0),
    registered = x.registered, awaiting_reset = x.awaiting_reset, occurrences = x.occurrences, business_id = x.business_id,
    suspended_at = from_epoch_ms(x.suspended_at), suspended_reason = x.suspended_reason, suspended_work = x.suspended_work,
    suspended_rows = coalesce(x.suspended_rows, 0), due_at = from_epoch_ms(x.due_at), work = x.work,
    work_rows = coalesce(x.work_rows, 0), version = x.revision, in_parts = coalesce(x.in_parts, 0)
FROM json_to_recordset($1) AS x(key bigint, state text, ended_at bigint, tokens json, live int, then_ json, interrupted boolean,
    request bigint, incidents int, registered json, awaiting_reset json, occurrences json, business_id text,
    suspended_at bigint, suspended_reason text, suspended_work json, suspended_rows int, due_at bigint, work json,
    work_rows int, revision bigint, in_parts int)
WHERE t.process_instance_key = x.key;

-- name: migrated_instances
-- A migration gives an instance another definition. It rewrites the entries of all indexes, and is rare. Rows with the same
-- new owners share a document: reading a document for each would be a large part of what a long loop costs.
UPDATE process_instances t
SET process_definition_key = x.definition, process_id = x.process_id, process_version = x.number, version_tag = x.version_tag,
    process_name = x.name, start = x.start, terminate_after = x.terminate_after
FROM json_to_recordset($1) AS x(keys bigint[], definition bigint, process_id text, number int, version_tag text, name text,
    start json, terminate_after text[]),
    unnest(x.keys) AS k(key)
WHERE t.process_instance_key = k.key;

-- name: new_elements
-- Most elements begin and end in one batch (events, gateways): one insert, no update.
INSERT INTO element_instances (element_instance_key, root_key, part_key, process_instance_key, scope_key, path,
    process_definition_key, process_id, tenant_id, element_id, element_type, state, started_at, ended_at, tokens, live,
    loop_index, element_name, then_, interrupted, occurred, loop, ad_hoc, request, incidents, incident_key, registered,
    awaiting_reset, compensation, occurrences, flows)
SELECT x.key, coalesce(x.root, x.instance), coalesce(x.part, x.root, x.instance), x.instance, coalesce(x.scope, x.instance),
    coalesce(x.path, ARRAY[x.key, x.instance]), x.definition, x.process_id, x.tenant, x.element, x.type, x.state,
    from_epoch_ms(x.started_at), from_epoch_ms(x.ended_at), coalesce(x.tokens, '{}'), coalesce(x.live, 0),
    coalesce(x.index, -1), x.name, x.then_, coalesce(x.interrupted, false), x.occurred, x.loop, x.ad_hoc, x.request,
    coalesce(x.incidents, 0), x.incident, x.registered, x.awaiting_reset, x.compensation, x.occurrences, x.flows
FROM json_to_recordset($1) AS x(key bigint, root bigint, part bigint, instance bigint, scope bigint, path bigint[],
    definition bigint, process_id text, tenant text, element text, type text, state text, started_at bigint, ended_at bigint,
    tokens json, live int, index int, name text, then_ json, interrupted boolean, occurred json, loop json, ad_hoc json,
    request bigint, incidents int, incident bigint, registered json, awaiting_reset json, compensation json, occurrences json,
    flows text[]);

-- name: elements
-- The columns that may change.
UPDATE element_instances t
SET state = x.state, ended_at = from_epoch_ms(x.ended_at), tokens = coalesce(x.tokens, '{}'), live = coalesce(x.live, 0),
    then_ = x.then_, interrupted = coalesce(x.interrupted, false), loop = x.loop, ad_hoc = x.ad_hoc, request = x.request,
    incidents = coalesce(x.incidents, 0), incident_key = x.incident, registered = x.registered,
    awaiting_reset = x.awaiting_reset, occurrences = x.occurrences, flows = x.flows
FROM json_to_recordset($1) AS x(key bigint, state text, ended_at bigint, tokens json, live int, then_ json, interrupted boolean,
    loop json, ad_hoc json, request bigint, incidents int, incident bigint, registered json, awaiting_reset json,
    occurrences json, flows text[])
WHERE t.element_instance_key = x.key;

-- name: migrated_elements
-- The live elements of migrated instances. Ended ones keep the definition by which they ran.
UPDATE element_instances t
SET process_definition_key = x.definition, process_id = x.process_id, element_id = x.element, element_name = x.name,
    compensation = x.compensation
FROM json_to_recordset($1) AS x(keys bigint[], definition bigint, process_id text, element text, name text, compensation json),
    unnest(x.keys) AS k(key)
WHERE t.element_instance_key = k.key;

-- name: ended_elements
-- Bulk end: elements that end, or begin to terminate, identically, such as the inner instances of a long loop. It sets what
-- `elements` sets, without documents.
UPDATE element_instances
SET state = $2, ended_at = from_epoch_ms($3), tokens = '{}', live = 0, then_ = NULL, interrupted = false, loop = NULL,
    ad_hoc = NULL, request = NULL, incidents = 0, incident_key = NULL, registered = NULL, awaiting_reset = NULL,
    occurrences = NULL, flows = NULL
WHERE element_instance_key = ANY ($1::bigint[]);

-- name: element_count_changes
-- Insert-only: a row that every batch updates gets slower with each version while any old snapshot is open.
INSERT INTO element_count_changes (partition_id, process_definition_key, element_id, bucket, active, completed, canceled,
    duration_ms, started, incidents, at)
SELECT $1, u.*, from_epoch_ms($11)
FROM unnest(
    $2::bigint[], $3::text[], $4::smallint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::int[], $10::int[]) AS u;

-- name: new_loop_items
-- Written by the batch that begins the loop. A result may already exist.
INSERT INTO loop_items (body_key, index, item, result)
SELECT x.body, x.index, x.item, x.result
FROM json_to_recordset($1) AS x(body bigint, index int, item text, result text);

-- name: paged_loop_items
-- For loops over very many items: a row holds many. Each item is read once, and one row for each would delay others by half a
-- second.
INSERT INTO paged_loop_items (body_key, first, items) SELECT * FROM unnest($1::bigint[], $2::int[], $3::text[]);

-- name: work_items
-- Rows of work items behind those that have not changed. Rows beyond the number that an instance has from now on go.
WITH gone AS (
    DELETE FROM work_items w USING unnest($1::bigint[], $2::int[], $3::int[]) AS x(instance, suspended, rows)
    WHERE w.process_instance_key = x.instance AND w.suspended = (x.suspended = 1) AND w.number >= x.rows)
INSERT INTO work_items (process_instance_key, suspended, number, items)
SELECT x.instance, x.suspended = 1, x.number, x.items
FROM unnest($4::bigint[], $5::int[], $6::int[], $7::text[]) AS x(instance, suspended, number, items)
ON CONFLICT (process_instance_key, suspended, number) DO UPDATE SET items = excluded.items;

-- name: paged_loop_results
-- An inner instance has one result. Its row is inserted with it.
INSERT INTO loop_items (body_key, index, result)
SELECT x.body, x.index, x.result
FROM json_to_recordset($1) AS x(body bigint, index int, result text)
ON CONFLICT (body_key, index) DO UPDATE SET result = excluded.result;

-- name: loop_items
-- An inner instance has one result.
UPDATE loop_items t SET result = x.result
FROM json_to_recordset($1) AS x(body bigint, index int, result text)
WHERE t.body_key = x.body AND t.index = x.index;

-- name: new_variables
-- `value` is JSON text. `normal` is the hash of its normal form, which filters compare, if it is spelled otherwise.
INSERT INTO variables (variable_key, scope_key, process_instance_key, root_key, tenant_id, name, value, normal_hash)
SELECT x.key, x.scope, coalesce(x.instance, x.scope), coalesce(x.root, x.scope), x.tenant, x.name, x.value, x.normal
FROM json_to_recordset($1) AS x(key bigint, scope bigint, instance bigint, root bigint, tenant text, name text, value text,
    normal uuid);

-- name: variables
-- Only the value changes, and with it the hash of its normal form.
UPDATE variables t SET value = x.value, normal_hash = x.normal
FROM json_to_recordset($1) AS x(key bigint, value text, normal uuid)
WHERE t.variable_key = x.key;

-- fragment: live_jobs_of_instances
-- The jobs of the instances $2, by their whole parts ($1), and all jobs of the instances $3, whose parts are not known. Only the
-- first read leaves ended jobs out. `IS TRUE` keeps other indexes out of the plan.
    SELECT job_key FROM jobs
    WHERE part_key = ANY ($1::bigint[]) AND ended_at IS NULL AND (process_instance_key = ANY ($2::bigint[])) IS TRUE
    UNION ALL
    SELECT job_key FROM jobs WHERE process_instance_key = ANY ($3::bigint[]) AND (ended_at IS NULL) IS TRUE

-- name: released_jobs
-- It releases the jobs of instances that were suspended or resumed, before other changes of these jobs, which come after the
-- resumption. It locks them in the order of their keys, as `suspended_jobs` does.
UPDATE jobs
SET ready = suspended_ready, available_at = suspended_until, suspended_ready = NULL, suspended_until = NULL, returned = true
WHERE job_key = ANY (ARRAY(
    SELECT job_key FROM jobs
    WHERE job_key = ANY (ARRAY(
    -- include: live_jobs_of_instances
    )) AND suspended_ready IS NOT NULL
    ORDER BY job_key
    FOR UPDATE));

-- name: new_jobs
-- `ready` is false if the job ended in the batch that created it, or is leased to a worker that waits: $2 to $5 are the keys of
-- leased jobs, their workers, tokens and ends (docs/adr/0091). The job statistics are in the same statement.
WITH made AS (
INSERT INTO jobs (job_key, root_key, part_key, process_instance_key, element_instance_key, path, process_definition_key,
    process_id, process_version, element_id, tags, tenant_id, type, retries, created_at, updated_at, state, kind,
    listener_event, listener_index, priority, headers, error_code, error_message, available_at, trace, ended_at, denied_reason,
    business_id, ready, worker, lease_token)
SELECT x.key, coalesce(x.root, x.instance), coalesce(x.part, x.root, x.instance), x.instance, x.element,
    coalesce(x.path, ARRAY[x.element, x.instance]), x.definition, x.process_id, x.number, x.element_id, coalesce(x.tags, '{}'),
    x.tenant, x.type, x.retries, from_epoch_ms(x.created_at), from_epoch_ms(x.updated_at), x.state,
    coalesce(x.kind, 'BPMN_ELEMENT'), coalesce(x.listener_event, 'UNSPECIFIED'), coalesce(x.listener_index, 0),
    coalesce(x.priority, 0), coalesce(x.headers, '{}'), x.error_code, x.error_message,
    coalesce(from_epoch_ms(l.until), from_epoch_ms(x.available_at)), x.trace, from_epoch_ms(x.ended_at), x.denied_reason,
    x.business_id, x.lease = 'ready' AND l.key IS NULL, l.worker, l.token
FROM json_to_recordset($1) AS x(key bigint, root bigint, part bigint, instance bigint, element bigint, path bigint[],
    definition bigint, process_id text, number int, element_id text, tags text[], tenant text, type text, retries int,
    created_at bigint, updated_at bigint, state text, kind text, listener_event text, listener_index int, priority int,
    headers json, error_code text, error_message text, available_at bigint, trace text, ended_at bigint, denied_reason text,
    business_id text, lease text)
LEFT JOIN unnest($2::bigint[], $3::text[], $4::uuid[], $5::bigint[]) AS l(key, worker, token, until) ON l.key = x.key
RETURNING job_key, tenant_id, type, state, created_at, updated_at)
INSERT INTO job_count_changes (partition_id, tenant_id, type, worker, status, jobs, last_at)
SELECT job_key >> 51, tenant_id, type, '', 'CREATED', count(*), max(created_at) FROM made GROUP BY 1, 2, 3
UNION ALL
SELECT job_key >> 51, tenant_id, type, '', CASE state WHEN 'COMPLETED' THEN state ELSE 'FAILED' END, count(*), max(updated_at)
FROM made WHERE state IN ('COMPLETED', 'FAILED', 'ERROR_THROWN') GROUP BY 1, 2, 3, 5;

-- name: jobs
-- Only changes, never the cached row: the lease columns belong to activation, and change only if the engine says so. A job that
-- is ready again, or has another priority, may follow younger ones: it is `returned`. A new end of a lease takes effect only
-- while the job has one. A state with another change of the lease is new: the job has just completed or failed.
WITH changed AS (UPDATE jobs t
SET state = x.state, retries = x.retries, updated_at = from_epoch_ms(x.updated_at), priority = coalesce(x.priority, 0),
    error_code = x.error_code, error_message = x.error_message,
    available_at = CASE WHEN x.lease IS NULL THEN t.available_at WHEN x.lease = 'backoff' THEN from_epoch_ms(x.available_at)
        WHEN x.lease <> 'leased' THEN NULL WHEN t.ready OR t.lease_token IS NULL THEN t.available_at
        ELSE from_epoch_ms(x.available_at) END,
    ended_at = from_epoch_ms(x.ended_at), denied_reason = x.denied_reason,
    ready = CASE WHEN x.lease IS NULL OR x.lease = 'leased' THEN t.ready ELSE x.lease = 'ready' END,
    lease_token = CASE WHEN x.lease IS NULL OR x.lease = 'leased' THEN t.lease_token END, returned = true
FROM json_to_recordset($1) AS x(key bigint, state text, retries int, updated_at bigint, priority int, error_code text,
    error_message text, available_at bigint, ended_at bigint, denied_reason text, lease text)
WHERE t.job_key = x.key
RETURNING t.job_key, t.tenant_id, t.type, t.worker, t.state, t.updated_at, x.lease AS new_lease)
INSERT INTO job_count_changes (partition_id, tenant_id, type, worker, status, jobs, last_at)
SELECT job_key >> 51, tenant_id, type, left(coalesce(worker, ''), 200), CASE state WHEN 'COMPLETED' THEN state ELSE 'FAILED' END,
    count(*), max(updated_at)
FROM changed WHERE state IN ('COMPLETED', 'FAILED', 'ERROR_THROWN') AND new_lease <> 'leased' GROUP BY 1, 2, 3, 4, 5;

-- name: migrated_jobs
-- Leases stay: they belong to activation.
UPDATE jobs t
SET process_definition_key = x.definition, process_id = x.process_id, process_version = x.number, element_id = x.element_id
FROM json_to_recordset($1) AS x(keys bigint[], definition bigint, process_id text, number int, element_id text),
    unnest(x.keys) AS k(key)
WHERE t.job_key = k.key;

-- name: ended_jobs
-- Bulk end: jobs that end identically. It sets what `jobs` sets, without documents.
WITH ended AS (UPDATE jobs
SET state = $2, retries = $3, updated_at = from_epoch_ms($4), priority = $5, error_code = $6, error_message = $7,
    ended_at = from_epoch_ms($8), denied_reason = $9, ready = false, returned = true, available_at = NULL, lease_token = NULL
WHERE job_key = ANY ($1::bigint[])
RETURNING job_key, tenant_id, type, worker, state, updated_at)
INSERT INTO job_count_changes (partition_id, tenant_id, type, worker, status, jobs, last_at)
SELECT job_key >> 51, tenant_id, type, left(coalesce(worker, ''), 200), CASE state WHEN 'COMPLETED' THEN state ELSE 'FAILED' END,
    count(*), max(updated_at)
FROM ended WHERE state IN ('COMPLETED', 'FAILED', 'ERROR_THROWN') GROUP BY 1, 2, 3, 4, 5;

-- name: suspended_jobs
-- It locks the jobs of suspended instances in the order of their keys. An activation holds the lock of a job until its lease is
-- visible. Therefore each job is leased before the suspension, or not at all (docs/adr/0080). The jobs of cancel listeners go on.
UPDATE jobs
SET ready = false, available_at = NULL, suspended_ready = ready, suspended_until = available_at
WHERE job_key = ANY (ARRAY(
    SELECT job_key FROM jobs
    WHERE job_key = ANY (ARRAY(
    -- include: live_jobs_of_instances
    )) AND suspended_ready IS NULL AND listener_event <> ALL ($4::text[])
    ORDER BY job_key
    FOR UPDATE));

-- name: timers
-- Before new timers, and by key: the index of pending timers allows one for each target.
UPDATE timers t
SET state = x.state, due_at_ms = x.due_at, triggered_at = from_epoch_ms(x.triggered_at), ended_at = from_epoch_ms(x.ended_at)
FROM json_to_recordset($1) AS x(key bigint, state text, due_at bigint, triggered_at bigint, ended_at bigint)
WHERE t.timer_key = x.key;

-- name: parted_timers
-- Timers of migrated instances whose targets may change places: no two of an element have the same target meanwhile. Those that
-- are alone in their elements are left out.
UPDATE timers SET target_element_id = timer_key::text WHERE timer_key = ANY ($1::bigint[]);

-- name: migrated_timers
-- Due dates and repetitions stay.
UPDATE timers t SET process_definition_key = x.definition, process_id = x.process_id, target_element_id = x.target
FROM json_to_recordset($1) AS x(keys bigint[], definition bigint, process_id text, target text),
    unnest(x.keys) AS k(key)
WHERE t.timer_key = k.key;

-- name: new_timers
-- By key: of several occurrences in one batch, only the last is pending.
INSERT INTO timers (timer_key, partition_id, root_key, part_key, process_instance_key, element_instance_key,
    process_definition_key, process_id, target_element_id, type, due_at_ms, repetitions, cycle, state, tenant_id, created_at,
    triggered_at, ended_at)
SELECT x.key, $2, x.root, coalesce(x.part, x.root), x.instance, x.element, x.definition, x.process_id, x.target, x.type, x.due_at,
    x.repetitions, x.cycle, x.state, x.tenant, from_epoch_ms(x.created_at), from_epoch_ms(x.triggered_at),
    from_epoch_ms(x.ended_at)
FROM json_to_recordset($1) AS x(key bigint, root bigint, part bigint, instance bigint, element bigint, definition bigint,
    process_id text, target text, type text, due_at bigint, repetitions int, cycle json, state text, tenant text,
    created_at bigint, triggered_at bigint, ended_at bigint)
ORDER BY x.key;

-- name: new_user_tasks
-- Tags and business id are copies of the instance's, which never change.
INSERT INTO user_tasks (user_task_key, root_key, part_key, process_instance_key, element_instance_key, process_definition_key,
    process_id, tenant_id, process_version, process_name, element_id, name, business_id, tags, created_at, priority, assignee,
    candidate_groups, candidate_users, due_at, follow_up_at, headers, external_form, form_key, transition, state, ended_at)
SELECT x.key, x.root, coalesce(x.part, x.root), x.instance, x.element, x.definition, x.process_id, x.tenant, x.number,
    x.process_name, x.element_id, x.name, x.business_id, x.tags, from_epoch_ms(x.created_at), x.priority, x.assignee, x.groups,
    x.users, from_epoch_ms(x.due_at), from_epoch_ms(x.follow_up_at), x.headers, x.external_form, x.form_key, x.transition,
    x.state, from_epoch_ms(x.ended_at)
FROM json_to_recordset($1) AS x(key bigint, root bigint, part bigint, instance bigint, element bigint, definition bigint,
    process_id text, tenant text, number int, process_name text, element_id text, name text, business_id text, tags text[],
    created_at bigint, priority int, assignee text, groups text[], users text[], due_at bigint, follow_up_at bigint,
    headers json, external_form text, form_key bigint, transition json, state text, ended_at bigint);

-- name: user_tasks
-- The columns that users may change, and the end.
UPDATE user_tasks t
SET state = x.state, priority = x.priority, assignee = x.assignee, candidate_groups = x.groups, candidate_users = x.users,
    due_at = from_epoch_ms(x.due_at), follow_up_at = from_epoch_ms(x.follow_up_at), transition = x.transition,
    ended_at = from_epoch_ms(x.ended_at)
FROM json_to_recordset($1) AS x(key bigint, state text, priority int, assignee text, groups text[], users text[], due_at bigint,
    follow_up_at bigint, transition json, ended_at bigint)
WHERE t.user_task_key = x.key;

-- name: migrated_user_tasks
-- The changes of people stay: assignee, candidates, dates and priority.
UPDATE user_tasks t
SET process_definition_key = x.definition, process_id = x.process_id, process_version = x.number,
    process_name = x.process_name, element_id = x.element_id, name = x.name
FROM json_to_recordset($1) AS x(keys bigint[], definition bigint, process_id text, number int, process_name text, element_id text,
    name text),
    unnest(x.keys) AS k(key)
WHERE t.user_task_key = k.key;

-- name: ended_user_tasks
-- Bulk end: user tasks that end identically. It sets what `user_tasks` sets, without documents.
UPDATE user_tasks
SET state = $2, priority = $3, assignee = $4, candidate_groups = $5, candidate_users = $6, due_at = from_epoch_ms($7),
    follow_up_at = from_epoch_ms($8), transition = $9, ended_at = from_epoch_ms($10)
WHERE user_task_key = ANY ($1::bigint[]);

-- name: new_incidents
-- `stage` and `argument` name the work that a resolution runs again.
INSERT INTO incidents (incident_key, root_key, part_key, process_instance_key, element_instance_key, process_definition_key,
    process_id, element_id, job_key, stage, argument, type, message, state, tenant_id, created_at, resolved_at)
SELECT x.key, x.root, coalesce(x.part, x.root), x.instance, x.element, x.definition, x.process_id, x.element_id, x.job, x.stage,
    x.argument, x.type, x.message, x.state, x.tenant, from_epoch_ms(x.created_at), from_epoch_ms(x.resolved_at)
FROM json_to_recordset($1) AS x(key bigint, root bigint, part bigint, instance bigint, element bigint, definition bigint,
    process_id text, element_id text, job bigint, stage text, argument json, type text, message text, state text,
    tenant text, created_at bigint, resolved_at bigint);

-- name: incidents
-- An incident changes only when it is resolved.
UPDATE incidents t SET state = x.state, resolved_at = from_epoch_ms(x.resolved_at)
FROM json_to_recordset($1) AS x(key bigint, state text, resolved_at bigint)
WHERE t.incident_key = x.key;

-- name: migrated_incidents
-- The argument of the failed stage may name an element.
UPDATE incidents t
SET process_definition_key = x.definition, process_id = x.process_id, element_id = x.element_id, argument = x.argument
FROM json_to_recordset($1) AS x(keys bigint[], definition bigint, process_id text, element_id text, argument json),
    unnest(x.keys) AS k(key)
WHERE t.incident_key = k.key;

-- name: new_deployments
-- Kept for the audit trail. Definitions refer to their deployment.
INSERT INTO deployments (deployment_key, tenant_id, deployed_at)
SELECT x.key, x.tenant, from_epoch_ms(x.deployed_at)
FROM json_to_recordset($1) AS x(key bigint, tenant text, deployed_at bigint);

-- name: new_definitions
-- The catalogue has a single owner. UNIQUE (tenant, process, version) is a second guard.
INSERT INTO process_definitions (process_definition_key, deployment_key, tenant_id, process_id, version, name, version_tag,
    resource_name, sha256, state, deployed_at, start_form_id, start_form_binding, start_form_version_tag, retention_ms)
SELECT x.key, x.deployment, x.tenant, x.process_id, x.version, x.name, x.version_tag, x.resource, x.sha256, x.state,
    from_epoch_ms(x.deployed_at), x.start_form_id, x.start_form_binding, x.start_form_version_tag, x.retention_ms
FROM json_to_recordset($1) AS x(key bigint, deployment bigint, tenant text, process_id text, version int, name text,
    version_tag text, resource text, sha256 text, state text, deployed_at bigint, start_form_id text, start_form_binding text,
    start_form_version_tag text, retention_ms bigint);

-- name: definitions
-- Only the state changes.
UPDATE process_definitions t SET state = x.state
FROM json_to_recordset($1) AS x(key bigint, state text)
WHERE t.process_definition_key = x.key;

-- name: new_forms
-- As definitions.
INSERT INTO forms (form_key, deployment_key, tenant_id, form_id, version, version_tag, resource_name, sha256, state, deployed_at)
SELECT x.key, x.deployment, x.tenant, x.form_id, x.version, x.version_tag, x.resource, x.sha256, x.state,
    from_epoch_ms(x.deployed_at)
FROM json_to_recordset($1) AS x(key bigint, deployment bigint, tenant text, form_id text, version int, version_tag text,
    resource text, sha256 text, state text, deployed_at bigint);

-- name: forms
-- Only the state changes.
UPDATE forms t SET state = x.state
FROM json_to_recordset($1) AS x(key bigint, state text)
WHERE t.form_key = x.key;

-- name: new_generic_resources
-- As definitions.
INSERT INTO generic_resources (resource_key, deployment_key, tenant_id, resource_id, version, version_tag, resource_name,
    sha256, state, deployed_at)
SELECT x.key, x.deployment, x.tenant, x.resource_id, x.version, x.version_tag, x.resource, x.sha256, x.state,
    from_epoch_ms(x.deployed_at)
FROM json_to_recordset($1) AS x(key bigint, deployment bigint, tenant text, resource_id text, version int, version_tag text,
    resource text, sha256 text, state text, deployed_at bigint);

-- name: generic_resources
-- Only the state changes.
UPDATE generic_resources t SET state = x.state
FROM json_to_recordset($1) AS x(key bigint, state text)
WHERE t.resource_key = x.key;

-- name: new_decision_requirements
-- As definitions.
INSERT INTO decision_requirements (decision_requirements_key, deployment_key, tenant_id, requirements_id, version, name,
    resource_name, sha256, state, deployed_at)
SELECT x.key, x.deployment, x.tenant, x.requirements_id, x.version, x.name, x.resource, x.sha256, x.state,
    from_epoch_ms(x.deployed_at)
FROM json_to_recordset($1) AS x(key bigint, deployment bigint, tenant text, requirements_id text, version int, name text,
    resource text, sha256 text, state text, deployed_at bigint);

-- name: decision_requirements
-- Only the state changes.
UPDATE decision_requirements t SET state = x.state
FROM json_to_recordset($1) AS x(key bigint, state text)
WHERE t.decision_requirements_key = x.key;

-- name: new_decision_definitions
-- As definitions.
INSERT INTO decision_definitions (decision_definition_key, deployment_key, tenant_id, decision_id, version, name, version_tag,
    decision_requirements_key, sha256, imports, state, deployed_at)
SELECT x.key, x.deployment, x.tenant, x.decision_id, x.version, x.name, x.version_tag, x.requirements, x.sha256, x.imports,
    x.state, from_epoch_ms(x.deployed_at)
FROM json_to_recordset($1) AS x(key bigint, deployment bigint, tenant text, decision_id text, version int, name text,
    version_tag text, requirements bigint, sha256 text, imports text[], state text, deployed_at bigint);

-- name: decision_definitions
-- Only the state changes.
UPDATE decision_definitions t SET state = x.state
FROM json_to_recordset($1) AS x(key bigint, state text)
WHERE t.decision_definition_key = x.key;

-- name: definitions_moved
-- Every batch of every partition reads this number: "latest" is never older than an answered deployment.
UPDATE definitions_seq SET n = n + 1;

-- name: tell_definitions
-- Deployments are rare, and the caches of all nodes must learn of them at the commit. No other batch notifies, except for moves
-- of slots.
SELECT pg_notify($2, x::text) FROM json_array_elements($1) AS x;

-- name: new_subscriptions
-- The subscriptions of elements, in their last state, also those that the batch opened and closed.
INSERT INTO subscriptions (subscription_key, root_key, part_key, process_instance_key, element_instance_key,
    process_definition_key, process_id, tenant_id, process_name, process_version, target_element_id, type, kind, name, state,
    created_at, updated_at, interrupting, correlation_key, business_id, suspended, ended_at)
SELECT x.key, x.root, coalesce(x.part, x.root), x.instance, x.element, x.definition, x.process_id, x.tenant, x.process_name,
    x.number, x.target, x.type, x.kind, x.name, x.state, from_epoch_ms(x.created_at), from_epoch_ms(x.updated_at),
    x.interrupting, x.correlation_key, x.business_id, x.suspended, from_epoch_ms(x.ended_at)
FROM json_to_recordset($1) AS x(key bigint, root bigint, part bigint, instance bigint, element bigint, definition bigint,
    process_id text, tenant text, process_name text, number int, target text, type text, kind text, name text, state text,
    created_at bigint, updated_at bigint, interrupting boolean, correlation_key text, business_id text, suspended boolean,
    ended_at bigint);

-- name: subscriptions
-- The columns that may change.
UPDATE subscriptions t
SET state = x.state, updated_at = from_epoch_ms(x.updated_at), suspended = x.suspended, ended_at = from_epoch_ms(x.ended_at)
FROM json_to_recordset($1) AS x(key bigint, state text, updated_at bigint, suspended boolean, ended_at bigint)
WHERE t.subscription_key = x.key;

-- name: migrated_subscriptions
-- Name and correlation key stay.
UPDATE subscriptions t
SET process_definition_key = x.definition, process_id = x.process_id, process_name = x.process_name,
    process_version = x.number, target_element_id = x.target, interrupting = x.interrupting
FROM json_to_recordset($1) AS x(keys bigint[], definition bigint, process_id text, process_name text, number int, target text,
    interrupting boolean),
    unnest(x.keys) AS k(key)
WHERE t.subscription_key = k.key;

-- name: new_start_subscriptions
-- For the latest versions only.
INSERT INTO start_subscriptions (subscription_key, process_definition_key, tenant_id, process_id, element_id, kind, name,
    opened_at, together, properties)
SELECT x.key, x.definition, x.tenant, x.process_id, x.element, x.kind, x.name, from_epoch_ms(x.opened_at), x.together,
    x.properties
FROM json_to_recordset($1) AS x(key bigint, definition bigint, tenant text, process_id text, element text, kind text, name text,
    opened_at bigint, together boolean, properties json, state text)
WHERE x.state <> 'CLOSED';

-- name: start_subscriptions
-- A start subscription changes only when it is closed.
DELETE FROM start_subscriptions t USING json_to_recordset($1) AS x(key bigint, state text)
WHERE t.subscription_key = x.key AND x.state = 'CLOSED';

-- name: new_messages
-- The messages that wait for a subscription.
INSERT INTO messages (message_key, partition_id, tenant_id, name, correlation_key, message_id, deadline_ms, variables, given,
    business_id)
SELECT x.key, $2, x.tenant, x.name, x.correlation_key, x.message_id, x.deadline, x.variables, x.given, x.business_id
FROM json_to_recordset($1) AS x(key bigint, tenant text, name text, correlation_key text, message_id text, deadline bigint,
    variables json, given text[], business_id text);

-- name: messages
-- Only the list of processes that received it changes, and the deadline of one that is to be erased. It may have expired
-- meanwhile.
UPDATE messages t SET given = x.given, deadline_ms = x.deadline
FROM json_to_recordset($1) AS x(key bigint, given text[], deadline bigint)
WHERE t.message_key = x.key;

-- name: new_channel_subscriptions
-- A subscription that was closed in the same batch is not written.
INSERT INTO channel_subscriptions (subscription_key, tenant_id, correlation_key, name, process_id, interrupting, state,
    business_id)
SELECT x.key, x.tenant, x.correlation_key, x.name, x.process_id, x.interrupting, x.state, x.business_id
FROM json_to_recordset($1) AS x(key bigint, tenant text, correlation_key text, name text, process_id text, interrupting boolean,
    state text, business_id text)
WHERE x.state <> 'CLOSED';

-- name: channel_subscriptions
-- Closed ones are deleted: their history is in `subscriptions`.
WITH changed AS (
    SELECT * FROM json_to_recordset($1) AS x(key bigint, process_id text, interrupting boolean, state text)
), gone AS (
    DELETE FROM channel_subscriptions t USING changed x WHERE t.subscription_key = x.key AND x.state = 'CLOSED'
)
UPDATE channel_subscriptions t SET process_id = x.process_id, interrupting = x.interrupting, state = x.state FROM changed x
WHERE t.subscription_key = x.key AND x.state <> 'CLOSED';

-- name: new_start_locks
-- The key is the instance's. There is one lock for each process and correlation key. A pending start has a key of its own.
INSERT INTO start_locks (process_instance_key, tenant_id, correlation_key, process_id, element_id, kept, deadline_ms)
SELECT x.key, x.tenant, x.correlation_key, x.process_id, x.element, x.kept, x.deadline
FROM json_to_recordset($1) AS x(key bigint, tenant text, correlation_key text, process_id text, element text, kept json,
    deadline bigint, state text)
WHERE x.state <> 'CLOSED';

-- name: start_locks
-- A start lock changes only when it is released, a pending start also when a message comes. It may have expired meanwhile.
WITH changed AS (SELECT * FROM json_to_recordset($1) AS x(key bigint, state text, kept json, deadline bigint)),
     gone AS (DELETE FROM start_locks t USING changed x WHERE t.process_instance_key = x.key AND x.state = 'CLOSED')
UPDATE start_locks t SET kept = x.kept, deadline_ms = x.deadline FROM changed x
WHERE t.process_instance_key = x.key AND x.state <> 'CLOSED';

-- name: new_decision_instances
-- Evaluated decisions. They never change.
INSERT INTO decision_instances (decision_instance_key, root_key, process_instance_key, element_instance_key,
    process_definition_key, process_id, element_id, business_id, tenant_id, decision_evaluation_key, number,
    decision_definition_key, decision_id, name, version, type, root_decision_definition_key, decision_requirements_key, state,
    failure, result, inputs, rules, evaluated_at)
SELECT x.key, x.root, x.instance, x.element, x.definition, x.process_id, x.element_id, x.business_id, x.tenant, x.evaluation,
    x.number, x.decision, x.decision_id, x.name, x.version, x.type, x.asked, x.requirements, x.state, x.failure, x.result,
    x.inputs, x.rules, from_epoch_ms(x.evaluated_at)
FROM json_to_recordset($1) AS x(key bigint, root bigint, instance bigint, element bigint, definition bigint, process_id text,
    element_id text, business_id text, tenant text, evaluation bigint, number int, decision bigint, decision_id text, name text,
    version int, type text, asked bigint, requirements bigint, state text, failure text, result text, inputs json, rules json,
    evaluated_at bigint);

-- name: new_compensations
-- Activities that completed and can be compensated.
INSERT INTO compensations (compensation_key, process_instance_key, tenant_id, scope_key, element_instance_key, element_id,
    is_scope, handler, registered, running)
SELECT x.key, x.instance, x.tenant, x.scope, x.activity, x.element, x.is_scope, x.handler, x.registered, x.running
FROM json_to_recordset($1) AS x(key bigint, instance bigint, tenant text, scope bigint, activity bigint, element text,
    is_scope boolean, handler text, registered json, running boolean, state text)
WHERE x.state <> 'CLOSED';

-- name: compensations
-- A registration changes when something of it is compensated, and goes when nothing is left.
WITH changed AS (
    SELECT * FROM json_to_recordset($1)
        AS x(key bigint, state text, element text, handler text, registered json, running boolean)
), gone AS (
    DELETE FROM compensations t USING changed x WHERE t.compensation_key = x.key AND x.state = 'CLOSED'
)
UPDATE compensations t SET element_id = x.element, handler = x.handler, registered = x.registered, running = x.running
FROM changed x WHERE t.compensation_key = x.key AND x.state <> 'CLOSED';

-- name: message_correlations
-- The history of messages. A correlation never changes.
INSERT INTO message_correlations (message_correlation_key, message_key, subscription_key, name, correlation_key, root_key,
    process_instance_key, process_definition_key, process_id, business_id, element_id, element_instance_key, tenant_id,
    correlated_at)
SELECT x.key, x.message, x.subscription, x.name, x.correlation_key, x.root, x.instance, x.definition, x.process_id, x.business_id,
    x.target, x.element, x.tenant, from_epoch_ms(x.at)
FROM json_to_recordset($1) AS x(key bigint, message bigint, subscription bigint, name text, correlation_key text, root bigint,
    instance bigint, definition bigint, process_id text, business_id text, target text, element bigint, tenant text, at bigint);

-- name: slot_owners
-- A move of slots: their new owner.
UPDATE slots SET partition_id = $2 WHERE slot = ANY ($1::smallint[]);

-- name: slot_detours
-- All senders still reach them by way of the previous owner.
INSERT INTO slot_detours (partition_id, previous, slots, held) SELECT unnest($3::int[]), $2, $1::smallint[], false;

-- name: tell_routes
-- Moves of slots are rarer than deployments.
SELECT pg_notify($1, '');

-- name: slots_held
-- The sender holds what comes next.
UPDATE slot_detours SET held = true WHERE partition_id = $1;

-- name: held_commands
-- The first $3, or all if that is NULL. They get new ids, because they come after what the previous owner has sent on.
WITH held AS (
    DELETE FROM inbox WHERE target_partition = -$1::int AND id = ANY (ARRAY(
        SELECT id FROM inbox WHERE target_partition = -$1::int ORDER BY id LIMIT $3))
    RETURNING *)
INSERT INTO inbox (target_partition, request, tenant_id, intent, key, payload, trace, audit)
SELECT $2, request, tenant_id, intent, key, payload, trace, audit FROM held ORDER BY id;

-- name: slots_released
-- The sender reaches the new owner directly.
DELETE FROM slot_detours WHERE partition_id = $1;
