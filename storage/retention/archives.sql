-- name: begin
-- Before the first byte is written: a file that nobody knows would stay for ever.
INSERT INTO archive_files (name, partition_id) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: mark_comments
-- Before the rows are read: the file has these comments if it has the tree, and may have later ones. A late call marks them with
-- a file that is never complete, and their trees are archived once more.
UPDATE user_task_comments SET archive_file = $1 WHERE root_key = ANY ($2::bigint[]);

-- name: move_comments
-- In the transaction in which a file takes the place of the one that has them.
UPDATE user_task_comments SET archive_file = $2 WHERE archive_file = $1 AND root_key = ANY ($3::bigint[]);

-- name: one_at_a_time
-- Files are completed one after the other: each sees what others have completed or deleted.
SELECT pg_advisory_xact_lock(4715, 0);

-- name: overtaken
-- Trees that are in another complete file with all comments, or no longer in the tables: somebody else has archived, deleted or
-- erased them.
SELECT key FROM unnest($2::bigint[]) AS k(key)
WHERE NOT EXISTS (SELECT FROM process_instances p WHERE p.process_instance_key = key)
   OR EXISTS (SELECT FROM archive_files f
        WHERE f.partition_id = $1 AND f.state = 'COMPLETE' AND f.waiting <> '{}' AND key = ANY (f.waiting)
            AND NOT archive_lacks_comments(key))
LIMIT 1;

-- name: complete
-- Only what still waits for it: meanwhile somebody may have given up the file.
UPDATE archive_files SET state = 'COMPLETE', sha256 = $2, bytes = $3, trees = $4, first_key = $5, last_key = $6, waiting = $7
WHERE name = $1 AND state = 'WRITING'
RETURNING name;

-- name: remove
-- Another file has taken its place, in the same transaction.
UPDATE archive_files SET state = 'REMOVED', waiting = '{}' WHERE name = $1 AND state = 'COMPLETE'
RETURNING name;

-- name: record_erasure
-- In the transaction that removes the file.
INSERT INTO archive_erasures (root_key, file, reason) SELECT unnest($1::bigint[]), $2, $3 ON CONFLICT DO NOTHING;

-- name: orphans
-- Files that are to be deleted: replaced ones, and those that nobody completed, whose writer may still write or upload. A file
-- takes minutes at most; an hour is beyond doubt.
SELECT name FROM archive_files
WHERE partition_id = $1
  AND (state = 'REMOVED' AND sha256 IS NOT NULL OR state <> 'COMPLETE' AND begun_at < clock_timestamp() - interval '1 hour');

-- name: give_up
-- Its writer can no longer complete it.
UPDATE archive_files SET state = 'REMOVED' WHERE name = $1 AND state = 'WRITING';

-- name: forget
-- After the file was deleted.
DELETE FROM archive_files WHERE name = $1 AND state = 'REMOVED';

-- name: settle
-- Trees that were deleted since. The rows are few: files whose trees still wait. Those without a change are not written anew.
UPDATE archive_files SET waiting = ARRAY(
    SELECT key FROM unnest(waiting) AS w(key)
    WHERE EXISTS (SELECT FROM process_instances p WHERE p.process_instance_key = w.key))
WHERE name = ANY (ARRAY(
    SELECT name FROM archive_files
    WHERE partition_id = $1 AND waiting <> '{}'
        AND EXISTS (SELECT FROM unnest(waiting) AS w(key)
                    WHERE NOT EXISTS (SELECT FROM process_instances p WHERE p.process_instance_key = w.key))
    ORDER BY name FOR UPDATE));

-- name: waiting
-- The roots that are in a complete file with all comments, each with the newest one.
SELECT DISTINCT ON (key) key, name, bytes FROM archive_files f, unnest(f.waiting) AS w(key)
WHERE f.partition_id = $1 AND f.state = 'COMPLETE' AND f.waiting <> '{}' AND key = ANY ($2)
    AND NOT archive_lacks_comments(key)
