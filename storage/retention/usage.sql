-- name: compact
-- By the index of those that are no days, however many days there are. A row goes in the statement that keeps its day.
WITH quarters AS (
    DELETE FROM deleted_assignees WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM deleted_assignees
        WHERE period <> usage_day(period) AND period < clock_now() - $1::bigint * interval '1 millisecond'
        ORDER BY period LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING period, tenant_id, assignee
), days AS (
    INSERT INTO deleted_assignees (period, tenant_id, assignee)
    SELECT DISTINCT usage_day(period), tenant_id, assignee FROM quarters ORDER BY 1, 2, 3
    ON CONFLICT DO NOTHING
)
SELECT count(*) FROM quarters;

-- name: purge
-- By the primary keys, which begin with the period, and with the metric before it.
WITH assignees AS (
    DELETE FROM deleted_assignees WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM deleted_assignees WHERE period < clock_now() - $1::bigint * interval '1 millisecond'
        ORDER BY period LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING 1
), counts AS (
    DELETE FROM instance_counts WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM instance_counts WHERE period < clock_now() - $1::bigint * interval '1 millisecond'
        ORDER BY period LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING 1
), durations AS (
    DELETE FROM instance_durations WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM instance_durations WHERE day < clock_now() - $1::bigint * interval '1 millisecond'
        ORDER BY day LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING 1
), numbers AS (
    DELETE FROM deleted_usage WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM deleted_usage
        WHERE metric IN ('processInstances', 'decisionInstances')
            AND period < clock_now() - $1::bigint * interval '1 millisecond'
        LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING 1
)
SELECT greatest((SELECT count(*) FROM assignees), (SELECT count(*) FROM numbers), (SELECT count(*) FROM counts),
    (SELECT count(*) FROM durations));
