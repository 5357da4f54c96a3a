-- name: add
-- One statement for a change over the API, and for all audited commands of a batch, behind the rows that they change. The keys
-- of a record's subject are looked up once and kept, because the rows are deleted before their records. Each key has at most
-- one row in one of the tables, and each look-up is one of a primary key. Of a creation only the answer has the key. An attempt
-- with a key of another tenant is recorded like one with an unknown key: it is no matter of that tenant.
INSERT INTO audit_log (actor_type, actor_id, address, category, entity_type, entity_key, operation, result, description,
    related_type, related_key, tenant_id, position, root_key, process_instance_key, process_definition_key, process_id,
    element_instance_key, job_key, user_task_key, deployment_key, resource_key, batch_operation_key, batch_operation_type,
    actor_provider, tool)
SELECT a.actor_type, a.actor_id, a.address, a.category, a.entity_type, coalesce(a.entity_key, k.key::text, ''), a.operation,
    x.result, a.description, a.related_type, a.related_key, coalesce(s.tenant_id, x.response::json ->> 'tenantId', a.tenant_id),
    x.position, s.root_key, s.process_instance_key, s.process_definition_key, s.process_id, s.element_instance_key, s.job_key,
    s.user_task_key, (x.response::json ->> 'deploymentKey')::bigint, CASE WHEN a.entity_type = 'RESOURCE' THEN a.key END,
    a.batch_operation_key, a.batch_operation_type, a.actor_provider, a.tool
FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) AS x(record, position, result, response)
CROSS JOIN LATERAL json_to_record(x.record::json) AS a(actor_type text, actor_id text, address text, category text,
    entity_type text, entity_key text, key bigint, operation text, description text, related_type text, related_key text,
    tenant_id text, tenants text, batch_operation_key bigint, batch_operation_type text, actor_provider text, tool text)
CROSS JOIN LATERAL (
    SELECT coalesce(a.key, (r.document ->> 'processInstanceKey')::bigint, (r.document ->> 'messageKey')::bigint,
        (r.document ->> 'signalKey')::bigint, (r.document ->> 'conditionalEvaluationKey')::bigint,
        (r.document ->> 'deploymentKey')::bigint)
    FROM (SELECT x.response::json) AS r(document)) AS k(key)
LEFT JOIN LATERAL (
    SELECT root_key, process_instance_key, process_definition_key, process_id, NULL::bigint AS element_instance_key,
        NULL::bigint AS job_key, NULL::bigint AS user_task_key, tenant_id
    FROM process_instances WHERE process_instance_key = k.key
    UNION ALL
    SELECT root_key, process_instance_key, process_definition_key, process_id, element_instance_key, NULL, NULL, tenant_id
    FROM element_instances WHERE element_instance_key = k.key
    UNION ALL
    SELECT root_key, process_instance_key, process_definition_key, process_id, element_instance_key, NULL, user_task_key,
        tenant_id
    FROM user_tasks WHERE user_task_key = k.key
    UNION ALL
    SELECT root_key, process_instance_key, process_definition_key, process_id, element_instance_key, job_key, NULL, tenant_id
    FROM jobs WHERE job_key = k.key
    UNION ALL
    SELECT root_key, process_instance_key, process_definition_key, process_id, element_instance_key, job_key, NULL, tenant_id
    FROM incidents WHERE incident_key = k.key
    UNION ALL
    SELECT root_key, process_instance_key, process_definition_key, process_id, element_instance_key, NULL, NULL, tenant_id
    FROM timers WHERE timer_key = k.key
    UNION ALL
    SELECT NULL, NULL, process_definition_key, process_id, NULL, NULL, NULL, tenant_id
    FROM process_definitions WHERE process_definition_key = k.key
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, tenant_id
    FROM forms WHERE form_key = k.key
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, tenant_id
    FROM generic_resources WHERE resource_key = k.key
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, tenant_id
    FROM decision_requirements WHERE decision_requirements_key = k.key
    LIMIT 1) AS s ON a.tenants IS NULL OR s.tenant_id = ANY (string_to_array(a.tenants, ','));

-- name: refuse
-- The batch that refuses a request after its command was accepted. The record was committed before the command's follow-ups could
-- reach another batch or partition. Requests without a record match nothing.
UPDATE audit_log SET result = 'FAIL' WHERE position = ANY ($1::bigint[]) AND result = 'SUCCESS';

-- name: purge
-- A limited number, the oldest first, by the database's time: the engine's can be set.
DELETE FROM audit_log WHERE audit_log_key = ANY (ARRAY(
    SELECT audit_log_key FROM audit_log WHERE at < clock_timestamp() - $1::bigint * interval '1 millisecond'
    ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED));
