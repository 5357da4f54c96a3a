-- Calls of models by AI agents (docs/agents.md): who called what, and what it cost at that time. `cost` is in millionths of
-- `currency`. A row has digests of request and answer, and no texts.
CREATE TABLE agent_calls (
    job_key              bigint NOT NULL,
    call_id              text NOT NULL,
    process_instance_key bigint NOT NULL,
    element_instance_key bigint NOT NULL,
    process_id           text NOT NULL,
    element_id           text NOT NULL,
    tenant_id            text NOT NULL,
    ended_at             timestamptz NOT NULL,
    turn                 integer NOT NULL,
    cause                text NOT NULL,
    duration_ms          bigint NOT NULL,
    provider             text NOT NULL,
    model                text NOT NULL,
    outcome              text NOT NULL,
    request_digest       text NOT NULL,
    answer_digest        text,
    input_tokens         bigint,
    output_tokens        bigint,
    cached_tokens        bigint,
    cost                 bigint,
    currency             text NOT NULL,
    tools_offered        text[] NOT NULL,
    tools_called         text[] NOT NULL,
    PRIMARY KEY (job_key, call_id)
);
CREATE INDEX agent_calls_instance ON agent_calls (process_instance_key, ended_at, call_id);

-- Millionths of the currency of the prices.
ALTER TABLE agent_usage ADD COLUMN cost bigint NOT NULL DEFAULT 0;

-- Deletes whole trees of ended instances: all of a tree's rows, or none. Says for each root what became of its tree:
--   DELETED   it is gone
--   UNKNOWN   there is no such instance
--   CALLED    the instance was called, and goes with its root
--   RUNNING, or the name of what refers to it: see keepers_of_trees
-- The roots are locked in the order of their keys, so that two deletions of one tree come one after the other and never deadlock.
-- The engine never writes rows of a tree that has ended. Documents of the instances expire at once if they are to go with them,
-- and in an erasure all do: a chore deletes them. A new comment locks its root: it comes before, or finds no task.
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

    WITH found AS MATERIALIZED (
        SELECT k.root, k.instances, coalesce(k.keeper, CASE
            WHEN why <> 'ERASURE' AND archive_lacks_comments(k.root) THEN 'a comment that the archive lacks' END) AS keeper
        FROM keepers_of_trees(ended) k)
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
        DELETE FROM agent_calls c WHERE c.process_instance_key = ANY (instances);
        DELETE FROM agent_answers a WHERE a.process_instance_key = ANY (instances);
        DELETE FROM agent_usage u WHERE u.process_instance_key = ANY (instances);
        DELETE FROM timers t WHERE t.process_instance_key = ANY (instances);
        DELETE FROM message_correlations c WHERE c.process_instance_key = ANY (instances);
        DELETE FROM subscriptions s WHERE s.process_instance_key = ANY (instances);
        DELETE FROM incidents i WHERE i.process_instance_key = ANY (instances);
        DELETE FROM user_tasks u WHERE u.process_instance_key = ANY (instances);
        DELETE FROM user_task_comments c WHERE c.process_instance_key = ANY (instances);
        DELETE FROM decision_instances d WHERE d.process_instance_key = ANY (instances);
        DELETE FROM compensations c WHERE c.process_instance_key = ANY (instances);
        DELETE FROM work_items w WHERE w.process_instance_key = ANY (instances);
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
