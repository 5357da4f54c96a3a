-- name: roots
-- The root, the part and the tenant of each key. Only live rows: a command about an ended row is rejected as not found.
-- The end is compared so that no index of live rows fits: while nothing is live, one would seem to cost no more than the
-- primary key.
SELECT timer_key, root_key, part_key, tenant_id FROM timers
WHERE timer_key = ANY ($4::bigint[]) AND coalesce(ended_at, 'infinity') = 'infinity' AND root_key IS NOT NULL
UNION ALL
SELECT subscription_key, root_key, part_key, tenant_id FROM subscriptions
WHERE subscription_key = ANY ($5::bigint[]) AND coalesce(ended_at, 'infinity') = 'infinity'
UNION ALL
SELECT job_key, root_key, part_key, tenant_id FROM jobs
WHERE job_key = ANY ($1::bigint[]) AND coalesce(ended_at, 'infinity') = 'infinity'
UNION ALL
SELECT incident_key, root_key, part_key, tenant_id FROM incidents
WHERE incident_key = ANY ($2::bigint[]) AND coalesce(resolved_at, 'infinity') = 'infinity'
UNION ALL
SELECT element_instance_key, root_key, part_key, tenant_id FROM element_instances
WHERE element_instance_key = ANY ($3::bigint[]) AND coalesce(ended_at, 'infinity') = 'infinity'
UNION ALL
SELECT process_instance_key, root_key, part_key, tenant_id FROM process_instances
WHERE process_instance_key = ANY ($3::bigint[]) AND coalesce(ended_at, 'infinity') = 'infinity';

-- name: user_task_roots
-- Separate from the other references: few batches name user tasks.
SELECT user_task_key, root_key, part_key, tenant_id FROM user_tasks
WHERE user_task_key = ANY ($1::bigint[]) AND coalesce(ended_at, 'infinity') = 'infinity';

-- name: start_timers
-- The timers of start events belong to no tree. They are loaded with the family of their process.
SELECT timer_key, element_instance_key, process_definition_key, process_id, tenant_id, target_element_id, type, state, due_at_ms,
    to_epoch_ms(created_at), repetitions, cycle::text
FROM timers
WHERE root_key IS NULL AND ended_at IS NULL AND process_definition_key = ANY (ARRAY (
    SELECT process_definition_key FROM process_definitions WHERE (tenant_id, process_id) IN (
        SELECT * FROM unnest($1::text[], $2::text[])
        UNION SELECT tenant_id, process_id FROM process_definitions WHERE process_definition_key = ANY ($3::bigint[])
        UNION SELECT tenant_id, process_id FROM timers WHERE timer_key = ANY ($4::bigint[]) AND root_key IS NULL
        UNION SELECT tenant_id, process_id FROM process_definitions WHERE deployment_key = ANY ($5::bigint[]))))
ORDER BY timer_key;

-- name: leases
-- Read for each batch: activation changes leases, and the state does not know them.
SELECT job_key, lease_token::text, to_epoch_ms(available_at) FROM jobs WHERE job_key = ANY ($1::bigint[]);

-- name: instances
-- By part, on the partial index of live rows: a tree without the inner instances of paged loops, or one such inner instance.
SELECT process_instance_key, root_key, parent_element_instance_key, state, to_epoch_ms(started_at), tokens::text, live,
    then_::text, interrupted, request, incidents, registered::text, awaiting_reset::text, occurrences::text,
    process_definition_key, process_id, process_version, version_tag, process_name, tenant_id, business_id, tags, depth,
    created_position, parent_process_instance_key, start::text, start_lock, terminate_after, to_epoch_ms(suspended_at),
    suspended_reason, suspended_work::text, suspended_rows, to_epoch_ms(due_at), trace, work::text, work_rows, version, in_parts
FROM process_instances WHERE part_key = ANY ($1::bigint[]) AND ended_at IS NULL ORDER BY process_instance_key;

