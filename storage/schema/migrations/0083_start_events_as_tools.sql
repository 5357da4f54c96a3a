-- What the model of a process tells agents and connectors about a start event: of new deployments only.
ALTER TABLE IF EXISTS start_subscriptions ADD COLUMN properties json;

-- A database without one of the tables is refused later, with all that it lacks.
DO $$
BEGIN
    IF to_regclass('subscriptions') IS NOT NULL AND to_regclass('start_subscriptions') IS NOT NULL THEN
        CREATE OR REPLACE VIEW message_subscriptions WITH (security_invoker = true) AS
        SELECT subscription_key, process_id, process_definition_key, process_name, process_version, process_instance_key,
               root_key, target_element_id AS element_id, element_instance_key, state, 'PROCESS_EVENT' AS subscription_type,
               updated_at, name, correlation_key, tenant_id, business_id, ended_at, NULL::json AS properties
        FROM subscriptions WHERE kind = 'MESSAGE'
        UNION ALL
        SELECT s.subscription_key, s.process_id, s.process_definition_key, d.name, d.version, NULL, NULL, s.element_id, NULL,
               'CREATED', 'START_EVENT', s.opened_at, s.name, NULL, s.tenant_id, NULL, NULL, s.properties
        FROM start_subscriptions s JOIN process_definitions d USING (process_definition_key) WHERE s.kind = 'MESSAGE';
    END IF;
END $$;
