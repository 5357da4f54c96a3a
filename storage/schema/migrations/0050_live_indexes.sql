-- A plan that was made while nothing was live takes any index of live rows for equally cheap, also one that does not lead to the rows
-- that are asked for: it then reads all live rows, for each part of a tree. So the predicate of these two says which column must be
-- known. A condition on that column implies it, and no other condition does.
DROP INDEX element_instances_scope;
CREATE INDEX element_instances_scope ON element_instances (scope_key, element_instance_key) WHERE ended_at IS NULL AND scope_key IS NOT NULL;
DROP INDEX element_instances_definition;
CREATE INDEX element_instances_definition ON element_instances (process_definition_key, element_id)
WHERE ended_at IS NULL AND process_definition_key IS NOT NULL;
