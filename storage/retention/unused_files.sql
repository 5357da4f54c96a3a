-- fragment: used
-- A definition is used until it is deleted, and while instances run: one that another partition began at the same moment may
-- outlive the deletion. Decisions are used with what they import. A form is used for ever: tasks show the one that they began
-- with, and tasks have no index on it. One subquery, because PostgreSQL may read whole tables for several of them.
       SELECT FROM process_definitions d
       WHERE d.sha256 = r.sha256 AND (d.state <> 'DELETED' OR EXISTS (
           SELECT FROM counted_elements c
           WHERE c.process_definition_key = d.process_definition_key AND c.element_id = ''
           GROUP BY c.process_definition_key HAVING sum(c.active) > 0))
       UNION ALL SELECT FROM decision_requirements d WHERE d.sha256 = r.sha256 AND d.state <> 'DELETED'
       UNION ALL SELECT FROM decision_definitions d
       WHERE d.imports @> ARRAY[r.sha256] AND d.imports <> '{}' AND d.state <> 'DELETED'
       UNION ALL SELECT FROM generic_resources g WHERE g.sha256 = r.sha256 AND g.state <> 'DELETED'
       UNION ALL SELECT FROM forms f WHERE f.sha256 = r.sha256

-- name: mark
-- The next files behind $1, in the order of their names: writes down which are unused from now on, and which are used again.
-- Returns the last name, if there may be more. A call that comes late changes no more than what is true then.
WITH page AS MATERIALIZED (
    SELECT r.sha256, EXISTS (
-- include: used
    ) AS used
    FROM resources r WHERE r.sha256 > $1 ORDER BY r.sha256 LIMIT $2),
marked AS (
    UPDATE resources r SET unused_since = CASE WHEN page.used THEN NULL ELSE clock_timestamp() END
    FROM page WHERE r.sha256 = page.sha256 AND (r.unused_since IS NULL) <> page.used)
SELECT max(sha256) FROM page HAVING count(*) = $2;

-- name: delete
-- Up to $2 files that have been unused for $1 seconds, in which requests and batches that read them have ended. A deployment
-- stores its files before it is appended, and that renews them: this statement then sees the new row, or the deployment stores
-- them again. The log is read for deployments that wait longer than that, as after a stop of days. With many commands in it
-- nothing is deleted. $3 is the partition with the catalogue, $4 the intent of deployments, $5 how many commands are many.
WITH waiting AS MATERIALIZED (
    SELECT intent FROM command_log
    WHERE partition_id = $3 AND position > coalesce(
        (SELECT to_pos FROM batches WHERE partition_id = $3 ORDER BY from_pos DESC LIMIT 1), $3::bigint << 51)
    ORDER BY position LIMIT $5),
held AS MATERIALIZED (
    SELECT FROM inbox WHERE target_partition IN ($3, -$3) AND intent = $4 LIMIT 1)
DELETE FROM resources r
WHERE r.sha256 = ANY (ARRAY(
        SELECT u.sha256 FROM resources u WHERE u.unused_since < clock_timestamp() - make_interval(secs => $1)
        ORDER BY u.unused_since LIMIT $2))
    AND r.unused_since < clock_timestamp() - make_interval(secs => $1)
    AND (SELECT count(*) FROM waiting) < $5
    AND NOT EXISTS (SELECT FROM waiting WHERE intent = $4)
    AND NOT EXISTS (SELECT FROM held)
    AND NOT EXISTS (
-- include: used
    );
