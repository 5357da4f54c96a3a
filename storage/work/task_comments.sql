-- name: add
-- Nothing for an unknown task, or one of another tenant; without a key if the task has as many comments as it may have. The lock
-- of the root lets the deletion of the tree wait for this row, or this statement find no task. Comments written at the same time
-- may exceed the number by one for each connection.
WITH task AS MATERIALIZED (
    SELECT t.user_task_key, t.process_instance_key, t.root_key, t.tenant_id
    FROM user_tasks t JOIN process_instances p ON p.process_instance_key = t.root_key
    WHERE t.user_task_key = $1
        -- only tenants: AND t.tenant_id = ANY ($5::text[])
    FOR KEY SHARE OF p
), added AS (
    INSERT INTO user_task_comments (user_task_key, process_instance_key, root_key, tenant_id, author, created_at, text)
    SELECT user_task_key, process_instance_key, root_key, tenant_id, $2, clock_now(), $3 FROM task
    WHERE (SELECT count(*) FROM user_task_comments c WHERE c.user_task_key = $1) < $4
    RETURNING comment_key, to_epoch_ms(created_at) AS at_ms
)
SELECT added.comment_key, added.at_ms FROM task LEFT JOIN added ON true;
