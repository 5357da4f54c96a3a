-- What keeps the trees of ended roots, for their deletion and for its forecast: the two must never judge differently. Gives each
-- root with all instances of its tree, and its keeper:
--   NULL      nothing keeps it
--   RUNNING   something in it has not ended
--   or the name of what refers to it: a start lock, an open message subscription, an undelivered event, a batch operation.
-- Every table is read by the keys of instances; plans made for empty tables must not stay. Batch operations that delete hold
-- nothing. STABLE: it sees the rows that its caller sees.
CREATE FUNCTION keepers_of_trees(ended bigint[])
    RETURNS TABLE (root bigint, keeper text, instances bigint[]) LANGUAGE plpgsql STABLE
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    of_root bigint[];
    of_tree bigint[];
    held    bigint[];
    held_by text[];
BEGIN
    WITH RECURSIVE tree AS (
        SELECT p.process_instance_key AS key, p.root_key, p.ended_at FROM process_instances p
        WHERE p.process_instance_key = ANY (ended)
        UNION ALL
        SELECT p.process_instance_key, p.root_key, p.ended_at
        FROM tree JOIN process_instances p ON p.parent_process_instance_key = tree.key
    )
    SELECT array_agg(tree.root_key), array_agg(tree.key), array_agg(tree.root_key) FILTER (WHERE tree.ended_at IS NULL)
    INTO of_root, of_tree, held FROM tree;
    held := coalesce(held, '{}');
    held_by := array_fill('RUNNING'::text, ARRAY[cardinality(held)]);

    SELECT held || coalesce(array_agg(x.root_key), '{}'), held_by || coalesce(array_agg(x.name), '{}') INTO held, held_by
    FROM (
        SELECT t.root_key, 'a start lock' AS name
        FROM unnest(of_root, of_tree) AS t(root_key, key) JOIN start_locks l ON l.process_instance_key = t.key
        UNION ALL
        SELECT s.root_key, 'an open message subscription'
        FROM subscriptions s JOIN channel_subscriptions c USING (subscription_key)
        WHERE s.process_instance_key = ANY (of_tree)
        UNION ALL
        SELECT t.key, 'an undelivered event'
        FROM unnest(ended) AS t(key)
        WHERE EXISTS (SELECT FROM outbox_deliveries o WHERE o.partition_id = (t.key >> 51)::int AND o.root_key = t.key)
        UNION ALL
        SELECT i.root_key, 'a batch operation'
        FROM batch_operation_items i
        WHERE i.process_instance_key = ANY (of_tree) AND i.state = 'ACTIVE'
            AND i.type NOT IN ('DELETE_PROCESS_INSTANCE', 'DELETE_DECISION_INSTANCE')
    ) x;

    RETURN QUERY
        SELECT t.root_key, held_by[array_position(held, t.root_key)], array_agg(t.key)
        FROM unnest(of_root, of_tree) AS t(root_key, key) GROUP BY t.root_key;
END $$;

-- Deletes whole trees of ended instances: all of a tree's rows, or none. Says for each root what became of its tree:
--   DELETED   it is gone
--   UNKNOWN   there is no such instance
--   CALLED    the instance was called, and goes with its root
--   RUNNING, or the name of what refers to it: see keepers_of_trees
-- The roots are locked in the order of their keys, so that two deletions of one tree come one after the other and never deadlock.
-- The engine never writes rows of a tree that has ended. Documents of the instances expire at once if they are to go with them,
-- and in an erasure all do: a chore deletes them.
CREATE OR REPLACE FUNCTION delete_trees(roots bigint[], why text) RETURNS TABLE (root bigint, verdict text) LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    ended     bigint[];
    instances bigint[];
    held      bigint[];
    held_by   text[];
    bodies    bigint[];
BEGIN
    ended := ARRAY(
        SELECT p.process_instance_key FROM process_instances p
        WHERE p.process_instance_key = ANY (roots) AND p.parent_process_instance_key IS NULL AND p.ended_at IS NOT NULL
        ORDER BY p.process_instance_key FOR UPDATE);

    WITH found AS MATERIALIZED (SELECT k.root, k.keeper, k.instances FROM keepers_of_trees(ended) k)
    SELECT ARRAY(SELECT f.root FROM found f WHERE f.keeper IS NULL),
        ARRAY(SELECT i.key FROM found f CROSS JOIN unnest(f.instances) AS i(key) WHERE f.keeper IS NULL),
        ARRAY(SELECT f.root FROM found f WHERE f.keeper IS NOT NULL ORDER BY f.root),
        ARRAY(SELECT f.keeper FROM found f WHERE f.keeper IS NOT NULL ORDER BY f.root)
    INTO ended, instances, held, held_by;

    IF cardinality(ended) > 0 THEN
        bodies := ARRAY(
            SELECT e.element_instance_key FROM element_instances e
            WHERE e.process_instance_key = ANY (instances) AND e.element_type = 'MULTI_INSTANCE_BODY');
        IF cardinality(bodies) > 0 THEN
            DELETE FROM loop_items i WHERE i.body_key = ANY (bodies);
            DELETE FROM paged_loop_items i WHERE i.body_key = ANY (bodies);
        END IF;
        UPDATE documents d SET expires_at = '-infinity'
        FROM process_instances p
        WHERE d.process_instance_key = ANY (instances) AND p.process_instance_key = d.process_instance_key
            AND p.tenant_id = d.tenant_id AND (d.goes_with_instance OR why = 'ERASURE');
        DELETE FROM variables v WHERE v.process_instance_key = ANY (instances);
        DELETE FROM jobs j WHERE j.process_instance_key = ANY (instances);
        DELETE FROM timers t WHERE t.process_instance_key = ANY (instances);
        DELETE FROM message_correlations c WHERE c.process_instance_key = ANY (instances);
        DELETE FROM subscriptions s WHERE s.process_instance_key = ANY (instances);
        DELETE FROM incidents i WHERE i.process_instance_key = ANY (instances);
        DELETE FROM user_tasks u WHERE u.process_instance_key = ANY (instances);
        DELETE FROM decision_instances d WHERE d.process_instance_key = ANY (instances);
        DELETE FROM compensations c WHERE c.process_instance_key = ANY (instances);
        DELETE FROM element_instances e WHERE e.process_instance_key = ANY (instances);
        DELETE FROM process_instances p WHERE p.process_instance_key = ANY (instances);
        INSERT INTO deleted_trees (root_key, reason) SELECT t.key, why FROM unnest(ended) AS t(key) ON CONFLICT DO NOTHING;
    END IF;

    RETURN QUERY
        SELECT asked.key, CASE
            WHEN asked.key = ANY (ended) THEN 'DELETED'
            WHEN p.process_instance_key IS NULL THEN 'UNKNOWN'
            WHEN p.parent_process_instance_key IS NOT NULL THEN 'CALLED'
            WHEN p.ended_at IS NULL THEN 'RUNNING'
            ELSE coalesce(held_by[array_position(held, asked.key)], 'RUNNING') END
        FROM unnest(roots) AS asked(key) LEFT JOIN process_instances p ON p.process_instance_key = asked.key;
END $$;
