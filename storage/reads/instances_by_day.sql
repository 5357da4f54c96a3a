-- name: instances_by_day
-- The figures of process instances in each of some days of 24 hours. $1 is the beginning of the first day, $2 the number of days,
-- $3 the ids of processes, null for all. They come from the counts that the batches keep; a period belongs to the day in which it
-- begins. Days without any are left out.
SELECT date_bin('1 day', c.period, $1::timestamptz), sum(c.started)::bigint, sum(c.completed)::bigint, sum(c.canceled)::bigint,
    sum(c.incidents)::bigint
FROM counted_instances c
WHERE c.period >= $1::timestamptz AND c.period < $1::timestamptz + $2::int * interval '24 hours'
    AND ($3::text[] IS NULL OR EXISTS (SELECT FROM process_definitions d
        WHERE d.process_definition_key = c.process_definition_key AND d.process_id = ANY ($3)))
    -- only tenants: AND EXISTS (SELECT FROM process_definitions d
    -- only tenants:     WHERE d.process_definition_key = c.process_definition_key AND d.tenant_id = ANY ($4::text[]))
GROUP BY 1;

-- name: running
-- The number of running instances, and its growth since $1. The growth is null beyond $2 days: it would read all counts.
SELECT
    (SELECT coalesce(sum(c.active), 0)::bigint FROM counted_elements c WHERE c.element_id = ''
        AND ($3::text[] IS NULL OR EXISTS (SELECT FROM process_definitions d
            WHERE d.process_definition_key = c.process_definition_key AND d.process_id = ANY ($3)))
        -- only tenants: AND EXISTS (SELECT FROM process_definitions d
        -- only tenants:     WHERE d.process_definition_key = c.process_definition_key AND d.tenant_id = ANY ($4::text[]))
    ),
    CASE WHEN $1::timestamptz >= clock_now() - $2::int * interval '24 hours' THEN
        (SELECT coalesce(sum(c.started - c.completed - c.canceled), 0)::bigint FROM counted_instances c WHERE c.period >= $1
            AND ($3::text[] IS NULL OR EXISTS (SELECT FROM process_definitions d
                WHERE d.process_definition_key = c.process_definition_key AND d.process_id = ANY ($3)))
            -- only tenants: AND EXISTS (SELECT FROM process_definitions d
            -- only tenants:     WHERE d.process_definition_key = c.process_definition_key AND d.tenant_id = ANY ($4::text[]))
        ) END;