-- name: elements
-- Outer scopes first: an inner scope has a larger key.
SELECT element_instance_key, process_instance_key, scope_key, path, element_id, element_type, state, to_epoch_ms(started_at),
    tokens::text, live, loop_index, element_name, then_::text, interrupted, occurred::text, loop::text, ad_hoc::text, request,
    incidents, incident_key, registered::text, awaiting_reset::text, compensation::text, occurrences::text
FROM element_instances WHERE part_key = ANY ($1::bigint[]) AND ended_at IS NULL ORDER BY element_instance_key;

-- name: jobs
-- Without the lease columns, which belong to activation. The end of a backoff belongs to the engine until a worker has a lease.
SELECT job_key, element_instance_key, type, retries, to_epoch_ms(created_at), to_epoch_ms(updated_at), state, kind,
    listener_event, listener_index, priority, headers::text, error_code, error_message,
    CASE WHEN state = 'FAILED' AND lease_token IS NULL THEN to_epoch_ms(available_at) END, trace
FROM jobs WHERE part_key = ANY ($1::bigint[]) AND ended_at IS NULL ORDER BY job_key;

-- name: timers
-- Pending and failed timers.
SELECT timer_key, element_instance_key, target_element_id, type, state, due_at_ms, to_epoch_ms(created_at), repetitions,
    cycle::text
FROM timers WHERE part_key = ANY ($1::bigint[]) AND ended_at IS NULL ORDER BY timer_key;

-- name: subscriptions
-- Open subscriptions only.
SELECT subscription_key, element_instance_key, target_element_id, type, kind, name, state, to_epoch_ms(created_at),
    to_epoch_ms(updated_at), interrupting, correlation_key, business_id, suspended
FROM subscriptions WHERE part_key = ANY ($1::bigint[]) AND ended_at IS NULL ORDER BY subscription_key;

-- name: incidents
-- Open incidents only.
SELECT incident_key, element_instance_key, type, message, to_epoch_ms(created_at), stage, argument::text, job_key
FROM incidents WHERE part_key = ANY ($1::bigint[]) AND resolved_at IS NULL ORDER BY incident_key;

-- name: user_tasks
-- Open user tasks only.
SELECT user_task_key, element_instance_key, to_epoch_ms(created_at), priority, assignee, candidate_groups, candidate_users,
    to_epoch_ms(due_at), to_epoch_ms(follow_up_at), headers::text, external_form, form_key, transition::text
FROM user_tasks WHERE part_key = ANY ($1::bigint[]) AND ended_at IS NULL ORDER BY user_task_key;

-- name: parts_around
-- The parts of the elements around, out to the root: a part may be within another part, and that one within a third.
WITH RECURSIVE around AS (
    SELECT root_key, part_key FROM element_instances WHERE element_instance_key = ANY ($1::bigint[])
    UNION
    SELECT body.root_key, body.part_key
    FROM around
    JOIN element_instances head ON head.element_instance_key = around.part_key AND around.part_key <> around.root_key
    JOIN element_instances body ON body.element_instance_key = head.scope_key)
SELECT root_key, part_key FROM around;

-- name: rows_of_parts
-- The number of live elements of parts together with what is around them, and the number of the last part that was counted.
-- Counting stops at the limit, so that it costs the same however large the trees are.
WITH RECURSIVE around AS (
    SELECT n, root_key, part_key FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY asked(root_key, part_key, n)
    UNION
    SELECT around.n, body.root_key, body.part_key
    FROM around
    JOIN element_instances head ON head.element_instance_key = around.part_key AND around.part_key <> around.root_key
    JOIN element_instances body ON body.element_instance_key = head.scope_key)
SELECT count(*), max(counted.n) FROM (
    SELECT part.n
    FROM (SELECT part_key, min(n) n FROM around WHERE part_key <> ALL ($3::bigint[]) GROUP BY part_key ORDER BY 2) part
    CROSS JOIN LATERAL (
        SELECT FROM element_instances e WHERE e.part_key = part.part_key AND e.ended_at IS NULL LIMIT $4) element
    LIMIT $4) counted;

