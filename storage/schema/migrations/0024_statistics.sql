-- Statistics of incidents, instances with incidents, and open message subscriptions, from rows that are live: an index on those is as
-- small as they are few, however large the tables grow.

-- The API names an error by a number. Incidents with the same message have the same number.
ALTER TABLE incidents
    ADD COLUMN error_hash int NOT NULL GENERATED ALWAYS AS (('x' || left(md5(message), 8))::bit(32)::int) STORED;
-- Everything that the statistics need, so that they do not read the rows. By instance: one may have several incidents with the same error.
CREATE INDEX incidents_errors ON incidents (error_hash, process_definition_key, process_instance_key) INCLUDE (incident_key)
    WHERE resolved_at IS NULL;

CREATE INDEX process_instances_incidents_definition ON process_instances (process_definition_key)
    WHERE incidents > 0 AND ended_at IS NULL;

-- The running instances of all definitions are few rows among those of their elements.
CREATE INDEX element_counts_instances ON element_counts (process_definition_key) WHERE element_id = '';
