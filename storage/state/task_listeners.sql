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
-- Transitions under way have a copy. What the settings file has stays.
UPDATE global_task_listeners SET type = $2, retries = $3, priority = $4, after_non_global = $5, event_types = $6
WHERE id = $1 AND source = 'API' RETURNING 1;

-- name: delete
-- Transitions under way have a copy. What the settings file has stays.
DELETE FROM global_task_listeners WHERE id = $1 AND source = 'API' RETURNING 1;

-- name: source_of
-- By the unique index on the id.
SELECT source FROM global_task_listeners WHERE id = $1;

-- name: of_file
-- All of the settings file, to see whether it has changed.
SELECT id, type, retries, priority, after_non_global, event_types FROM global_task_listeners
WHERE source = 'CONFIGURATION' ORDER BY id;

-- name: configure
-- One statement: those that the file has no longer go, and its others replace rows with the same ids.
WITH wanted AS (
    SELECT * FROM json_to_recordset($1::json)
        AS x(id text, type text, retries int, priority int, after_non_global boolean, event_types text[])
), gone AS (
    DELETE FROM global_task_listeners t
    WHERE t.source = 'CONFIGURATION' AND NOT EXISTS (SELECT FROM wanted w WHERE w.id = t.id)
)
INSERT INTO global_task_listeners (id, type, retries, priority, after_non_global, event_types, source)
SELECT w.id, w.type, w.retries, w.priority, w.after_non_global, w.event_types, 'CONFIGURATION' FROM wanted w
ON CONFLICT (id) DO UPDATE SET type = excluded.type, retries = excluded.retries, priority = excluded.priority,
    after_non_global = excluded.after_non_global, event_types = excluded.event_types, source = excluded.source;