-- name: children_ahead
-- The next inner instances of a loop that ends early, for several pages, with the number of rows of each, counted up to $4. The
-- scan starts behind a key: until a vacuum, the index has entries of ended rows before it. The index has inner instances of paged
-- loops alone, each of which is a part of its own.
SELECT element_instance_key, (SELECT count(*)::int FROM (
    SELECT FROM element_instances row WHERE row.part_key = child.element_instance_key AND row.ended_at IS NULL LIMIT $4) counted)
FROM element_instances child
WHERE scope_key = $1 AND element_instance_key > $2 AND ended_at IS NULL AND part_key = element_instance_key
ORDER BY element_instance_key LIMIT $3;

-- name: children_of
-- All inner instances of paged loops, for an operation on a whole tree. The command has checked how many they are.
SELECT element_instance_key, scope_key FROM element_instances
WHERE scope_key = ANY ($1::bigint[]) AND ended_at IS NULL AND part_key = element_instance_key;

-- name: suspended_waits
-- A page of the suspended timers and subscriptions of an instance that was resumed, with their parts. Both have partial indexes.
(SELECT timer_key, root_key, part_key FROM timers
WHERE process_instance_key = $1 AND state = 'SUSPENDED' AND timer_key > $2 ORDER BY timer_key LIMIT $3)
UNION ALL
(SELECT subscription_key, root_key, part_key FROM subscriptions
WHERE process_instance_key = $1 AND suspended AND ended_at IS NULL AND subscription_key > $2 ORDER BY subscription_key LIMIT $3)
ORDER BY 1 LIMIT $3;

-- name: work_items
-- The work items of instances that have so many that the latest ones alone are in their own rows.
SELECT process_instance_key, suspended, items FROM work_items WHERE process_instance_key = ANY ($1::bigint[])
ORDER BY process_instance_key, suspended, number;

-- name: paged_loop_items
-- The rows with the items of inner instances that are about to begin, or have not taken theirs yet.
SELECT p.body_key, p.first, p.items
FROM unnest($1::bigint[], $2::int[]) AS x(body, index) CROSS JOIN LATERAL (
    SELECT * FROM paged_loop_items WHERE body_key = x.body AND first <= x.index ORDER BY first DESC LIMIT 1) p;

-- name: loop_results
-- All results of a loop that is done.
SELECT body_key, index, result FROM loop_items WHERE body_key = ANY ($1::bigint[]) AND result IS NOT NULL;

-- name: loop_items
-- The items and results of live loop bodies.
SELECT body_key, index, item, result FROM loop_items WHERE body_key = ANY ($1::bigint[]) ORDER BY body_key, index;

-- name: variables
-- By the keys of live scopes ($2) and their instances ($1), which the unique index begins with: the end of a scope therefore
-- updates no variable. OFFSET 0 keeps the lookups one by one, however many variables other scopes have.
SELECT v.variable_key, x.scope, v.name, v.value
FROM unnest($1::bigint[], $2::bigint[]) AS x(instance, scope) CROSS JOIN LATERAL (
    SELECT variable_key, name, value FROM variables
    WHERE process_instance_key = x.instance AND scope_key = x.scope OFFSET 0) v
ORDER BY v.variable_key;

-- name: running_elsewhere
-- The instances of definitions that run in other partitions. Read again for each command that asks.
SELECT c.process_definition_key, sum(c.active)::bigint FROM counted_elements c
WHERE c.partition_id = ANY ($2::int[]) AND c.process_definition_key = ANY ($1::bigint[]) AND c.element_id = ''
GROUP BY c.process_definition_key;

-- name: held_commands
-- The number of commands that the partition holds while slots move, counted up to a limit.
SELECT count(*) FROM (SELECT FROM inbox WHERE target_partition = -$1::int LIMIT $2) held;

