-- Complex gateways of a scope that wait for reset: by id, the incoming flows that gave a token when the gateway started.
ALTER TABLE process_instances ADD COLUMN awaiting_reset json;
ALTER TABLE element_instances ADD COLUMN awaiting_reset json;