ORDER BY key, begun_at DESC, name;

-- name: mark_missing
-- Nothing waits for this file any more. A late call makes trees be archived once more, at worst.
UPDATE archive_files SET waiting = '{}' WHERE name = $1 AND state = 'COMPLETE' AND waiting <> '{}';

-- name: let_go
-- Trees that are deleted without the archive: a comment that is later than their file no longer keeps them. A late call makes
-- trees be archived once more, at worst. Files are locked in the order of their names, as by `settle`: nobody waits in a circle.
UPDATE archive_files SET waiting = ARRAY(SELECT key FROM unnest(waiting) AS w(key) WHERE key <> ALL ($2::bigint[]))
WHERE name = ANY (ARRAY(
    SELECT name FROM archive_files
    WHERE partition_id = ANY ($1::int[]) AND state = 'COMPLETE' AND waiting <> '{}' AND waiting && $2::bigint[]
    ORDER BY name FOR UPDATE));

-- name: knows_files
-- Whether the store has been written to.
SELECT EXISTS (SELECT FROM archive_files WHERE state = 'COMPLETE');

-- name: files
-- The newest first.
SELECT name, partition_id, bytes, trees, first_key, last_key, to_epoch_ms(begun_at), sha256 FROM archive_files
WHERE state = 'COMPLETE' ORDER BY begun_at DESC, name LIMIT $1;

-- name: files_of
-- Those that may have the tree of this root, the newest first: their ranges overlap a little, and after a restore a tree may be
-- in two.
SELECT name, partition_id, bytes, trees, first_key, last_key, to_epoch_ms(begun_at), sha256 FROM archive_files
WHERE state = 'COMPLETE' AND first_key <= $1 AND last_key >= $1 ORDER BY begun_at DESC, name DESC;

-- name: files_behind
-- In the transaction that waits for writers: what they complete later has no tree that was deleted before.
SELECT name, partition_id, bytes, trees, first_key, last_key, to_epoch_ms(begun_at), sha256 FROM archive_files
WHERE state = 'COMPLETE' AND name > $1 ORDER BY name LIMIT $2;

-- name: unknown
-- Each file is written down before it is begun: these are of a time that a restore of the database took back, or of somebody
-- else.
SELECT name FROM unnest($1::text[]) AS n(name) WHERE NOT EXISTS (SELECT FROM archive_files f WHERE f.name = n.name);

-- name: erased_again
-- Trees that were erased: a file that has them is an old copy, put back. One transaction with `adopt`.
SELECT DISTINCT root_key FROM archive_erasures WHERE root_key = ANY ($1) ORDER BY 1 LIMIT 5;

-- name: adopt
-- A file of a time that a restore took back, as of when its name says it was begun, by the engine's clock then. What is
-- archived from now on is newer. No tree waits for it: those that are in the tables, too, go on, or are archived once more.
INSERT INTO archive_files (name, partition_id, state, sha256, bytes, trees, first_key, last_key, begun_at)
VALUES ($1, $2, 'COMPLETE', $3, $4, $5, $6, $7, least($8, clock_timestamp())) ON CONFLICT DO NOTHING
RETURNING name;

-- name: still_to_be_deleted
-- The store refuses it, or no node of the partition runs.
SELECT name FROM archive_files WHERE state <> 'COMPLETE' AND begun_at < clock_timestamp() - interval '2 hours' ORDER BY name;

-- name: forget_lost
-- With its record in the audit log. Trees that wait for it go into another file.
DELETE FROM archive_files WHERE name = $1 AND state = 'COMPLETE' RETURNING name;

-- name: not_archived
-- Why nothing of these instances is in the archive. Another writer may have been faster again and again: then the caller tries
-- later.
SELECT k.key, CASE WHEN p.process_instance_key IS NULL THEN 'UNKNOWN' WHEN p.parent_process_instance_key IS NOT NULL THEN 'CALLED'
                   WHEN p.ended_at IS NULL THEN 'RUNNING' ELSE 'BUSY' END