-- name: families
-- All versions of the processes that are named, or whose definitions, start timers or deployments are named. A deleted version
-- keeps its number.
SELECT d.process_definition_key, d.deployment_key, d.tenant_id, d.process_id, d.version, d.name, d.version_tag,
       d.resource_name, d.sha256, d.state, to_epoch_ms(d.deployed_at), d.start_form_id, d.start_form_binding,
       d.start_form_version_tag, d.retention_ms, u.running
FROM process_definitions d
LEFT JOIN LATERAL (
    SELECT sum(c.active)::bigint AS running FROM counted_elements c
    WHERE c.partition_id = $4 AND c.process_definition_key = d.process_definition_key AND c.element_id = ''
) u ON true
WHERE (d.tenant_id, d.process_id) IN (
    SELECT * FROM unnest($1::text[], $2::text[])
    UNION SELECT tenant_id, process_id FROM process_definitions WHERE process_definition_key = ANY ($3::bigint[])
    UNION SELECT tenant_id, process_id FROM timers WHERE timer_key = ANY ($5::bigint[]) AND root_key IS NULL
    UNION SELECT tenant_id, process_id FROM process_definitions WHERE deployment_key = ANY ($6::bigint[]));

-- name: forms
-- All versions of the forms that are named, or of which a version or its deployment is named. A deleted version keeps its number.
SELECT form_key, deployment_key, tenant_id, form_id, version, version_tag, resource_name, sha256, state, to_epoch_ms(deployed_at)
FROM forms
WHERE (tenant_id, form_id) IN (
    SELECT * FROM unnest($1::text[], $2::text[])
    UNION SELECT tenant_id, form_id FROM forms WHERE form_key = ANY ($3::bigint[])
    UNION SELECT tenant_id, form_id FROM forms WHERE deployment_key = ANY ($4::bigint[]));

-- name: generic_resources
-- All versions of what is named, or of which a version or its deployment is named. A deleted version keeps its number.
SELECT resource_key, deployment_key, tenant_id, resource_id, version, version_tag, resource_name, sha256, state,
       to_epoch_ms(deployed_at)
FROM generic_resources
WHERE (tenant_id, resource_id) IN (
    SELECT * FROM unnest($1::text[], $2::text[])
    UNION SELECT tenant_id, resource_id FROM generic_resources WHERE resource_key = ANY ($3::bigint[])
    UNION SELECT tenant_id, resource_id FROM generic_resources WHERE deployment_key = ANY ($4::bigint[]));

-- name: decision_requirements
-- All versions of what is named, or of which a version or its deployment is named. A deleted version keeps its number.
SELECT decision_requirements_key, deployment_key, tenant_id, requirements_id, version, name, resource_name, sha256, state,
       to_epoch_ms(deployed_at)
FROM decision_requirements
WHERE (tenant_id, requirements_id) IN (
    SELECT * FROM unnest($1::text[], $2::text[])
    UNION SELECT tenant_id, requirements_id FROM decision_requirements WHERE decision_requirements_key = ANY ($3::bigint[])
    UNION SELECT tenant_id, requirements_id FROM decision_requirements WHERE deployment_key = ANY ($4::bigint[]));

-- name: decision_definitions
-- All versions of the decisions that are named, or of which a version or its file is named. A deleted version keeps its number.
SELECT decision_definition_key, deployment_key, tenant_id, decision_id, version, name, version_tag, decision_requirements_key,
       sha256, imports, state, to_epoch_ms(deployed_at)
FROM decision_definitions
WHERE (tenant_id, decision_id) IN (
    SELECT * FROM unnest($1::text[], $2::text[])
    UNION SELECT tenant_id, decision_id FROM decision_definitions WHERE decision_definition_key = ANY ($3::bigint[])
    UNION SELECT tenant_id, decision_id FROM decision_definitions WHERE decision_requirements_key = ANY ($4::bigint[]));
