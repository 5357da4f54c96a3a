-- name: listeners
-- All of them, in the order in which they run.
SELECT type, retries, after_non_global, event_types FROM global_task_listeners ORDER BY priority DESC, id;

-- name: changed
-- Every batch reads this number: what was answered holds for the next transition.
UPDATE definitions_seq SET n = n + 1;

-- name: create
-- No row for an id that is taken: the request says so.
INSERT INTO global_task_listeners (id, type, retries, priority, after_non_global, event_types) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO NOTHING RETURNING 1;

-- name: replace
-- Transitions under way have a copy.
UPDATE global_task_listeners SET type = $2, retries = $3, priority = $4, after_non_global = $5, event_types = $6 WHERE id = $1
RETURNING 1;

-- name: delete
-- Transitions under way have a copy.
DELETE FROM global_task_listeners WHERE id = $1 RETURNING 1;