FROM unnest($1::bigint[]) AS k(key) LEFT JOIN process_instances p ON p.process_instance_key = k.key;

-- name: waiting_of
-- To carry over when a file is replaced.
SELECT waiting FROM archive_files WHERE name = $1;

-- name: erasures
-- The newest first.
SELECT root_key, file, to_epoch_ms(erased_at), reason FROM archive_erasures ORDER BY erased_at DESC, root_key LIMIT $1;

-- name: now
-- The engine's time, for names.
SELECT to_epoch_ms(clock_now());

-- name: tree
-- All instances of a tree, and whether something in it has not ended. Nothing for an instance that another one called.
WITH RECURSIVE tree AS (
    SELECT process_instance_key AS key, ended_at, tenant_id, process_id FROM process_instances
    WHERE process_instance_key = $1 AND parent_process_instance_key IS NULL
    UNION ALL
    SELECT p.process_instance_key, p.ended_at, p.tenant_id, p.process_id
    FROM tree JOIN process_instances p ON p.parent_process_instance_key = tree.key
)
SELECT array_agg(key ORDER BY key), bool_or(ended_at IS NULL), max(to_epoch_ms(ended_at)) FILTER (WHERE key = $1),
       max(tenant_id) FILTER (WHERE key = $1), max(process_id) FILTER (WHERE key = $1)
FROM tree;

-- name: open_rows
-- A cursor reads a part at a time: a tree may have a million rows.
DECLARE archived NO SCROLL CURSOR FOR
SELECT 'process_instances', row_to_json(t)::text FROM process_instances t WHERE process_instance_key = ANY ($1)
UNION ALL SELECT 'element_instances', row_to_json(t)::text FROM element_instances t WHERE process_instance_key = ANY ($1)
UNION ALL SELECT 'variables', row_to_json(t)::text FROM variables t WHERE process_instance_key = ANY ($1)
UNION ALL SELECT 'jobs', row_to_json(t)::text FROM jobs t WHERE process_instance_key = ANY ($1)
UNION ALL SELECT 'timers', row_to_json(t)::text FROM timers t WHERE process_instance_key = ANY ($1)
UNION ALL SELECT 'subscriptions', row_to_json(t)::text FROM subscriptions t WHERE process_instance_key = ANY ($1)
UNION ALL SELECT 'message_correlations', row_to_json(t)::text FROM message_correlations t WHERE process_instance_key = ANY ($1)
UNION ALL SELECT 'incidents', row_to_json(t)::text FROM incidents t WHERE process_instance_key = ANY ($1)
UNION ALL SELECT 'user_tasks', row_to_json(t)::text FROM user_tasks t WHERE process_instance_key = ANY ($1)
UNION ALL SELECT 'user_task_comments', (to_jsonb(t) - 'archive_file')::text FROM user_task_comments t
    WHERE process_instance_key = ANY ($1)
UNION ALL SELECT 'decision_instances', row_to_json(t)::text FROM decision_instances t WHERE process_instance_key = ANY ($1)
UNION ALL SELECT 'agent_calls', row_to_json(t)::text FROM agent_calls t WHERE process_instance_key = ANY ($1);

-- name: open_events
-- By the index on the root, in the order of the log.
DECLARE archived NO SCROLL CURSOR FOR
SELECT 'events', json_build_object('position', position, 'seq', seq, 'format', version, 'at', processed_at,
    'events', coalesce(events, large_events)::json)::text
FROM event_log WHERE root_key = $1 ORDER BY position, seq;

-- name: fetch
-- Few: one row may have megabytes.
FETCH 50 FROM archived;

-- name: close
-- The transaction goes on with the next cursor.
CLOSE archived;
