-- Suspended process instances are few among those that run: searches and batch operations find them by this index. Only a
-- suspension and its end write to it.
CREATE INDEX process_instances_suspended ON process_instances (process_instance_key) WHERE suspended_at IS NOT NULL;

-- A suspended instance has the state SUSPENDED, with incidents or without. New columns of a view come last.
CREATE OR REPLACE VIEW process_instances_view WITH (security_invoker = true) AS
SELECT process_instance_key, process_id AS bpmn_process_id, process_version AS version, process_definition_key, tenant_id,
    CASE WHEN state IN ('COMPLETED', 'TERMINATED') THEN state WHEN suspended_at IS NOT NULL THEN 'SUSPENDED'
        WHEN incidents > 0 THEN 'INCIDENT' ELSE 'ACTIVE' END AS state,
    started_at, ended_at, parent_process_instance_key, root_key AS root_process_instance_key, business_id, tags,
    suspended_at, suspended_reason
FROM process_instances;
