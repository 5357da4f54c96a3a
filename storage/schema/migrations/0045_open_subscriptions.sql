-- The message subscriptions of the REST API say when they ended: a search for open ones then reads the index that only these have, and not
-- all that were closed in thirty days. Replacing a view drops its options, so they are given again (0018).
CREATE OR REPLACE VIEW message_subscriptions WITH (security_invoker = true) AS
SELECT subscription_key, process_id, process_definition_key, process_name, process_version, process_instance_key, root_key,
       target_element_id AS element_id, element_instance_key, state, 'PROCESS_EVENT' AS subscription_type, updated_at, name,
       correlation_key, tenant_id, business_id, ended_at
FROM subscriptions WHERE kind = 'MESSAGE'
UNION ALL
SELECT s.subscription_key, s.process_id, s.process_definition_key, d.name, d.version, NULL, NULL, s.element_id, NULL,
       'CREATED', 'START_EVENT', s.opened_at, s.name, NULL, s.tenant_id, NULL, NULL
FROM start_subscriptions s JOIN process_definitions d USING (process_definition_key) WHERE s.kind = 'MESSAGE';
