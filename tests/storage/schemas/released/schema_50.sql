
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE FUNCTION public.append_commands(p integer, aid uuid, since bigint, cmds json, appender uuid, number bigint) RETURNS TABLE(ord integer, pos bigint, replayed boolean, same_body boolean, behind bigint)
    LANGUAGE plpgsql
    SET lock_timeout TO '5s'
    AS $$
#variable_conflict use_column
DECLARE
    fresh  int[];
    moment timestamptz := clock_now();
    positions CONSTANT regclass := ('log_position_' || p)::regclass;
BEGIN
    -- 1: keys first, sorted, before the partition's lock: inside it they would deadlock across partitions.
    WITH c AS (
        SELECT * FROM json_to_recordset(cmds) AS t(o int, tenant text, key text, sha text)
    ), k AS (
        INSERT INTO idempotency_keys AS i (tenant, key, body_sha, expires_at)
        SELECT DISTINCT ON (tenant, key) tenant, key, decode(sha, 'hex'), moment + interval '24 h'
        FROM c WHERE key IS NOT NULL ORDER BY tenant, key, o
        ON CONFLICT (tenant, key) DO UPDATE
            SET body_sha = excluded.body_sha, position = NULL, expires_at = excluded.expires_at
            WHERE i.expires_at <= moment
        RETURNING tenant, key
    )
    SELECT array_agg(o) INTO fresh FROM (SELECT min(c.o) o FROM c JOIN k USING (tenant, key) GROUP BY tenant, key) m;
    -- 2: the lock, a statement of its own, so that the next one has a new snapshot and nextval runs under the lock.
    PERFORM pg_advisory_xact_lock(4711, p);
    IF NOT EXISTS (SELECT FROM appenders a WHERE a.id = appender AND a.session = number) THEN
        PERFORM refuse_append(appender, number);
    END IF;
    IF since IS NOT NULL AND EXISTS (
        SELECT FROM command_log l WHERE l.partition_id = p AND l.position > since AND l.append_id = aid
    ) THEN
        -- The first try of this append did happen: the same answer again.
        RETURN QUERY
        SELECT c.o, coalesce(l.position, i.position), l.ord IS NULL, l.ord IS NOT NULL OR i.body_sha = decode(c.sha, 'hex'),
               NULL::bigint
        FROM json_to_recordset(cmds) AS c(o int, tenant text, key text, sha text)
        LEFT JOIN command_log l ON l.partition_id = p AND l.position > since AND l.append_id = aid AND l.ord = c.o
        LEFT JOIN LATERAL (
            SELECT * FROM idempotency_keys k WHERE k.tenant = c.tenant AND k.key = c.key OFFSET 0
        ) i ON true
        ORDER BY 1;
        RETURN;
    END IF;
    -- 3: the fresh commands, in order. Keys are looked up one by one (LATERAL with OFFSET 0, ON CONFLICT), never joined: PostgreSQL
    -- makes the plan while the table is empty, and a join that it plans then reads the whole table for ever after.
    RETURN QUERY
    WITH w AS MATERIALIZED (
        SELECT s.*, CASE WHEN key IS NULL OR o = ANY (fresh) THEN nextval(positions) END pos
        FROM (
            SELECT * FROM json_to_recordset(cmds)
                AS t(o int, tenant text, key text, sha text, intent text, subject bigint, payload text, trace text,
                    audit text)
            ORDER BY o
        ) s
    ), ins AS (
        INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, key, payload, trace, audit)
        SELECT p, pos, aid, o, moment, tenant, intent, subject, convert_to(payload, 'UTF8'), trace, audit
        FROM w WHERE pos IS NOT NULL
    ), upd AS (
        INSERT INTO idempotency_keys AS i (tenant, key, body_sha, expires_at, position)
        SELECT tenant, key, decode(sha, 'hex'), moment, pos FROM w WHERE pos IS NOT NULL AND key IS NOT NULL
        ON CONFLICT (tenant, key) DO UPDATE SET position = excluded.position
    )
    SELECT w.o, coalesce(w.pos, first.pos, i.position), w.pos IS NULL,
           w.pos IS NOT NULL OR coalesce(decode(first.sha, 'hex'), i.body_sha) = decode(w.sha, 'hex'),
           coalesce((SELECT max(position) FROM command_log WHERE partition_id = p), p::bigint << 51)
    FROM w
    LEFT JOIN w first ON w.pos IS NULL AND first.pos IS NOT NULL AND first.tenant = w.tenant AND first.key = w.key
    LEFT JOIN LATERAL (
        SELECT k.position, k.body_sha FROM idempotency_keys k
        WHERE w.pos IS NULL AND k.tenant = w.tenant AND k.key = w.key OFFSET 0
    ) i ON true
    ORDER BY w.o;
END $$;

CREATE FUNCTION public.append_fresh(p integer, aid uuid, cmds json, flush boolean, appender uuid, number bigint) RETURNS TABLE(pos bigint, at_ms bigint, clock_revision bigint, definitions bigint)
    LANGUAGE plpgsql
    SET lock_timeout TO '5s'
    AS $$
DECLARE
    moment timestamptz;
    positions CONSTANT regclass := ('log_position_' || p)::regclass;
BEGIN
    SELECT coalesce(c.pinned_at, now() + c.shift), c.revision, d.n
    INTO moment, clock_revision, definitions
    FROM clock c, definitions_seq d;
    at_ms := to_epoch_ms(moment);
    IF NOT flush THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    -- A statement of its own: nextval runs under the lock, so that positions become visible in order.
    PERFORM pg_advisory_xact_lock(4711, p);
    RETURN QUERY
    INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, key, payload, trace, audit)
    SELECT p, nextval(positions), aid, s.o, moment, s.tenant, s.intent, s.subject, convert_to(s.payload, 'UTF8'), s.trace,
           s.audit
    FROM (
        SELECT * FROM json_to_recordset(cmds)
            AS t(o int, tenant text, intent text, subject bigint, payload text, trace text, audit text)
        ORDER BY o
    ) s
    WHERE EXISTS (SELECT FROM appenders a WHERE a.id = appender AND a.session = number)
    RETURNING position, at_ms, clock_revision, definitions;
    IF NOT FOUND THEN
        PERFORM refuse_append(appender, number);
    END IF;
END $$;

CREATE FUNCTION public.begin_appends(appender uuid, number bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM skip_lost_positions();
    DELETE FROM appenders a WHERE a.id <> appender AND NOT EXISTS (SELECT FROM pg_stat_activity s WHERE s.pid = a.pid);
    INSERT INTO appenders AS a VALUES (appender, number, pg_backend_pid())
    ON CONFLICT (id) DO UPDATE SET session = excluded.session, pid = excluded.pid WHERE a.session < excluded.session;
END $$;

CREATE FUNCTION public.clock_now() RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    AS $$ SELECT coalesce(pinned_at, now() + shift) FROM clock $$;

CREATE FUNCTION public.database_identity() RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    server text := '';
BEGIN
    IF has_function_privilege('pg_control_system()', 'EXECUTE') THEN
        SELECT system_identifier INTO server FROM pg_control_system();
    END IF;
    RETURN (SELECT format('%s/%s/%s', server, oid, pg_relation_filenode('since_recovery')) FROM pg_database
            WHERE datname = current_database());
END $$;

CREATE FUNCTION public.delete_old_log_rows(p integer, before timestamp with time zone, most integer) RETURNS integer
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    size      CONSTANT bigint := 10000000;
    base      CONSTANT bigint := p::bigint << 51;
    processed CONSTANT bigint := coalesce((SELECT b.to_pos FROM batches b WHERE b.partition_id = p ORDER BY b.from_pos DESC LIMIT 1), base);
    consumed  CONSTANT bigint := (SELECT min(c.position) FROM event_consumers c WHERE c.partition_id = p);
    free      CONSTANT bigint := least(processed, consumed, (
        SELECT c.position FROM command_log c WHERE c.partition_id = p ORDER BY c.position DESC LIMIT 1));
    lower     CONSTANT bigint := base + (processed - base) / size * size;
    upto      bigint;
    deleted   int;
BEGIN
    SELECT e.position INTO upto FROM event_log e WHERE e.partition_id = p ORDER BY e.position, e.seq LIMIT 1;
    IF upto IS NULL OR upto < lower THEN
        RETURN 0;
    END IF;
    SELECT max(s.position) INTO upto FROM (
        SELECT e.position FROM event_log e WHERE e.partition_id = p AND e.position < free ORDER BY e.position, e.seq LIMIT most) s;
    upto := least(upto, (
        SELECT e.position - 1 FROM event_log e
        WHERE e.partition_id = p AND e.position <= upto AND (e.processed_at >= before OR EXISTS (
            SELECT FROM process_instances i WHERE i.process_instance_key = e.root_key AND i.ended_at IS NULL))
        ORDER BY e.position LIMIT 1));
    DELETE FROM command_log c WHERE c.partition_id = p AND c.position <= upto;
    DELETE FROM event_log e WHERE e.partition_id = p AND e.position <= upto;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $$;

CREATE FUNCTION public.delete_trees(roots bigint[], why text) RETURNS TABLE(root bigint, verdict text)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    ended     bigint[];
    of_root   bigint[];
    instances bigint[];
    held      bigint[];
    held_by   text[];
    bodies    bigint[];
BEGIN
    ended := ARRAY(
        SELECT p.process_instance_key FROM process_instances p
        WHERE p.process_instance_key = ANY (roots) AND p.parent_process_instance_key IS NULL AND p.ended_at IS NOT NULL
        ORDER BY p.process_instance_key FOR UPDATE);

    WITH RECURSIVE tree AS (
        SELECT p.process_instance_key AS key, p.root_key, p.ended_at FROM process_instances p WHERE p.process_instance_key = ANY (ended)
        UNION ALL
        SELECT p.process_instance_key, p.root_key, p.ended_at
        FROM tree JOIN process_instances p ON p.parent_process_instance_key = tree.key
    )
    SELECT array_agg(tree.root_key), array_agg(tree.key), array_agg(tree.root_key) FILTER (WHERE tree.ended_at IS NULL)
    INTO of_root, instances, held FROM tree;
    held := coalesce(held, '{}');
    held_by := array_fill('RUNNING'::text, ARRAY[cardinality(held)]);

    SELECT held || coalesce(array_agg(x.root_key), '{}'), held_by || coalesce(array_agg(x.name), '{}') INTO held, held_by
    FROM (
        SELECT t.root_key, 'a start lock' AS name
        FROM unnest(of_root, instances) AS t(root_key, key) JOIN start_locks l ON l.process_instance_key = t.key
        UNION ALL
        SELECT s.root_key, 'an open message subscription'
        FROM subscriptions s JOIN channel_subscriptions c USING (subscription_key)
        WHERE s.process_instance_key = ANY (instances)
        UNION ALL
        SELECT t.key, 'an undelivered event'
        FROM unnest(ended) AS t(key)
        WHERE EXISTS (SELECT FROM outbox_deliveries o WHERE o.partition_id = (t.key >> 51)::int AND o.root_key = t.key)
        UNION ALL
        SELECT i.root_key, 'a batch operation'
        FROM batch_operation_items i
        WHERE i.process_instance_key = ANY (instances) AND i.state = 'ACTIVE' AND i.type <> 'DELETE_PROCESS_INSTANCE'
    ) x;

    IF cardinality(held) > 0 THEN
        ended := ARRAY(SELECT t.key FROM unnest(ended) AS t(key) WHERE t.key <> ALL (held));
        instances := ARRAY(SELECT t.key FROM unnest(of_root, instances) AS t(root_key, key) WHERE t.root_key <> ALL (held));
    END IF;

    IF cardinality(ended) > 0 THEN
        bodies := ARRAY(
            SELECT e.element_instance_key FROM element_instances e
            WHERE e.process_instance_key = ANY (instances) AND e.element_type = 'MULTI_INSTANCE_BODY');
        IF cardinality(bodies) > 0 THEN
            DELETE FROM loop_items i WHERE i.body_key = ANY (bodies);
            DELETE FROM paged_loop_items i WHERE i.body_key = ANY (bodies);
        END IF;
        DELETE FROM variables v WHERE v.process_instance_key = ANY (instances);
        DELETE FROM jobs j WHERE j.process_instance_key = ANY (instances);
        DELETE FROM timers t WHERE t.process_instance_key = ANY (instances);
        DELETE FROM message_correlations c WHERE c.process_instance_key = ANY (instances);
        DELETE FROM subscriptions s WHERE s.process_instance_key = ANY (instances);
        DELETE FROM incidents i WHERE i.process_instance_key = ANY (instances);
        DELETE FROM user_tasks u WHERE u.process_instance_key = ANY (instances);
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

CREATE FUNCTION public.drop_log_partitions(p integer, before timestamp with time zone) RETURNS TABLE(dropped integer, kept_by text)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $_$
DECLARE
    size      CONSTANT bigint := 10000000;
    base      CONSTANT bigint := p::bigint << 51;
    processed CONSTANT bigint := coalesce((SELECT b.to_pos FROM batches b WHERE b.partition_id = p ORDER BY b.from_pos DESC LIMIT 1), base);
    consumed  CONSTANT bigint := (SELECT min(c.position) FROM event_consumers c WHERE c.partition_id = p);
    number    bigint;
    upper     bigint;
BEGIN
    dropped := 0;
    FOR number IN
        SELECT split_part(t.relname, '_', 4)::bigint FROM pg_inherits h JOIN pg_class t ON t.oid = h.inhrelid
        WHERE h.inhparent = 'event_log'::regclass AND t.relname ~ format('^event_log_%s_[0-9]+$', p) ORDER BY 1
    LOOP
        upper := base + (number + 1) * size;
        kept_by := CASE
            WHEN upper > processed OR NOT EXISTS (SELECT FROM command_log c WHERE c.partition_id = p AND c.position >= upper) THEN 'cursor'
            WHEN consumed < upper THEN 'consumer'
            WHEN (SELECT e.processed_at FROM event_log e WHERE e.partition_id = p AND e.position >= upper - size AND e.position < upper
                  ORDER BY e.position DESC, e.seq DESC LIMIT 1) >= before THEN 'age'
            WHEN EXISTS (SELECT FROM process_instances i
                         WHERE i.ended_at IS NULL AND i.created_position >= base AND i.created_position < upper) THEN 'instance'
        END;
        EXIT WHEN kept_by IS NOT NULL;
        EXECUTE format('DROP TABLE %I, %I', format('command_log_%s_%s', p, number), format('event_log_%s_%s', p, number));
        dropped := dropped + 1;
    END LOOP;
    RETURN NEXT;
END $_$;

CREATE FUNCTION public.end_sessions() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM sessions WHERE username = OLD.username AND provider = 'PASSWORD';
    RETURN NULL;
END $$;

CREATE FUNCTION public.fence(p integer, e bigint, old_pos bigint, new_pos bigint, next_key bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    last bigint;
BEGIN
    PERFORM FROM partitions WHERE id = p AND epoch = e FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'partition % is no longer owned by epoch %', p, e USING ERRCODE = 'VV001';
    END IF;
    SELECT to_pos INTO last FROM batches WHERE partition_id = p ORDER BY from_pos DESC LIMIT 1;
    IF last IS DISTINCT FROM old_pos THEN
        RAISE EXCEPTION 'partition % stands at %, not at %', p, last, old_pos USING ERRCODE = 'VV001';
    END IF;
    INSERT INTO batches VALUES (p, old_pos, new_pos, next_key, e);
END $$;

CREATE FUNCTION public.fence_between(p integer, e bigint, pos bigint, used_to bigint, told boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    last batches;
BEGIN
    PERFORM FROM partitions WHERE id = p AND epoch = e FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'partition % is no longer owned by epoch %', p, e USING ERRCODE = 'VV001';
    END IF;
    SELECT * INTO last FROM batches WHERE partition_id = p ORDER BY from_pos DESC LIMIT 1;
    IF last.to_pos IS DISTINCT FROM pos OR last.next_key < used_to THEN
        RAISE EXCEPTION 'partition % stands at % with keys up to %, not at % with %', p, last.to_pos, last.next_key, pos, used_to
            USING ERRCODE = 'VV001';
    END IF;
    IF NOT told THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
END $$;

CREATE FUNCTION public.forward_inbox(p integer, n integer) RETURNS bigint
    LANGUAGE plpgsql
    SET lock_timeout TO '5s'
    AS $$
DECLARE
    last bigint;
    positions CONSTANT regclass := ('log_position_' || p)::regclass;
BEGIN
    IF NOT EXISTS (SELECT FROM since_recovery) THEN
        PERFORM skip_lost_positions();
    END IF;
    PERFORM pg_advisory_xact_lock(4711, p);
    WITH taken AS (
        DELETE FROM inbox WHERE target_partition = p AND id IN (
            SELECT id FROM inbox WHERE target_partition = p ORDER BY id LIMIT n)
        RETURNING *
    ), w AS MATERIALIZED (
        SELECT s.*, row_number() OVER () AS o, nextval(positions) pos FROM (SELECT * FROM taken ORDER BY id) s
    ), ins AS (
        INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, key, request, payload, trace, audit)
        SELECT p, pos, gen_random_uuid(), o, clock_now(), tenant_id, intent, key, request, payload, trace, audit FROM w
    )
    SELECT max(pos) INTO last FROM w;
    RETURN last;
END $$;

CREATE FUNCTION public.from_epoch_ms(ms bigint) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT to_timestamp(ms::float8 / 1000) $$;

CREATE FUNCTION public.headers_with_trace(headers json, trace text) RETURNS json
    LANGUAGE sql IMMUTABLE
    AS $$
SELECT (jsonb_strip_nulls(jsonb_build_object('traceparent', split_part(trace, ' ', 1),
    'tracestate', nullif(substr(trace, length(split_part(trace, ' ', 1)) + 2), ''))) || headers::jsonb)::json
$$;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE public.jobs (
    job_key bigint NOT NULL,
    root_key bigint NOT NULL,
    part_key bigint,
    process_instance_key bigint NOT NULL,
    element_instance_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    process_version integer NOT NULL,
    listener_index integer NOT NULL,
    retries integer NOT NULL,
    priority integer NOT NULL,
    path bigint[] NOT NULL,
    process_id text NOT NULL,
    element_id text NOT NULL,
    type text NOT NULL,
    kind text NOT NULL,
    listener_event text NOT NULL,
    state text NOT NULL,
    business_id text,
    tenant_id text NOT NULL,
    tags text[] NOT NULL,
    headers json NOT NULL,
    error_code text,
    error_message text,
    ready boolean NOT NULL,
    returned boolean DEFAULT false NOT NULL,
    expiries integer DEFAULT 0 NOT NULL,
    available_at timestamp with time zone,
    lease_token uuid,
    worker text,
    trace text
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.05', fillfactor='100');

CREATE FUNCTION public.job_as_shown(j public.jobs, variables text, with_token boolean) RETURNS json
    LANGUAGE sql STABLE
    AS $$
SELECT json_build_object(
    'type', j.type,
    'processDefinitionId', j.process_id,
    'processDefinitionVersion', j.process_version,
    'elementId', j.element_id,
    'customHeaders', CASE WHEN j.trace IS NULL THEN j.headers ELSE headers_with_trace(j.headers, j.trace) END,
    'worker', coalesce(j.worker, ''),
    'retries', j.retries,
    'deadline', to_epoch_ms(j.available_at),
    'variables', coalesce(variables, '{}')::json,
    'tenantId', j.tenant_id,
    'physicalTenantId', 'default',
    'jobKey', j.job_key::text,
    'processInstanceKey', j.process_instance_key::text,
    'processDefinitionKey', j.process_definition_key::text,
    'elementInstanceKey', j.element_instance_key::text,
    'kind', j.kind,
    'listenerEventType', j.listener_event,
    'userTask', NULL,
    'tags', j.tags,
    'rootProcessInstanceKey', j.root_key::text,
    'businessId', j.business_id,
    'priority', j.priority,
    'jobLeaseToken', CASE WHEN with_token THEN j.lease_token END
)
$$;

CREATE FUNCTION public.job_period(at timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
SELECT date_bin('5 minutes', at, 'epoch')
$$;

CREATE FUNCTION public.last_log_position(p integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
    RETURN coalesce(pg_sequence_last_value(('log_position_' || p)::regclass), p::bigint << 51);
END $$;

CREATE FUNCTION public.make_log_partitions(pos bigint) RETURNS integer
    LANGUAGE plpgsql
    AS $$
DECLARE
    size  CONSTANT bigint := 10000000;
    p     CONSTANT bigint := pos >> 51;
    i     CONSTANT bigint := (pos - (p << 51)) / size;
    lower CONSTANT bigint := (p << 51) + i * size;
    parent text;
    child  text;
    made   int := 0;
BEGIN
    FOREACH parent IN ARRAY ARRAY['command_log', 'event_log'] LOOP
        child := format('%s_%s_%s', parent, p, i);
        IF to_regclass(child) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
        END IF;
        IF NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = child::regclass) THEN
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', parent, child, lower, lower + size);
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END $$;

CREATE FUNCTION public.make_partition(p integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    base CONSTANT bigint := p::bigint << 51;
BEGIN
    INSERT INTO partitions (id) VALUES (p);
    INSERT INTO batches VALUES (p, base - 1, base, base + 1, 0);
    EXECUTE format('CREATE SEQUENCE log_position_%s MINVALUE %s MAXVALUE %s', p, base + 1, base + (1::bigint << 51) - 1);
    PERFORM make_log_partitions(base + n * 10000000) FROM generate_series(0, 2) n;
END $$;

CREATE FUNCTION public.notify_ended_sessions() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (SELECT FROM ended WHERE expires_at > clock_timestamp()) THEN
        PERFORM pg_notify('vivero_identities', 'sessions');
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION public.notify_identities() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_notify('vivero_identities', '');
    RETURN NULL;
END $$;

CREATE FUNCTION public.refuse_append(appender uuid, number bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'session % of appender % is over', number, appender USING ERRCODE = 'VV002';
END $$;

CREATE FUNCTION public.revoke_tokens_of_user() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM api_tokens WHERE owner = OLD.username AND owner_provider = 'PASSWORD';
    RETURN NULL;
END $$;

CREATE FUNCTION public.seconds_behind(p integer) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
    SELECT least(greatest(extract(epoch FROM clock_now() - coalesce(
        (SELECT at FROM command_log WHERE partition_id = p AND position BETWEEN p::bigint << 51 AND (p::bigint + 1) << 51
         ORDER BY position DESC LIMIT 1),
        (SELECT max(applied_at) FROM schema_migrations))), 0), 400 * 86400)::bigint
$$;

CREATE FUNCTION public.skip_lost_positions() RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    here CONSTANT text := database_identity();
    size CONSTANT bigint := 10000000;
    p      int;
    behind bigint;
    last   bigint;
    goal   bigint;
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'this is a standby: nothing can be appended' USING ERRCODE = 'read_only_sql_transaction';
    END IF;
    IF EXISTS (SELECT FROM since_recovery WHERE database = here) THEN
        RETURN;
    END IF;
    UPDATE since_recovery SET database = here WHERE database IS NULL;
    DELETE FROM since_recovery WHERE database <> here;
    INSERT INTO since_recovery (database) VALUES (here) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('synchronous_commit', reset_val, true) FROM pg_settings WHERE name = 'synchronous_commit';
    FOR p IN SELECT id FROM partitions ORDER BY id LOOP
        behind := seconds_behind(p);
        last := last_log_position(p) - (p::bigint << 51);
        goal := last + greatest(1000000, behind << 16);
        IF goal / size > (last + 1000000) / size THEN
            goal := (goal / size + 1) * size;
            PERFORM make_log_partitions((p::bigint << 51) + goal);
        END IF;
        PERFORM setval(('log_position_' || p)::regclass, (p::bigint << 51) + goal);
        UPDATE batches b SET next_key = b.next_key + greatest(1::bigint << 30, behind << 18)
        WHERE b.partition_id = p AND b.from_pos = (SELECT max(from_pos) FROM batches WHERE partition_id = p);
    END LOOP;
END $$;

CREATE FUNCTION public.slot_of(tenant text, name text) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT (('x' || left(md5(tenant || ':' || name), 4))::bit(16)::int % 1024)::smallint $$;

CREATE FUNCTION public.to_epoch_ms(t timestamp with time zone) RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT floor(extract(epoch FROM t) * 1000)::bigint $$;

CREATE FUNCTION public.total_element_counts(p integer, most integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
DECLARE
    low  bigint;
    high bigint;
    n    int;
BEGIN
    INSERT INTO element_count_totals VALUES (p, 0) ON CONFLICT DO NOTHING;
    SELECT until INTO low FROM element_count_totals WHERE partition_id = p FOR UPDATE;
    SELECT max(id), count(*) INTO high, n FROM (
        SELECT id FROM element_count_changes WHERE partition_id = p AND id > low ORDER BY id LIMIT most) s;
    IF n = 0 THEN
        RETURN 0;
    END IF;
    WITH gone AS (
        DELETE FROM element_count_changes WHERE partition_id = p AND id > low AND id <= high RETURNING *
    ), durations AS (
        INSERT INTO element_durations AS d (process_definition_key, element_id, bucket, partition_id, completed, duration_ms)
        SELECT process_definition_key, element_id, bucket, p, sum(completed), sum(duration_ms)
        FROM gone WHERE bucket >= 0 GROUP BY process_definition_key, element_id, bucket
        ORDER BY process_definition_key, element_id, bucket
        ON CONFLICT (process_definition_key, element_id, bucket, partition_id) DO UPDATE
        SET completed = d.completed + excluded.completed, duration_ms = d.duration_ms + excluded.duration_ms
    )
    INSERT INTO element_counts AS c (partition_id, process_definition_key, element_id, active, completed, canceled)
    SELECT p, process_definition_key, element_id, sum(active), sum(completed), sum(canceled)
    FROM gone GROUP BY process_definition_key, element_id ORDER BY process_definition_key, element_id
    ON CONFLICT (partition_id, process_definition_key, element_id) DO UPDATE
    SET active = c.active + excluded.active, completed = c.completed + excluded.completed, canceled = c.canceled + excluded.canceled;
    UPDATE element_count_totals SET until = high WHERE partition_id = p;
    RETURN n;
END $$;

CREATE FUNCTION public.total_job_counts(p integer, most integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
DECLARE
    low  bigint;
    high bigint;
    n    int;
BEGIN
    INSERT INTO job_count_totals VALUES (p, 0) ON CONFLICT DO NOTHING;
    SELECT until INTO low FROM job_count_totals WHERE partition_id = p FOR UPDATE;
    SELECT max(id), count(*) INTO high, n FROM (
        SELECT id FROM job_count_changes WHERE partition_id = p AND id > low ORDER BY id LIMIT most) s;
    IF n = 0 THEN
        RETURN 0;
    END IF;
    WITH gone AS (DELETE FROM job_count_changes WHERE partition_id = p AND id > low AND id <= high RETURNING *)
    INSERT INTO job_counts AS c (period, tenant_id, type, status, worker, partition_id, jobs, last_at)
    SELECT job_period(last_at), tenant_id, type, status, worker, p, sum(jobs), max(last_at)
    FROM gone GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (period, tenant_id, type, status, worker, partition_id) DO UPDATE
    SET jobs = c.jobs + excluded.jobs, last_at = greatest(c.last_at, excluded.last_at);
    UPDATE job_count_totals SET until = high WHERE partition_id = p;
    DELETE FROM job_counts WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM job_counts WHERE period < clock_now() - interval '30 days' AND partition_id = p LIMIT most));
    RETURN n;
END $$;

CREATE FUNCTION public.xml_text(document bytea) RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $$
DECLARE
    declared CONSTANT text := substring(encode(substring(document FOR 200), 'escape') FROM 'encoding\s*=\s*["'']([A-Za-z0-9._:-]+)');
    encoding text;
    little   int;
BEGIN
    IF substring(document FOR 2) IN ('\xfffe', '\xfeff') OR substring(document FOR 4) IN ('\x3c003f00', '\x003c003f') THEN
        little := (get_byte(document, 0) IN (255, 60))::int;
        BEGIN
            RETURN (
                SELECT string_agg(CASE
                    WHEN unit BETWEEN 55296 AND 56319 AND following BETWEEN 56320 AND 57343
                        THEN chr(65536 + (unit - 55296) * 1024 + following - 56320)
                    WHEN unit BETWEEN 55296 AND 56319 THEN chr(65533)
                    WHEN unit BETWEEN 56320 AND 57343 THEN ''
                    ELSE chr(unit) END, '' ORDER BY place)
                FROM (
                    SELECT place, unit, lead(unit) OVER (ORDER BY place) AS following
                    FROM generate_series(0, length(document) / 2 - 1) AS place,
                        LATERAL (
                            SELECT get_byte(document, 2 * place + little) * 256 + get_byte(document, 2 * place + 1 - little)
                        ) AS u(unit)) AS units
                WHERE NOT (place = 0 AND unit = 65279));
        EXCEPTION WHEN OTHERS THEN
            NULL;  -- NUL
        END;
    END IF;
    IF substring(document FOR 3) = '\xefbbbf' THEN
        document := substring(document FROM 4);
    END IF;
    FOREACH encoding IN ARRAY ARRAY[coalesce(declared, 'UTF8'), 'UTF8', 'LATIN1'] LOOP
        BEGIN
            RETURN convert_from(document, encoding);
        EXCEPTION WHEN OTHERS THEN
            NULL;  -- an encoding that PostgreSQL does not know, or bytes that it does not have
        END;
    END LOOP;
    RETURN encode(document, 'escape');
END $$;

CREATE TABLE public.api_tokens (
    name text NOT NULL,
    sha256 bytea NOT NULL,
    roles text[] NOT NULL,
    tenants text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    key bigint NOT NULL,
    owner text,
    owner_provider text,
    CONSTRAINT api_tokens_owner_provider_check CHECK ((owner_provider = ANY (ARRAY['PASSWORD'::text, 'OIDC'::text])))
);

ALTER TABLE public.api_tokens ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.api_tokens_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE UNLOGGED TABLE public.appenders (
    id uuid NOT NULL,
    session bigint NOT NULL,
    pid integer NOT NULL
);

CREATE TABLE public.archive_erasures (
    root_key bigint NOT NULL,
    file text NOT NULL,
    erased_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    reason text NOT NULL
);

CREATE TABLE public.archive_files (
    name text NOT NULL,
    partition_id integer NOT NULL,
    state text DEFAULT 'WRITING'::text NOT NULL,
    begun_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    sha256 text,
    bytes bigint,
    trees integer,
    first_key bigint,
    last_key bigint,
    waiting bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    CONSTRAINT archive_files_state_check CHECK ((state = ANY (ARRAY['WRITING'::text, 'COMPLETE'::text, 'REMOVED'::text])))
);

CREATE TABLE public.attempts (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    until bigint NOT NULL,
    begun integer NOT NULL,
    epoch bigint NOT NULL,
    open boolean NOT NULL,
    causes text[] DEFAULT '{}'::text[] NOT NULL
);

CREATE TABLE public.audit_log (
    audit_log_key bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor_type text NOT NULL,
    actor_id text,
    address text,
    category text NOT NULL,
    entity_type text NOT NULL,
    entity_key text NOT NULL,
    operation text NOT NULL,
    result text NOT NULL,
    description text,
    related_type text,
    related_key text,
    tenant_id text,
    "position" bigint,
    root_key bigint,
    process_instance_key bigint,
    process_definition_key bigint,
    process_id text,
    element_instance_key bigint,
    job_key bigint,
    user_task_key bigint,
    deployment_key bigint,
    resource_key bigint,
    batch_operation_key bigint,
    batch_operation_type text,
    actor_provider text,
    CONSTRAINT audit_log_actor_type_check CHECK ((actor_type = ANY (ARRAY['ANONYMOUS'::text, 'CLIENT'::text, 'UNKNOWN'::text, 'USER'::text]))),
    CONSTRAINT audit_log_result_check CHECK ((result = ANY (ARRAY['FAIL'::text, 'SUCCESS'::text])))
);

ALTER TABLE public.audit_log ALTER COLUMN audit_log_key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_log_audit_log_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.authorizations (
    authorization_key bigint NOT NULL,
    owner_type text NOT NULL,
    owner_id text NOT NULL,
    resource_type text NOT NULL,
    resource_id text,
    permission_types text[] NOT NULL,
    resource_property_name text,
    CONSTRAINT authorizations_check CHECK ((num_nonnulls(resource_id, resource_property_name) = 1)),
    CONSTRAINT authorizations_owner_type_check CHECK ((owner_type = ANY (ARRAY['USER'::text, 'CLIENT'::text, 'ROLE'::text, 'GROUP'::text, 'MAPPING_RULE'::text])))
);

ALTER TABLE public.authorizations ALTER COLUMN authorization_key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.authorizations_authorization_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.batch_operation_items (
    item_number bigint NOT NULL,
    batch_operation_key bigint NOT NULL,
    item_key bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    root_key bigint NOT NULL,
    "position" bigint,
    processed_at timestamp with time zone,
    type text NOT NULL,
    state text DEFAULT 'ACTIVE'::text NOT NULL,
    process_id text NOT NULL,
    tenant_id text NOT NULL,
    error text,
    CONSTRAINT batch_operation_items_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'COMPLETED'::text, 'SKIPPED'::text, 'CANCELED'::text, 'FAILED'::text])))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='1000');

ALTER TABLE public.batch_operation_items ALTER COLUMN item_number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.batch_operation_items_item_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.batch_operations (
    batch_operation_key bigint NOT NULL,
    type text NOT NULL,
    state text DEFAULT 'CREATED'::text NOT NULL,
    changes bigint DEFAULT 0 NOT NULL,
    open boolean DEFAULT true NOT NULL,
    resource text NOT NULL,
    filter json NOT NULL,
    scan_cursor bigint DEFAULT 0 NOT NULL,
    scanned boolean DEFAULT false NOT NULL,
    actor_kind text NOT NULL,
    actor_id text NOT NULL,
    mapping_rules text[] DEFAULT '{}'::text[] NOT NULL,
    tenants text[],
    processes text[],
    created_at timestamp with time zone DEFAULT public.clock_now() NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    total bigint DEFAULT 0 NOT NULL,
    completed bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL,
    canceled bigint DEFAULT 0 NOT NULL,
    error text,
    request_key text NOT NULL,
    body_sha bytea NOT NULL,
    scan_at timestamp with time zone,
    actor_provider text,
    CONSTRAINT batch_operations_state_check CHECK ((state = ANY (ARRAY['CREATED'::text, 'ACTIVE'::text, 'SUSPENDED'::text, 'COMPLETED'::text, 'PARTIALLY_COMPLETED'::text, 'CANCELED'::text, 'FAILED'::text]))),
    CONSTRAINT batch_operations_type_check CHECK ((type = ANY (ARRAY['CANCEL_PROCESS_INSTANCE'::text, 'RESOLVE_INCIDENT'::text, 'DELETE_PROCESS_INSTANCE'::text])))
)
WITH (fillfactor='50');

ALTER TABLE public.batch_operations ALTER COLUMN batch_operation_key ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.batch_operations_batch_operation_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.batches (
    partition_id integer NOT NULL,
    from_pos bigint NOT NULL,
    to_pos bigint NOT NULL,
    next_key bigint NOT NULL,
    epoch bigint NOT NULL
);

CREATE TABLE public.channel_subscriptions (
    subscription_key bigint NOT NULL,
    interrupting boolean NOT NULL,
    slot smallint GENERATED ALWAYS AS (public.slot_of(tenant_id, correlation_key)) STORED NOT NULL,
    tenant_id text NOT NULL,
    correlation_key text NOT NULL,
    name text NOT NULL,
    process_id text NOT NULL,
    state text NOT NULL,
    CONSTRAINT channel_subscriptions_state_check CHECK ((state = ANY (ARRAY['OPEN'::text, 'CORRELATING'::text])))
)
WITH (fillfactor='90');

CREATE TABLE public.clock (
    one boolean DEFAULT true NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    pinned_at timestamp with time zone,
    shift interval DEFAULT '00:00:00'::interval NOT NULL,
    CONSTRAINT clock_one_check CHECK (one)
);

CREATE TABLE public.cluster (
    one boolean DEFAULT true NOT NULL,
    cluster_id uuid DEFAULT gen_random_uuid() NOT NULL,
    CONSTRAINT cluster_one_check CHECK (one)
);

CREATE TABLE public.command_log (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    append_id uuid NOT NULL,
    ord integer NOT NULL,
    at timestamp with time zone NOT NULL,
    tenant_id text NOT NULL,
    intent text NOT NULL,
    key bigint,
    request bigint,
    payload bytea NOT NULL,
    trace text,
    audit text
)
PARTITION BY RANGE ("position");
ALTER TABLE ONLY public.command_log ALTER COLUMN payload SET STORAGE EXTERNAL;

CREATE TABLE public.command_log_1_0 (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    append_id uuid NOT NULL,
    ord integer NOT NULL,
    at timestamp with time zone NOT NULL,
    tenant_id text NOT NULL,
    intent text NOT NULL,
    key bigint,
    request bigint,
    payload bytea NOT NULL,
    trace text,
    audit text
);
ALTER TABLE ONLY public.command_log_1_0 ALTER COLUMN payload SET STORAGE EXTERNAL;

CREATE TABLE public.command_log_1_1 (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    append_id uuid NOT NULL,
    ord integer NOT NULL,
    at timestamp with time zone NOT NULL,
    tenant_id text NOT NULL,
    intent text NOT NULL,
    key bigint,
    request bigint,
    payload bytea NOT NULL,
    trace text,
    audit text
);
ALTER TABLE ONLY public.command_log_1_1 ALTER COLUMN payload SET STORAGE EXTERNAL;

CREATE TABLE public.command_log_1_2 (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    append_id uuid NOT NULL,
    ord integer NOT NULL,
    at timestamp with time zone NOT NULL,
    tenant_id text NOT NULL,
    intent text NOT NULL,
    key bigint,
    request bigint,
    payload bytea NOT NULL,
    trace text,
    audit text
);
ALTER TABLE ONLY public.command_log_1_2 ALTER COLUMN payload SET STORAGE EXTERNAL;

CREATE TABLE public.event_log (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    seq smallint NOT NULL,
    root_key bigint,
    request bigint,
    events text,
    large_events text,
    rejection json,
    response json,
    version smallint NOT NULL,
    processed_at timestamp with time zone NOT NULL,
    CONSTRAINT event_log_has_events CHECK ((num_nonnulls(events, large_events) = 1))
)
PARTITION BY RANGE ("position");

CREATE VIEW public.command_log_view WITH (security_invoker='true') AS
 SELECT c."position",
    c.at AS "timestamp",
    c.tenant_id,
    c.intent,
    (convert_from(c.payload, 'UTF8'::name))::json AS payload,
    e.processed_at,
    e.rejection,
    c.partition_id
   FROM (public.command_log c
     LEFT JOIN public.event_log e ON (((e.partition_id = c.partition_id) AND (e."position" = c."position") AND (e.seq = 0))));

CREATE TABLE public.element_count_changes (
    partition_id integer NOT NULL,
    id bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    element_id text NOT NULL,
    active bigint NOT NULL,
    completed bigint NOT NULL,
    canceled bigint NOT NULL,
    bucket smallint DEFAULT '-1'::integer NOT NULL,
    duration_ms bigint DEFAULT 0 NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000');

CREATE TABLE public.element_count_totals (
    partition_id integer NOT NULL,
    until bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.element_durations (
    process_definition_key bigint NOT NULL,
    element_id text NOT NULL,
    bucket smallint NOT NULL,
    partition_id integer NOT NULL,
    completed bigint NOT NULL,
    duration_ms numeric NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.partitions (
    id integer NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    owner_node text,
    owner_pid integer,
    owner_backend_start timestamp with time zone,
    lease_until timestamp with time zone,
    handed_over bigint DEFAULT 0 NOT NULL
);

CREATE VIEW public.counted_durations WITH (security_invoker='true') AS
 SELECT element_durations.partition_id,
    element_durations.process_definition_key,
    element_durations.element_id,
    element_durations.bucket,
    element_durations.completed,
    element_durations.duration_ms
   FROM public.element_durations
UNION ALL
 SELECT p.id AS partition_id,
    c.process_definition_key,
    c.element_id,
    c.bucket,
    c.completed,
    c.duration_ms
   FROM ((public.partitions p
     LEFT JOIN public.element_count_totals t ON ((t.partition_id = p.id)))
     JOIN LATERAL ( SELECT c_1.partition_id,
            c_1.id,
            c_1.process_definition_key,
            c_1.element_id,
            c_1.active,
            c_1.completed,
            c_1.canceled,
            c_1.bucket,
            c_1.duration_ms
           FROM public.element_count_changes c_1
          WHERE ((c_1.partition_id = p.id) AND (c_1.id > COALESCE(t.until, (0)::bigint)) AND (c_1.bucket >= 0))) c ON (true));

CREATE TABLE public.element_counts (
    partition_id integer NOT NULL,
    process_definition_key bigint NOT NULL,
    element_id text NOT NULL,
    active bigint NOT NULL,
    completed bigint NOT NULL,
    canceled bigint NOT NULL
)
WITH (fillfactor='50');

CREATE VIEW public.counted_elements WITH (security_invoker='true') AS
 SELECT element_counts.partition_id,
    element_counts.process_definition_key,
    element_counts.element_id,
    element_counts.active,
    element_counts.completed,
    element_counts.canceled
   FROM public.element_counts
UNION ALL
 SELECT p.id AS partition_id,
    c.process_definition_key,
    c.element_id,
    c.active,
    c.completed,
    c.canceled
   FROM ((public.partitions p
     LEFT JOIN public.element_count_totals t ON ((t.partition_id = p.id)))
     JOIN LATERAL ( SELECT c_1.partition_id,
            c_1.id,
            c_1.process_definition_key,
            c_1.element_id,
            c_1.active,
            c_1.completed,
            c_1.canceled
           FROM public.element_count_changes c_1
          WHERE ((c_1.partition_id = p.id) AND (c_1.id > COALESCE(t.until, (0)::bigint)))) c ON (true));

CREATE TABLE public.job_count_changes (
    partition_id integer NOT NULL,
    id bigint NOT NULL,
    tenant_id text NOT NULL,
    type text NOT NULL,
    worker text NOT NULL,
    status text NOT NULL,
    jobs bigint NOT NULL,
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT job_count_changes_status_check CHECK ((status = ANY (ARRAY['CREATED'::text, 'COMPLETED'::text, 'FAILED'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='100000');

CREATE TABLE public.job_count_totals (
    partition_id integer NOT NULL,
    until bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.job_counts (
    period timestamp with time zone NOT NULL,
    tenant_id text NOT NULL,
    type text NOT NULL,
    status text NOT NULL,
    worker text NOT NULL,
    partition_id integer NOT NULL,
    jobs bigint NOT NULL,
    last_at timestamp with time zone NOT NULL
)
WITH (fillfactor='70');

CREATE VIEW public.counted_jobs WITH (security_invoker='true') AS
 SELECT job_counts.period,
    job_counts.tenant_id,
    job_counts.type,
    job_counts.status,
    job_counts.worker,
    job_counts.jobs,
    job_counts.last_at
   FROM public.job_counts
UNION ALL
 SELECT public.job_period(c.last_at) AS period,
    c.tenant_id,
    c.type,
    c.status,
    c.worker,
    c.jobs,
    c.last_at
   FROM ((public.partitions p
     LEFT JOIN public.job_count_totals t ON ((t.partition_id = p.id)))
     JOIN LATERAL ( SELECT c_1.partition_id,
            c_1.id,
            c_1.tenant_id,
            c_1.type,
            c_1.worker,
            c_1.status,
            c_1.jobs,
            c_1.last_at
           FROM public.job_count_changes c_1
          WHERE ((c_1.partition_id = p.id) AND (c_1.id > COALESCE(t.until, (0)::bigint)))) c ON (true));

CREATE TABLE public.definitions_seq (
    one boolean DEFAULT true NOT NULL,
    n bigint DEFAULT 0 NOT NULL,
    CONSTRAINT definitions_seq_one_check CHECK (one)
);

CREATE TABLE public.deleted_trees (
    root_key bigint NOT NULL,
    deleted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    reason text NOT NULL,
    CONSTRAINT deleted_trees_reason_check CHECK ((reason = ANY (ARRAY['RETENTION'::text, 'REQUEST'::text, 'ERASURE'::text])))
);

CREATE TABLE public.deployments (
    deployment_key bigint NOT NULL,
    tenant_id text NOT NULL,
    deployed_at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.element_count_changes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.element_count_changes_id_seq OWNED BY public.element_count_changes.id;

CREATE TABLE public.element_instances (
    element_instance_key bigint NOT NULL,
    root_key bigint NOT NULL,
    part_key bigint,
    process_instance_key bigint NOT NULL,
    scope_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    request bigint,
    incident_key bigint,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    loop_index integer NOT NULL,
    live integer NOT NULL,
    incidents integer NOT NULL,
    interrupted boolean NOT NULL,
    path bigint[] NOT NULL,
    process_id text NOT NULL,
    element_id text NOT NULL,
    element_name text,
    element_type text NOT NULL,
    tenant_id text NOT NULL,
    state text NOT NULL,
    tokens json NOT NULL,
    then_ json,
    occurred json,
    loop json,
    flows text[]
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_insert_scale_factor='0.05', fillfactor='100');

CREATE VIEW public.engine_state WITH (security_invoker='true') AS
 SELECT p.owner_node AS instance_id,
    p.id AS partition_id,
    b.to_pos AS last_processed_position,
    e.processed_at AS updated_at
   FROM ((public.partitions p
     LEFT JOIN LATERAL ( SELECT batches.to_pos
           FROM public.batches
          WHERE (batches.partition_id = p.id)
          ORDER BY batches.from_pos DESC
         LIMIT 1) b ON (true))
     LEFT JOIN public.event_log e ON (((e.partition_id = p.id) AND (e."position" = b.to_pos) AND (e.seq = 0))));

CREATE TABLE public.event_consumers (
    consumer text NOT NULL,
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    seq smallint NOT NULL,
    ordinal integer NOT NULL,
    acknowledged_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.event_log_1_0 (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    seq smallint NOT NULL,
    root_key bigint,
    request bigint,
    events text,
    large_events text,
    rejection json,
    response json,
    version smallint NOT NULL,
    processed_at timestamp with time zone NOT NULL,
    CONSTRAINT event_log_has_events CHECK ((num_nonnulls(events, large_events) = 1))
);

CREATE TABLE public.event_log_1_1 (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    seq smallint NOT NULL,
    root_key bigint,
    request bigint,
    events text,
    large_events text,
    rejection json,
    response json,
    version smallint NOT NULL,
    processed_at timestamp with time zone NOT NULL,
    CONSTRAINT event_log_has_events CHECK ((num_nonnulls(events, large_events) = 1))
);

CREATE TABLE public.event_log_1_2 (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    seq smallint NOT NULL,
    root_key bigint,
    request bigint,
    events text,
    large_events text,
    rejection json,
    response json,
    version smallint NOT NULL,
    processed_at timestamp with time zone NOT NULL,
    CONSTRAINT event_log_has_events CHECK ((num_nonnulls(events, large_events) = 1))
);

CREATE TABLE public.forms (
    form_key bigint NOT NULL,
    deployment_key bigint NOT NULL,
    tenant_id text NOT NULL,
    form_id text NOT NULL,
    version integer NOT NULL,
    version_tag text,
    resource_name text NOT NULL,
    sha256 text NOT NULL,
    state text NOT NULL,
    deployed_at timestamp with time zone NOT NULL,
    CONSTRAINT forms_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'DELETED'::text])))
);

CREATE TABLE public.idempotency_keys (
    tenant text NOT NULL,
    key text NOT NULL,
    body_sha bytea NOT NULL,
    "position" bigint,
    expires_at timestamp with time zone NOT NULL
);

CREATE VIEW public.idempotency_keys_view WITH (security_invoker='true') AS
 SELECT i.key,
    i.tenant AS tenant_id,
    i."position" AS command_position,
    e.response AS response_body,
    c.at AS created_at,
    i.expires_at
   FROM ((public.idempotency_keys i
     LEFT JOIN public.command_log c ON (((c.partition_id = ((i."position" >> 51))::integer) AND (c."position" = i."position"))))
     LEFT JOIN public.event_log e ON (((e.partition_id = ((i."position" >> 51))::integer) AND (e."position" = i."position") AND (e.seq = 0))));

CREATE TABLE public.inbox (
    target_partition integer NOT NULL,
    id bigint NOT NULL,
    request bigint,
    tenant_id text NOT NULL,
    intent text NOT NULL,
    key bigint,
    payload bytea NOT NULL,
    trace text,
    audit text
);

ALTER TABLE public.inbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.inbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.incidents (
    incident_key bigint NOT NULL,
    root_key bigint NOT NULL,
    part_key bigint,
    process_instance_key bigint NOT NULL,
    element_instance_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    job_key bigint,
    created_at timestamp with time zone NOT NULL,
    resolved_at timestamp with time zone,
    process_id text NOT NULL,
    element_id text NOT NULL,
    tenant_id text NOT NULL,
    state text NOT NULL,
    type text NOT NULL,
    message text NOT NULL,
    stage text NOT NULL,
    argument json,
    error_hash integer GENERATED ALWAYS AS (((('x'::text || "left"(md5(message), 8)))::bit(32))::integer) STORED NOT NULL,
    cause integer GENERATED ALWAYS AS (((('x'::text || "left"(md5("left"(regexp_replace(("left"(message, 500) COLLATE "C"), '[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}|(?<!\w)''[^'']*''|"[^"]*"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[0-9]+(?:[.,][0-9]+)*'::text, '*'::text, 'g'::text), 300)), 8)))::bit(32))::integer) STORED NOT NULL
);

CREATE SEQUENCE public.job_count_changes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.job_count_changes_id_seq OWNED BY public.job_count_changes.id;

CREATE TABLE public.job_dispatchers (
    node text NOT NULL,
    session bigint DEFAULT 1 NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    types text[] DEFAULT '{}'::text[] NOT NULL
);

CREATE TABLE public.job_executions (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    job_type text NOT NULL,
    execute_at timestamp with time zone DEFAULT public.clock_now() NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    attempt_index integer DEFAULT 0 NOT NULL,
    occurrence bigint DEFAULT 0 NOT NULL,
    alive_at timestamp with time zone,
    payload jsonb,
    trace_context jsonb,
    created_at timestamp with time zone DEFAULT public.clock_now() NOT NULL,
    partition_id integer,
    schedule text,
    node text,
    lease uuid,
    error text,
    failed_at timestamp with time zone,
    unique_key text,
    CONSTRAINT job_executions_running CHECK (((state = 'running'::text) = (lease IS NOT NULL))),
    CONSTRAINT job_executions_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'running'::text, 'failed'::text])))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');

CREATE TABLE public.job_pauses (
    one boolean DEFAULT true NOT NULL,
    pauses bigint DEFAULT 0 NOT NULL,
    CONSTRAINT job_pauses_one_check CHECK (one)
);

CREATE SEQUENCE public.log_position_1
    START WITH 2251799813685249
    INCREMENT BY 1
    MINVALUE 2251799813685249
    MAXVALUE 4503599627370495
    CACHE 1;

CREATE TABLE public.loop_items (
    body_key bigint NOT NULL,
    index integer NOT NULL,
    item text,
    result text
);

CREATE TABLE public.mapping_rules (
    mapping_rule_id text NOT NULL,
    key bigint NOT NULL,
    name text NOT NULL,
    claim_name text NOT NULL,
    claim_value text NOT NULL
);

ALTER TABLE public.mapping_rules ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.mapping_rules_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members (
    container_type text NOT NULL,
    container_id text NOT NULL,
    member_type text NOT NULL,
    member_id text NOT NULL,
    key bigint NOT NULL,
    CONSTRAINT members_container_type_check CHECK ((container_type = ANY (ARRAY['ROLE'::text, 'GROUP'::text, 'TENANT'::text]))),
    CONSTRAINT members_member_type_check CHECK ((member_type = ANY (ARRAY['USER'::text, 'CLIENT'::text, 'GROUP'::text, 'ROLE'::text, 'MAPPING_RULE'::text])))
);

ALTER TABLE public.members ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.members_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.message_correlations (
    message_correlation_key bigint NOT NULL,
    message_key bigint NOT NULL,
    subscription_key bigint NOT NULL,
    root_key bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    element_instance_key bigint,
    process_definition_key bigint NOT NULL,
    correlated_at timestamp with time zone NOT NULL,
    process_id text NOT NULL,
    element_id text NOT NULL,
    name text NOT NULL,
    correlation_key text NOT NULL,
    business_id text,
    tenant_id text NOT NULL
);

CREATE TABLE public.process_definitions (
    process_definition_key bigint NOT NULL,
    deployment_key bigint NOT NULL,
    tenant_id text NOT NULL,
    process_id text NOT NULL,
    version integer NOT NULL,
    name text,
    version_tag text,
    resource_name text NOT NULL,
    sha256 text NOT NULL,
    state text NOT NULL,
    deployed_at timestamp with time zone NOT NULL,
    start_form_id text,
    start_form_binding text,
    start_form_version_tag text,
    retention_ms bigint,
    CONSTRAINT process_definitions_check CHECK (((start_form_id IS NULL) = (start_form_binding IS NULL))),
    CONSTRAINT process_definitions_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'DRAINING'::text, 'DELETED'::text])))
);

CREATE TABLE public.start_subscriptions (
    subscription_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    tenant_id text NOT NULL,
    process_id text NOT NULL,
    element_id text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    CONSTRAINT start_subscriptions_kind_check CHECK ((kind = ANY (ARRAY['MESSAGE'::text, 'SIGNAL'::text, 'CONDITION'::text])))
);

CREATE TABLE public.subscriptions (
    subscription_key bigint NOT NULL,
    root_key bigint NOT NULL,
    part_key bigint,
    process_instance_key bigint NOT NULL,
    element_instance_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    process_version integer NOT NULL,
    interrupting boolean NOT NULL,
    process_id text NOT NULL,
    process_name text,
    target_element_id text NOT NULL,
    type text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    correlation_key text,
    state text NOT NULL,
    business_id text,
    tenant_id text NOT NULL,
    CONSTRAINT subscriptions_kind_check CHECK ((kind = ANY (ARRAY['MESSAGE'::text, 'SIGNAL'::text, 'CONDITION'::text]))),
    CONSTRAINT subscriptions_state_check CHECK ((state = ANY (ARRAY['CREATED'::text, 'CORRELATED'::text, 'DELETED'::text]))),
    CONSTRAINT subscriptions_type_check CHECK ((type = ANY (ARRAY['BOUNDARY'::text, 'INTERMEDIATE'::text, 'EVENT_SUB_PROCESS'::text])))
)
WITH (fillfactor='85');

CREATE VIEW public.message_subscriptions WITH (security_invoker='true') AS
 SELECT subscriptions.subscription_key,
    subscriptions.process_id,
    subscriptions.process_definition_key,
    subscriptions.process_name,
    subscriptions.process_version,
    subscriptions.process_instance_key,
    subscriptions.root_key,
    subscriptions.target_element_id AS element_id,
    subscriptions.element_instance_key,
    subscriptions.state,
    'PROCESS_EVENT'::text AS subscription_type,
    subscriptions.updated_at,
    subscriptions.name,
    subscriptions.correlation_key,
    subscriptions.tenant_id,
    subscriptions.business_id,
    subscriptions.ended_at
   FROM public.subscriptions
  WHERE (subscriptions.kind = 'MESSAGE'::text)
UNION ALL
 SELECT s.subscription_key,
    s.process_id,
    s.process_definition_key,
    d.name AS process_name,
    d.version AS process_version,
    NULL::bigint AS process_instance_key,
    NULL::bigint AS root_key,
    s.element_id,
    NULL::bigint AS element_instance_key,
    'CREATED'::text AS state,
    'START_EVENT'::text AS subscription_type,
    s.opened_at AS updated_at,
    s.name,
    NULL::text AS correlation_key,
    s.tenant_id,
    NULL::text AS business_id,
    NULL::timestamp with time zone AS ended_at
   FROM (public.start_subscriptions s
     JOIN public.process_definitions d USING (process_definition_key))
  WHERE (s.kind = 'MESSAGE'::text);

CREATE TABLE public.messages (
    message_key bigint NOT NULL,
    deadline_ms bigint NOT NULL,
    partition_id integer NOT NULL,
    slot smallint GENERATED ALWAYS AS (public.slot_of(tenant_id, correlation_key)) STORED NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    correlation_key text NOT NULL,
    message_id text,
    business_id text,
    variables json NOT NULL,
    given text[] NOT NULL
)
WITH (fillfactor='90');

CREATE TABLE public.nodes (
    id text NOT NULL,
    number integer NOT NULL,
    roles text[] NOT NULL,
    version text NOT NULL,
    schema integer NOT NULL,
    host text NOT NULL,
    port integer NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    heartbeat_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    pid integer NOT NULL,
    backend_start timestamp with time zone NOT NULL,
    draining boolean DEFAULT false NOT NULL,
    ready integer[] DEFAULT '{}'::integer[] NOT NULL,
    log_levels json DEFAULT '{}'::json NOT NULL,
    address text
)
WITH (fillfactor='50');

ALTER TABLE public.nodes ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.nodes_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.outbox_deliveries (
    partition_id integer NOT NULL,
    "position" bigint NOT NULL,
    seq smallint NOT NULL,
    ordinal integer NOT NULL,
    root_key bigint NOT NULL,
    type text NOT NULL,
    document text NOT NULL,
    state text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    forgiven integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    error text,
    CONSTRAINT outbox_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'held'::text, 'dead'::text, 'dropped'::text])))
);

CREATE TABLE public.paged_loop_items (
    body_key bigint NOT NULL,
    first integer NOT NULL,
    items text NOT NULL
);

CREATE TABLE public.paused_job_types (
    job_type text NOT NULL,
    paused_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.resources (
    sha256 text NOT NULL,
    bytes bytea NOT NULL,
    stored_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE VIEW public.process_definitions_view WITH (security_invoker='true') AS
 SELECT d.process_definition_key,
    d.process_id AS bpmn_process_id,
    d.version,
    d.tenant_id,
    public.xml_text(r.bytes) AS bpmn_xml,
    jsonb_strip_nulls(jsonb_build_object('name', d.name, 'versionTag', d.version_tag, 'resourceName', d.resource_name, 'startFormId', d.start_form_id)) AS parsed_metadata,
    d.deployment_key,
    d.deployed_at,
    d.state
   FROM (public.process_definitions d
     LEFT JOIN public.resources r ON ((r.sha256 = d.sha256)));

CREATE TABLE public.process_instances (
    process_instance_key bigint NOT NULL,
    root_key bigint NOT NULL,
    part_key bigint,
    parent_process_instance_key bigint,
    parent_element_instance_key bigint,
    process_definition_key bigint NOT NULL,
    created_position bigint NOT NULL,
    request bigint,
    version bigint NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    process_version integer NOT NULL,
    depth integer NOT NULL,
    live integer NOT NULL,
    incidents integer NOT NULL,
    in_parts integer DEFAULT 0 NOT NULL,
    interrupted boolean NOT NULL,
    process_id text NOT NULL,
    process_name text,
    version_tag text,
    tenant_id text NOT NULL,
    state text NOT NULL,
    business_id text,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    tokens json NOT NULL,
    then_ json,
    work json,
    start json,
    start_lock text,
    terminate_after text[],
    trace text
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_insert_scale_factor='0.05');

CREATE VIEW public.process_instances_view WITH (security_invoker='true') AS
 SELECT process_instances.process_instance_key,
    process_instances.process_id AS bpmn_process_id,
    process_instances.process_version AS version,
    process_instances.process_definition_key,
    process_instances.tenant_id,
        CASE
            WHEN (process_instances.state = ANY (ARRAY['COMPLETED'::text, 'TERMINATED'::text])) THEN process_instances.state
            WHEN (process_instances.incidents > 0) THEN 'INCIDENT'::text
            ELSE 'ACTIVE'::text
        END AS state,
    process_instances.started_at,
    process_instances.ended_at,
    process_instances.parent_process_instance_key,
    process_instances.root_key AS root_process_instance_key,
    process_instances.business_id,
    process_instances.tags
   FROM public.process_instances;

CREATE TABLE public.retention_clocks (
    partition_id integer NOT NULL,
    at timestamp with time zone NOT NULL,
    moves bigint DEFAULT 0 NOT NULL,
    deleted bigint DEFAULT 0 NOT NULL,
    ran_moves bigint DEFAULT '-1'::integer NOT NULL,
    ran_at timestamp with time zone,
    ran_deleted bigint DEFAULT 0 NOT NULL,
    problem text,
    problem_since timestamp with time zone,
    kept_key bigint,
    kept_due timestamp with time zone,
    kept_by text,
    logs_kept_by text
);

CREATE TABLE public.roles (
    role_id text NOT NULL,
    key bigint NOT NULL,
    name text NOT NULL,
    description text,
    built_in boolean DEFAULT false NOT NULL
);

ALTER TABLE public.roles ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.roles_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.sessions (
    sha256 bytea NOT NULL,
    username text NOT NULL,
    provider text NOT NULL,
    name text,
    email text,
    claims text DEFAULT '[]'::text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    key bigint NOT NULL,
    CONSTRAINT sessions_provider_check CHECK ((provider = ANY (ARRAY['PASSWORD'::text, 'OIDC'::text])))
);

ALTER TABLE public.sessions ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.sessions_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE UNLOGGED TABLE public.since_recovery (
    one boolean DEFAULT true NOT NULL,
    database text,
    CONSTRAINT since_recovery_one_check CHECK (one)
);

CREATE TABLE public.slot_detours (
    partition_id integer NOT NULL,
    previous integer NOT NULL,
    slots smallint[] NOT NULL,
    held boolean NOT NULL
);

CREATE TABLE public.slots (
    slot smallint NOT NULL,
    partition_id integer NOT NULL,
    CONSTRAINT slots_slot_check CHECK (((slot >= 0) AND (slot <= 1023)))
);

CREATE TABLE public.start_locks (
    process_instance_key bigint NOT NULL,
    slot smallint GENERATED ALWAYS AS (public.slot_of(tenant_id, correlation_key)) STORED NOT NULL,
    tenant_id text NOT NULL,
    correlation_key text NOT NULL,
    process_id text NOT NULL
);

CREATE TABLE public.stuck_timers (
    timer_key bigint NOT NULL,
    due_at_ms bigint NOT NULL,
    partition_id integer NOT NULL,
    noted_at timestamp with time zone NOT NULL,
    reason text NOT NULL
);

CREATE TABLE public.tenant_partitions (
    tenant_id text NOT NULL,
    partition_id integer NOT NULL
);

CREATE TABLE public.tenants (
    tenant_id text NOT NULL,
    key bigint NOT NULL,
    name text NOT NULL,
    description text
);

ALTER TABLE public.tenants ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.tenants_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.timers (
    timer_key bigint NOT NULL,
    root_key bigint,
    part_key bigint,
    process_instance_key bigint,
    element_instance_key bigint,
    process_definition_key bigint NOT NULL,
    due_at_ms bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    triggered_at timestamp with time zone,
    ended_at timestamp with time zone,
    partition_id integer NOT NULL,
    repetitions integer NOT NULL,
    process_id text NOT NULL,
    target_element_id text NOT NULL,
    type text NOT NULL,
    state text NOT NULL,
    tenant_id text NOT NULL,
    cycle json,
    CONSTRAINT timers_due_at_ms_check CHECK (((due_at_ms >= 0) AND (due_at_ms <= '253402300799999'::bigint))),
    CONSTRAINT timers_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'TRIGGERED'::text, 'CANCELED'::text, 'FAILED'::text]))),
    CONSTRAINT timers_type_check CHECK ((type = ANY (ARRAY['BOUNDARY'::text, 'INTERMEDIATE'::text, 'START_EVENT'::text, 'EVENT_SUB_PROCESS'::text])))
);

CREATE VIEW public.timers_view WITH (security_invoker='true') AS
 SELECT timers.timer_key,
    timers.process_instance_key,
    timers.element_instance_key,
    timers.tenant_id,
    timers.type AS timer_type,
    timers.target_element_id,
    to_timestamp((((timers.due_at_ms)::numeric / 1000.0))::double precision) AS due_date,
        CASE
            WHEN (timers.cycle IS NOT NULL) THEN timers.repetitions
            ELSE NULL::integer
        END AS repetitions,
        CASE
            WHEN (((timers.cycle ->> 0) ~ '(^|/)P(\d{1,8}W|(\d{1,8}D)?(T(\d{1,8}H)?(\d{1,8}M)?(\d{1,8}([.]\d+)?S)?)?)$'::text) AND ((timers.cycle ->> 0) ~ 'P.*\d'::text)) THEN ((EXTRACT(epoch FROM ("substring"((timers.cycle ->> 0), 'P[^/]*$'::text))::interval) * (1000)::numeric))::bigint
            ELSE NULL::bigint
        END AS interval_ms,
    timers.state,
    timers.created_at,
    timers.triggered_at,
    timers.ended_at,
    timers.process_id AS bpmn_process_id,
    timers.process_definition_key
   FROM public.timers;

CREATE TABLE public.unhashed_variables (
    partition_id integer NOT NULL,
    behind bigint NOT NULL,
    upto bigint
);

CREATE TABLE public.user_groups (
    group_id text NOT NULL,
    key bigint NOT NULL,
    name text NOT NULL,
    description text
);

ALTER TABLE public.user_groups ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.user_groups_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.user_tasks (
    user_task_key bigint NOT NULL,
    root_key bigint NOT NULL,
    part_key bigint,
    process_instance_key bigint NOT NULL,
    element_instance_key bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    form_key bigint,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    due_at timestamp with time zone,
    follow_up_at timestamp with time zone,
    process_version integer NOT NULL,
    priority integer NOT NULL,
    process_id text NOT NULL,
    process_name text,
    element_id text NOT NULL,
    name text,
    state text NOT NULL,
    assignee text,
    external_form text,
    business_id text,
    tenant_id text NOT NULL,
    tags text[] NOT NULL,
    candidate_groups text[] NOT NULL,
    candidate_users text[] NOT NULL,
    headers json NOT NULL,
    CONSTRAINT user_tasks_priority_check CHECK (((priority >= 0) AND (priority <= 100))),
    CONSTRAINT user_tasks_state_check CHECK ((state = ANY (ARRAY['CREATED'::text, 'COMPLETED'::text, 'CANCELED'::text])))
)
WITH (fillfactor='85');

CREATE TABLE public.users (
    username text NOT NULL,
    key bigint NOT NULL,
    name text,
    email text,
    password_hash text NOT NULL
);

ALTER TABLE public.users ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.users_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.variables (
    variable_key bigint NOT NULL,
    scope_key bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    root_key bigint NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    value text NOT NULL,
    normal_hash uuid
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_insert_scale_factor='0.05', fillfactor='100');

CREATE UNLOGGED TABLE public.void_leases (
    token uuid NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.command_log ATTACH PARTITION public.command_log_1_0 FOR VALUES FROM ('2251799813685248') TO ('2251799823685248');

ALTER TABLE ONLY public.command_log ATTACH PARTITION public.command_log_1_1 FOR VALUES FROM ('2251799823685248') TO ('2251799833685248');

ALTER TABLE ONLY public.command_log ATTACH PARTITION public.command_log_1_2 FOR VALUES FROM ('2251799833685248') TO ('2251799843685248');

ALTER TABLE ONLY public.event_log ATTACH PARTITION public.event_log_1_0 FOR VALUES FROM ('2251799813685248') TO ('2251799823685248');

ALTER TABLE ONLY public.event_log ATTACH PARTITION public.event_log_1_1 FOR VALUES FROM ('2251799823685248') TO ('2251799833685248');

ALTER TABLE ONLY public.event_log ATTACH PARTITION public.event_log_1_2 FOR VALUES FROM ('2251799833685248') TO ('2251799843685248');

ALTER TABLE ONLY public.element_count_changes ALTER COLUMN id SET DEFAULT nextval('public.element_count_changes_id_seq'::regclass);

ALTER TABLE ONLY public.job_count_changes ALTER COLUMN id SET DEFAULT nextval('public.job_count_changes_id_seq'::regclass);

INSERT INTO public.appenders VALUES
	('78b4dff8-1b9c-4134-95be-38ebdb9d57ce', 1, 6317);

INSERT INTO public.batches VALUES
	(1, 2251799813685247, 2251799813685248, 2251799813685249, 0),
	(1, 2251799813685248, 2251799813685249, 2251799813685251, 1),
	(1, 2251799813685249, 2251799813685250, 2251799813685253, 1),
	(1, 2251799813685250, 2251799813685251, 2251799813685255, 1),
	(1, 2251799813685251, 2251799813685252, 2251799813685257, 1),
	(1, 2251799813685252, 2251799813685253, 2251799813685259, 1),
	(1, 2251799813685253, 2251799813685254, 2251799813685261, 1),
	(1, 2251799813685254, 2251799813685255, 2251799813685264, 1),
	(1, 2251799813685255, 2251799813685256, 2251799813685266, 1),
	(1, 2251799813685256, 2251799813685257, 2251799813685268, 1),
	(1, 2251799813685257, 2251799813685258, 2251799813685270, 1),
	(1, 2251799813685258, 2251799813685259, 2251799813685273, 1),
	(1, 2251799813685259, 2251799813685260, 2251799813685275, 1),
	(1, 2251799813685260, 2251799813685261, 2251799813685277, 1),
	(1, 2251799813685261, 2251799813685262, 2251799813685279, 1),
	(1, 2251799813685262, 2251799813685263, 2251799813685281, 1),
	(1, 2251799813685263, 2251799813685264, 2251799813685283, 1),
	(1, 2251799813685264, 2251799813685265, 2251799813685285, 1),
	(1, 2251799813685265, 2251799813685266, 2251799813685287, 1),
	(1, 2251799813685266, 2251799813685267, 2251799813685289, 1),
	(1, 2251799813685267, 2251799813685268, 2251799813685295, 1),
	(1, 2251799813685268, 2251799813685269, 2251799813685299, 1),
	(1, 2251799813685269, 2251799813685270, 2251799813685299, 1),
	(1, 2251799813685270, 2251799813685271, 2251799813685303, 1),
	(1, 2251799813685271, 2251799813685272, 2251799813685304, 1),
	(1, 2251799813685272, 2251799813685273, 2251799813685308, 1),
	(1, 2251799813685273, 2251799813685274, 2251799813685312, 1),
	(1, 2251799813685274, 2251799813685275, 2251799813685315, 1),
	(1, 2251799813685275, 2251799813685276, 2251799813685316, 1),
	(1, 2251799813685276, 2251799813685277, 2251799813685316, 1),
	(1, 2251799813685277, 2251799813685278, 2251799813685323, 1),
	(1, 2251799813685278, 2251799813685279, 2251799813685323, 1),
	(1, 2251799813685279, 2251799813685280, 2251799813685327, 1),
	(1, 2251799813685280, 2251799813685281, 2251799813685331, 1),
	(1, 2251799813685281, 2251799813685282, 2251799813685335, 1),
	(1, 2251799813685282, 2251799813685283, 2251799813685336, 1),
	(1, 2251799813685283, 2251799813685284, 2251799813685337, 1),
	(1, 2251799813685284, 2251799813685285, 2251799813685338, 1),
	(1, 2251799813685285, 2251799813685286, 2251799813685342, 1),
	(1, 2251799813685286, 2251799813685287, 2251799813685346, 1),
	(1, 2251799813685287, 2251799813685288, 2251799813685350, 1),
	(1, 2251799813685288, 2251799813685289, 2251799813685354, 1),
	(1, 2251799813685289, 2251799813685290, 2251799813685361, 1),
	(1, 2251799813685290, 2251799813685291, 2251799813685365, 1),
	(1, 2251799813685291, 2251799813685292, 2251799813685370, 1),
	(1, 2251799813685292, 2251799813685293, 2251799813685376, 1),
	(1, 2251799813685293, 2251799813685294, 2251799813685382, 1),
	(1, 2251799813685294, 2251799813685295, 2251799813685386, 1),
	(1, 2251799813685295, 2251799813685296, 2251799813685392, 1),
	(1, 2251799813685296, 2251799813685297, 2251799813685393, 1),
	(1, 2251799813685297, 2251799813685298, 2251799813685399, 1),
	(1, 2251799813685298, 2251799813685299, 2251799813685400, 1),
	(1, 2251799813685299, 2251799813685300, 2251799813685404, 1),
	(1, 2251799813685300, 2251799813685301, 2251799813685410, 1),
	(1, 2251799813685301, 2251799813685302, 2251799813685414, 1),
	(1, 2251799813685302, 2251799813685304, 2251799813685421, 1),
	(1, 2251799813685304, 2251799813685305, 2251799813685425, 1),
	(1, 2251799813685305, 2251799813685306, 2251799813685433, 1),
	(1, 2251799813685306, 2251799813685307, 2251799813685449, 1),
	(1, 2251799813685307, 2251799813685308, 2251799814685488, 1),
	(1, 2251799813685308, 2251799813685309, 2251799815685491, 2);

INSERT INTO public.channel_subscriptions VALUES
	(2251799813685369, true, DEFAULT, '<default>', 'waiting', 'hello', 'waiting', 'OPEN'),
	(2251799813685374, false, DEFAULT, '<default>', 'guarding', 'hello', 'guarding', 'OPEN'),
	(2251799813685379, false, DEFAULT, '<default>', 'handling', 'hello', 'handling', 'OPEN');

INSERT INTO public.clock VALUES
	(true, 2, '2027-01-15 09:00:00+00', '00:00:00');

INSERT INTO public.cluster VALUES
	(true, 'd36edc2c-ced5-4a77-ac2c-3b41ca9137fd');

INSERT INTO public.command_log_1_0 VALUES
	(1, 2251799813685249, '41570465-a30b-4119-b18e-6116d09e038e', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a22302e62706d6e222c22736861323536223a2266663232656433633265343034623236623838346464643832303862636362373335653733383165666135663330313161356630663863316236636437633737222c2270726f636573736573223a5b7b226964223a226a6f6273222c226e616d65223a2250726f63657373206a6f6273227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685250, 'acfe9406-3112-4135-a39d-2554f4027de6', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a22312e62706d6e222c22736861323536223a2261363235613438356634633639303534333666313462616339393562646165306333373635386361396662333166346435313331353439303566653532326430222c2270726f636573736573223a5b7b226964223a226a6f696e6564222c226e616d65223a2250726f63657373206a6f696e6564227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685251, '1dda5473-30a4-4291-811b-7ae1eee3a7ab', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a22322e62706d6e222c22736861323536223a2263356537366462346364356565613964393266633636316462316135303461353432653032323466643831393335613038373162636363663761366238613766222c2270726f636573736573223a5b7b226964223a2263686f69636573222c226e616d65223a2250726f636573732063686f69636573227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685252, '341e2aff-d9ef-42e7-af20-916337a65bc9', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a22332e62706d6e222c22736861323536223a2239646464363339656633353538613265646266666165633830626632313861653930343035366131653732333230313233663664346534613632626436336234222c2270726f636573736573223a5b7b226964223a2277616974696e67222c226e616d65223a2250726f636573732077616974696e67227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685253, 'af3f2f9c-df83-4faf-80d3-7fdd6dc4037c', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a22342e62706d6e222c22736861323536223a2266663264656233646131643839393039333864303265653935623664326532346563646363613064313136353561363565313839626331396462396637663666222c2270726f636573736573223a5b7b226964223a226775617264696e67222c226e616d65223a2250726f63657373206775617264696e67227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685254, '86bedeb8-b083-4d0b-b20e-beef9f445f7f', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a22352e62706d6e222c22736861323536223a2262666133356133356234366163626537366663343962363935633735383636336364666438363064323766303139633631396338383466663864633430623534222c2270726f636573736573223a5b7b226964223a2268616e646c696e67222c226e616d65223a2250726f636573732068616e646c696e67227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685255, 'ef496b6e-25b7-4317-a882-8253c0484580', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a22362e62706d6e222c22736861323536223a2261616138313765326462353535623664666436333935643466636162306336376238666634623936376230393161316136396230613061636432363966323439222c2270726f636573736573223a5b7b226964223a2273746172746564222c226e616d65223a2250726f636573732073746172746564222c22737461727473223a5b7b22656c656d656e74223a227374617274222c226b696e64223a224d455353414745222c226e616d65223a22626567696e227d5d7d5d7d5d7d', NULL, NULL),
	(1, 2251799813685256, 'ad1af64b-088d-4c36-83f8-fd28b2cd0438', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a22372e62706d6e222c22736861323536223a2233643966663463336133333763313963306663313432396231343735666563313439626137643464303339666635656631313733396330323232643136643064222c2270726f636573736573223a5b7b226964223a227369676e616c6c6564222c226e616d65223a2250726f63657373207369676e616c6c6564227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685257, 'ac1f0fc4-e833-4b64-8b71-1a197681d06e', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a22382e62706d6e222c22736861323536223a2232613833613965326363303961353134666634633033636365303137643334326563353633323531616435613233346234366537303663656239386330343661222c2270726f636573736573223a5b7b226964223a22636f6e646974696f6e616c222c226e616d65223a2250726f6365737320636f6e646974696f6e616c227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685258, 'caf0cbb5-3632-4521-be51-f16230f3d3d9', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a22392e62706d6e222c22736861323536223a2239616362656435313236306331373739616232303031646132323632346362323666303264393538363431613365626164666632343865626466336436646264222c2270726f636573736573223a5b7b226964223a2264656c61796564227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685259, '07c389f1-20d2-49f9-b6d0-4217352b5ac7', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a2231302e62706d6e222c22736861323536223a2237303136386435383764356263313131303438613239653534323732356230636438623064343035323330363262653130333032653933316134346665343539222c2270726f636573736573223a5b7b226964223a227363686564756c6564222c226e616d65223a22222c22737461727473223a5b7b22656c656d656e74223a22627954696d6572222c226b696e64223a2254494d45525f4359434c45222c226e616d65223a2252322f50543148227d5d7d5d7d5d7d', NULL, NULL),
	(1, 2251799813685260, '7158cc72-616c-4910-a60a-9900acb04197', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a2231312e62706d6e222c22736861323536223a2236346332316132623237616632633662326436626432343431613262663562396633333635383033313465313631643234393930366538616339633763303638222c2270726f636573736573223a5b7b226964223a227761746368696e67222c226e616d65223a2250726f63657373207761746368696e67227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685261, 'edcad908-f11b-4a31-8393-da89eb149c7e', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a2231322e62706d6e222c22736861323536223a2264363765666532323064383033393439356137353930623435653761373964373836386436383739616566626365353866623166633630666661373062326535222c2270726f636573736573223a5b7b226964223a2264656369646564227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685262, '8e4dc4fe-987a-4808-a7d6-01d9597d29e1', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a2231332e62706d6e222c22736861323536223a2233346162653838303964313335363338663938633538386635386465373030303132626561396536623464623362633866393037663937626539353339373130222c2270726f636573736573223a5b7b226964223a2263616c6c696e67222c226e616d65223a2250726f636573732063616c6c696e67227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685263, '819e6847-eb16-41da-8d97-4f00366076c8', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a2231342e62706d6e222c22736861323536223a2266373034313762333035666636633835303536373038646137326431616362376235633332663036303463626365386137623466396662663635313731343262222c2270726f636573736573223a5b7b226964223a226c6f6f70222c226e616d65223a2250726f63657373206c6f6f70227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685264, '09cde554-92ac-4619-956e-387dff805814', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a2231352e62706d6e222c22736861323536223a2238323561646162663661363035663234626365396135326632343164323130323836306665623739666537653631313964326466623233393936653032313338222c2270726f636573736573223a5b7b226964223a22696e5f7475726e222c226e616d65223a2250726f6365737320696e5f7475726e227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685265, '11fbf27c-c9ee-46f5-bda3-8bd5c7018d83', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a2231362e62706d6e222c22736861323536223a2262306631393436633366343062356566646639356633346266343230356435636533333238393863646133316634626338323065623936643033633263346135222c2270726f636573736573223a5b7b226964223a226d616e79222c226e616d65223a2250726f63657373206d616e79227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685266, '93d6077f-c22f-4ac4-961d-1e03807ac844', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a2231372e62706d6e222c22736861323536223a2237393464363264356430613763653733366462373739626237303136613361326538366330643764316365626666326435646335343465643165636233303539222c2270726f636573736573223a5b7b226964223a226865617264222c226e616d65223a2250726f63657373206865617264227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685267, '3888c4e6-f159-4922-bbcb-adc093faf3d9', 0, '2027-01-15 08:00:00+00', '<default>', 'DEPLOYMENT:CREATE', NULL, NULL, '\x7b227265736f7572636573223a5b7b226e616d65223a2231382e62706d6e222c22736861323536223a2233663162666133313939653537396166613036353064646539643336363530326230656566613165386463323234646636663166316262613939343462386433222c2270726f636573736573223a5b7b226964223a2272657363756564222c226e616d65223a2250726f636573732072657363756564227d5d7d5d7d', NULL, NULL),
	(1, 2251799813685268, 'c87b2200-aa3a-4da7-9800-89af9eb657c1', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226a6f6273222c227661726961626c6573223a7b2274657874223a22c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4c3a4222c226e756d626572223a317d7d', NULL, NULL),
	(1, 2251799813685269, 'f773f260-a50e-4ad2-bde3-1d15bd6e79b7', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226a6f6273227d', NULL, NULL),
	(1, 2251799813685270, '78f3e5ce-4b8f-4281-be64-9e791fce5cfe', 0, '2027-01-15 08:00:00+00', '<default>', 'JOB:FAIL', NULL, NULL, '\x7b226b6579223a323235313739393831333638353239382c2272657472696573223a312c226261636b6f66665f6d73223a333630303030307d', NULL, NULL),
	(1, 2251799813685271, '273dac72-747d-499f-bfb4-9975689fa236', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226a6f6273227d', NULL, NULL),
	(1, 2251799813685272, '5dc6138a-2d4b-4d5c-8761-45ac8b836a3b', 0, '2027-01-15 08:00:00+00', '<default>', 'JOB:FAIL', NULL, NULL, '\x7b226b6579223a323235313739393831333638353330322c226d657373616765223a226e6f206d6f72652072657472696573227d', NULL, NULL),
	(1, 2251799813685273, '2f79d4ce-1f05-4c6a-b706-00e476ee29fc', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226a6f6273227d', NULL, NULL),
	(1, 2251799813685274, 'a70316ee-185f-4b84-97ad-6994304faf96', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226a6f6273227d', NULL, NULL),
	(1, 2251799813685275, '546477e4-a28e-4d2f-8708-d4e66443eb59', 0, '2027-01-15 08:00:00+00', '<default>', 'JOB:COMPLETE', NULL, NULL, '\x7b226b6579223a323235313739393831333638353330372c227661726961626c6573223a7b22646f6e65223a747275657d7d', NULL, NULL),
	(1, 2251799813685276, '549ce049-11f6-41c3-a031-1683ec26371b', 0, '2027-01-15 08:00:00+00', '<default>', 'JOB:COMPLETE', NULL, NULL, '\x7b226b6579223a323235313739393831333638353331342c227661726961626c6573223a7b22646f6e65223a747275657d7d', NULL, NULL),
	(1, 2251799813685277, 'e0f6c15f-6c76-45ee-82b6-109261041141', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE:CANCEL', NULL, NULL, '\x7b226b6579223a323235313739393831333638353330387d', NULL, NULL),
	(1, 2251799813685278, '2aa8fa08-ac28-4a22-af37-104ea7bedaf0', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226a6f696e6564227d', NULL, NULL),
	(1, 2251799813685279, 'dc790a44-a733-4773-8539-f4e8be99ac17', 0, '2027-01-15 08:00:00+00', '<default>', 'JOB:COMPLETE', NULL, NULL, '\x7b226b6579223a323235313739393831333638353332317d', NULL, NULL),
	(1, 2251799813685280, 'bff75ed4-60ac-4609-9dfe-42cb56a2e094', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226865617264227d', NULL, NULL),
	(1, 2251799813685281, '04e44410-3cb7-4922-abfc-d0d1465176d2', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226865617264227d', NULL, NULL),
	(1, 2251799813685282, 'd09c23fd-bab8-4951-9722-485d6958533b', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226865617264227d', NULL, NULL),
	(1, 2251799813685283, '6c2a501b-0d55-44d3-a179-23e486493213', 0, '2027-01-15 08:00:00+00', '<default>', 'JOB:COMPLETE', NULL, NULL, '\x7b226b6579223a323235313739393831333638353333307d', NULL, NULL),
	(1, 2251799813685284, '028e39ea-f21e-4a44-8e18-f36632ab0fa7', 0, '2027-01-15 08:00:00+00', '<default>', 'JOB:COMPLETE', NULL, NULL, '\x7b226b6579223a323235313739393831333638353333347d', NULL, NULL),
	(1, 2251799813685285, '97f89d76-3afe-4e69-9ffe-c3403dd95b6b', 0, '2027-01-15 08:00:00+00', '<default>', 'JOB:COMPLETE', NULL, NULL, '\x7b226b6579223a323235313739393831333638353333367d', NULL, NULL),
	(1, 2251799813685286, '5cd34189-f910-4728-a555-06f2ce68276b', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226a6f6273227d', NULL, NULL),
	(1, 2251799813685287, 'a339f877-f89b-4a8f-b136-c53cf514db08', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a2263686f69636573227d', NULL, NULL),
	(1, 2251799813685288, 'f38cbd47-6198-4421-8c12-0efd42b7ed04', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a2272657363756564227d', NULL, NULL),
	(1, 2251799813685289, 'e600e4fa-659c-4a69-8a78-e8b80c5163a4', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a2264656369646564227d', NULL, NULL),
	(1, 2251799813685290, 'bdef7cf8-e7e0-48cd-a521-360ea58353c3', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a2263616c6c696e67227d', NULL, NULL),
	(1, 2251799813685291, '7ed151eb-6ee5-4eef-aa01-da56f8496149', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226a6f6273227d', NULL, NULL),
	(1, 2251799813685292, '7db71829-c4ca-4ac7-872d-3d8d8e08bb67', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a2277616974696e67222c227661726961626c6573223a7b226b223a2277616974696e67227d7d', NULL, NULL),
	(1, 2251799813685293, '2567f665-9f2a-460c-ae8c-79b72023f109', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226775617264696e67222c227661726961626c6573223a7b226b223a226775617264696e67227d7d', NULL, NULL),
	(1, 2251799813685294, '0bc2a976-00b0-44cf-a554-61526c76d09d', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a2268616e646c696e67222c227661726961626c6573223a7b226b223a2268616e646c696e67227d7d', NULL, NULL),
	(1, 2251799813685295, 'db38c42c-e4f0-4c51-888b-d5158756097f', 0, '2027-01-15 08:00:00+00', '<default>', 'MESSAGE:PUBLISH', NULL, NULL, '\x7b226e616d65223a2268656c6c6f222c22636f7272656c6174696f6e5f6b6579223a226775617264696e67227d', NULL, NULL),
	(1, 2251799813685296, '8ab984ca-3098-43e5-90d3-eeff3505492a', 0, '2027-01-15 08:00:00+00', '<default>', 'MESSAGE:PUBLISH', NULL, NULL, '\x7b226e616d65223a2268656c6c6f222c22636f7272656c6174696f6e5f6b6579223a2268616e646c696e67227d', NULL, NULL),
	(1, 2251799813685297, 'ab3d1767-2475-4d9e-9fd0-d0fa4c62ca96', 0, '2027-01-15 08:00:00+00', '<default>', 'MESSAGE:PUBLISH', NULL, NULL, '\x7b226e616d65223a2268656c6c6f222c22636f7272656c6174696f6e5f6b6579223a226275666665726564222c2274696d655f746f5f6c6976655f6d73223a3336303030303030302c226d6573736167655f6964223a22697473206964222c227661726961626c6573223a7b22746f6c64223a5b312c325d7d7d', NULL, NULL),
	(1, 2251799813685298, '394a6a98-f7a9-4024-8d50-8f98166d8f58', 0, '2027-01-15 08:00:00+00', '<default>', 'MESSAGE:PUBLISH', NULL, NULL, '\x7b226e616d65223a22626567696e222c22636f7272656c6174696f6e5f6b6579223a226c6f636b6564227d', NULL, NULL),
	(1, 2251799813685299, 'a10f2440-125e-46e2-9d7a-b5ba8755cbcd', 0, '2027-01-15 08:00:00+00', '<default>', 'MESSAGE:PUBLISH', NULL, NULL, '\x7b226e616d65223a22626567696e222c22636f7272656c6174696f6e5f6b6579223a226c6f636b6564222c2274696d655f746f5f6c6976655f6d73223a3336303030303030307d', NULL, NULL),
	(1, 2251799813685300, 'd5822f90-16d0-4ec2-b223-5dfe7e5d3e69', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a227369676e616c6c6564227d', NULL, NULL),
	(1, 2251799813685301, 'd79ec98d-93b8-4b1f-973e-779506977ff5', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a227761746368696e67227d', NULL, NULL),
	(1, 2251799813685302, 'af2b1d70-3f48-4e61-ae30-365ff34f761e', 0, '2027-01-15 08:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a22636f6e646974696f6e616c227d', NULL, NULL),
	(1, 2251799813685303, '5fc5cc4f-b479-47de-8a2d-709e94ab8e36', 0, '2027-01-15 09:00:00+00', '<default>', 'TIMER:TRIGGER', 2251799813685272, NULL, '\x7b226b6579223a323235313739393831333638353237322c226475655f6174223a313830303030333630303030307d', NULL, NULL),
	(1, 2251799813685304, '5fc5cc4f-b479-47de-8a2d-709e94ab8e36', 1, '2027-01-15 09:00:00+00', '<default>', 'TIMER:TRIGGER', 2251799813685408, NULL, '\x7b226b6579223a323235313739393831333638353430382c226475655f6174223a313830303030333630303030307d', NULL, NULL),
	(1, 2251799813685305, 'f28c5ef0-72bb-4f56-ba5b-fd0d669b54b1', 0, '2027-01-15 09:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a2264656c61796564227d', NULL, NULL),
	(1, 2251799813685306, '5ce980e0-049b-4e72-a20a-caf4af93cfd0', 0, '2027-01-15 09:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a22696e5f7475726e222c227661726961626c6573223a7b226974656d73223a5b312c2274776f222c7b227468726565223a337d5d7d7d', NULL, NULL),
	(1, 2251799813685307, 'e60b5239-2055-4ad6-8994-c9b78d66323e', 0, '2027-01-15 09:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226c6f6f70222c227661726961626c6573223a7b226974656d73223a5b312c322c335d7d7d', NULL, NULL),
	(1, 2251799813685308, 'f383e2e4-f385-484f-91ec-2d96df48e1c3', 0, '2027-01-15 09:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226c6f6f70222c227661726961626c6573223a7b226974656d73223a5b302c312c322c332c342c352c362c372c382c392c31302c31312c31322c31332c31342c31352c31362c31372c31382c31392c32302c32312c32322c32335d7d7d', NULL, NULL),
	(1, 2251799813685309, '089aadcb-c33e-42cf-bafd-782db8797bdb', 0, '2027-01-15 09:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226d616e79222c227661726961626c6573223a7b226974656d73223a5b302c312c322c332c342c352c362c372c382c392c31302c31312c31322c31332c31342c31352c31362c31372c31382c31392c32302c32312c32322c32332c32342c32352c32362c32372c32382c32392c33302c33312c33322c33332c33342c33352c33362c33372c33382c33392c34302c34312c34322c34332c34342c34352c34362c34372c34382c34392c35302c35312c35322c35332c35342c35352c35362c35372c35382c35392c36302c36312c36322c36332c36342c36352c36362c36372c36382c36392c37302c37312c37322c37332c37342c37352c37362c37372c37382c37392c38302c38312c38322c38332c38342c38352c38362c38372c38382c38392c39302c39312c39322c39332c39342c39352c39362c39372c39382c39392c3130302c3130312c3130322c3130332c3130342c3130352c3130362c3130372c3130382c3130392c3131302c3131312c3131322c3131332c3131342c3131352c3131362c3131372c3131382c3131395d7d7d', NULL, NULL),
	(1, 2251799813685310, '56069e3a-7d23-4c9d-9067-b48954c6ec9b', 0, '2027-01-15 09:00:00+00', '<default>', 'PROCESS_INSTANCE_CREATION:CREATE', NULL, NULL, '\x7b2270726f636573735f6964223a226a6f6273227d', NULL, NULL);

INSERT INTO public.definitions_seq VALUES
	(true, 19);

INSERT INTO public.deployments VALUES
	(2251799813685249, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685251, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685253, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685255, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685257, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685259, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685261, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685264, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685266, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685268, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685270, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685273, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685275, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685277, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685279, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685281, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685283, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685285, '<default>', '2027-01-15 08:00:00+00'),
	(2251799813685287, '<default>', '2027-01-15 08:00:00+00');

INSERT INTO public.element_count_changes VALUES
	(1, 1, 2251799813685250, '', 1, 0, 0, -1, 0),
	(1, 2, 2251799813685250, 'first', 1, 0, 0, -1, 0),
	(1, 3, 2251799813685250, 'start', 0, 1, 0, 0, 0),
	(1, 4, 2251799813685250, '', 1, 0, 0, -1, 0),
	(1, 5, 2251799813685250, 'first', 1, 0, 0, -1, 0),
	(1, 6, 2251799813685250, 'start', 0, 1, 0, 0, 0),
	(1, 7, 2251799813685250, '', 1, 0, 0, -1, 0),
	(1, 8, 2251799813685250, 'first', 1, 0, 0, -1, 0),
	(1, 9, 2251799813685250, 'start', 0, 1, 0, 0, 0),
	(1, 10, 2251799813685250, '', 1, 0, 0, -1, 0),
	(1, 11, 2251799813685250, 'first', 1, 0, 0, -1, 0),
	(1, 12, 2251799813685250, 'start', 0, 1, 0, 0, 0),
	(1, 13, 2251799813685250, '', 1, 0, 0, -1, 0),
	(1, 14, 2251799813685250, 'first', 1, 0, 0, -1, 0),
	(1, 15, 2251799813685250, 'start', 0, 1, 0, 0, 0),
	(1, 16, 2251799813685250, 'first', -1, 1, 0, 0, 0),
	(1, 17, 2251799813685250, 'second', 1, 0, 0, -1, 0),
	(1, 18, 2251799813685250, '', -1, 1, 0, 0, 0),
	(1, 19, 2251799813685250, 'end', 0, 1, 0, 0, 0),
	(1, 20, 2251799813685250, 'second', -1, 1, 0, 0, 0),
	(1, 21, 2251799813685250, '', -1, 0, 1, -1, 0),
	(1, 22, 2251799813685250, 'first', -1, 0, 1, -1, 0),
	(1, 23, 2251799813685252, '', 1, 0, 0, -1, 0),
	(1, 24, 2251799813685252, 'fork', 0, 1, 0, 0, 0),
	(1, 25, 2251799813685252, 'left', 1, 0, 0, -1, 0),
	(1, 26, 2251799813685252, 'right', 1, 0, 0, -1, 0),
	(1, 27, 2251799813685252, 'start', 0, 1, 0, 0, 0),
	(1, 28, 2251799813685252, 'left', -1, 1, 0, 0, 0),
	(1, 29, 2251799813685286, '', 1, 0, 0, -1, 0),
	(1, 30, 2251799813685286, 'start', 0, 1, 0, 0, 0),
	(1, 31, 2251799813685286, 'work', 1, 0, 0, -1, 0),
	(1, 32, 2251799813685286, '', 1, 0, 0, -1, 0),
	(1, 33, 2251799813685286, 'start', 0, 1, 0, 0, 0),
	(1, 34, 2251799813685286, 'work', 1, 0, 0, -1, 0),
	(1, 35, 2251799813685286, '', 1, 0, 0, -1, 0),
	(1, 36, 2251799813685286, 'start', 0, 1, 0, 0, 0),
	(1, 37, 2251799813685286, 'work', 1, 0, 0, -1, 0),
	(1, 38, 2251799813685250, '', 1, 0, 0, -1, 0),
	(1, 39, 2251799813685250, 'first', 1, 0, 0, -1, 0),
	(1, 40, 2251799813685250, 'start', 0, 1, 0, 0, 0),
	(1, 41, 2251799813685254, '', 1, 0, 0, -1, 0),
	(1, 42, 2251799813685254, 'choice', 1, 0, 0, -1, 0),
	(1, 43, 2251799813685254, 'start', 0, 1, 0, 0, 0),
	(1, 44, 2251799813685288, '', 1, 0, 0, -1, 0),
	(1, 45, 2251799813685288, 'risky', 1, 0, 0, -1, 0),
	(1, 46, 2251799813685288, 'start', 0, 1, 0, 0, 0),
	(1, 47, 2251799813685276, '', 1, 0, 0, -1, 0),
	(1, 48, 2251799813685276, 'decide', 1, 0, 0, -1, 0),
	(1, 49, 2251799813685276, 'start', 0, 1, 0, 0, 0),
	(1, 50, 2251799813685250, '', 1, 0, 0, -1, 0),
	(1, 51, 2251799813685250, 'first', 1, 0, 0, -1, 0),
	(1, 52, 2251799813685250, 'start', 0, 1, 0, 0, 0),
	(1, 53, 2251799813685278, '', 1, 0, 0, -1, 0),
	(1, 54, 2251799813685278, 'call', 1, 0, 0, -1, 0),
	(1, 55, 2251799813685278, 'start', 0, 1, 0, 0, 0),
	(1, 56, 2251799813685250, '', 1, 0, 0, -1, 0),
	(1, 57, 2251799813685250, 'first', 1, 0, 0, -1, 0),
	(1, 58, 2251799813685250, 'start', 0, 1, 0, 0, 0),
	(1, 59, 2251799813685256, '', 1, 0, 0, -1, 0),
	(1, 60, 2251799813685256, 'catch', 1, 0, 0, -1, 0),
	(1, 61, 2251799813685256, 'start', 0, 1, 0, 0, 0),
	(1, 62, 2251799813685258, '', 1, 0, 0, -1, 0),
	(1, 63, 2251799813685258, 'guarded', 1, 0, 0, -1, 0),
	(1, 64, 2251799813685258, 'start', 0, 1, 0, 0, 0),
	(1, 65, 2251799813685260, '', 1, 0, 0, -1, 0),
	(1, 66, 2251799813685260, 'busy', 1, 0, 0, -1, 0),
	(1, 67, 2251799813685260, 'start', 0, 1, 0, 0, 0),
	(1, 68, 2251799813685258, 'boundary', 0, 1, 0, 0, 0),
	(1, 69, 2251799813685258, 'told', 0, 1, 0, 0, 0),
	(1, 70, 2251799813685260, 'handle', 1, 0, 0, -1, 0),
	(1, 71, 2251799813685260, 'handler', 1, 0, 0, -1, 0),
	(1, 72, 2251799813685260, 'handler-start', 0, 1, 0, 0, 0),
	(1, 73, 2251799813685262, '', 1, 0, 0, -1, 0),
	(1, 74, 2251799813685262, 'begun', 1, 0, 0, -1, 0),
	(1, 75, 2251799813685262, 'start', 0, 1, 0, 0, 0),
	(1, 76, 2251799813685265, '', 1, 0, 0, -1, 0),
	(1, 77, 2251799813685265, 'catch', 1, 0, 0, -1, 0),
	(1, 78, 2251799813685265, 'start', 0, 1, 0, 0, 0),
	(1, 79, 2251799813685274, '', 1, 0, 0, -1, 0),
	(1, 80, 2251799813685274, 'start', 0, 1, 0, 0, 0),
	(1, 81, 2251799813685274, 'watched', 1, 0, 0, -1, 0),
	(1, 82, 2251799813685267, '', 1, 0, 0, -1, 0),
	(1, 83, 2251799813685267, 'catch', 1, 0, 0, -1, 0),
	(1, 84, 2251799813685267, 'start', 0, 1, 0, 0, 0),
	(1, 85, 2251799813685271, '', 0, 1, 0, 0, 0),
	(1, 86, 2251799813685271, 'byTimer', 0, 1, 0, 0, 0),
	(1, 87, 2251799813685271, 'end', 0, 1, 0, 0, 0),
	(1, 88, 2251799813685274, 'reminded', 0, 1, 0, 0, 0),
	(1, 89, 2251799813685274, 'reminder', 0, 1, 0, 0, 0),
	(1, 90, 2251799813685269, '', 1, 0, 0, -1, 0),
	(1, 91, 2251799813685269, 'start', 0, 1, 0, 0, 0),
	(1, 92, 2251799813685269, 'wait', 1, 0, 0, -1, 0),
	(1, 93, 2251799813685282, '', 1, 0, 0, -1, 0),
	(1, 94, 2251799813685282, 'one', 1, 0, 0, -1, 0),
	(1, 95, 2251799813685282, 'start', 0, 1, 0, 0, 0),
	(1, 96, 2251799813685280, '', 1, 0, 0, -1, 0),
	(1, 97, 2251799813685280, 'each', 3, 0, 0, -1, 0),
	(1, 98, 2251799813685280, 'start', 0, 1, 0, 0, 0),
	(1, 99, 2251799813685280, '', 1, 0, 0, -1, 0),
	(1, 100, 2251799813685280, 'each', 9, 0, 0, -1, 0),
	(1, 101, 2251799813685280, 'start', 0, 1, 0, 0, 0),
	(1, 102, 2251799813685280, 'each', 8, 0, 0, -1, 0),
	(1, 103, 2251799813685280, 'each', 7, 0, 0, -1, 0),
	(1, 104, 2251799813685284, '', 1, 0, 0, -1, 0),
	(1, 105, 2251799813685284, 'start', 1, 0, 0, -1, 0),
	(1, 106, 2251799813685284, 'start', -1, 1, 0, 0, 0);

INSERT INTO public.element_instances VALUES
	(2251799813685292, 2251799813685289, 2251799813685289, 2251799813685289, 2251799813685289, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685292,2251799813685289}', 'jobs', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-first}'),
	(2251799813685293, 2251799813685289, 2251799813685289, 2251799813685289, 2251799813685289, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685293,2251799813685289}', 'jobs', 'first', 'Task first', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685296, 2251799813685295, 2251799813685295, 2251799813685295, 2251799813685295, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685296,2251799813685295}', 'jobs', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-first}'),
	(2251799813685297, 2251799813685295, 2251799813685295, 2251799813685295, 2251799813685295, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685297,2251799813685295}', 'jobs', 'first', 'Task first', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685300, 2251799813685299, 2251799813685299, 2251799813685299, 2251799813685299, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685300,2251799813685299}', 'jobs', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-first}'),
	(2251799813685301, 2251799813685299, 2251799813685299, 2251799813685299, 2251799813685299, 2251799813685250, NULL, 2251799813685303, '2027-01-15 08:00:00+00', NULL, -1, 0, 1, false, '{2251799813685301,2251799813685299}', 'jobs', 'first', 'Task first', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685305, 2251799813685304, 2251799813685304, 2251799813685304, 2251799813685304, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685305,2251799813685304}', 'jobs', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-first}'),
	(2251799813685309, 2251799813685308, 2251799813685308, 2251799813685308, 2251799813685308, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685309,2251799813685308}', 'jobs', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-first}'),
	(2251799813685306, 2251799813685304, 2251799813685304, 2251799813685304, 2251799813685304, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685306,2251799813685304}', 'jobs', 'first', 'Task first', 'SERVICE_TASK', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{first-second}'),
	(2251799813685315, 2251799813685304, 2251799813685304, 2251799813685304, 2251799813685304, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685315,2251799813685304}', 'jobs', 'end', NULL, 'END_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685313, 2251799813685304, 2251799813685304, 2251799813685304, 2251799813685304, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685313,2251799813685304}', 'jobs', 'second', 'Task second', 'SERVICE_TASK', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{second-end}'),
	(2251799813685310, 2251799813685308, 2251799813685308, 2251799813685308, 2251799813685308, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685310,2251799813685308}', 'jobs', 'first', 'Task first', 'SERVICE_TASK', '<default>', 'TERMINATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685317, 2251799813685316, 2251799813685316, 2251799813685316, 2251799813685316, 2251799813685252, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685317,2251799813685316}', 'joined', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-fork}'),
	(2251799813685318, 2251799813685316, 2251799813685316, 2251799813685316, 2251799813685316, 2251799813685252, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685318,2251799813685316}', 'joined', 'fork', NULL, 'PARALLEL_GATEWAY', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{fork-left,fork-right}'),
	(2251799813685320, 2251799813685316, 2251799813685316, 2251799813685316, 2251799813685316, 2251799813685252, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685320,2251799813685316}', 'joined', 'right', 'Task right', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685319, 2251799813685316, 2251799813685316, 2251799813685316, 2251799813685316, 2251799813685252, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685319,2251799813685316}', 'joined', 'left', 'Task left', 'SERVICE_TASK', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{left-join}'),
	(2251799813685324, 2251799813685323, 2251799813685323, 2251799813685323, 2251799813685323, 2251799813685286, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685324,2251799813685323}', 'heard', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-work}'),
	(2251799813685325, 2251799813685323, 2251799813685323, 2251799813685323, 2251799813685323, 2251799813685286, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685325,2251799813685323}', 'heard', 'work', 'Task work', 'SERVICE_TASK', '<default>', 'ACTIVATING', '{}', NULL, NULL, NULL, NULL),
	(2251799813685328, 2251799813685327, 2251799813685327, 2251799813685327, 2251799813685327, 2251799813685286, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685328,2251799813685327}', 'heard', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-work}'),
	(2251799813685332, 2251799813685331, 2251799813685331, 2251799813685331, 2251799813685331, 2251799813685286, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685332,2251799813685331}', 'heard', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-work}'),
	(2251799813685329, 2251799813685327, 2251799813685327, 2251799813685327, 2251799813685327, 2251799813685286, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685329,2251799813685327}', 'heard', 'work', 'Task work', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685333, 2251799813685331, 2251799813685331, 2251799813685331, 2251799813685331, 2251799813685286, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685333,2251799813685331}', 'heard', 'work', 'Task work', 'SERVICE_TASK', '<default>', 'COMPLETING', '{}', NULL, NULL, NULL, NULL),
	(2251799813685339, 2251799813685338, 2251799813685338, 2251799813685338, 2251799813685338, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685339,2251799813685338}', 'jobs', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-first}'),
	(2251799813685340, 2251799813685338, 2251799813685338, 2251799813685338, 2251799813685338, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685340,2251799813685338}', 'jobs', 'first', 'Task first', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685343, 2251799813685342, 2251799813685342, 2251799813685342, 2251799813685342, 2251799813685254, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685343,2251799813685342}', 'choices', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-choice}'),
	(2251799813685344, 2251799813685342, 2251799813685342, 2251799813685342, 2251799813685342, 2251799813685254, NULL, 2251799813685345, '2027-01-15 08:00:00+00', NULL, -1, 0, 1, false, '{2251799813685344,2251799813685342}', 'choices', 'choice', NULL, 'EXCLUSIVE_GATEWAY', '<default>', 'COMPLETING', '{}', NULL, NULL, NULL, NULL),
	(2251799813685347, 2251799813685346, 2251799813685346, 2251799813685346, 2251799813685346, 2251799813685288, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685347,2251799813685346}', 'rescued', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-risky}'),
	(2251799813685348, 2251799813685346, 2251799813685346, 2251799813685346, 2251799813685346, 2251799813685288, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685348,2251799813685346}', 'rescued', 'risky', 'Task risky', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685351, 2251799813685350, 2251799813685350, 2251799813685350, 2251799813685350, 2251799813685276, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685351,2251799813685350}', 'decided', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{a}'),
	(2251799813685352, 2251799813685350, 2251799813685350, 2251799813685350, 2251799813685350, 2251799813685276, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685352,2251799813685350}', 'decided', 'decide', NULL, 'USER_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685355, 2251799813685354, 2251799813685354, 2251799813685354, 2251799813685354, 2251799813685278, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685355,2251799813685354}', 'calling', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-call}'),
	(2251799813685356, 2251799813685354, 2251799813685354, 2251799813685354, 2251799813685354, 2251799813685278, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 1, 0, false, '{2251799813685356,2251799813685354}', 'calling', 'call', NULL, 'CALL_ACTIVITY', '<default>', 'ACTIVATED', '{"jobs":1}', NULL, NULL, NULL, NULL),
	(2251799813685358, 2251799813685354, 2251799813685354, 2251799813685357, 2251799813685357, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685358,2251799813685357}', 'jobs', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-first}'),
	(2251799813685359, 2251799813685354, 2251799813685354, 2251799813685357, 2251799813685357, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685359,2251799813685357}', 'jobs', 'first', 'Task first', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685362, 2251799813685361, 2251799813685361, 2251799813685361, 2251799813685361, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685362,2251799813685361}', 'jobs', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-first}'),
	(2251799813685363, 2251799813685361, 2251799813685361, 2251799813685361, 2251799813685361, 2251799813685250, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685363,2251799813685361}', 'jobs', 'first', 'Task first', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685367, 2251799813685365, 2251799813685365, 2251799813685365, 2251799813685365, 2251799813685256, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685367,2251799813685365}', 'waiting', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-catch}'),
	(2251799813685368, 2251799813685365, 2251799813685365, 2251799813685365, 2251799813685365, 2251799813685256, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685368,2251799813685365}', 'waiting', 'catch', NULL, 'INTERMEDIATE_CATCH_EVENT', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685372, 2251799813685370, 2251799813685370, 2251799813685370, 2251799813685370, 2251799813685258, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685372,2251799813685370}', 'guarding', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-guarded}'),
	(2251799813685373, 2251799813685370, 2251799813685370, 2251799813685370, 2251799813685370, 2251799813685258, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685373,2251799813685370}', 'guarding', 'guarded', 'Task guarded', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685378, 2251799813685376, 2251799813685376, 2251799813685376, 2251799813685376, 2251799813685260, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685378,2251799813685376}', 'handling', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-busy}'),
	(2251799813685380, 2251799813685376, 2251799813685376, 2251799813685376, 2251799813685376, 2251799813685260, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685380,2251799813685376}', 'handling', 'busy', 'Task busy', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685384, 2251799813685370, 2251799813685370, 2251799813685370, 2251799813685370, 2251799813685258, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685384,2251799813685370}', 'guarding', 'boundary', NULL, 'BOUNDARY_EVENT', '<default>', 'COMPLETED', '{}', NULL, '{}', NULL, '{boundary-told}'),
	(2251799813685385, 2251799813685370, 2251799813685370, 2251799813685370, 2251799813685370, 2251799813685258, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685385,2251799813685370}', 'guarding', 'told', NULL, 'END_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685388, 2251799813685376, 2251799813685376, 2251799813685376, 2251799813685376, 2251799813685260, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 1, 0, false, '{2251799813685388,2251799813685376}', 'handling', 'handler', NULL, 'EVENT_SUB_PROCESS', '<default>', 'ACTIVATED', '{"handle":1}', NULL, '{}', NULL, NULL),
	(2251799813685389, 2251799813685376, 2251799813685376, 2251799813685376, 2251799813685388, 2251799813685260, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685389,2251799813685388,2251799813685376}', 'handling', 'handler-start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, '{}', NULL, '{handler-start-handle}'),
	(2251799813685390, 2251799813685376, 2251799813685376, 2251799813685376, 2251799813685388, 2251799813685260, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685390,2251799813685388,2251799813685376}', 'handling', 'handle', 'Task handle', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685396, 2251799813685394, 2251799813685394, 2251799813685394, 2251799813685394, 2251799813685262, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685396,2251799813685394}', 'started', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, '{}', NULL, '{start-begun}'),
	(2251799813685397, 2251799813685394, 2251799813685394, 2251799813685394, 2251799813685394, 2251799813685262, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685397,2251799813685394}', 'started', 'begun', 'Task begun', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685401, 2251799813685400, 2251799813685400, 2251799813685400, 2251799813685400, 2251799813685265, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685401,2251799813685400}', 'signalled', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-catch}'),
	(2251799813685402, 2251799813685400, 2251799813685400, 2251799813685400, 2251799813685400, 2251799813685265, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685402,2251799813685400}', 'signalled', 'catch', NULL, 'INTERMEDIATE_CATCH_EVENT', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685405, 2251799813685404, 2251799813685404, 2251799813685404, 2251799813685404, 2251799813685274, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685405,2251799813685404}', 'watching', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-watched}'),
	(2251799813685407, 2251799813685404, 2251799813685404, 2251799813685404, 2251799813685404, 2251799813685274, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685407,2251799813685404}', 'watching', 'watched', 'Task watched', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685411, 2251799813685410, 2251799813685410, 2251799813685410, 2251799813685410, 2251799813685267, NULL, NULL, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', -1, 0, 0, false, '{2251799813685411,2251799813685410}', 'conditional', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-catch}'),
	(2251799813685412, 2251799813685410, 2251799813685410, 2251799813685410, 2251799813685410, 2251799813685267, NULL, NULL, '2027-01-15 08:00:00+00', NULL, -1, 0, 0, false, '{2251799813685412,2251799813685410}', 'conditional', 'catch', NULL, 'INTERMEDIATE_CATCH_EVENT', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685416, 2251799813685415, 2251799813685415, 2251799813685415, 2251799813685415, 2251799813685271, NULL, NULL, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', -1, 0, 0, false, '{2251799813685416,2251799813685415}', 'scheduled', 'byTimer', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, '{}', NULL, '{a}'),
	(2251799813685417, 2251799813685415, 2251799813685415, 2251799813685415, 2251799813685415, 2251799813685271, NULL, NULL, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', -1, 0, 0, false, '{2251799813685417,2251799813685415}', 'scheduled', 'end', NULL, 'END_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685419, 2251799813685404, 2251799813685404, 2251799813685404, 2251799813685404, 2251799813685274, NULL, NULL, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', -1, 0, 0, false, '{2251799813685419,2251799813685404}', 'watching', 'reminder', NULL, 'BOUNDARY_EVENT', '<default>', 'COMPLETED', '{}', NULL, '{}', NULL, '{reminder-reminded}'),
	(2251799813685420, 2251799813685404, 2251799813685404, 2251799813685404, 2251799813685404, 2251799813685274, NULL, NULL, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', -1, 0, 0, false, '{2251799813685420,2251799813685404}', 'watching', 'reminded', NULL, 'END_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685422, 2251799813685421, 2251799813685421, 2251799813685421, 2251799813685421, 2251799813685269, NULL, NULL, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', -1, 0, 0, false, '{2251799813685422,2251799813685421}', 'delayed', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{a}'),
	(2251799813685423, 2251799813685421, 2251799813685421, 2251799813685421, 2251799813685421, 2251799813685269, NULL, NULL, '2027-01-15 09:00:00+00', NULL, -1, 0, 0, false, '{2251799813685423,2251799813685421}', 'delayed', 'wait', NULL, 'INTERMEDIATE_CATCH_EVENT', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685427, 2251799813685425, 2251799813685425, 2251799813685425, 2251799813685425, 2251799813685282, NULL, NULL, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', -1, 0, 0, false, '{2251799813685427,2251799813685425}', 'in_turn', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-one}'),
	(2251799813685428, 2251799813685425, 2251799813685425, 2251799813685425, 2251799813685425, 2251799813685282, NULL, NULL, '2027-01-15 09:00:00+00', NULL, -1, 1, 0, false, '{2251799813685428,2251799813685425}', 'in_turn', 'one', 'Task one', 'MULTI_INSTANCE_BODY', '<default>', 'ACTIVATED', '{"one":1}', NULL, NULL, '{"size":3,"next":1,"completed":0,"terminated":0,"paged":false,"collected":0}', NULL),
	(2251799813685429, 2251799813685425, 2251799813685425, 2251799813685425, 2251799813685428, 2251799813685282, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 0, 0, 0, false, '{2251799813685429,2251799813685428,2251799813685425}', 'in_turn', 'one', 'Task one', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685435, 2251799813685433, 2251799813685433, 2251799813685433, 2251799813685433, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', -1, 0, 0, false, '{2251799813685435,2251799813685433}', 'loop', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-each}'),
	(2251799813685436, 2251799813685433, 2251799813685433, 2251799813685433, 2251799813685433, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, -1, 3, 0, false, '{2251799813685436,2251799813685433}', 'loop', 'each', 'Task each', 'MULTI_INSTANCE_BODY', '<default>', 'ACTIVATED', '{"each":3}', NULL, NULL, '{"size":3,"next":3,"completed":0,"terminated":0,"paged":false,"collected":0}', NULL),
	(2251799813685437, 2251799813685433, 2251799813685433, 2251799813685433, 2251799813685436, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 0, 0, 0, false, '{2251799813685437,2251799813685436,2251799813685433}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685438, 2251799813685433, 2251799813685433, 2251799813685433, 2251799813685436, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 1, 0, 0, false, '{2251799813685438,2251799813685436,2251799813685433}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685439, 2251799813685433, 2251799813685433, 2251799813685433, 2251799813685436, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 2, 0, 0, false, '{2251799813685439,2251799813685436,2251799813685433}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685451, 2251799813685449, 2251799813685449, 2251799813685449, 2251799813685449, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', -1, 0, 0, false, '{2251799813685451,2251799813685449}', 'loop', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-each}'),
	(2251799813685453, 2251799813685449, 2251799813685453, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 0, 0, 0, false, '{2251799813685453,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685457, 2251799813685449, 2251799813685457, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 1, 0, 0, false, '{2251799813685457,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685461, 2251799813685449, 2251799813685461, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 2, 0, 0, false, '{2251799813685461,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685465, 2251799813685449, 2251799813685465, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 3, 0, 0, false, '{2251799813685465,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685469, 2251799813685449, 2251799813685469, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 4, 0, 0, false, '{2251799813685469,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685473, 2251799813685449, 2251799813685473, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 5, 0, 0, false, '{2251799813685473,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685477, 2251799813685449, 2251799813685477, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 6, 0, 0, false, '{2251799813685477,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685481, 2251799813685449, 2251799813685481, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 7, 0, 0, false, '{2251799813685481,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685489, 2251799813685449, 2251799813685489, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 9, 0, 0, false, '{2251799813685489,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685493, 2251799813685449, 2251799813685493, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 10, 0, 0, false, '{2251799813685493,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685497, 2251799813685449, 2251799813685497, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 11, 0, 0, false, '{2251799813685497,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685501, 2251799813685449, 2251799813685501, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 12, 0, 0, false, '{2251799813685501,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685505, 2251799813685449, 2251799813685505, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 13, 0, 0, false, '{2251799813685505,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685509, 2251799813685449, 2251799813685509, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 14, 0, 0, false, '{2251799813685509,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685513, 2251799813685449, 2251799813685513, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 15, 0, 0, false, '{2251799813685513,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685517, 2251799813685449, 2251799813685517, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 16, 0, 0, false, '{2251799813685517,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685485, 2251799813685449, 2251799813685485, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 8, 0, 0, false, '{2251799813685485,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799814685490, 2251799814685488, 2251799814685488, 2251799814685488, 2251799814685488, 2251799813685284, NULL, NULL, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', -1, 0, 0, false, '{2251799814685490,2251799814685488}', 'many', 'start', NULL, 'START_EVENT', '<default>', 'COMPLETED', '{}', NULL, NULL, NULL, '{start-step}'),
	(2251799813685521, 2251799813685449, 2251799813685521, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 17, 0, 0, false, '{2251799813685521,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685525, 2251799813685449, 2251799813685525, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 18, 0, 0, false, '{2251799813685525,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685529, 2251799813685449, 2251799813685529, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 19, 0, 0, false, '{2251799813685529,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685533, 2251799813685449, 2251799813685533, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 20, 0, 0, false, '{2251799813685533,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685537, 2251799813685449, 2251799813685537, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 21, 0, 0, false, '{2251799813685537,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685541, 2251799813685449, 2251799813685541, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 22, 0, 0, false, '{2251799813685541,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685545, 2251799813685449, 2251799813685545, 2251799813685449, 2251799813685452, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, 23, 0, 0, false, '{2251799813685545,2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'SERVICE_TASK', '<default>', 'ACTIVATED', '{}', NULL, NULL, NULL, NULL),
	(2251799813685452, 2251799813685449, 2251799813685449, 2251799813685449, 2251799813685449, 2251799813685280, NULL, NULL, '2027-01-15 09:00:00+00', NULL, -1, 24, 0, false, '{2251799813685452,2251799813685449}', 'loop', 'each', 'Task each', 'MULTI_INSTANCE_BODY', '<default>', 'ACTIVATED', '{"each":24}', NULL, NULL, '{"size":24,"next":24,"completed":0,"terminated":0,"paged":true,"collected":0}', NULL),
	(2251799814685491, 2251799814685488, 2251799814685488, 2251799814685488, 2251799814685488, 2251799813685284, NULL, NULL, '2027-01-15 09:00:00+00', NULL, -1, 0, 0, false, '{2251799814685491,2251799814685488}', 'many', 'step', NULL, 'MULTI_INSTANCE_BODY', '<default>', 'ACTIVATING', '{}', NULL, NULL, NULL, NULL);

INSERT INTO public.event_log_1_0 VALUES
	(1, 2251799813685249, 0, NULL, NULL, '[["DeploymentCreated",2251799813685249,"<default>"],["DefinitionAdded",2251799813685250,2251799813685249,"<default>","jobs",1,"Process jobs",null,"0.bpmn","ff22ed3c2e404b26b884ddd8208bccb735e7381efa5f3011a5f0f8c1b6cd7c77"]]', NULL, NULL, '{"deploymentKey":2251799813685249,"tenantId":"<default>","processes":[{"processDefinitionId":"jobs","processDefinitionVersion":1,"resourceName":"0.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685250}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685250, 0, NULL, NULL, '[["DeploymentCreated",2251799813685251,"<default>"],["DefinitionAdded",2251799813685252,2251799813685251,"<default>","joined",1,"Process joined",null,"1.bpmn","a625a485f4c6905436f14bac995bdae0c37658ca9fb31f4d513154905fe522d0"]]', NULL, NULL, '{"deploymentKey":2251799813685251,"tenantId":"<default>","processes":[{"processDefinitionId":"joined","processDefinitionVersion":1,"resourceName":"1.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685252}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685251, 0, NULL, NULL, '[["DeploymentCreated",2251799813685253,"<default>"],["DefinitionAdded",2251799813685254,2251799813685253,"<default>","choices",1,"Process choices",null,"2.bpmn","c5e76db4cd5eea9d92fc661db1a504a542e0224fd81935a0871bcccf7a6b8a7f"]]', NULL, NULL, '{"deploymentKey":2251799813685253,"tenantId":"<default>","processes":[{"processDefinitionId":"choices","processDefinitionVersion":1,"resourceName":"2.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685254}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685252, 0, NULL, NULL, '[["DeploymentCreated",2251799813685255,"<default>"],["DefinitionAdded",2251799813685256,2251799813685255,"<default>","waiting",1,"Process waiting",null,"3.bpmn","9ddd639ef3558a2edbffaec80bf218ae904056a1e72320123f6d4e4a62bd63b4"]]', NULL, NULL, '{"deploymentKey":2251799813685255,"tenantId":"<default>","processes":[{"processDefinitionId":"waiting","processDefinitionVersion":1,"resourceName":"3.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685256}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685253, 0, NULL, NULL, '[["DeploymentCreated",2251799813685257,"<default>"],["DefinitionAdded",2251799813685258,2251799813685257,"<default>","guarding",1,"Process guarding",null,"4.bpmn","ff2deb3da1d8990938d02ee95b6d2e24ecdcca0d11655a65e189bc19db9f7f6f"]]', NULL, NULL, '{"deploymentKey":2251799813685257,"tenantId":"<default>","processes":[{"processDefinitionId":"guarding","processDefinitionVersion":1,"resourceName":"4.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685258}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685254, 0, NULL, NULL, '[["DeploymentCreated",2251799813685259,"<default>"],["DefinitionAdded",2251799813685260,2251799813685259,"<default>","handling",1,"Process handling",null,"5.bpmn","bfa35a35b46acbe76fc49b695c758663cdfd860d27f019c619c884ff8dc40b54"]]', NULL, NULL, '{"deploymentKey":2251799813685259,"tenantId":"<default>","processes":[{"processDefinitionId":"handling","processDefinitionVersion":1,"resourceName":"5.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685260}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685255, 0, NULL, NULL, '[["DeploymentCreated",2251799813685261,"<default>"],["DefinitionAdded",2251799813685262,2251799813685261,"<default>","started",1,"Process started",null,"6.bpmn","aaa817e2db555b6dfd6395d4fcab0c67b8ff4b967b091a1a69b0a0acd269f249"],["StartOpened",2251799813685263,2251799813685262,"<default>","started","start","MESSAGE","begin"]]', NULL, NULL, '{"deploymentKey":2251799813685261,"tenantId":"<default>","processes":[{"processDefinitionId":"started","processDefinitionVersion":1,"resourceName":"6.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685262}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685256, 0, NULL, NULL, '[["DeploymentCreated",2251799813685264,"<default>"],["DefinitionAdded",2251799813685265,2251799813685264,"<default>","signalled",1,"Process signalled",null,"7.bpmn","3d9ff4c3a337c19c0fc1429b1475fec149ba7d4d039ff5ef11739c0222d16d0d"]]', NULL, NULL, '{"deploymentKey":2251799813685264,"tenantId":"<default>","processes":[{"processDefinitionId":"signalled","processDefinitionVersion":1,"resourceName":"7.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685265}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685257, 0, NULL, NULL, '[["DeploymentCreated",2251799813685266,"<default>"],["DefinitionAdded",2251799813685267,2251799813685266,"<default>","conditional",1,"Process conditional",null,"8.bpmn","2a83a9e2cc09a514ff4c03cce017d342ec563251ad5a234b46e706ceb98c046a"]]', NULL, NULL, '{"deploymentKey":2251799813685266,"tenantId":"<default>","processes":[{"processDefinitionId":"conditional","processDefinitionVersion":1,"resourceName":"8.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685267}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685258, 0, NULL, NULL, '[["DeploymentCreated",2251799813685268,"<default>"],["DefinitionAdded",2251799813685269,2251799813685268,"<default>","delayed",1,null,null,"9.bpmn","9acbed51260c1779ab2001da22624cb26f02d958641a3ebadff248ebdf3d6dbd"]]', NULL, NULL, '{"deploymentKey":2251799813685268,"tenantId":"<default>","processes":[{"processDefinitionId":"delayed","processDefinitionVersion":1,"resourceName":"9.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685269}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685259, 0, NULL, NULL, '[["DeploymentCreated",2251799813685270,"<default>"],["DefinitionAdded",2251799813685271,2251799813685270,"<default>","scheduled",1,"",null,"10.bpmn","70168d587d5bc111048a29e542725b0cd8b0d40523062be10302e931a44fe459"],["TimerScheduled",2251799813685272,null,"byTimer","START_EVENT",1800003600000,2,["PT1H","Z",1800000000000,1],2251799813685271,"scheduled","<default>"]]', NULL, NULL, '{"deploymentKey":2251799813685270,"tenantId":"<default>","processes":[{"processDefinitionId":"scheduled","processDefinitionVersion":1,"resourceName":"10.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685271}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685260, 0, NULL, NULL, '[["DeploymentCreated",2251799813685273,"<default>"],["DefinitionAdded",2251799813685274,2251799813685273,"<default>","watching",1,"Process watching",null,"11.bpmn","64c21a2b27af2c6b2d6bd2441a2bf5b9f336580314e161d249906e8ac9c7c068"]]', NULL, NULL, '{"deploymentKey":2251799813685273,"tenantId":"<default>","processes":[{"processDefinitionId":"watching","processDefinitionVersion":1,"resourceName":"11.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685274}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685261, 0, NULL, NULL, '[["DeploymentCreated",2251799813685275,"<default>"],["DefinitionAdded",2251799813685276,2251799813685275,"<default>","decided",1,null,null,"12.bpmn","d67efe220d8039495a7590b45e7a79d7868d6879aefbce58fb1fc60ffa70b2e5"]]', NULL, NULL, '{"deploymentKey":2251799813685275,"tenantId":"<default>","processes":[{"processDefinitionId":"decided","processDefinitionVersion":1,"resourceName":"12.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685276}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685262, 0, NULL, NULL, '[["DeploymentCreated",2251799813685277,"<default>"],["DefinitionAdded",2251799813685278,2251799813685277,"<default>","calling",1,"Process calling",null,"13.bpmn","34abe8809d135638f98c588f58de700012bea9e6b4db3bc8f907f97be9539710"]]', NULL, NULL, '{"deploymentKey":2251799813685277,"tenantId":"<default>","processes":[{"processDefinitionId":"calling","processDefinitionVersion":1,"resourceName":"13.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685278}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685263, 0, NULL, NULL, '[["DeploymentCreated",2251799813685279,"<default>"],["DefinitionAdded",2251799813685280,2251799813685279,"<default>","loop",1,"Process loop",null,"14.bpmn","f70417b305ff6c85056708da72d1acb7b5c32f0604cbce8a7b4f9fbf6517142b"]]', NULL, NULL, '{"deploymentKey":2251799813685279,"tenantId":"<default>","processes":[{"processDefinitionId":"loop","processDefinitionVersion":1,"resourceName":"14.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685280}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685264, 0, NULL, NULL, '[["DeploymentCreated",2251799813685281,"<default>"],["DefinitionAdded",2251799813685282,2251799813685281,"<default>","in_turn",1,"Process in_turn",null,"15.bpmn","825adabf6a605f24bce9a52f241d2102860feb79fe7e6119d2dfb23996e02138"]]', NULL, NULL, '{"deploymentKey":2251799813685281,"tenantId":"<default>","processes":[{"processDefinitionId":"in_turn","processDefinitionVersion":1,"resourceName":"15.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685282}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685265, 0, NULL, NULL, '[["DeploymentCreated",2251799813685283,"<default>"],["DefinitionAdded",2251799813685284,2251799813685283,"<default>","many",1,"Process many",null,"16.bpmn","b0f1946c3f40b5efdf95f34bf4205d5ce332898cda31f4bc820eb96d03c2c4a5"]]', NULL, NULL, '{"deploymentKey":2251799813685283,"tenantId":"<default>","processes":[{"processDefinitionId":"many","processDefinitionVersion":1,"resourceName":"16.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685284}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685266, 0, NULL, NULL, '[["DeploymentCreated",2251799813685285,"<default>"],["DefinitionAdded",2251799813685286,2251799813685285,"<default>","heard",1,"Process heard",null,"17.bpmn","794d62d5d0a7ce736db779bb7016a3a2e86c0d7d1cebff2d5dc544ed1ecb3059"]]', NULL, NULL, '{"deploymentKey":2251799813685285,"tenantId":"<default>","processes":[{"processDefinitionId":"heard","processDefinitionVersion":1,"resourceName":"17.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685286}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685267, 0, NULL, NULL, '[["DeploymentCreated",2251799813685287,"<default>"],["DefinitionAdded",2251799813685288,2251799813685287,"<default>","rescued",1,"Process rescued",null,"18.bpmn","3f1bfa3199e579afa0650dde9d366502b0eefa1e8dc224df6f1f1bba9944b8d3"]]', NULL, NULL, '{"deploymentKey":2251799813685287,"tenantId":"<default>","processes":[{"processDefinitionId":"rescued","processDefinitionVersion":1,"resourceName":"18.bpmn","tenantId":"<default>","processDefinitionKey":2251799813685288}]}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685268, 0, 2251799813685289, NULL, '[["InstanceCreated",2251799813685289,2251799813685250,"jobs",1,null,"Process jobs","<default>",null,[],null,null,null,[],[]],["VariableSet",2251799813685290,2251799813685289,"text","\"ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää\""],["VariableSet",2251799813685291,2251799813685289,"number","1"],["ElementActivated",2251799813685289],["ElementActivating",2251799813685292,2251799813685289,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685292],["ElementCompleting",2251799813685292],["ElementCompleted",2251799813685292,["start-first"]],["ElementActivating",2251799813685293,2251799813685289,"first","SERVICE_TASK",["start-first"],-1,"Task first",null,[]],["ElementActivated",2251799813685293],["JobCreated",2251799813685294,2251799813685293,"first",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685289,"processDefinitionKey":2251799813685250,"processDefinitionId":"jobs","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685269, 0, 2251799813685295, NULL, '[["InstanceCreated",2251799813685295,2251799813685250,"jobs",1,null,"Process jobs","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685295],["ElementActivating",2251799813685296,2251799813685295,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685296],["ElementCompleting",2251799813685296],["ElementCompleted",2251799813685296,["start-first"]],["ElementActivating",2251799813685297,2251799813685295,"first","SERVICE_TASK",["start-first"],-1,"Task first",null,[]],["ElementActivated",2251799813685297],["JobCreated",2251799813685298,2251799813685297,"first",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685295,"processDefinitionKey":2251799813685250,"processDefinitionId":"jobs","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685270, 0, 2251799813685295, NULL, '[["JobFailed",2251799813685298,1,1800003600000,null]]', NULL, NULL, 'null', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685271, 0, 2251799813685299, NULL, '[["InstanceCreated",2251799813685299,2251799813685250,"jobs",1,null,"Process jobs","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685299],["ElementActivating",2251799813685300,2251799813685299,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685300],["ElementCompleting",2251799813685300],["ElementCompleted",2251799813685300,["start-first"]],["ElementActivating",2251799813685301,2251799813685299,"first","SERVICE_TASK",["start-first"],-1,"Task first",null,[]],["ElementActivated",2251799813685301],["JobCreated",2251799813685302,2251799813685301,"first",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685299,"processDefinitionKey":2251799813685250,"processDefinitionId":"jobs","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685272, 0, 2251799813685299, NULL, '[["JobFailed",2251799813685302,0,null,"no more retries"],["IncidentRaised",2251799813685303,2251799813685301,"","JOB_NO_RETRIES","no more retries",2251799813685302,0]]', NULL, NULL, 'null', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685273, 0, 2251799813685304, NULL, '[["InstanceCreated",2251799813685304,2251799813685250,"jobs",1,null,"Process jobs","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685304],["ElementActivating",2251799813685305,2251799813685304,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685305],["ElementCompleting",2251799813685305],["ElementCompleted",2251799813685305,["start-first"]],["ElementActivating",2251799813685306,2251799813685304,"first","SERVICE_TASK",["start-first"],-1,"Task first",null,[]],["ElementActivated",2251799813685306],["JobCreated",2251799813685307,2251799813685306,"first",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685304,"processDefinitionKey":2251799813685250,"processDefinitionId":"jobs","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685274, 0, 2251799813685308, NULL, '[["InstanceCreated",2251799813685308,2251799813685250,"jobs",1,null,"Process jobs","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685308],["ElementActivating",2251799813685309,2251799813685308,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685309],["ElementCompleting",2251799813685309],["ElementCompleted",2251799813685309,["start-first"]],["ElementActivating",2251799813685310,2251799813685308,"first","SERVICE_TASK",["start-first"],-1,"Task first",null,[]],["ElementActivated",2251799813685310],["JobCreated",2251799813685311,2251799813685310,"first",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685308,"processDefinitionKey":2251799813685250,"processDefinitionId":"jobs","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685275, 0, 2251799813685304, NULL, '[["JobCompleted",2251799813685307],["VariableSet",2251799813685312,2251799813685304,"done","true"],["ElementCompleting",2251799813685306],["ElementCompleted",2251799813685306,["first-second"]],["ElementActivating",2251799813685313,2251799813685304,"second","SERVICE_TASK",["first-second"],-1,"Task second",null,[]],["ElementActivated",2251799813685313],["JobCreated",2251799813685314,2251799813685313,"second",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, 'null', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685276, 0, 2251799813685304, NULL, '[["JobCompleted",2251799813685314],["VariableSet",2251799813685312,2251799813685304,"done","true"],["ElementCompleting",2251799813685313],["ElementCompleted",2251799813685313,["second-end"]],["ElementActivating",2251799813685315,2251799813685304,"end","END_EVENT",["second-end"],-1,null,null,[]],["ElementActivated",2251799813685315],["ElementCompleting",2251799813685315],["ElementCompleted",2251799813685315,[]],["ElementCompleting",2251799813685304],["ElementCompleted",2251799813685304,[]]]', NULL, NULL, 'null', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685277, 0, 2251799813685308, NULL, '[["ElementTerminating",2251799813685308,null,2251799813685277],["ElementTerminating",2251799813685310,null,null],["JobCanceled",2251799813685311],["ElementTerminated",2251799813685310],["ElementTerminated",2251799813685308]]', NULL, NULL, 'null', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685278, 0, 2251799813685316, NULL, '[["InstanceCreated",2251799813685316,2251799813685252,"joined",1,null,"Process joined","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685316],["ElementActivating",2251799813685317,2251799813685316,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685317],["ElementCompleting",2251799813685317],["ElementCompleted",2251799813685317,["start-fork"]],["ElementActivating",2251799813685318,2251799813685316,"fork","PARALLEL_GATEWAY",["start-fork"],-1,null,null,[]],["ElementActivated",2251799813685318],["ElementCompleting",2251799813685318],["ElementCompleted",2251799813685318,["fork-left","fork-right"]],["ElementActivating",2251799813685319,2251799813685316,"left","SERVICE_TASK",["fork-left"],-1,"Task left",null,[]],["ElementActivating",2251799813685320,2251799813685316,"right","SERVICE_TASK",["fork-right"],-1,"Task right",null,[]],["ElementActivated",2251799813685319],["JobCreated",2251799813685321,2251799813685319,"left",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivated",2251799813685320],["JobCreated",2251799813685322,2251799813685320,"right",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685316,"processDefinitionKey":2251799813685252,"processDefinitionId":"joined","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685279, 0, 2251799813685316, NULL, '[["JobCompleted",2251799813685321],["ElementCompleting",2251799813685319],["ElementCompleted",2251799813685319,["left-join"]]]', NULL, NULL, 'null', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685280, 0, 2251799813685323, NULL, '[["InstanceCreated",2251799813685323,2251799813685286,"heard",1,null,"Process heard","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685323],["ElementActivating",2251799813685324,2251799813685323,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685324],["ElementCompleting",2251799813685324],["ElementCompleted",2251799813685324,["start-work"]],["ElementActivating",2251799813685325,2251799813685323,"work","SERVICE_TASK",["start-work"],-1,"Task work",null,[]],["JobCreated",2251799813685326,2251799813685325,"before",3,0,{},"EXECUTION_LISTENER","START",0]]', NULL, NULL, '{"processInstanceKey":2251799813685323,"processDefinitionKey":2251799813685286,"processDefinitionId":"heard","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685281, 0, 2251799813685327, NULL, '[["InstanceCreated",2251799813685327,2251799813685286,"heard",1,null,"Process heard","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685327],["ElementActivating",2251799813685328,2251799813685327,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685328],["ElementCompleting",2251799813685328],["ElementCompleted",2251799813685328,["start-work"]],["ElementActivating",2251799813685329,2251799813685327,"work","SERVICE_TASK",["start-work"],-1,"Task work",null,[]],["JobCreated",2251799813685330,2251799813685329,"before",3,0,{},"EXECUTION_LISTENER","START",0]]', NULL, NULL, '{"processInstanceKey":2251799813685327,"processDefinitionKey":2251799813685286,"processDefinitionId":"heard","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685282, 0, 2251799813685331, NULL, '[["InstanceCreated",2251799813685331,2251799813685286,"heard",1,null,"Process heard","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685331],["ElementActivating",2251799813685332,2251799813685331,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685332],["ElementCompleting",2251799813685332],["ElementCompleted",2251799813685332,["start-work"]],["ElementActivating",2251799813685333,2251799813685331,"work","SERVICE_TASK",["start-work"],-1,"Task work",null,[]],["JobCreated",2251799813685334,2251799813685333,"before",3,0,{},"EXECUTION_LISTENER","START",0]]', NULL, NULL, '{"processInstanceKey":2251799813685331,"processDefinitionKey":2251799813685286,"processDefinitionId":"heard","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685283, 0, 2251799813685327, NULL, '[["JobCompleted",2251799813685330],["ElementActivated",2251799813685329],["JobCreated",2251799813685335,2251799813685329,"work",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, 'null', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685284, 0, 2251799813685331, NULL, '[["JobCompleted",2251799813685334],["ElementActivated",2251799813685333],["JobCreated",2251799813685336,2251799813685333,"work",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, 'null', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685285, 0, 2251799813685331, NULL, '[["JobCompleted",2251799813685336],["ElementCompleting",2251799813685333],["JobCreated",2251799813685337,2251799813685333,"after",3,0,{},"EXECUTION_LISTENER","END",0]]', NULL, NULL, 'null', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685286, 0, 2251799813685338, NULL, '[["InstanceCreated",2251799813685338,2251799813685250,"jobs",1,null,"Process jobs","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685338],["ElementActivating",2251799813685339,2251799813685338,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685339],["ElementCompleting",2251799813685339],["ElementCompleted",2251799813685339,["start-first"]],["ElementActivating",2251799813685340,2251799813685338,"first","SERVICE_TASK",["start-first"],-1,"Task first",null,[]],["ElementActivated",2251799813685340],["JobCreated",2251799813685341,2251799813685340,"first",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685338,"processDefinitionKey":2251799813685250,"processDefinitionId":"jobs","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685287, 0, 2251799813685342, NULL, '[["InstanceCreated",2251799813685342,2251799813685254,"choices",1,null,"Process choices","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685342],["ElementActivating",2251799813685343,2251799813685342,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685343],["ElementCompleting",2251799813685343],["ElementCompleted",2251799813685343,["start-choice"]],["ElementActivating",2251799813685344,2251799813685342,"choice","EXCLUSIVE_GATEWAY",["start-choice"],-1,null,null,[]],["ElementActivated",2251799813685344],["ElementCompleting",2251799813685344],["IncidentRaised",2251799813685345,2251799813685344,"leave","EXTRACT_VALUE_ERROR","Expected result of the expression ''approved'' to be ''BOOLEAN'', but was ''NULL''. The evaluation reported the following warnings:\n[NO_VARIABLE_FOUND] No variable found with name ''approved''",null,0]]', NULL, NULL, '{"processInstanceKey":2251799813685342,"processDefinitionKey":2251799813685254,"processDefinitionId":"choices","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685288, 0, 2251799813685346, NULL, '[["InstanceCreated",2251799813685346,2251799813685288,"rescued",1,null,"Process rescued","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685346],["ElementActivating",2251799813685347,2251799813685346,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685347],["ElementCompleting",2251799813685347],["ElementCompleted",2251799813685347,["start-risky"]],["ElementActivating",2251799813685348,2251799813685346,"risky","SERVICE_TASK",["start-risky"],-1,"Task risky",null,[]],["ElementActivated",2251799813685348],["JobCreated",2251799813685349,2251799813685348,"risky",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685346,"processDefinitionKey":2251799813685288,"processDefinitionId":"rescued","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685289, 0, 2251799813685350, NULL, '[["InstanceCreated",2251799813685350,2251799813685276,"decided",1,null,null,"<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685350],["ElementActivating",2251799813685351,2251799813685350,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685351],["ElementCompleting",2251799813685351],["ElementCompleted",2251799813685351,["a"]],["ElementActivating",2251799813685352,2251799813685350,"decide","USER_TASK",["a"],-1,null,null,[]],["ElementActivated",2251799813685352],["UserTaskCreated",2251799813685353,2251799813685352,"ann",["sales"],[],null,null,50,{},null,null]]', NULL, NULL, '{"processInstanceKey":2251799813685350,"processDefinitionKey":2251799813685276,"processDefinitionId":"decided","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685290, 0, 2251799813685354, NULL, '[["InstanceCreated",2251799813685354,2251799813685278,"calling",1,null,"Process calling","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685354],["ElementActivating",2251799813685355,2251799813685354,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685355],["ElementCompleting",2251799813685355],["ElementCompleted",2251799813685355,["start-call"]],["ElementActivating",2251799813685356,2251799813685354,"call","CALL_ACTIVITY",["start-call"],-1,null,null,[]],["ElementActivated",2251799813685356],["InstanceCreated",2251799813685357,2251799813685250,"jobs",1,null,"Process jobs","<default>",null,[],2251799813685356,null,null,[],[]],["ElementActivated",2251799813685357],["ElementActivating",2251799813685358,2251799813685357,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685358],["ElementCompleting",2251799813685358],["ElementCompleted",2251799813685358,["start-first"]],["ElementActivating",2251799813685359,2251799813685357,"first","SERVICE_TASK",["start-first"],-1,"Task first",null,[]],["ElementActivated",2251799813685359],["JobCreated",2251799813685360,2251799813685359,"first",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685354,"processDefinitionKey":2251799813685278,"processDefinitionId":"calling","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685291, 0, 2251799813685361, NULL, '[["InstanceCreated",2251799813685361,2251799813685250,"jobs",1,null,"Process jobs","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685361],["ElementActivating",2251799813685362,2251799813685361,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685362],["ElementCompleting",2251799813685362],["ElementCompleted",2251799813685362,["start-first"]],["ElementActivating",2251799813685363,2251799813685361,"first","SERVICE_TASK",["start-first"],-1,"Task first",null,[]],["ElementActivated",2251799813685363],["JobCreated",2251799813685364,2251799813685363,"first",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685361,"processDefinitionKey":2251799813685250,"processDefinitionId":"jobs","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685292, 0, 2251799813685365, NULL, '[["InstanceCreated",2251799813685365,2251799813685256,"waiting",1,null,"Process waiting","<default>",null,[],null,null,null,[],[]],["VariableSet",2251799813685366,2251799813685365,"k","\"waiting\""],["ElementActivated",2251799813685365],["ElementActivating",2251799813685367,2251799813685365,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685367],["ElementCompleting",2251799813685367],["ElementCompleted",2251799813685367,["start-catch"]],["ElementActivating",2251799813685368,2251799813685365,"catch","INTERMEDIATE_CATCH_EVENT",["start-catch"],-1,null,null,[]],["SubscriptionOpened",2251799813685369,2251799813685368,"catch","INTERMEDIATE","MESSAGE","hello","waiting",true],["ElementActivated",2251799813685368]]', NULL, NULL, '{"processInstanceKey":2251799813685365,"processDefinitionKey":2251799813685256,"processDefinitionId":"waiting","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685292, 1, NULL, 2251799813685292, '[["ChannelSubscribed",2251799813685369,"<default>","waiting","hello","waiting",true]]', NULL, NULL, NULL, 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685293, 0, 2251799813685370, NULL, '[["InstanceCreated",2251799813685370,2251799813685258,"guarding",1,null,"Process guarding","<default>",null,[],null,null,null,[],[]],["VariableSet",2251799813685371,2251799813685370,"k","\"guarding\""],["ElementActivated",2251799813685370],["ElementActivating",2251799813685372,2251799813685370,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685372],["ElementCompleting",2251799813685372],["ElementCompleted",2251799813685372,["start-guarded"]],["ElementActivating",2251799813685373,2251799813685370,"guarded","SERVICE_TASK",["start-guarded"],-1,"Task guarded",null,[]],["SubscriptionOpened",2251799813685374,2251799813685373,"boundary","BOUNDARY","MESSAGE","hello","guarding",false],["ElementActivated",2251799813685373],["JobCreated",2251799813685375,2251799813685373,"guarded",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685370,"processDefinitionKey":2251799813685258,"processDefinitionId":"guarding","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685293, 1, NULL, 2251799813685293, '[["ChannelSubscribed",2251799813685374,"<default>","guarding","hello","guarding",false]]', NULL, NULL, NULL, 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685294, 0, 2251799813685376, NULL, '[["InstanceCreated",2251799813685376,2251799813685260,"handling",1,null,"Process handling","<default>",null,[],null,null,null,[],[]],["VariableSet",2251799813685377,2251799813685376,"k","\"handling\""],["ElementActivated",2251799813685376],["ElementActivating",2251799813685378,2251799813685376,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685378],["ElementCompleting",2251799813685378],["SubscriptionOpened",2251799813685379,2251799813685376,"handler","EVENT_SUB_PROCESS","MESSAGE","hello","handling",false],["ElementCompleted",2251799813685378,["start-busy"]],["ElementActivating",2251799813685380,2251799813685376,"busy","SERVICE_TASK",["start-busy"],-1,"Task busy",null,[]],["ElementActivated",2251799813685380],["JobCreated",2251799813685381,2251799813685380,"busy",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685376,"processDefinitionKey":2251799813685260,"processDefinitionId":"handling","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685294, 1, NULL, 2251799813685294, '[["ChannelSubscribed",2251799813685379,"<default>","handling","hello","handling",false]]', NULL, NULL, NULL, 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685295, 0, NULL, NULL, '[["MessagePublished",2251799813685382,"<default>","hello","guarding",null,null,{},null],["MessageCorrelated",2251799813685382,"<default>","guarding","guarding",2251799813685374]]', NULL, NULL, '{"tenantId":"<default>","messageKey":2251799813685382,"processInstanceKey":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685295, 1, 2251799813685370, 2251799813685295, '[["SubscriptionTriggered",2251799813685374],["MessageReceived",2251799813685383,2251799813685382,2251799813685374,"hello","guarding",2251799813685370,"boundary",2251799813685373],["EventTriggered",2251799813685373,"boundary"],["ElementActivating",2251799813685384,2251799813685370,"boundary","BOUNDARY_EVENT",[],-1,null,{},[]],["ElementActivated",2251799813685384],["ElementCompleting",2251799813685384],["ElementCompleted",2251799813685384,["boundary-told"]],["ElementActivating",2251799813685385,2251799813685370,"told","END_EVENT",["boundary-told"],-1,null,null,[]],["ElementActivated",2251799813685385],["ElementCompleting",2251799813685385],["ElementCompleted",2251799813685385,[]]]', NULL, NULL, NULL, 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685295, 2, NULL, 2251799813685295, '[["CorrelationAnswered",2251799813685382,"<default>","guarding",2251799813685374,true,null]]', NULL, NULL, NULL, 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685296, 0, NULL, NULL, '[["MessagePublished",2251799813685386,"<default>","hello","handling",null,null,{},null],["MessageCorrelated",2251799813685386,"<default>","handling","handling",2251799813685379]]', NULL, NULL, '{"tenantId":"<default>","messageKey":2251799813685386,"processInstanceKey":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685296, 1, 2251799813685376, 2251799813685296, '[["SubscriptionTriggered",2251799813685379],["MessageReceived",2251799813685387,2251799813685386,2251799813685379,"hello","handling",2251799813685376,"handler",2251799813685376],["EventTriggered",2251799813685376,"handler"],["ElementActivating",2251799813685388,2251799813685376,"handler","EVENT_SUB_PROCESS",[],-1,null,{},[]],["ElementActivated",2251799813685388],["ElementActivating",2251799813685389,2251799813685388,"handler-start","START_EVENT",[],-1,null,{},[]],["ElementActivated",2251799813685389],["ElementCompleting",2251799813685389],["ElementCompleted",2251799813685389,["handler-start-handle"]],["ElementActivating",2251799813685390,2251799813685388,"handle","SERVICE_TASK",["handler-start-handle"],-1,"Task handle",null,[]],["ElementActivated",2251799813685390],["JobCreated",2251799813685391,2251799813685390,"handle",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, NULL, 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685296, 2, NULL, 2251799813685296, '[["CorrelationAnswered",2251799813685386,"<default>","handling",2251799813685379,true,null]]', NULL, NULL, NULL, 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685297, 0, NULL, NULL, '[["MessagePublished",2251799813685392,"<default>","hello","buffered","its id",1800360000000,{"told":"[1,2]"},null]]', NULL, NULL, '{"tenantId":"<default>","messageKey":2251799813685392,"processInstanceKey":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685298, 0, NULL, NULL, '[["MessagePublished",2251799813685393,"<default>","begin","locked",null,null,{},null],["MessageCorrelated",2251799813685393,"<default>","locked","started",null],["StartLocked",2251799813685394,"<default>","locked","started"]]', NULL, NULL, '{"tenantId":"<default>","messageKey":2251799813685393,"processInstanceKey":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685298, 1, 2251799813685394, 2251799813685298, '[["InstanceCreated",2251799813685394,2251799813685262,"started",1,null,"Process started","<default>",null,[],null,["start",{}],"locked",[],[]],["MessageReceived",2251799813685395,2251799813685393,2251799813685263,"begin","locked",2251799813685394,"start",null],["ElementActivated",2251799813685394],["ElementActivating",2251799813685396,2251799813685394,"start","START_EVENT",[],-1,null,{},[]],["ElementActivated",2251799813685396],["ElementCompleting",2251799813685396],["ElementCompleted",2251799813685396,["start-begun"]],["ElementActivating",2251799813685397,2251799813685394,"begun","SERVICE_TASK",["start-begun"],-1,"Task begun",null,[]],["ElementActivated",2251799813685397],["JobCreated",2251799813685398,2251799813685397,"begun",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, NULL, 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685299, 0, NULL, NULL, '[["MessagePublished",2251799813685399,"<default>","begin","locked",null,1800360000000,{},null]]', NULL, NULL, '{"tenantId":"<default>","messageKey":2251799813685399,"processInstanceKey":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685300, 0, 2251799813685400, NULL, '[["InstanceCreated",2251799813685400,2251799813685265,"signalled",1,null,"Process signalled","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685400],["ElementActivating",2251799813685401,2251799813685400,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685401],["ElementCompleting",2251799813685401],["ElementCompleted",2251799813685401,["start-catch"]],["ElementActivating",2251799813685402,2251799813685400,"catch","INTERMEDIATE_CATCH_EVENT",["start-catch"],-1,null,null,[]],["SubscriptionOpened",2251799813685403,2251799813685402,"catch","INTERMEDIATE","SIGNAL","alarm",null,true],["ElementActivated",2251799813685402]]', NULL, NULL, '{"processInstanceKey":2251799813685400,"processDefinitionKey":2251799813685265,"processDefinitionId":"signalled","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685301, 0, 2251799813685404, NULL, '[["InstanceCreated",2251799813685404,2251799813685274,"watching",1,null,"Process watching","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685404],["ElementActivating",2251799813685405,2251799813685404,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685405],["ElementCompleting",2251799813685405],["TimerScheduled",2251799813685406,2251799813685404,"late","EVENT_SUB_PROCESS",1800021600000,1,null,null,null,null],["ElementCompleted",2251799813685405,["start-watched"]],["ElementActivating",2251799813685407,2251799813685404,"watched","SERVICE_TASK",["start-watched"],-1,"Task watched",null,[]],["TimerScheduled",2251799813685408,2251799813685407,"reminder","BOUNDARY",1800003600000,3,["PT1H","Z",1800000000000,1],null,null,null],["ElementActivated",2251799813685407],["JobCreated",2251799813685409,2251799813685407,"watched",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685404,"processDefinitionKey":2251799813685274,"processDefinitionId":"watching","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685302, 0, 2251799813685410, NULL, '[["InstanceCreated",2251799813685410,2251799813685267,"conditional",1,null,"Process conditional","<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685410],["ElementActivating",2251799813685411,2251799813685410,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685411],["ElementCompleting",2251799813685411],["ElementCompleted",2251799813685411,["start-catch"]],["ElementActivating",2251799813685412,2251799813685410,"catch","INTERMEDIATE_CATCH_EVENT",["start-catch"],-1,null,null,[]],["SubscriptionOpened",2251799813685413,2251799813685412,"catch","INTERMEDIATE","CONDITION","",null,true],["ElementActivated",2251799813685412]]', NULL, NULL, '{"processInstanceKey":2251799813685410,"processDefinitionKey":2251799813685267,"processDefinitionId":"conditional","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 08:00:00+00'),
	(1, 2251799813685303, 0, NULL, NULL, '[["TimerTriggered",2251799813685272],["TimerScheduled",2251799813685414,null,"byTimer","START_EVENT",1800007200000,1,["PT1H","Z",1800000000000,2],2251799813685271,"scheduled","<default>"]]', NULL, NULL, 'null', 1, '2027-01-15 09:00:00+00'),
	(1, 2251799813685303, 1, 2251799813685415, 2251799813685303, '[["InstanceCreated",2251799813685415,2251799813685271,"scheduled",1,null,"","<default>",null,[],null,["byTimer",{}],null,[],[]],["ElementActivated",2251799813685415],["ElementActivating",2251799813685416,2251799813685415,"byTimer","START_EVENT",[],-1,null,{},[]],["ElementActivated",2251799813685416],["ElementCompleting",2251799813685416],["ElementCompleted",2251799813685416,["a"]],["ElementActivating",2251799813685417,2251799813685415,"end","END_EVENT",["a"],-1,null,null,[]],["ElementActivated",2251799813685417],["ElementCompleting",2251799813685417],["ElementCompleted",2251799813685417,[]],["ElementCompleting",2251799813685415],["ElementCompleted",2251799813685415,[]]]', NULL, NULL, NULL, 1, '2027-01-15 09:00:00+00'),
	(1, 2251799813685304, 0, 2251799813685404, NULL, '[["TimerTriggered",2251799813685408],["TimerScheduled",2251799813685418,2251799813685407,"reminder","BOUNDARY",1800007200000,2,["PT1H","Z",1800000000000,2],null,null,null],["EventTriggered",2251799813685407,"reminder"],["ElementActivating",2251799813685419,2251799813685404,"reminder","BOUNDARY_EVENT",[],-1,null,{},[]],["ElementActivated",2251799813685419],["ElementCompleting",2251799813685419],["ElementCompleted",2251799813685419,["reminder-reminded"]],["ElementActivating",2251799813685420,2251799813685404,"reminded","END_EVENT",["reminder-reminded"],-1,null,null,[]],["ElementActivated",2251799813685420],["ElementCompleting",2251799813685420],["ElementCompleted",2251799813685420,[]]]', NULL, NULL, 'null', 1, '2027-01-15 09:00:00+00'),
	(1, 2251799813685305, 0, 2251799813685421, NULL, '[["InstanceCreated",2251799813685421,2251799813685269,"delayed",1,null,null,"<default>",null,[],null,null,null,[],[]],["ElementActivated",2251799813685421],["ElementActivating",2251799813685422,2251799813685421,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685422],["ElementCompleting",2251799813685422],["ElementCompleted",2251799813685422,["a"]],["ElementActivating",2251799813685423,2251799813685421,"wait","INTERMEDIATE_CATCH_EVENT",["a"],-1,null,null,[]],["TimerScheduled",2251799813685424,2251799813685423,"wait","INTERMEDIATE",1800007200000,1,null,null,null,null],["ElementActivated",2251799813685423]]', NULL, NULL, '{"processInstanceKey":2251799813685421,"processDefinitionKey":2251799813685269,"processDefinitionId":"delayed","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 09:00:00+00'),
	(1, 2251799813685306, 0, 2251799813685425, NULL, '[["InstanceCreated",2251799813685425,2251799813685282,"in_turn",1,null,"Process in_turn","<default>",null,[],null,null,null,[],[]],["VariableSet",2251799813685426,2251799813685425,"items","[1,\"two\",{\"three\":3}]"],["ElementActivated",2251799813685425],["ElementActivating",2251799813685427,2251799813685425,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685427],["ElementCompleting",2251799813685427],["ElementCompleted",2251799813685427,["start-one"]],["ElementActivating",2251799813685428,2251799813685425,"one","MULTI_INSTANCE_BODY",["start-one"],-1,"Task one",null,[]],["ElementActivated",2251799813685428],["LoopStarted",2251799813685428,["1","\"two\"","{\"three\":3}"],false,null],["ElementActivating",2251799813685429,2251799813685428,"one","SERVICE_TASK",[],0,"Task one",null,[]],["VariableSet",2251799813685430,2251799813685429,"loopCounter","1"],["VariableSet",2251799813685431,2251799813685429,"item","1"],["ElementActivated",2251799813685429],["JobCreated",2251799813685432,2251799813685429,"one",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685425,"processDefinitionKey":2251799813685282,"processDefinitionId":"in_turn","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 09:00:00+00'),
	(1, 2251799813685307, 0, 2251799813685433, NULL, '[["InstanceCreated",2251799813685433,2251799813685280,"loop",1,null,"Process loop","<default>",null,[],null,null,null,[],[]],["VariableSet",2251799813685434,2251799813685433,"items","[1,2,3]"],["ElementActivated",2251799813685433],["ElementActivating",2251799813685435,2251799813685433,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685435],["ElementCompleting",2251799813685435],["ElementCompleted",2251799813685435,["start-each"]],["ElementActivating",2251799813685436,2251799813685433,"each","MULTI_INSTANCE_BODY",["start-each"],-1,"Task each",null,[]],["ElementActivated",2251799813685436],["LoopStarted",2251799813685436,["1","2","3"],false,null],["ElementActivating",2251799813685437,2251799813685436,"each","SERVICE_TASK",[],0,"Task each",null,[]],["ElementActivating",2251799813685438,2251799813685436,"each","SERVICE_TASK",[],1,"Task each",null,[]],["ElementActivating",2251799813685439,2251799813685436,"each","SERVICE_TASK",[],2,"Task each",null,[]],["VariableSet",2251799813685440,2251799813685437,"loopCounter","1"],["VariableSet",2251799813685441,2251799813685437,"item","1"],["ElementActivated",2251799813685437],["JobCreated",2251799813685442,2251799813685437,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["VariableSet",2251799813685443,2251799813685438,"loopCounter","2"],["VariableSet",2251799813685444,2251799813685438,"item","2"],["ElementActivated",2251799813685438],["JobCreated",2251799813685445,2251799813685438,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["VariableSet",2251799813685446,2251799813685439,"loopCounter","3"],["VariableSet",2251799813685447,2251799813685439,"item","3"],["ElementActivated",2251799813685439],["JobCreated",2251799813685448,2251799813685439,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, '{"processInstanceKey":2251799813685433,"processDefinitionKey":2251799813685280,"processDefinitionId":"loop","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 09:00:00+00'),
	(1, 2251799813685308, 0, 2251799813685449, NULL, '[["InstanceCreated",2251799813685449,2251799813685280,"loop",1,null,"Process loop","<default>",null,[],null,null,null,[],[]],["VariableSet",2251799813685450,2251799813685449,"items","[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23]"],["ElementActivated",2251799813685449],["ElementActivating",2251799813685451,2251799813685449,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799813685451],["ElementCompleting",2251799813685451],["ElementCompleted",2251799813685451,["start-each"]],["ElementActivating",2251799813685452,2251799813685449,"each","MULTI_INSTANCE_BODY",["start-each"],-1,"Task each",null,[]],["ElementActivated",2251799813685452],["LoopStarted",2251799813685452,[],true,[2251799813685449,"items"]],["ElementActivating",2251799813685453,2251799813685452,"each","SERVICE_TASK",[],0,"Task each",null,[]],["VariableSet",2251799813685454,2251799813685453,"loopCounter","1"],["VariableSet",2251799813685455,2251799813685453,"item","0"],["ElementActivated",2251799813685453],["JobCreated",2251799813685456,2251799813685453,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685457,2251799813685452,"each","SERVICE_TASK",[],1,"Task each",null,[]],["VariableSet",2251799813685458,2251799813685457,"loopCounter","2"],["VariableSet",2251799813685459,2251799813685457,"item","1"],["ElementActivated",2251799813685457],["JobCreated",2251799813685460,2251799813685457,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685461,2251799813685452,"each","SERVICE_TASK",[],2,"Task each",null,[]],["VariableSet",2251799813685462,2251799813685461,"loopCounter","3"],["VariableSet",2251799813685463,2251799813685461,"item","2"],["ElementActivated",2251799813685461],["JobCreated",2251799813685464,2251799813685461,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685465,2251799813685452,"each","SERVICE_TASK",[],3,"Task each",null,[]],["VariableSet",2251799813685466,2251799813685465,"loopCounter","4"],["VariableSet",2251799813685467,2251799813685465,"item","3"],["ElementActivated",2251799813685465],["JobCreated",2251799813685468,2251799813685465,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685469,2251799813685452,"each","SERVICE_TASK",[],4,"Task each",null,[]],["VariableSet",2251799813685470,2251799813685469,"loopCounter","5"],["VariableSet",2251799813685471,2251799813685469,"item","4"],["ElementActivated",2251799813685469],["JobCreated",2251799813685472,2251799813685469,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685473,2251799813685452,"each","SERVICE_TASK",[],5,"Task each",null,[]],["VariableSet",2251799813685474,2251799813685473,"loopCounter","6"],["VariableSet",2251799813685475,2251799813685473,"item","5"],["ElementActivated",2251799813685473],["JobCreated",2251799813685476,2251799813685473,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685477,2251799813685452,"each","SERVICE_TASK",[],6,"Task each",null,[]],["VariableSet",2251799813685478,2251799813685477,"loopCounter","7"],["VariableSet",2251799813685479,2251799813685477,"item","6"],["ElementActivated",2251799813685477],["JobCreated",2251799813685480,2251799813685477,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685481,2251799813685452,"each","SERVICE_TASK",[],7,"Task each",null,[]],["VariableSet",2251799813685482,2251799813685481,"loopCounter","8"],["VariableSet",2251799813685483,2251799813685481,"item","7"],["ElementActivated",2251799813685481],["JobCreated",2251799813685484,2251799813685481,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685485,2251799813685452,"each","SERVICE_TASK",[],8,"Task each",null,[]],["VariableSet",2251799813685486,2251799813685485,"loopCounter","9"],["VariableSet",2251799813685487,2251799813685485,"item","8"],["WorkDeferred",2251799813685449,[[2251799813685485,"activate",0],[2251799813685452,"settle",0]]]]', NULL, NULL, '{"processInstanceKey":2251799813685449,"processDefinitionKey":2251799813685280,"processDefinitionId":"loop","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 09:00:00+00'),
	(1, 2251799813685308, 1, 2251799813685449, 2251799813685308, '[["WorkResumed",2251799813685449,[[2251799813685485,"activate",0],[2251799813685452,"settle",0]]],["ElementActivated",2251799813685485],["JobCreated",2251799813685488,2251799813685485,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685489,2251799813685452,"each","SERVICE_TASK",[],9,"Task each",null,[]],["VariableSet",2251799813685490,2251799813685489,"loopCounter","10"],["VariableSet",2251799813685491,2251799813685489,"item","9"],["ElementActivated",2251799813685489],["JobCreated",2251799813685492,2251799813685489,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685493,2251799813685452,"each","SERVICE_TASK",[],10,"Task each",null,[]],["VariableSet",2251799813685494,2251799813685493,"loopCounter","11"],["VariableSet",2251799813685495,2251799813685493,"item","10"],["ElementActivated",2251799813685493],["JobCreated",2251799813685496,2251799813685493,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685497,2251799813685452,"each","SERVICE_TASK",[],11,"Task each",null,[]],["VariableSet",2251799813685498,2251799813685497,"loopCounter","12"],["VariableSet",2251799813685499,2251799813685497,"item","11"],["ElementActivated",2251799813685497],["JobCreated",2251799813685500,2251799813685497,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685501,2251799813685452,"each","SERVICE_TASK",[],12,"Task each",null,[]],["VariableSet",2251799813685502,2251799813685501,"loopCounter","13"],["VariableSet",2251799813685503,2251799813685501,"item","12"],["ElementActivated",2251799813685501],["JobCreated",2251799813685504,2251799813685501,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685505,2251799813685452,"each","SERVICE_TASK",[],13,"Task each",null,[]],["VariableSet",2251799813685506,2251799813685505,"loopCounter","14"],["VariableSet",2251799813685507,2251799813685505,"item","13"],["ElementActivated",2251799813685505],["JobCreated",2251799813685508,2251799813685505,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685509,2251799813685452,"each","SERVICE_TASK",[],14,"Task each",null,[]],["VariableSet",2251799813685510,2251799813685509,"loopCounter","15"],["VariableSet",2251799813685511,2251799813685509,"item","14"],["ElementActivated",2251799813685509],["JobCreated",2251799813685512,2251799813685509,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685513,2251799813685452,"each","SERVICE_TASK",[],15,"Task each",null,[]],["VariableSet",2251799813685514,2251799813685513,"loopCounter","16"],["VariableSet",2251799813685515,2251799813685513,"item","15"],["ElementActivated",2251799813685513],["JobCreated",2251799813685516,2251799813685513,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685517,2251799813685452,"each","SERVICE_TASK",[],16,"Task each",null,[]],["VariableSet",2251799813685518,2251799813685517,"loopCounter","17"],["VariableSet",2251799813685519,2251799813685517,"item","16"],["ElementActivated",2251799813685517],["JobCreated",2251799813685520,2251799813685517,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["WorkDeferred",2251799813685449,[[2251799813685452,"settle",0]]]]', NULL, NULL, NULL, 1, '2027-01-15 09:00:00+00'),
	(1, 2251799813685308, 2, 2251799813685449, 2251799813685308, '[["WorkResumed",2251799813685449,[[2251799813685452,"settle",0]]],["ElementActivating",2251799813685521,2251799813685452,"each","SERVICE_TASK",[],17,"Task each",null,[]],["VariableSet",2251799813685522,2251799813685521,"loopCounter","18"],["VariableSet",2251799813685523,2251799813685521,"item","17"],["ElementActivated",2251799813685521],["JobCreated",2251799813685524,2251799813685521,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685525,2251799813685452,"each","SERVICE_TASK",[],18,"Task each",null,[]],["VariableSet",2251799813685526,2251799813685525,"loopCounter","19"],["VariableSet",2251799813685527,2251799813685525,"item","18"],["ElementActivated",2251799813685525],["JobCreated",2251799813685528,2251799813685525,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685529,2251799813685452,"each","SERVICE_TASK",[],19,"Task each",null,[]],["VariableSet",2251799813685530,2251799813685529,"loopCounter","20"],["VariableSet",2251799813685531,2251799813685529,"item","19"],["ElementActivated",2251799813685529],["JobCreated",2251799813685532,2251799813685529,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685533,2251799813685452,"each","SERVICE_TASK",[],20,"Task each",null,[]],["VariableSet",2251799813685534,2251799813685533,"loopCounter","21"],["VariableSet",2251799813685535,2251799813685533,"item","20"],["ElementActivated",2251799813685533],["JobCreated",2251799813685536,2251799813685533,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685537,2251799813685452,"each","SERVICE_TASK",[],21,"Task each",null,[]],["VariableSet",2251799813685538,2251799813685537,"loopCounter","22"],["VariableSet",2251799813685539,2251799813685537,"item","21"],["ElementActivated",2251799813685537],["JobCreated",2251799813685540,2251799813685537,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685541,2251799813685452,"each","SERVICE_TASK",[],22,"Task each",null,[]],["VariableSet",2251799813685542,2251799813685541,"loopCounter","23"],["VariableSet",2251799813685543,2251799813685541,"item","22"],["ElementActivated",2251799813685541],["JobCreated",2251799813685544,2251799813685541,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0],["ElementActivating",2251799813685545,2251799813685452,"each","SERVICE_TASK",[],23,"Task each",null,[]],["VariableSet",2251799813685546,2251799813685545,"loopCounter","24"],["VariableSet",2251799813685547,2251799813685545,"item","23"],["ElementActivated",2251799813685545],["JobCreated",2251799813685548,2251799813685545,"each",3,0,{},"BPMN_ELEMENT","UNSPECIFIED",0]]', NULL, NULL, NULL, 1, '2027-01-15 09:00:00+00'),
	(1, 2251799813685309, 0, 2251799814685488, NULL, '[["InstanceCreated",2251799814685488,2251799813685284,"many",1,null,"Process many","<default>",null,[],null,null,null,[],[]],["VariableSet",2251799814685489,2251799814685488,"items","[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,97,98,99,100,101,102,103,104,105,106,107,108,109,110,111,112,113,114,115,116,117,118,119]"],["ElementActivated",2251799814685488],["ElementActivating",2251799814685490,2251799814685488,"start","START_EVENT",[],-1,null,null,[]],["ElementActivated",2251799814685490],["ElementCompleting",2251799814685490],["WorkDeferred",2251799814685488,[[2251799814685490,"leave",0]]]]', NULL, NULL, '{"processInstanceKey":2251799814685488,"processDefinitionKey":2251799813685284,"processDefinitionId":"many","processDefinitionVersion":1,"tenantId":"<default>","tags":[],"businessId":null}', 1, '2027-01-15 09:00:00+00'),
	(1, 2251799813685309, 1, 2251799814685488, 2251799813685309, '[["WorkResumed",2251799814685488,[[2251799814685490,"leave",0]]],["ElementCompleted",2251799814685490,["start-step"]],["ElementActivating",2251799814685491,2251799814685488,"step","MULTI_INSTANCE_BODY",["start-step"],-1,null,null,[]],["WorkDeferred",2251799814685488,[[2251799814685491,"activate",0]]]]', NULL, NULL, NULL, 1, '2027-01-15 09:00:00+00');

INSERT INTO public.idempotency_keys VALUES
	('<default>', 'asked once', '\x6161616161616161616161616161616161616161616161616161616161616161', 2251799813685291, '2027-01-16 08:00:00+00');

INSERT INTO public.inbox OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 2251799813685308, '<default>', 'PROCESS_INSTANCE:CONTINUE', 2251799813685449, '\x7b226b6579223a323235313739393831333638353434397d', NULL, NULL),
	(1, 2, 2251799813685309, '<default>', 'PROCESS_INSTANCE:CONTINUE', 2251799814685488, '\x7b226b6579223a323235313739393831343638353438387d', NULL, NULL);

INSERT INTO public.incidents VALUES
	(2251799813685303, 2251799813685299, 2251799813685299, 2251799813685299, 2251799813685301, 2251799813685250, 2251799813685302, '2027-01-15 08:00:00+00', NULL, 'jobs', 'first', '<default>', 'ACTIVE', 'JOB_NO_RETRIES', 'no more retries', '', '0', DEFAULT, DEFAULT),
	(2251799813685345, 2251799813685342, 2251799813685342, 2251799813685342, 2251799813685344, 2251799813685254, NULL, '2027-01-15 08:00:00+00', NULL, 'choices', 'choice', '<default>', 'ACTIVE', 'EXTRACT_VALUE_ERROR', 'Expected result of the expression ''approved'' to be ''BOOLEAN'', but was ''NULL''. The evaluation reported the following warnings:
[NO_VARIABLE_FOUND] No variable found with name ''approved''', 'leave', '0', DEFAULT, DEFAULT);

INSERT INTO public.job_count_changes VALUES
	(1, 1, '<default>', 'first', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 2, '<default>', 'first', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 3, '<default>', 'first', '', 'FAILED', 1, '2027-01-15 08:00:00+00'),
	(1, 4, '<default>', 'first', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 5, '<default>', 'first', '', 'FAILED', 1, '2027-01-15 08:00:00+00'),
	(1, 6, '<default>', 'first', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 7, '<default>', 'first', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 8, '<default>', 'second', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 9, '<default>', 'first', '', 'COMPLETED', 1, '2027-01-15 08:00:00+00'),
	(1, 10, '<default>', 'second', '', 'COMPLETED', 1, '2027-01-15 08:00:00+00'),
	(1, 11, '<default>', 'left', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 12, '<default>', 'right', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 13, '<default>', 'left', '', 'COMPLETED', 1, '2027-01-15 08:00:00+00'),
	(1, 14, '<default>', 'before', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 15, '<default>', 'before', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 16, '<default>', 'before', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 17, '<default>', 'work', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 18, '<default>', 'before', '', 'COMPLETED', 1, '2027-01-15 08:00:00+00'),
	(1, 19, '<default>', 'work', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 20, '<default>', 'before', '', 'COMPLETED', 1, '2027-01-15 08:00:00+00'),
	(1, 21, '<default>', 'after', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 22, '<default>', 'work', '', 'COMPLETED', 1, '2027-01-15 08:00:00+00'),
	(1, 23, '<default>', 'first', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 24, '<default>', 'risky', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 25, '<default>', 'first', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 26, '<default>', 'first', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 27, '<default>', 'guarded', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 28, '<default>', 'busy', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 29, '<default>', 'handle', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 30, '<default>', 'begun', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 31, '<default>', 'watched', '', 'CREATED', 1, '2027-01-15 08:00:00+00'),
	(1, 32, '<default>', 'one', '', 'CREATED', 1, '2027-01-15 09:00:00+00'),
	(1, 33, '<default>', 'each', '', 'CREATED', 3, '2027-01-15 09:00:00+00'),
	(1, 34, '<default>', 'each', '', 'CREATED', 8, '2027-01-15 09:00:00+00'),
	(1, 35, '<default>', 'each', '', 'CREATED', 9, '2027-01-15 09:00:00+00'),
	(1, 36, '<default>', 'each', '', 'CREATED', 7, '2027-01-15 09:00:00+00');

INSERT INTO public.job_pauses VALUES
	(true, 0);

INSERT INTO public.jobs VALUES
	(2251799813685294, 2251799813685289, 2251799813685289, 2251799813685289, 2251799813685293, 2251799813685250, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685293,2251799813685289}', 'jobs', 'first', 'first', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, false, false, 0, '2027-01-15 18:00:00+00', '9edf3137-2c4f-4ac0-b102-bb61a06d3828', 'a worker', NULL),
	(2251799813685298, 2251799813685295, 2251799813685295, 2251799813685295, 2251799813685297, 2251799813685250, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 1, 0, '{2251799813685297,2251799813685295}', 'jobs', 'first', 'first', 'BPMN_ELEMENT', 'UNSPECIFIED', 'FAILED', NULL, '<default>', '{}', '{}', NULL, NULL, false, true, 0, '2027-01-15 09:00:00+00', NULL, NULL, NULL),
	(2251799813685302, 2251799813685299, 2251799813685299, 2251799813685299, 2251799813685301, 2251799813685250, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 0, 0, '{2251799813685301,2251799813685299}', 'jobs', 'first', 'first', 'BPMN_ELEMENT', 'UNSPECIFIED', 'FAILED', NULL, '<default>', '{}', '{}', NULL, 'no more retries', false, true, 0, NULL, NULL, NULL, NULL),
	(2251799813685307, 2251799813685304, 2251799813685304, 2251799813685304, 2251799813685306, 2251799813685250, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', 1, 0, 3, 0, '{2251799813685306,2251799813685304}', 'jobs', 'first', 'first', 'BPMN_ELEMENT', 'UNSPECIFIED', 'COMPLETED', NULL, '<default>', '{}', '{}', NULL, NULL, false, true, 0, NULL, NULL, NULL, NULL),
	(2251799813685314, 2251799813685304, 2251799813685304, 2251799813685304, 2251799813685313, 2251799813685250, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', 1, 0, 3, 0, '{2251799813685313,2251799813685304}', 'jobs', 'second', 'second', 'BPMN_ELEMENT', 'UNSPECIFIED', 'COMPLETED', NULL, '<default>', '{}', '{}', NULL, NULL, false, true, 0, NULL, NULL, NULL, NULL),
	(2251799813685311, 2251799813685308, 2251799813685308, 2251799813685308, 2251799813685310, 2251799813685250, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', 1, 0, 3, 0, '{2251799813685310,2251799813685308}', 'jobs', 'first', 'first', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CANCELED', NULL, '<default>', '{}', '{}', NULL, NULL, false, true, 0, NULL, NULL, NULL, NULL),
	(2251799813685322, 2251799813685316, 2251799813685316, 2251799813685316, 2251799813685320, 2251799813685252, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685320,2251799813685316}', 'joined', 'right', 'right', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685321, 2251799813685316, 2251799813685316, 2251799813685316, 2251799813685319, 2251799813685252, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', 1, 0, 3, 0, '{2251799813685319,2251799813685316}', 'joined', 'left', 'left', 'BPMN_ELEMENT', 'UNSPECIFIED', 'COMPLETED', NULL, '<default>', '{}', '{}', NULL, NULL, false, true, 0, NULL, NULL, NULL, NULL),
	(2251799813685326, 2251799813685323, 2251799813685323, 2251799813685323, 2251799813685325, 2251799813685286, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685325,2251799813685323}', 'heard', 'work', 'before', 'EXECUTION_LISTENER', 'START', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685335, 2251799813685327, 2251799813685327, 2251799813685327, 2251799813685329, 2251799813685286, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685329,2251799813685327}', 'heard', 'work', 'work', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685330, 2251799813685327, 2251799813685327, 2251799813685327, 2251799813685329, 2251799813685286, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', 1, 0, 3, 0, '{2251799813685329,2251799813685327}', 'heard', 'work', 'before', 'EXECUTION_LISTENER', 'START', 'COMPLETED', NULL, '<default>', '{}', '{}', NULL, NULL, false, true, 0, NULL, NULL, NULL, NULL),
	(2251799813685334, 2251799813685331, 2251799813685331, 2251799813685331, 2251799813685333, 2251799813685286, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', 1, 0, 3, 0, '{2251799813685333,2251799813685331}', 'heard', 'work', 'before', 'EXECUTION_LISTENER', 'START', 'COMPLETED', NULL, '<default>', '{}', '{}', NULL, NULL, false, true, 0, NULL, NULL, NULL, NULL),
	(2251799813685337, 2251799813685331, 2251799813685331, 2251799813685331, 2251799813685333, 2251799813685286, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685333,2251799813685331}', 'heard', 'work', 'after', 'EXECUTION_LISTENER', 'END', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685336, 2251799813685331, 2251799813685331, 2251799813685331, 2251799813685333, 2251799813685286, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', 1, 0, 3, 0, '{2251799813685333,2251799813685331}', 'heard', 'work', 'work', 'BPMN_ELEMENT', 'UNSPECIFIED', 'COMPLETED', NULL, '<default>', '{}', '{}', NULL, NULL, false, true, 0, NULL, NULL, NULL, NULL),
	(2251799813685341, 2251799813685338, 2251799813685338, 2251799813685338, 2251799813685340, 2251799813685250, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685340,2251799813685338}', 'jobs', 'first', 'first', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685349, 2251799813685346, 2251799813685346, 2251799813685346, 2251799813685348, 2251799813685288, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685348,2251799813685346}', 'rescued', 'risky', 'risky', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685360, 2251799813685354, 2251799813685354, 2251799813685357, 2251799813685359, 2251799813685250, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685359,2251799813685357}', 'jobs', 'first', 'first', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685364, 2251799813685361, 2251799813685361, 2251799813685361, 2251799813685363, 2251799813685250, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685363,2251799813685361}', 'jobs', 'first', 'first', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685375, 2251799813685370, 2251799813685370, 2251799813685370, 2251799813685373, 2251799813685258, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685373,2251799813685370}', 'guarding', 'guarded', 'guarded', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685381, 2251799813685376, 2251799813685376, 2251799813685376, 2251799813685380, 2251799813685260, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685380,2251799813685376}', 'handling', 'busy', 'busy', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685391, 2251799813685376, 2251799813685376, 2251799813685376, 2251799813685390, 2251799813685260, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685390,2251799813685388,2251799813685376}', 'handling', 'handle', 'handle', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685398, 2251799813685394, 2251799813685394, 2251799813685394, 2251799813685397, 2251799813685262, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685397,2251799813685394}', 'started', 'begun', 'begun', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685409, 2251799813685404, 2251799813685404, 2251799813685404, 2251799813685407, 2251799813685274, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685407,2251799813685404}', 'watching', 'watched', 'watched', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685432, 2251799813685425, 2251799813685425, 2251799813685425, 2251799813685429, 2251799813685282, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685429,2251799813685428,2251799813685425}', 'in_turn', 'one', 'one', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685442, 2251799813685433, 2251799813685433, 2251799813685433, 2251799813685437, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685437,2251799813685436,2251799813685433}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685445, 2251799813685433, 2251799813685433, 2251799813685433, 2251799813685438, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685438,2251799813685436,2251799813685433}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685448, 2251799813685433, 2251799813685433, 2251799813685433, 2251799813685439, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685439,2251799813685436,2251799813685433}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685456, 2251799813685449, 2251799813685453, 2251799813685449, 2251799813685453, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685453,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685460, 2251799813685449, 2251799813685457, 2251799813685449, 2251799813685457, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685457,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685464, 2251799813685449, 2251799813685461, 2251799813685449, 2251799813685461, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685461,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685468, 2251799813685449, 2251799813685465, 2251799813685449, 2251799813685465, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685465,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685472, 2251799813685449, 2251799813685469, 2251799813685449, 2251799813685469, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685469,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685476, 2251799813685449, 2251799813685473, 2251799813685449, 2251799813685473, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685473,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685480, 2251799813685449, 2251799813685477, 2251799813685449, 2251799813685477, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685477,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685484, 2251799813685449, 2251799813685481, 2251799813685449, 2251799813685481, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685481,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685488, 2251799813685449, 2251799813685485, 2251799813685449, 2251799813685485, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685485,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685492, 2251799813685449, 2251799813685489, 2251799813685449, 2251799813685489, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685489,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685496, 2251799813685449, 2251799813685493, 2251799813685449, 2251799813685493, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685493,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685500, 2251799813685449, 2251799813685497, 2251799813685449, 2251799813685497, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685497,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685504, 2251799813685449, 2251799813685501, 2251799813685449, 2251799813685501, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685501,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685508, 2251799813685449, 2251799813685505, 2251799813685449, 2251799813685505, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685505,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685512, 2251799813685449, 2251799813685509, 2251799813685449, 2251799813685509, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685509,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685516, 2251799813685449, 2251799813685513, 2251799813685449, 2251799813685513, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685513,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685520, 2251799813685449, 2251799813685517, 2251799813685449, 2251799813685517, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685517,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685524, 2251799813685449, 2251799813685521, 2251799813685449, 2251799813685521, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685521,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685528, 2251799813685449, 2251799813685525, 2251799813685449, 2251799813685525, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685525,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685532, 2251799813685449, 2251799813685529, 2251799813685449, 2251799813685529, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685529,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685536, 2251799813685449, 2251799813685533, 2251799813685449, 2251799813685533, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685533,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685540, 2251799813685449, 2251799813685537, 2251799813685449, 2251799813685537, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685537,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685544, 2251799813685449, 2251799813685541, 2251799813685449, 2251799813685541, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685541,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL),
	(2251799813685548, 2251799813685449, 2251799813685545, 2251799813685449, 2251799813685545, 2251799813685280, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', NULL, 1, 0, 3, 0, '{2251799813685545,2251799813685452,2251799813685449}', 'loop', 'each', 'each', 'BPMN_ELEMENT', 'UNSPECIFIED', 'CREATED', NULL, '<default>', '{}', '{}', NULL, NULL, true, false, 0, NULL, NULL, NULL, NULL);

INSERT INTO public.loop_items VALUES
	(2251799813685428, 0, '1', NULL),
	(2251799813685428, 1, '"two"', NULL),
	(2251799813685428, 2, '{"three":3}', NULL),
	(2251799813685436, 0, '1', NULL),
	(2251799813685436, 1, '2', NULL),
	(2251799813685436, 2, '3', NULL);

INSERT INTO public.message_correlations VALUES
	(2251799813685383, 2251799813685382, 2251799813685374, 2251799813685370, 2251799813685370, 2251799813685373, 2251799813685258, '2027-01-15 08:00:00+00', 'guarding', 'boundary', 'hello', 'guarding', NULL, '<default>'),
	(2251799813685387, 2251799813685386, 2251799813685379, 2251799813685376, 2251799813685376, 2251799813685376, 2251799813685260, '2027-01-15 08:00:00+00', 'handling', 'handler', 'hello', 'handling', NULL, '<default>'),
	(2251799813685395, 2251799813685393, 2251799813685263, 2251799813685394, 2251799813685394, NULL, 2251799813685262, '2027-01-15 08:00:00+00', 'started', 'start', 'begin', 'locked', NULL, '<default>');

INSERT INTO public.messages VALUES
	(2251799813685392, 1800360000000, 1, DEFAULT, '<default>', 'hello', 'buffered', 'its id', NULL, '{"told":"[1,2]"}', '{}'),
	(2251799813685399, 1800360000000, 1, DEFAULT, '<default>', 'begin', 'locked', NULL, NULL, '{}', '{}');

INSERT INTO public.paged_loop_items VALUES
	(2251799813685452, 0, '[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23]');

INSERT INTO public.partitions VALUES
	(1, 2, 'test', 6295, '2026-11-26 18:05:37.017582+00', '2026-11-26 18:05:42.061064+00', 0);

INSERT INTO public.process_definitions VALUES
	(2251799813685250, 2251799813685249, '<default>', 'jobs', 1, 'Process jobs', NULL, '0.bpmn', 'ff22ed3c2e404b26b884ddd8208bccb735e7381efa5f3011a5f0f8c1b6cd7c77', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685252, 2251799813685251, '<default>', 'joined', 1, 'Process joined', NULL, '1.bpmn', 'a625a485f4c6905436f14bac995bdae0c37658ca9fb31f4d513154905fe522d0', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685254, 2251799813685253, '<default>', 'choices', 1, 'Process choices', NULL, '2.bpmn', 'c5e76db4cd5eea9d92fc661db1a504a542e0224fd81935a0871bcccf7a6b8a7f', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685256, 2251799813685255, '<default>', 'waiting', 1, 'Process waiting', NULL, '3.bpmn', '9ddd639ef3558a2edbffaec80bf218ae904056a1e72320123f6d4e4a62bd63b4', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685258, 2251799813685257, '<default>', 'guarding', 1, 'Process guarding', NULL, '4.bpmn', 'ff2deb3da1d8990938d02ee95b6d2e24ecdcca0d11655a65e189bc19db9f7f6f', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685260, 2251799813685259, '<default>', 'handling', 1, 'Process handling', NULL, '5.bpmn', 'bfa35a35b46acbe76fc49b695c758663cdfd860d27f019c619c884ff8dc40b54', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685262, 2251799813685261, '<default>', 'started', 1, 'Process started', NULL, '6.bpmn', 'aaa817e2db555b6dfd6395d4fcab0c67b8ff4b967b091a1a69b0a0acd269f249', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685265, 2251799813685264, '<default>', 'signalled', 1, 'Process signalled', NULL, '7.bpmn', '3d9ff4c3a337c19c0fc1429b1475fec149ba7d4d039ff5ef11739c0222d16d0d', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685267, 2251799813685266, '<default>', 'conditional', 1, 'Process conditional', NULL, '8.bpmn', '2a83a9e2cc09a514ff4c03cce017d342ec563251ad5a234b46e706ceb98c046a', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685269, 2251799813685268, '<default>', 'delayed', 1, NULL, NULL, '9.bpmn', '9acbed51260c1779ab2001da22624cb26f02d958641a3ebadff248ebdf3d6dbd', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685271, 2251799813685270, '<default>', 'scheduled', 1, '', NULL, '10.bpmn', '70168d587d5bc111048a29e542725b0cd8b0d40523062be10302e931a44fe459', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685274, 2251799813685273, '<default>', 'watching', 1, 'Process watching', NULL, '11.bpmn', '64c21a2b27af2c6b2d6bd2441a2bf5b9f336580314e161d249906e8ac9c7c068', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685276, 2251799813685275, '<default>', 'decided', 1, NULL, NULL, '12.bpmn', 'd67efe220d8039495a7590b45e7a79d7868d6879aefbce58fb1fc60ffa70b2e5', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685278, 2251799813685277, '<default>', 'calling', 1, 'Process calling', NULL, '13.bpmn', '34abe8809d135638f98c588f58de700012bea9e6b4db3bc8f907f97be9539710', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685280, 2251799813685279, '<default>', 'loop', 1, 'Process loop', NULL, '14.bpmn', 'f70417b305ff6c85056708da72d1acb7b5c32f0604cbce8a7b4f9fbf6517142b', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685282, 2251799813685281, '<default>', 'in_turn', 1, 'Process in_turn', NULL, '15.bpmn', '825adabf6a605f24bce9a52f241d2102860feb79fe7e6119d2dfb23996e02138', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685284, 2251799813685283, '<default>', 'many', 1, 'Process many', NULL, '16.bpmn', 'b0f1946c3f40b5efdf95f34bf4205d5ce332898cda31f4bc820eb96d03c2c4a5', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685286, 2251799813685285, '<default>', 'heard', 1, 'Process heard', NULL, '17.bpmn', '794d62d5d0a7ce736db779bb7016a3a2e86c0d7d1cebff2d5dc544ed1ecb3059', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL),
	(2251799813685288, 2251799813685287, '<default>', 'rescued', 1, 'Process rescued', NULL, '18.bpmn', '3f1bfa3199e579afa0650dde9d366502b0eefa1e8dc224df6f1f1bba9944b8d3', 'ACTIVE', '2027-01-15 08:00:00+00', NULL, NULL, NULL, NULL);

INSERT INTO public.process_instances VALUES
	(2251799813685289, 2251799813685289, 2251799813685289, NULL, NULL, 2251799813685250, 2251799813685268, NULL, 1, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'jobs', 'Process jobs', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"first":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685295, 2251799813685295, 2251799813685295, NULL, NULL, 2251799813685250, 2251799813685269, NULL, 2, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'jobs', 'Process jobs', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"first":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685299, 2251799813685299, 2251799813685299, NULL, NULL, 2251799813685250, 2251799813685271, NULL, 2, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 1, 0, false, 'jobs', 'Process jobs', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"first":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685421, 2251799813685421, 2251799813685421, NULL, NULL, 2251799813685269, 2251799813685305, NULL, 1, '2027-01-15 09:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'delayed', NULL, NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"wait":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685304, 2251799813685304, 2251799813685304, NULL, NULL, 2251799813685250, 2251799813685273, NULL, 3, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', 1, 1, 0, 0, 0, false, 'jobs', 'Process jobs', NULL, '<default>', 'COMPLETED', NULL, '{}', '{}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685308, 2251799813685308, 2251799813685308, NULL, NULL, 2251799813685250, 2251799813685274, 2251799813685277, 2, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', 1, 1, 0, 0, 0, false, 'jobs', 'Process jobs', NULL, '<default>', 'TERMINATED', NULL, '{}', '{}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685316, 2251799813685316, 2251799813685316, NULL, NULL, 2251799813685252, 2251799813685278, NULL, 2, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'joined', 'Process joined', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"right":1,"left-join":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685323, 2251799813685323, 2251799813685323, NULL, NULL, 2251799813685286, 2251799813685280, NULL, 1, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'heard', 'Process heard', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"work":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685327, 2251799813685327, 2251799813685327, NULL, NULL, 2251799813685286, 2251799813685281, NULL, 2, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'heard', 'Process heard', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"work":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685425, 2251799813685425, 2251799813685425, NULL, NULL, 2251799813685282, 2251799813685306, NULL, 1, '2027-01-15 09:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'in_turn', 'Process in_turn', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"one":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685331, 2251799813685331, 2251799813685331, NULL, NULL, 2251799813685286, 2251799813685282, NULL, 3, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'heard', 'Process heard', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"work":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685338, 2251799813685338, 2251799813685338, NULL, NULL, 2251799813685250, 2251799813685286, NULL, 1, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'jobs', 'Process jobs', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"first":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685342, 2251799813685342, 2251799813685342, NULL, NULL, 2251799813685254, 2251799813685287, NULL, 1, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 1, 0, false, 'choices', 'Process choices', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"choice":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685346, 2251799813685346, 2251799813685346, NULL, NULL, 2251799813685288, 2251799813685288, NULL, 1, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'rescued', 'Process rescued', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"risky":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685350, 2251799813685350, 2251799813685350, NULL, NULL, 2251799813685276, 2251799813685289, NULL, 1, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'decided', NULL, NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"decide":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685354, 2251799813685354, 2251799813685354, NULL, NULL, 2251799813685278, 2251799813685290, NULL, 1, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'calling', 'Process calling', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"call":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685357, 2251799813685354, 2251799813685354, 2251799813685354, 2251799813685356, 2251799813685250, 2251799813685290, NULL, 0, '2027-01-15 08:00:00+00', NULL, 1, 2, 1, 0, 0, false, 'jobs', 'Process jobs', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"first":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685361, 2251799813685361, 2251799813685361, NULL, NULL, 2251799813685250, 2251799813685291, NULL, 1, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'jobs', 'Process jobs', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"first":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685365, 2251799813685365, 2251799813685365, NULL, NULL, 2251799813685256, 2251799813685292, NULL, 1, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'waiting', 'Process waiting', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"catch":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685370, 2251799813685370, 2251799813685370, NULL, NULL, 2251799813685258, 2251799813685293, NULL, 2, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'guarding', 'Process guarding', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"guarded":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685376, 2251799813685376, 2251799813685376, NULL, NULL, 2251799813685260, 2251799813685294, NULL, 2, '2027-01-15 08:00:00+00', NULL, 1, 1, 2, 0, 0, false, 'handling', 'Process handling', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"busy":1,"handler":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685394, 2251799813685394, 2251799813685394, NULL, NULL, 2251799813685262, 2251799813685298, NULL, 1, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'started', 'Process started', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"begun":1}', NULL, NULL, '["start",{}]', 'locked', NULL, NULL),
	(2251799813685400, 2251799813685400, 2251799813685400, NULL, NULL, 2251799813685265, 2251799813685300, NULL, 1, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'signalled', 'Process signalled', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"catch":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685410, 2251799813685410, 2251799813685410, NULL, NULL, 2251799813685267, 2251799813685302, NULL, 1, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'conditional', 'Process conditional', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"catch":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685415, 2251799813685415, 2251799813685415, NULL, NULL, 2251799813685271, 2251799813685303, NULL, 1, '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', 1, 1, 0, 0, 0, false, 'scheduled', '', NULL, '<default>', 'COMPLETED', NULL, '{}', '{}', NULL, NULL, '["byTimer",{}]', NULL, NULL, NULL),
	(2251799813685404, 2251799813685404, 2251799813685404, NULL, NULL, 2251799813685274, 2251799813685301, NULL, 2, '2027-01-15 08:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'watching', 'Process watching', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"watched":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685433, 2251799813685433, 2251799813685433, NULL, NULL, 2251799813685280, 2251799813685307, NULL, 1, '2027-01-15 09:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'loop', 'Process loop', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"each":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799813685449, 2251799813685449, 2251799813685449, NULL, NULL, 2251799813685280, 2251799813685308, NULL, 3, '2027-01-15 09:00:00+00', NULL, 1, 1, 1, 0, 24, false, 'loop', 'Process loop', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"each":1}', NULL, NULL, NULL, NULL, NULL, NULL),
	(2251799814685488, 2251799814685488, 2251799814685488, NULL, NULL, 2251799813685284, 2251799813685309, NULL, 2, '2027-01-15 09:00:00+00', NULL, 1, 1, 1, 0, 0, false, 'many', 'Process many', NULL, '<default>', 'ACTIVATED', NULL, '{}', '{"step":1}', NULL, '[[2251799814685491,"activate",0]]', NULL, NULL, NULL, NULL);

INSERT INTO public.resources VALUES
	('ff22ed3c2e404b26b884ddd8208bccb735e7381efa5f3011a5f0f8c1b6cd7c77', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c70726f636573732069643d226a6f627322206e616d653d2250726f63657373206a6f62732220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c736572766963655461736b2069643d22666972737422206e616d653d225461736b206669727374223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d226669727374222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e3c736572766963655461736b2069643d227365636f6e6422206e616d653d225461736b207365636f6e64223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d227365636f6e64222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d66697273742220736f757263655265663d22737461727422207461726765745265663d226669727374223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d2266697273742d7365636f6e642220736f757263655265663d22666972737422207461726765745265663d227365636f6e64223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d227365636f6e642d656e642220736f757263655265663d227365636f6e6422207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.091425+00'),
	('a625a485f4c6905436f14bac995bdae0c37658ca9fb31f4d513154905fe522d0', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c70726f636573732069643d226a6f696e656422206e616d653d2250726f63657373206a6f696e65642220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c706172616c6c656c476174657761792069643d22666f726b222f3e3c736572766963655461736b2069643d226c65667422206e616d653d225461736b206c656674223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d226c656674222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e3c736572766963655461736b2069643d22726967687422206e616d653d225461736b207269676874223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d227269676874222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e3c706172616c6c656c476174657761792069643d226a6f696e222f3e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d666f726b2220736f757263655265663d22737461727422207461726765745265663d22666f726b223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d22666f726b2d6c6566742220736f757263655265663d22666f726b22207461726765745265663d226c656674223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d226c6566742d6a6f696e2220736f757263655265663d226c65667422207461726765745265663d226a6f696e223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d226a6f696e2d656e642220736f757263655265663d226a6f696e22207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d22666f726b2d72696768742220736f757263655265663d22666f726b22207461726765745265663d227269676874223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d2272696768742d6a6f696e2220736f757263655265663d22726967687422207461726765745265663d226a6f696e223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.163874+00'),
	('c5e76db4cd5eea9d92fc661db1a504a542e0224fd81935a0871bcccf7a6b8a7f', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c70726f636573732069643d2263686f6963657322206e616d653d2250726f636573732063686f696365732220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c6578636c7573697665476174657761792069643d2263686f696365222f3e3c736572766963655461736b2069643d2263686f73656e22206e616d653d225461736b2063686f73656e223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d2263686f73656e222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d63686f6963652220736f757263655265663d22737461727422207461726765745265663d2263686f696365223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d2263686f6963652d63686f73656e2220736f757263655265663d2263686f69636522207461726765745265663d2263686f73656e223e3c636f6e646974696f6e45787072657373696f6e3e3d617070726f7665643c2f636f6e646974696f6e45787072657373696f6e3e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d2263686f73656e2d656e642220736f757263655265663d2263686f73656e22207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.176653+00'),
	('9ddd639ef3558a2edbffaec80bf218ae904056a1e72320123f6d4e4a62bd63b4', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c6d6573736167652069643d226d22206e616d653d2268656c6c6f223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a737562736372697074696f6e20636f7272656c6174696f6e4b65793d223d6b222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f6d6573736167653e3c7369676e616c2069643d227322206e616d653d22616c61726d222f3e3c70726f636573732069643d2277616974696e6722206e616d653d2250726f636573732077616974696e672220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c696e7465726d65646961746543617463684576656e742069643d226361746368223e3c6d6573736167654576656e74446566696e6974696f6e206d6573736167655265663d226d222f3e3c2f696e7465726d65646961746543617463684576656e743e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d63617463682220736f757263655265663d22737461727422207461726765745265663d226361746368223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d2263617463682d656e642220736f757263655265663d22636174636822207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.181155+00'),
	('ff2deb3da1d8990938d02ee95b6d2e24ecdcca0d11655a65e189bc19db9f7f6f', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c6d6573736167652069643d226d22206e616d653d2268656c6c6f223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a737562736372697074696f6e20636f7272656c6174696f6e4b65793d223d6b222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f6d6573736167653e3c7369676e616c2069643d227322206e616d653d22616c61726d222f3e3c70726f636573732069643d226775617264696e6722206e616d653d2250726f63657373206775617264696e672220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c736572766963655461736b2069643d226775617264656422206e616d653d225461736b2067756172646564223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d2267756172646564222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e3c626f756e646172794576656e742069643d22626f756e6461727922206174746163686564546f5265663d2267756172646564222063616e63656c41637469766974793d2266616c7365223e3c6d6573736167654576656e74446566696e6974696f6e206d6573736167655265663d226d222f3e3c2f626f756e646172794576656e743e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c656e644576656e742069643d22746f6c64223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d677561726465642220736f757263655265663d22737461727422207461726765745265663d2267756172646564223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d22677561726465642d656e642220736f757263655265663d226775617264656422207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d22626f756e646172792d746f6c642220736f757263655265663d22626f756e6461727922207461726765745265663d22746f6c64223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.194093+00'),
	('bfa35a35b46acbe76fc49b695c758663cdfd860d27f019c619c884ff8dc40b54', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c6d6573736167652069643d226d22206e616d653d2268656c6c6f223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a737562736372697074696f6e20636f7272656c6174696f6e4b65793d223d6b222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f6d6573736167653e3c7369676e616c2069643d227322206e616d653d22616c61726d222f3e3c70726f636573732069643d2268616e646c696e6722206e616d653d2250726f636573732068616e646c696e672220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c736572766963655461736b2069643d226275737922206e616d653d225461736b2062757379223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d2262757379222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c73756250726f636573732069643d2268616e646c6572222074726967676572656442794576656e743d2274727565223e3c73746172744576656e742069643d2268616e646c65722d737461727422206973496e74657272757074696e673d2266616c7365223e3c6d6573736167654576656e74446566696e6974696f6e206d6573736167655265663d226d222f3e3c2f73746172744576656e743e3c736572766963655461736b2069643d2268616e646c6522206e616d653d225461736b2068616e646c65223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d2268616e646c65222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e3c656e644576656e742069643d2268616e646c6564223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2268616e646c65722d73746172742d68616e646c652220736f757263655265663d2268616e646c65722d737461727422207461726765745265663d2268616e646c65223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d2268616e646c652d68616e646c65642220736f757263655265663d2268616e646c6522207461726765745265663d2268616e646c6564223e3c2f73657175656e6365466c6f773e3c2f73756250726f636573733e3c73657175656e6365466c6f772069643d2273746172742d627573792220736f757263655265663d22737461727422207461726765745265663d2262757379223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d22627573792d656e642220736f757263655265663d226275737922207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.20496+00'),
	('aaa817e2db555b6dfd6395d4fcab0c67b8ff4b967b091a1a69b0a0acd269f249', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c6d6573736167652069643d226d22206e616d653d22626567696e223e3c2f6d6573736167653e3c70726f636573732069643d227374617274656422206e616d653d2250726f6365737320737461727465642220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c6d6573736167654576656e74446566696e6974696f6e206d6573736167655265663d226d222f3e3c2f73746172744576656e743e3c736572766963655461736b2069643d22626567756e22206e616d653d225461736b20626567756e223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d22626567756e222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d626567756e2220736f757263655265663d22737461727422207461726765745265663d22626567756e223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d22626567756e2d656e642220736f757263655265663d22626567756e22207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.23422+00'),
	('3d9ff4c3a337c19c0fc1429b1475fec149ba7d4d039ff5ef11739c0222d16d0d', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c6d6573736167652069643d226d22206e616d653d2268656c6c6f223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a737562736372697074696f6e20636f7272656c6174696f6e4b65793d223d6b222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f6d6573736167653e3c7369676e616c2069643d227322206e616d653d22616c61726d222f3e3c70726f636573732069643d227369676e616c6c656422206e616d653d2250726f63657373207369676e616c6c65642220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c696e7465726d65646961746543617463684576656e742069643d226361746368223e3c7369676e616c4576656e74446566696e6974696f6e207369676e616c5265663d2273222f3e3c2f696e7465726d65646961746543617463684576656e743e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d63617463682220736f757263655265663d22737461727422207461726765745265663d226361746368223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d2263617463682d656e642220736f757263655265663d22636174636822207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.246207+00'),
	('2a83a9e2cc09a514ff4c03cce017d342ec563251ad5a234b46e706ceb98c046a', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c70726f636573732069643d22636f6e646974696f6e616c22206e616d653d2250726f6365737320636f6e646974696f6e616c2220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c696e7465726d65646961746543617463684576656e742069643d226361746368223e3c636f6e646974696f6e616c4576656e74446566696e6974696f6e3e3c636f6e646974696f6e3e3d72656164793c2f636f6e646974696f6e3e3c2f636f6e646974696f6e616c4576656e74446566696e6974696f6e3e3c2f696e7465726d65646961746543617463684576656e743e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d63617463682220736f757263655265663d22737461727422207461726765745265663d226361746368223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d2263617463682d656e642220736f757263655265663d22636174636822207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.2631+00'),
	('9acbed51260c1779ab2001da22624cb26f02d958641a3ebadff248ebdf3d6dbd', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c70726f636573732069643d2264656c617965642220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274222f3e3c696e7465726d65646961746543617463684576656e742069643d2277616974223e3c74696d65724576656e74446566696e6974696f6e3e3c74696d654475726174696f6e3e505431483c2f74696d654475726174696f6e3e3c2f74696d65724576656e74446566696e6974696f6e3e3c2f696e7465726d65646961746543617463684576656e743e3c656e644576656e742069643d22656e64222f3e3c73657175656e6365466c6f772069643d22612220736f757263655265663d22737461727422207461726765745265663d2277616974222f3e3c73657175656e6365466c6f772069643d22622220736f757263655265663d227761697422207461726765745265663d22656e64222f3e3c2f70726f636573733e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.276987+00'),
	('70168d587d5bc111048a29e542725b0cd8b0d40523062be10302e931a44fe459', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c70726f636573732069643d227363686564756c656422206e616d653d222220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d22627948616e64222f3e3c73746172744576656e742069643d22627954696d6572223e3c74696d65724576656e74446566696e6974696f6e3e3c74696d654379636c653e52322f505431483c2f74696d654379636c653e3c2f74696d65724576656e74446566696e6974696f6e3e3c2f73746172744576656e743e3c656e644576656e742069643d22656e64222f3e3c73657175656e6365466c6f772069643d22612220736f757263655265663d22627954696d657222207461726765745265663d22656e64222f3e3c73657175656e6365466c6f772069643d22622220736f757263655265663d22627948616e6422207461726765745265663d22656e64222f3e3c2f70726f636573733e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.28899+00'),
	('64c21a2b27af2c6b2d6bd2441a2bf5b9f336580314e161d249906e8ac9c7c068', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c70726f636573732069643d227761746368696e6722206e616d653d2250726f63657373207761746368696e672220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c736572766963655461736b2069643d227761746368656422206e616d653d225461736b2077617463686564223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d2277617463686564222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e3c626f756e646172794576656e742069643d2272656d696e64657222206174746163686564546f5265663d2277617463686564222063616e63656c41637469766974793d2266616c7365223e3c74696d65724576656e74446566696e6974696f6e3e3c74696d654379636c653e52332f505431483c2f74696d654379636c653e3c2f74696d65724576656e74446566696e6974696f6e3e3c2f626f756e646172794576656e743e3c73756250726f636573732069643d226c617465222074726967676572656442794576656e743d2274727565223e3c73746172744576656e742069643d226c6174652d7374617274223e3c74696d65724576656e74446566696e6974696f6e3e3c74696d654475726174696f6e3e505436483c2f74696d654475726174696f6e3e3c2f74696d65724576656e74446566696e6974696f6e3e3c2f73746172744576656e743e3c656e644576656e742069643d226c6170736564223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d226c6174652d73746172742d6c61707365642220736f757263655265663d226c6174652d737461727422207461726765745265663d226c6170736564223e3c2f73657175656e6365466c6f773e3c2f73756250726f636573733e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c656e644576656e742069643d2272656d696e646564223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d776174636865642220736f757263655265663d22737461727422207461726765745265663d2277617463686564223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d22776174636865642d656e642220736f757263655265663d227761746368656422207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d2272656d696e6465722d72656d696e6465642220736f757263655265663d2272656d696e64657222207461726765745265663d2272656d696e646564223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c6572726f722069643d226572726f722d4122206572726f72436f64653d2241222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d412220657363616c6174696f6e436f64653d2241222f3e3c6572726f722069643d226572726f722d4222206572726f72436f64653d2242222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d422220657363616c6174696f6e436f64653d2242222f3e3c6572726f722069643d226572726f722d4322206572726f72436f64653d2243222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d432220657363616c6174696f6e436f64653d2243222f3e3c6572726f722069643d226572726f722d7361696422206572726f72436f64653d223d636f6465222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d736169642220657363616c6174696f6e436f64653d223d636f6465222f3e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.302396+00'),
	('d67efe220d8039495a7590b45e7a79d7868d6879aefbce58fb1fc60ffa70b2e5', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c70726f636573732069643d22646563696465642220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274222f3e3c757365725461736b2069643d22646563696465223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a757365725461736b2f3e3c7a656562653a61737369676e6d656e74446566696e6974696f6e2061737369676e65653d22616e6e222063616e64696461746547726f7570733d2273616c6573222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f757365725461736b3e3c656e644576656e742069643d22656e64222f3e3c73657175656e6365466c6f772069643d22612220736f757263655265663d22737461727422207461726765745265663d22646563696465222f3e3c73657175656e6365466c6f772069643d22622220736f757263655265663d2264656369646522207461726765745265663d22656e64222f3e3c2f70726f636573733e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.329169+00'),
	('34abe8809d135638f98c588f58de700012bea9e6b4db3bc8f907f97be9539710', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c70726f636573732069643d2263616c6c696e6722206e616d653d2250726f636573732063616c6c696e672220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c63616c6c41637469766974792069643d2263616c6c223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a63616c6c6564456c656d656e742070726f6365737349643d226a6f6273222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f63616c6c41637469766974793e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d63616c6c2220736f757263655265663d22737461727422207461726765745265663d2263616c6c223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d2263616c6c2d656e642220736f757263655265663d2263616c6c22207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c6572726f722069643d226572726f722d4122206572726f72436f64653d2241222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d412220657363616c6174696f6e436f64653d2241222f3e3c6572726f722069643d226572726f722d4222206572726f72436f64653d2242222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d422220657363616c6174696f6e436f64653d2242222f3e3c6572726f722069643d226572726f722d4322206572726f72436f64653d2243222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d432220657363616c6174696f6e436f64653d2243222f3e3c6572726f722069643d226572726f722d7361696422206572726f72436f64653d223d636f6465222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d736169642220657363616c6174696f6e436f64653d223d636f6465222f3e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.344843+00'),
	('f70417b305ff6c85056708da72d1acb7b5c32f0604cbce8a7b4f9fbf6517142b', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c70726f636573732069643d226c6f6f7022206e616d653d2250726f63657373206c6f6f702220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c736572766963655461736b2069643d226561636822206e616d653d225461736b2065616368223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d2265616368222f3e3c2f657874656e73696f6e456c656d656e74733e3c6d756c7469496e7374616e63654c6f6f704368617261637465726973746963733e3c657874656e73696f6e456c656d656e74733e3c7a656562653a6c6f6f7043686172616374657269737469637320696e707574436f6c6c656374696f6e3d223d6974656d732220696e707574456c656d656e743d226974656d22206f7574707574456c656d656e743d223d6974656d22206f7574707574436f6c6c656374696f6e3d22726573756c7473222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f6d756c7469496e7374616e63654c6f6f704368617261637465726973746963733e3c2f736572766963655461736b3e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d656163682220736f757263655265663d22737461727422207461726765745265663d2265616368223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d22656163682d656e642220736f757263655265663d226561636822207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c6572726f722069643d226572726f722d4122206572726f72436f64653d2241222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d412220657363616c6174696f6e436f64653d2241222f3e3c6572726f722069643d226572726f722d4222206572726f72436f64653d2242222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d422220657363616c6174696f6e436f64653d2242222f3e3c6572726f722069643d226572726f722d4322206572726f72436f64653d2243222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d432220657363616c6174696f6e436f64653d2243222f3e3c6572726f722069643d226572726f722d7361696422206572726f72436f64653d223d636f6465222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d736169642220657363616c6174696f6e436f64653d223d636f6465222f3e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.353003+00'),
	('825adabf6a605f24bce9a52f241d2102860feb79fe7e6119d2dfb23996e02138', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c70726f636573732069643d22696e5f7475726e22206e616d653d2250726f6365737320696e5f7475726e2220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c736572766963655461736b2069643d226f6e6522206e616d653d225461736b206f6e65223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d226f6e65222f3e3c2f657874656e73696f6e456c656d656e74733e3c6d756c7469496e7374616e63654c6f6f7043686172616374657269737469637320697353657175656e7469616c3d2274727565223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a6c6f6f7043686172616374657269737469637320696e707574436f6c6c656374696f6e3d223d6974656d732220696e707574456c656d656e743d226974656d22206f7574707574456c656d656e743d223d6974656d22206f7574707574436f6c6c656374696f6e3d22726573756c7473222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f6d756c7469496e7374616e63654c6f6f704368617261637465726973746963733e3c2f736572766963655461736b3e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d6f6e652220736f757263655265663d22737461727422207461726765745265663d226f6e65223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d226f6e652d656e642220736f757263655265663d226f6e6522207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c6572726f722069643d226572726f722d4122206572726f72436f64653d2241222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d412220657363616c6174696f6e436f64653d2241222f3e3c6572726f722069643d226572726f722d4222206572726f72436f64653d2242222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d422220657363616c6174696f6e436f64653d2242222f3e3c6572726f722069643d226572726f722d4322206572726f72436f64653d2243222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d432220657363616c6174696f6e436f64653d2243222f3e3c6572726f722069643d226572726f722d7361696422206572726f72436f64653d223d636f6465222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d736169642220657363616c6174696f6e436f64653d223d636f6465222f3e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.371417+00'),
	('b0f1946c3f40b5efdf95f34bf4205d5ce332898cda31f4bc820eb96d03c2c4a5', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c70726f636573732069643d226d616e7922206e616d653d2250726f63657373206d616e792220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c7363726970745461736b2069643d2273746570223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7363726970742065787072657373696f6e3d223d6974656d202b20312220726573756c745661726961626c653d2273756d222f3e3c2f657874656e73696f6e456c656d656e74733e3c6d756c7469496e7374616e63654c6f6f704368617261637465726973746963733e3c657874656e73696f6e456c656d656e74733e3c7a656562653a6c6f6f7043686172616374657269737469637320696e707574436f6c6c656374696f6e3d223d6974656d732220696e707574456c656d656e743d226974656d22206f7574707574456c656d656e743d223d73756d22206f7574707574436f6c6c656374696f6e3d2273756d73222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f6d756c7469496e7374616e63654c6f6f704368617261637465726973746963733e3c2f7363726970745461736b3e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d737465702220736f757263655265663d22737461727422207461726765745265663d2273746570223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d22737465702d656e642220736f757263655265663d227374657022207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c6572726f722069643d226572726f722d4122206572726f72436f64653d2241222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d412220657363616c6174696f6e436f64653d2241222f3e3c6572726f722069643d226572726f722d4222206572726f72436f64653d2242222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d422220657363616c6174696f6e436f64653d2242222f3e3c6572726f722069643d226572726f722d4322206572726f72436f64653d2243222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d432220657363616c6174696f6e436f64653d2243222f3e3c6572726f722069643d226572726f722d7361696422206572726f72436f64653d223d636f6465222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d736169642220657363616c6174696f6e436f64653d223d636f6465222f3e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.385515+00'),
	('794d62d5d0a7ce736db779bb7016a3a2e86c0d7d1cebff2d5dc544ed1ecb3059', '\x3c6e73303a646566696e6974696f6e7320786d6c6e733a6e73303d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c2220786d6c6e733a6e73313d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e3022207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f7465737473223e3c6e73303a70726f636573732069643d22686561726422206e616d653d2250726f636573732068656172642220697345786563757461626c653d2274727565223e3c6e73303a73746172744576656e742069643d22737461727422202f3e3c6e73303a736572766963655461736b2069643d22776f726b22206e616d653d225461736b20776f726b223e3c6e73303a657874656e73696f6e456c656d656e74733e3c6e73313a7461736b446566696e6974696f6e20747970653d22776f726b22202f3e3c6e73313a657865637574696f6e4c697374656e6572733e3c6e73313a657865637574696f6e4c697374656e6572206576656e74547970653d2273746172742220747970653d226265666f726522202f3e3c6e73313a657865637574696f6e4c697374656e6572206576656e74547970653d22656e642220747970653d22616674657222202f3e3c2f6e73313a657865637574696f6e4c697374656e6572733e3c2f6e73303a657874656e73696f6e456c656d656e74733e3c2f6e73303a736572766963655461736b3e3c6e73303a656e644576656e742069643d22656e6422202f3e3c6e73303a73657175656e6365466c6f772069643d2273746172742d776f726b2220736f757263655265663d22737461727422207461726765745265663d22776f726b22202f3e3c6e73303a73657175656e6365466c6f772069643d22776f726b2d656e642220736f757263655265663d22776f726b22207461726765745265663d22656e6422202f3e3c2f6e73303a70726f636573733e3c2f6e73303a646566696e6974696f6e733e', '2026-11-26 18:05:36.399396+00'),
	('3f1bfa3199e579afa0650dde9d366502b0eefa1e8dc224df6f1f1bba9944b8d3', '\x3c646566696e6974696f6e7320786d6c6e733d22687474703a2f2f7777772e6f6d672e6f72672f737065632f42504d4e2f32303130303532342f4d4f44454c22207461726765744e616d6573706163653d2268747470733a2f2f6578616d706c652e6f72672f74657374732220786d6c6e733a7a656562653d22687474703a2f2f63616d756e64612e6f72672f736368656d612f7a656562652f312e30223e3c70726f636573732069643d227265736375656422206e616d653d2250726f6365737320726573637565642220697345786563757461626c653d2274727565223e3c73746172744576656e742069643d227374617274223e3c2f73746172744576656e743e3c736572766963655461736b2069643d227269736b7922206e616d653d225461736b207269736b79223e3c657874656e73696f6e456c656d656e74733e3c7a656562653a7461736b446566696e6974696f6e20747970653d227269736b79222f3e3c2f657874656e73696f6e456c656d656e74733e3c2f736572766963655461736b3e3c626f756e646172794576656e742069643d2272657363756522206174746163686564546f5265663d227269736b79223e3c6572726f724576656e74446566696e6974696f6e206572726f725265663d226572726f722d41222f3e3c2f626f756e646172794576656e743e3c656e644576656e742069643d22656e64223e3c2f656e644576656e743e3c656e644576656e742069643d227361766564223e3c2f656e644576656e743e3c73657175656e6365466c6f772069643d2273746172742d7269736b792220736f757263655265663d22737461727422207461726765745265663d227269736b79223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d227269736b792d656e642220736f757263655265663d227269736b7922207461726765745265663d22656e64223e3c2f73657175656e6365466c6f773e3c73657175656e6365466c6f772069643d227265736375652d73617665642220736f757263655265663d2272657363756522207461726765745265663d227361766564223e3c2f73657175656e6365466c6f773e3c2f70726f636573733e3c6572726f722069643d226572726f722d4122206572726f72436f64653d2241222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d412220657363616c6174696f6e436f64653d2241222f3e3c6572726f722069643d226572726f722d4222206572726f72436f64653d2242222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d422220657363616c6174696f6e436f64653d2242222f3e3c6572726f722069643d226572726f722d4322206572726f72436f64653d2243222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d432220657363616c6174696f6e436f64653d2243222f3e3c6572726f722069643d226572726f722d7361696422206572726f72436f64653d223d636f6465222f3e3c657363616c6174696f6e2069643d22657363616c6174696f6e2d736169642220657363616c6174696f6e436f64653d223d636f6465222f3e3c2f646566696e6974696f6e733e', '2026-11-26 18:05:36.405316+00');

INSERT INTO public.roles OVERRIDING SYSTEM VALUE VALUES
	('admin', 1, 'Admin', 'May do everything', true),
	('operator', 2, 'Operator', 'Watches and repairs running processes', true),
	('developer', 3, 'Developer', 'Deploys and starts processes', true),
	('worker', 4, 'Worker', 'Works on jobs', true),
	('viewer', 5, 'Viewer', 'Reads processes and their data', true);

INSERT INTO public.schema_migrations VALUES
	(1, 'clock', 'c306ae202edefe15ec266385ab08cb3603d5ae0ba19a172eccdb5511f1965634', '2026-11-26 18:05:35.195739+00'),
	(2, 'logs', '9e9b93c2d0e7bed70db7c493aacb10c0318fd3451e5761f53e69a23bfaa67858', '2026-11-26 18:05:35.227271+00'),
	(3, 'leadership', 'e13d03e86c6abf144df52b5ed9671b115d10691d2828173f32cac27365855bb2', '2026-11-26 18:05:35.269187+00'),
	(4, 'append', '7f5726ebd7fc7c2ef851c7f0b5bf40bf52b8c7b68bb65833d28ea75c7800dbfa', '2026-11-26 18:05:35.385285+00'),
	(5, 'definitions', '91d156c8c358b8fb12309862b30fb3c4e88de280c7fd9adfccb7095bcad12c6b', '2026-11-26 18:05:35.418801+00'),
	(6, 'instances', 'bd8c12201e00f9d905257f69ab06de9501eb492f198926aa6ea6ebb0a8b99c35', '2026-11-26 18:05:35.456554+00'),
	(7, 'jobs', 'e2e703faee931c6df818c5d8c301ecc44e53bf8911f63e58b4f510c38d410da1', '2026-11-26 18:05:35.516568+00'),
	(8, 'timers', '7e9b4106b4ad8362aee2950c5df5c6958d180577f2068d9947fe44f9e12260a7', '2026-11-26 18:05:35.532655+00'),
	(9, 'messages', '410168f179d060e0ce561fe3585212abddc0206e23edeeab872f129cca0c443a', '2026-11-26 18:05:35.539324+00'),
	(10, 'user_tasks', '1504f71db871ebe6a314b60c7f5d87261bcef684bde65e8f587a01fc5ec810dc', '2026-11-26 18:05:35.577858+00'),
	(11, 'element_counts', 'cdbad7edb6832f76cdbb9d0dff3ae3fc53c433b116519f08ac99f74d89b2ea84', '2026-11-26 18:05:35.585856+00'),
	(12, 'stuck_timers', '65a39e8c897fe3dafe71f47f37612520c44de75c71408b62df389b26a8e90178', '2026-11-26 18:05:35.600782+00'),
	(13, 'nodes', '9ca339ba016a8675ffdae929c383380bb12f8b28560bd46936f1bf23e154110a', '2026-11-26 18:05:35.605376+00'),
	(14, 'identities', '7b5ebcad5133066af38bf61c8d2513c8bde239dd4cc4a60fdb133cf52557a61c', '2026-11-26 18:05:35.616793+00'),
	(15, 'routes', '656e2a0e1ff35fa87345cd839aae274801cb3985564437ff900e4efa31149a64', '2026-11-26 18:05:35.66191+00'),
	(16, 'lost_keys', 'eaf1fd8a203f633ad7a5949ea46694d82ef2c4cb403e74dc891b92b9530d195c', '2026-11-26 18:05:35.672624+00'),
	(17, 'audit', '6b8c144805bc2fe9d1858e1635c9cebbe3478b554be29f641982c50e462ff3ee', '2026-11-26 18:05:35.678323+00'),
	(18, 'row_security', '04b191781ef3f3e1b87bcccbc8579123ec7a03eba06872ab7400198d6b8eac12', '2026-11-26 18:05:35.695925+00'),
	(19, 'job_executions', 'c32031dcd354da5ee374ae15d5beee5d02711be9a3ccd2a274007ba61acf53b6', '2026-11-26 18:05:35.703281+00'),
	(20, 'sessions', 'bcb804f87b054adc2289051adfce69422cbbd617de6b05299a5f3f82617e8ed1', '2026-11-26 18:05:35.725334+00'),
	(21, 'event_consumers', '31c4192011f3a32a2f42bf84d48369d747cc2971767570c8b567e80ccd255234', '2026-11-26 18:05:35.733016+00'),
	(22, 'session_ends', '757a6a3e33f5054a8f6f2408a1b2e6c09861a265c77cd8fb7ee5ed879ba89904', '2026-11-26 18:05:35.741127+00'),
	(23, 'granted_properties', 'e021a47ee75991d4b80d8f8867b7fb5e5cf76818dc90b72f15d17434f2f6506d', '2026-11-26 18:05:35.747642+00'),
	(24, 'statistics', 'f7bf6fa7cf07f2efbb331fc93f3aab13641133f6d17d38a6129efd4224a63be6', '2026-11-26 18:05:35.753224+00'),
	(25, 'element_durations', '69fb304a0a3f759d0d2206fc45cd1ca334fd82710a37788c687016217512ee7e', '2026-11-26 18:05:35.776809+00'),
	(26, 'batch_operations', '6d4ebdfcd6a53f8ea9781d72817bd389e98e32590ecd542466f940aff9d1c234', '2026-11-26 18:05:35.787422+00'),
	(27, 'pins_of_tenants', '829e8fda81d56a73d17cc74e297eeb49c686a90b3fbaab6c630c26ca3b716338', '2026-11-26 18:05:35.810753+00'),
	(28, 'unique_jobs', 'ecbecf3d078dc5636e4176948be397f9fc230037599bd5ab8da4d0ec957839a0', '2026-11-26 18:05:35.825004+00'),
	(29, 'forms', '5bdfa551ce8cdba615d2329ff2442b2f06b9032ea4ded5fd38acda0e11bb7276', '2026-11-26 18:05:35.835586+00'),
	(30, 'outbox', 'd25d2a1e0a03a16f10e08a40262d686587c1e29014dd5fd7d2e42d4f1c94becd', '2026-11-26 18:05:35.854032+00'),
	(31, 'job_statistics', '26b476f848fb11a19f5034e3d082e461d39d11d214adf2572460595c0019db83', '2026-11-26 18:05:35.863432+00'),
	(32, 'restored_backups', 'ac315e0eafd047c7b935885c8297e1dbc34960aab9f09609f0c0e3de8e9e9ae2', '2026-11-26 18:05:35.880948+00'),
	(33, 'incident_causes', '6d2d708dab261e66b53ec03c612eb1580a6601d181dbf985d38acfdc1df67a0a', '2026-11-26 18:05:35.884418+00'),
	(34, 'history', '4d198a9abf65dc0765abcc06484f6280416a2a666d5ce75d68d14089fc6ed7c9', '2026-11-26 18:05:35.91139+00'),
	(35, 'old_logs', '4fef44afd2b14ff9dafb5050fad46bc89e71baa3470b538d9725f8f108ac8918', '2026-11-26 18:05:35.921506+00'),
	(36, 'traces', 'd59963671a97bc9198db655e28039cbfefcbae4dc389c057fe71e67a65720da9', '2026-11-26 18:05:35.92498+00'),
	(37, 'growth', 'a196ba1a2129c6c595be4013b7ced569fff66392617d4539ef12c075f01642cd', '2026-11-26 18:05:35.936049+00'),
	(38, 'archive', '773d736d2ad1871ef5d286953a29a1eee2dea7e0a73258d62d32a7282f8f44ef', '2026-11-26 18:05:35.938503+00'),
	(39, 'scans_by_time', '33ba29e89878185bf6613e33eafdce801191ae77b0ebd73bda9143b8719877ec', '2026-11-26 18:05:35.952142+00'),
	(40, 'log_levels', '6e71094d0b0a07d3c7bdd9fe42506cf1588af16427d8c20414550a9460fcd343', '2026-11-26 18:05:35.961386+00'),
	(41, 'late_ends', '92fd4f60165f4a52e120fb334766e67bbea6bcdcabd731da84ebf672c65a8776', '2026-11-26 18:05:35.962921+00'),
	(42, 'own_tokens', '777441ab5042a1679674c3893441f2dee833f493b478bf5627e23c004817a2bb', '2026-11-26 18:05:35.974449+00'),
	(43, 'old_log_rows', '7b2c6bdcb705fa829a902d769d7345eeadacfde5787dcab7c4850ec1d44fbc05', '2026-11-26 18:05:35.992928+00'),
	(44, 'retention_state', '5ba3d094df4bc17ec4b2bf1b592bf3e6566628a8346e41bee4de80fe7c337fe0', '2026-11-26 18:05:35.998633+00'),
	(45, 'open_subscriptions', '63463cf7556fd7b2e7881c9439b45394ebe6a58601e7cc6c0b498690b20b6de8', '2026-11-26 18:05:36.006242+00'),
	(46, 'variable_values', 'a7c735dca6ede77f56c50599765ec9440eeb145e2314804373589331bdffdc36', '2026-11-26 18:05:36.011331+00'),
	(47, 'actor_providers', 'cad8ff78e80302a9ff5f1fda50abe187ee13e007c611d670326c32795ba2ee5e', '2026-11-26 18:05:36.019884+00'),
	(48, 'readable_views', 'a0d6356fd8437a5faca95f39c8f124e2083aab3d8d4b1b108f6a936aa408159c', '2026-11-26 18:05:36.02397+00'),
	(49, 'advertised_addresses', '54fdd1c503b9b6a8fb7e3a684d1794093aa8c4afb439a6ca59835c2e02eb3550', '2026-11-26 18:05:36.037445+00'),
	(50, 'live_indexes', 'fdb79b2508205d9ef484922cd1bd784475c60a6cc7eee86c8164f976819b9384', '2026-11-26 18:05:36.043389+00');

INSERT INTO public.since_recovery VALUES
	(true, '7712542723852449946/17282/17425');

INSERT INTO public.slots VALUES
	(0, 1),
	(1, 1),
	(2, 1),
	(3, 1),
	(4, 1),
	(5, 1),
	(6, 1),
	(7, 1),
	(8, 1),
	(9, 1),
	(10, 1),
	(11, 1),
	(12, 1),
	(13, 1),
	(14, 1),
	(15, 1),
	(16, 1),
	(17, 1),
	(18, 1),
	(19, 1),
	(20, 1),
	(21, 1),
	(22, 1),
	(23, 1),
	(24, 1),
	(25, 1),
	(26, 1),
	(27, 1),
	(28, 1),
	(29, 1),
	(30, 1),
	(31, 1),
	(32, 1),
	(33, 1),
	(34, 1),
	(35, 1),
	(36, 1),
	(37, 1),
	(38, 1),
	(39, 1),
	(40, 1),
	(41, 1),
	(42, 1),
	(43, 1),
	(44, 1),
	(45, 1),
	(46, 1),
	(47, 1),
	(48, 1),
	(49, 1),
	(50, 1),
	(51, 1),
	(52, 1),
	(53, 1),
	(54, 1),
	(55, 1),
	(56, 1),
	(57, 1),
	(58, 1),
	(59, 1),
	(60, 1),
	(61, 1),
	(62, 1),
	(63, 1),
	(64, 1),
	(65, 1),
	(66, 1),
	(67, 1),
	(68, 1),
	(69, 1),
	(70, 1),
	(71, 1),
	(72, 1),
	(73, 1),
	(74, 1),
	(75, 1),
	(76, 1),
	(77, 1),
	(78, 1),
	(79, 1),
	(80, 1),
	(81, 1),
	(82, 1),
	(83, 1),
	(84, 1),
	(85, 1),
	(86, 1),
	(87, 1),
	(88, 1),
	(89, 1),
	(90, 1),
	(91, 1),
	(92, 1),
	(93, 1),
	(94, 1),
	(95, 1),
	(96, 1),
	(97, 1),
	(98, 1),
	(99, 1),
	(100, 1),
	(101, 1),
	(102, 1),
	(103, 1),
	(104, 1),
	(105, 1),
	(106, 1),
	(107, 1),
	(108, 1),
	(109, 1),
	(110, 1),
	(111, 1),
	(112, 1),
	(113, 1),
	(114, 1),
	(115, 1),
	(116, 1),
	(117, 1),
	(118, 1),
	(119, 1),
	(120, 1),
	(121, 1),
	(122, 1),
	(123, 1),
	(124, 1),
	(125, 1),
	(126, 1),
	(127, 1),
	(128, 1),
	(129, 1),
	(130, 1),
	(131, 1),
	(132, 1),
	(133, 1),
	(134, 1),
	(135, 1),
	(136, 1),
	(137, 1),
	(138, 1),
	(139, 1),
	(140, 1),
	(141, 1),
	(142, 1),
	(143, 1),
	(144, 1),
	(145, 1),
	(146, 1),
	(147, 1),
	(148, 1),
	(149, 1),
	(150, 1),
	(151, 1),
	(152, 1),
	(153, 1),
	(154, 1),
	(155, 1),
	(156, 1),
	(157, 1),
	(158, 1),
	(159, 1),
	(160, 1),
	(161, 1),
	(162, 1),
	(163, 1),
	(164, 1),
	(165, 1),
	(166, 1),
	(167, 1),
	(168, 1),
	(169, 1),
	(170, 1),
	(171, 1),
	(172, 1),
	(173, 1),
	(174, 1),
	(175, 1),
	(176, 1),
	(177, 1),
	(178, 1),
	(179, 1),
	(180, 1),
	(181, 1),
	(182, 1),
	(183, 1),
	(184, 1),
	(185, 1),
	(186, 1),
	(187, 1),
	(188, 1),
	(189, 1),
	(190, 1),
	(191, 1),
	(192, 1),
	(193, 1),
	(194, 1),
	(195, 1),
	(196, 1),
	(197, 1),
	(198, 1),
	(199, 1);
INSERT INTO public.slots VALUES
	(200, 1),
	(201, 1),
	(202, 1),
	(203, 1),
	(204, 1),
	(205, 1),
	(206, 1),
	(207, 1),
	(208, 1),
	(209, 1),
	(210, 1),
	(211, 1),
	(212, 1),
	(213, 1),
	(214, 1),
	(215, 1),
	(216, 1),
	(217, 1),
	(218, 1),
	(219, 1),
	(220, 1),
	(221, 1),
	(222, 1),
	(223, 1),
	(224, 1),
	(225, 1),
	(226, 1),
	(227, 1),
	(228, 1),
	(229, 1),
	(230, 1),
	(231, 1),
	(232, 1),
	(233, 1),
	(234, 1),
	(235, 1),
	(236, 1),
	(237, 1),
	(238, 1),
	(239, 1),
	(240, 1),
	(241, 1),
	(242, 1),
	(243, 1),
	(244, 1),
	(245, 1),
	(246, 1),
	(247, 1),
	(248, 1),
	(249, 1),
	(250, 1),
	(251, 1),
	(252, 1),
	(253, 1),
	(254, 1),
	(255, 1),
	(256, 1),
	(257, 1),
	(258, 1),
	(259, 1),
	(260, 1),
	(261, 1),
	(262, 1),
	(263, 1),
	(264, 1),
	(265, 1),
	(266, 1),
	(267, 1),
	(268, 1),
	(269, 1),
	(270, 1),
	(271, 1),
	(272, 1),
	(273, 1),
	(274, 1),
	(275, 1),
	(276, 1),
	(277, 1),
	(278, 1),
	(279, 1),
	(280, 1),
	(281, 1),
	(282, 1),
	(283, 1),
	(284, 1),
	(285, 1),
	(286, 1),
	(287, 1),
	(288, 1),
	(289, 1),
	(290, 1),
	(291, 1),
	(292, 1),
	(293, 1),
	(294, 1),
	(295, 1),
	(296, 1),
	(297, 1),
	(298, 1),
	(299, 1),
	(300, 1),
	(301, 1),
	(302, 1),
	(303, 1),
	(304, 1),
	(305, 1),
	(306, 1),
	(307, 1),
	(308, 1),
	(309, 1),
	(310, 1),
	(311, 1),
	(312, 1),
	(313, 1),
	(314, 1),
	(315, 1),
	(316, 1),
	(317, 1),
	(318, 1),
	(319, 1),
	(320, 1),
	(321, 1),
	(322, 1),
	(323, 1),
	(324, 1),
	(325, 1),
	(326, 1),
	(327, 1),
	(328, 1),
	(329, 1),
	(330, 1),
	(331, 1),
	(332, 1),
	(333, 1),
	(334, 1),
	(335, 1),
	(336, 1),
	(337, 1),
	(338, 1),
	(339, 1),
	(340, 1),
	(341, 1),
	(342, 1),
	(343, 1),
	(344, 1),
	(345, 1),
	(346, 1),
	(347, 1),
	(348, 1),
	(349, 1),
	(350, 1),
	(351, 1),
	(352, 1),
	(353, 1),
	(354, 1),
	(355, 1),
	(356, 1),
	(357, 1),
	(358, 1),
	(359, 1),
	(360, 1),
	(361, 1),
	(362, 1),
	(363, 1),
	(364, 1),
	(365, 1),
	(366, 1),
	(367, 1),
	(368, 1),
	(369, 1),
	(370, 1),
	(371, 1),
	(372, 1),
	(373, 1),
	(374, 1),
	(375, 1),
	(376, 1),
	(377, 1),
	(378, 1),
	(379, 1),
	(380, 1),
	(381, 1),
	(382, 1),
	(383, 1),
	(384, 1),
	(385, 1),
	(386, 1),
	(387, 1),
	(388, 1),
	(389, 1),
	(390, 1),
	(391, 1),
	(392, 1),
	(393, 1),
	(394, 1),
	(395, 1),
	(396, 1),
	(397, 1),
	(398, 1),
	(399, 1);
INSERT INTO public.slots VALUES
	(400, 1),
	(401, 1),
	(402, 1),
	(403, 1),
	(404, 1),
	(405, 1),
	(406, 1),
	(407, 1),
	(408, 1),
	(409, 1),
	(410, 1),
	(411, 1),
	(412, 1),
	(413, 1),
	(414, 1),
	(415, 1),
	(416, 1),
	(417, 1),
	(418, 1),
	(419, 1),
	(420, 1),
	(421, 1),
	(422, 1),
	(423, 1),
	(424, 1),
	(425, 1),
	(426, 1),
	(427, 1),
	(428, 1),
	(429, 1),
	(430, 1),
	(431, 1),
	(432, 1),
	(433, 1),
	(434, 1),
	(435, 1),
	(436, 1),
	(437, 1),
	(438, 1),
	(439, 1),
	(440, 1),
	(441, 1),
	(442, 1),
	(443, 1),
	(444, 1),
	(445, 1),
	(446, 1),
	(447, 1),
	(448, 1),
	(449, 1),
	(450, 1),
	(451, 1),
	(452, 1),
	(453, 1),
	(454, 1),
	(455, 1),
	(456, 1),
	(457, 1),
	(458, 1),
	(459, 1),
	(460, 1),
	(461, 1),
	(462, 1),
	(463, 1),
	(464, 1),
	(465, 1),
	(466, 1),
	(467, 1),
	(468, 1),
	(469, 1),
	(470, 1),
	(471, 1),
	(472, 1),
	(473, 1),
	(474, 1),
	(475, 1),
	(476, 1),
	(477, 1),
	(478, 1),
	(479, 1),
	(480, 1),
	(481, 1),
	(482, 1),
	(483, 1),
	(484, 1),
	(485, 1),
	(486, 1),
	(487, 1),
	(488, 1),
	(489, 1),
	(490, 1),
	(491, 1),
	(492, 1),
	(493, 1),
	(494, 1),
	(495, 1),
	(496, 1),
	(497, 1),
	(498, 1),
	(499, 1),
	(500, 1),
	(501, 1),
	(502, 1),
	(503, 1),
	(504, 1),
	(505, 1),
	(506, 1),
	(507, 1),
	(508, 1),
	(509, 1),
	(510, 1),
	(511, 1),
	(512, 1),
	(513, 1),
	(514, 1),
	(515, 1),
	(516, 1),
	(517, 1),
	(518, 1),
	(519, 1),
	(520, 1),
	(521, 1),
	(522, 1),
	(523, 1),
	(524, 1),
	(525, 1),
	(526, 1),
	(527, 1),
	(528, 1),
	(529, 1),
	(530, 1),
	(531, 1),
	(532, 1),
	(533, 1),
	(534, 1),
	(535, 1),
	(536, 1),
	(537, 1),
	(538, 1),
	(539, 1),
	(540, 1),
	(541, 1),
	(542, 1),
	(543, 1),
	(544, 1),
	(545, 1),
	(546, 1),
	(547, 1),
	(548, 1),
	(549, 1),
	(550, 1),
	(551, 1),
	(552, 1),
	(553, 1),
	(554, 1),
	(555, 1),
	(556, 1),
	(557, 1),
	(558, 1),
	(559, 1),
	(560, 1),
	(561, 1),
	(562, 1),
	(563, 1),
	(564, 1),
	(565, 1),
	(566, 1),
	(567, 1),
	(568, 1),
	(569, 1),
	(570, 1),
	(571, 1),
	(572, 1),
	(573, 1),
	(574, 1),
	(575, 1),
	(576, 1),
	(577, 1),
	(578, 1),
	(579, 1),
	(580, 1),
	(581, 1),
	(582, 1),
	(583, 1),
	(584, 1),
	(585, 1),
	(586, 1),
	(587, 1),
	(588, 1),
	(589, 1),
	(590, 1),
	(591, 1),
	(592, 1),
	(593, 1),
	(594, 1),
	(595, 1),
	(596, 1),
	(597, 1),
	(598, 1),
	(599, 1);
INSERT INTO public.slots VALUES
	(600, 1),
	(601, 1),
	(602, 1),
	(603, 1),
	(604, 1),
	(605, 1),
	(606, 1),
	(607, 1),
	(608, 1),
	(609, 1),
	(610, 1),
	(611, 1),
	(612, 1),
	(613, 1),
	(614, 1),
	(615, 1),
	(616, 1),
	(617, 1),
	(618, 1),
	(619, 1),
	(620, 1),
	(621, 1),
	(622, 1),
	(623, 1),
	(624, 1),
	(625, 1),
	(626, 1),
	(627, 1),
	(628, 1),
	(629, 1),
	(630, 1),
	(631, 1),
	(632, 1),
	(633, 1),
	(634, 1),
	(635, 1),
	(636, 1),
	(637, 1),
	(638, 1),
	(639, 1),
	(640, 1),
	(641, 1),
	(642, 1),
	(643, 1),
	(644, 1),
	(645, 1),
	(646, 1),
	(647, 1),
	(648, 1),
	(649, 1),
	(650, 1),
	(651, 1),
	(652, 1),
	(653, 1),
	(654, 1),
	(655, 1),
	(656, 1),
	(657, 1),
	(658, 1),
	(659, 1),
	(660, 1),
	(661, 1),
	(662, 1),
	(663, 1),
	(664, 1),
	(665, 1),
	(666, 1),
	(667, 1),
	(668, 1),
	(669, 1),
	(670, 1),
	(671, 1),
	(672, 1),
	(673, 1),
	(674, 1),
	(675, 1),
	(676, 1),
	(677, 1),
	(678, 1),
	(679, 1),
	(680, 1),
	(681, 1),
	(682, 1),
	(683, 1),
	(684, 1),
	(685, 1),
	(686, 1),
	(687, 1),
	(688, 1),
	(689, 1),
	(690, 1),
	(691, 1),
	(692, 1),
	(693, 1),
	(694, 1),
	(695, 1),
	(696, 1),
	(697, 1),
	(698, 1),
	(699, 1),
	(700, 1),
	(701, 1),
	(702, 1),
	(703, 1),
	(704, 1),
	(705, 1),
	(706, 1),
	(707, 1),
	(708, 1),
	(709, 1),
	(710, 1),
	(711, 1),
	(712, 1),
	(713, 1),
	(714, 1),
	(715, 1),
	(716, 1),
	(717, 1),
	(718, 1),
	(719, 1),
	(720, 1),
	(721, 1),
	(722, 1),
	(723, 1),
	(724, 1),
	(725, 1),
	(726, 1),
	(727, 1),
	(728, 1),
	(729, 1),
	(730, 1),
	(731, 1),
	(732, 1),
	(733, 1),
	(734, 1),
	(735, 1),
	(736, 1),
	(737, 1),
	(738, 1),
	(739, 1),
	(740, 1),
	(741, 1),
	(742, 1),
	(743, 1),
	(744, 1),
	(745, 1),
	(746, 1),
	(747, 1),
	(748, 1),
	(749, 1),
	(750, 1),
	(751, 1),
	(752, 1),
	(753, 1),
	(754, 1),
	(755, 1),
	(756, 1),
	(757, 1),
	(758, 1),
	(759, 1),
	(760, 1),
	(761, 1),
	(762, 1),
	(763, 1),
	(764, 1),
	(765, 1),
	(766, 1),
	(767, 1),
	(768, 1),
	(769, 1),
	(770, 1),
	(771, 1),
	(772, 1),
	(773, 1),
	(774, 1),
	(775, 1),
	(776, 1),
	(777, 1),
	(778, 1),
	(779, 1),
	(780, 1),
	(781, 1),
	(782, 1),
	(783, 1),
	(784, 1),
	(785, 1),
	(786, 1),
	(787, 1),
	(788, 1),
	(789, 1),
	(790, 1),
	(791, 1),
	(792, 1),
	(793, 1),
	(794, 1),
	(795, 1),
	(796, 1),
	(797, 1),
	(798, 1),
	(799, 1);
INSERT INTO public.slots VALUES
	(800, 1),
	(801, 1),
	(802, 1),
	(803, 1),
	(804, 1),
	(805, 1),
	(806, 1),
	(807, 1),
	(808, 1),
	(809, 1),
	(810, 1),
	(811, 1),
	(812, 1),
	(813, 1),
	(814, 1),
	(815, 1),
	(816, 1),
	(817, 1),
	(818, 1),
	(819, 1),
	(820, 1),
	(821, 1),
	(822, 1),
	(823, 1),
	(824, 1),
	(825, 1),
	(826, 1),
	(827, 1),
	(828, 1),
	(829, 1),
	(830, 1),
	(831, 1),
	(832, 1),
	(833, 1),
	(834, 1),
	(835, 1),
	(836, 1),
	(837, 1),
	(838, 1),
	(839, 1),
	(840, 1),
	(841, 1),
	(842, 1),
	(843, 1),
	(844, 1),
	(845, 1),
	(846, 1),
	(847, 1),
	(848, 1),
	(849, 1),
	(850, 1),
	(851, 1),
	(852, 1),
	(853, 1),
	(854, 1),
	(855, 1),
	(856, 1),
	(857, 1),
	(858, 1),
	(859, 1),
	(860, 1),
	(861, 1),
	(862, 1),
	(863, 1),
	(864, 1),
	(865, 1),
	(866, 1),
	(867, 1),
	(868, 1),
	(869, 1),
	(870, 1),
	(871, 1),
	(872, 1),
	(873, 1),
	(874, 1),
	(875, 1),
	(876, 1),
	(877, 1),
	(878, 1),
	(879, 1),
	(880, 1),
	(881, 1),
	(882, 1),
	(883, 1),
	(884, 1),
	(885, 1),
	(886, 1),
	(887, 1),
	(888, 1),
	(889, 1),
	(890, 1),
	(891, 1),
	(892, 1),
	(893, 1),
	(894, 1),
	(895, 1),
	(896, 1),
	(897, 1),
	(898, 1),
	(899, 1),
	(900, 1),
	(901, 1),
	(902, 1),
	(903, 1),
	(904, 1),
	(905, 1),
	(906, 1),
	(907, 1),
	(908, 1),
	(909, 1),
	(910, 1),
	(911, 1),
	(912, 1),
	(913, 1),
	(914, 1),
	(915, 1),
	(916, 1),
	(917, 1),
	(918, 1),
	(919, 1),
	(920, 1),
	(921, 1),
	(922, 1),
	(923, 1),
	(924, 1),
	(925, 1),
	(926, 1),
	(927, 1),
	(928, 1),
	(929, 1),
	(930, 1),
	(931, 1),
	(932, 1),
	(933, 1),
	(934, 1),
	(935, 1),
	(936, 1),
	(937, 1),
	(938, 1),
	(939, 1),
	(940, 1),
	(941, 1),
	(942, 1),
	(943, 1),
	(944, 1),
	(945, 1),
	(946, 1),
	(947, 1),
	(948, 1),
	(949, 1),
	(950, 1),
	(951, 1),
	(952, 1),
	(953, 1),
	(954, 1),
	(955, 1),
	(956, 1),
	(957, 1),
	(958, 1),
	(959, 1),
	(960, 1),
	(961, 1),
	(962, 1),
	(963, 1),
	(964, 1),
	(965, 1),
	(966, 1),
	(967, 1),
	(968, 1),
	(969, 1),
	(970, 1),
	(971, 1),
	(972, 1),
	(973, 1),
	(974, 1),
	(975, 1),
	(976, 1),
	(977, 1),
	(978, 1),
	(979, 1),
	(980, 1),
	(981, 1),
	(982, 1),
	(983, 1),
	(984, 1),
	(985, 1),
	(986, 1),
	(987, 1),
	(988, 1),
	(989, 1),
	(990, 1),
	(991, 1),
	(992, 1),
	(993, 1),
	(994, 1),
	(995, 1),
	(996, 1),
	(997, 1),
	(998, 1),
	(999, 1);
INSERT INTO public.slots VALUES
	(1000, 1),
	(1001, 1),
	(1002, 1),
	(1003, 1),
	(1004, 1),
	(1005, 1),
	(1006, 1),
	(1007, 1),
	(1008, 1),
	(1009, 1),
	(1010, 1),
	(1011, 1),
	(1012, 1),
	(1013, 1),
	(1014, 1),
	(1015, 1),
	(1016, 1),
	(1017, 1),
	(1018, 1),
	(1019, 1),
	(1020, 1),
	(1021, 1),
	(1022, 1),
	(1023, 1);

INSERT INTO public.start_locks VALUES
	(2251799813685394, DEFAULT, '<default>', 'locked', 'started');

INSERT INTO public.start_subscriptions VALUES
	(2251799813685263, 2251799813685262, '2027-01-15 08:00:00+00', '<default>', 'started', 'start', 'MESSAGE', 'begin');

INSERT INTO public.subscriptions VALUES
	(2251799813685369, 2251799813685365, 2251799813685365, 2251799813685365, 2251799813685368, 2251799813685256, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, true, 'waiting', 'Process waiting', 'catch', 'INTERMEDIATE', 'MESSAGE', 'hello', 'waiting', 'CREATED', NULL, '<default>'),
	(2251799813685374, 2251799813685370, 2251799813685370, 2251799813685370, 2251799813685373, 2251799813685258, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, false, 'guarding', 'Process guarding', 'boundary', 'BOUNDARY', 'MESSAGE', 'hello', 'guarding', 'CREATED', NULL, '<default>'),
	(2251799813685379, 2251799813685376, 2251799813685376, 2251799813685376, 2251799813685376, 2251799813685260, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, false, 'handling', 'Process handling', 'handler', 'EVENT_SUB_PROCESS', 'MESSAGE', 'hello', 'handling', 'CREATED', NULL, '<default>'),
	(2251799813685403, 2251799813685400, 2251799813685400, 2251799813685400, 2251799813685402, 2251799813685265, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, true, 'signalled', 'Process signalled', 'catch', 'INTERMEDIATE', 'SIGNAL', 'alarm', NULL, 'CREATED', NULL, '<default>'),
	(2251799813685413, 2251799813685410, 2251799813685410, 2251799813685410, 2251799813685412, 2251799813685267, '2027-01-15 08:00:00+00', '2027-01-15 08:00:00+00', NULL, 1, true, 'conditional', 'Process conditional', 'catch', 'INTERMEDIATE', 'CONDITION', '', NULL, 'CREATED', NULL, '<default>');

INSERT INTO public.tenants OVERRIDING SYSTEM VALUE VALUES
	('<default>', 1, 'Default', NULL);

INSERT INTO public.timers VALUES
	(2251799813685406, 2251799813685404, 2251799813685404, 2251799813685404, 2251799813685404, 2251799813685274, 1800021600000, '2027-01-15 08:00:00+00', NULL, NULL, 1, 1, 'watching', 'late', 'EVENT_SUB_PROCESS', 'PENDING', '<default>', NULL),
	(2251799813685272, NULL, NULL, NULL, NULL, 2251799813685271, 1800003600000, '2027-01-15 08:00:00+00', '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', 1, 2, 'scheduled', 'byTimer', 'START_EVENT', 'TRIGGERED', '<default>', '["PT1H","Z",1800000000000,1]'),
	(2251799813685408, 2251799813685404, 2251799813685404, 2251799813685404, 2251799813685407, 2251799813685274, 1800003600000, '2027-01-15 08:00:00+00', '2027-01-15 09:00:00+00', '2027-01-15 09:00:00+00', 1, 3, 'watching', 'reminder', 'BOUNDARY', 'TRIGGERED', '<default>', '["PT1H","Z",1800000000000,1]'),
	(2251799813685414, NULL, NULL, NULL, NULL, 2251799813685271, 1800007200000, '2027-01-15 09:00:00+00', NULL, NULL, 1, 1, 'scheduled', 'byTimer', 'START_EVENT', 'PENDING', '<default>', '["PT1H","Z",1800000000000,2]'),
	(2251799813685418, 2251799813685404, 2251799813685404, 2251799813685404, 2251799813685407, 2251799813685274, 1800007200000, '2027-01-15 09:00:00+00', NULL, NULL, 1, 2, 'watching', 'reminder', 'BOUNDARY', 'PENDING', '<default>', '["PT1H","Z",1800000000000,2]'),
	(2251799813685424, 2251799813685421, 2251799813685421, 2251799813685421, 2251799813685423, 2251799813685269, 1800007200000, '2027-01-15 09:00:00+00', NULL, NULL, 1, 1, 'delayed', 'wait', 'INTERMEDIATE', 'PENDING', '<default>', NULL);

INSERT INTO public.unhashed_variables VALUES
	(1, 2251799813685248, NULL);

INSERT INTO public.user_tasks VALUES
	(2251799813685353, 2251799813685350, 2251799813685350, 2251799813685350, 2251799813685352, 2251799813685276, NULL, '2027-01-15 08:00:00+00', NULL, NULL, NULL, 1, 50, 'decided', NULL, 'decide', NULL, 'CREATED', 'ann', NULL, NULL, '<default>', '{}', '{sales}', '{}', '{}');

INSERT INTO public.variables VALUES
	(2251799813685290, 2251799813685289, 2251799813685289, 2251799813685289, '<default>', 'text', '"ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää"', NULL),
	(2251799813685291, 2251799813685289, 2251799813685289, 2251799813685289, '<default>', 'number', '1', NULL),
	(2251799813685312, 2251799813685304, 2251799813685304, 2251799813685304, '<default>', 'done', 'true', NULL),
	(2251799813685366, 2251799813685365, 2251799813685365, 2251799813685365, '<default>', 'k', '"waiting"', NULL),
	(2251799813685371, 2251799813685370, 2251799813685370, 2251799813685370, '<default>', 'k', '"guarding"', NULL),
	(2251799813685377, 2251799813685376, 2251799813685376, 2251799813685376, '<default>', 'k', '"handling"', NULL),
	(2251799813685426, 2251799813685425, 2251799813685425, 2251799813685425, '<default>', 'items', '[1,"two",{"three":3}]', NULL),
	(2251799813685430, 2251799813685429, 2251799813685425, 2251799813685425, '<default>', 'loopCounter', '1', NULL),
	(2251799813685431, 2251799813685429, 2251799813685425, 2251799813685425, '<default>', 'item', '1', NULL),
	(2251799813685434, 2251799813685433, 2251799813685433, 2251799813685433, '<default>', 'items', '[1,2,3]', NULL),
	(2251799813685440, 2251799813685437, 2251799813685433, 2251799813685433, '<default>', 'loopCounter', '1', NULL),
	(2251799813685441, 2251799813685437, 2251799813685433, 2251799813685433, '<default>', 'item', '1', NULL),
	(2251799813685443, 2251799813685438, 2251799813685433, 2251799813685433, '<default>', 'loopCounter', '2', NULL),
	(2251799813685444, 2251799813685438, 2251799813685433, 2251799813685433, '<default>', 'item', '2', NULL),
	(2251799813685446, 2251799813685439, 2251799813685433, 2251799813685433, '<default>', 'loopCounter', '3', NULL),
	(2251799813685447, 2251799813685439, 2251799813685433, 2251799813685433, '<default>', 'item', '3', NULL),
	(2251799813685450, 2251799813685449, 2251799813685449, 2251799813685449, '<default>', 'items', '[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23]', NULL),
	(2251799813685454, 2251799813685453, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '1', NULL),
	(2251799813685455, 2251799813685453, 2251799813685449, 2251799813685449, '<default>', 'item', '0', NULL),
	(2251799813685458, 2251799813685457, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '2', NULL),
	(2251799813685459, 2251799813685457, 2251799813685449, 2251799813685449, '<default>', 'item', '1', NULL),
	(2251799813685462, 2251799813685461, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '3', NULL),
	(2251799813685463, 2251799813685461, 2251799813685449, 2251799813685449, '<default>', 'item', '2', NULL),
	(2251799813685466, 2251799813685465, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '4', NULL),
	(2251799813685467, 2251799813685465, 2251799813685449, 2251799813685449, '<default>', 'item', '3', NULL),
	(2251799813685470, 2251799813685469, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '5', NULL),
	(2251799813685471, 2251799813685469, 2251799813685449, 2251799813685449, '<default>', 'item', '4', NULL),
	(2251799813685474, 2251799813685473, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '6', NULL),
	(2251799813685475, 2251799813685473, 2251799813685449, 2251799813685449, '<default>', 'item', '5', NULL),
	(2251799813685478, 2251799813685477, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '7', NULL),
	(2251799813685479, 2251799813685477, 2251799813685449, 2251799813685449, '<default>', 'item', '6', NULL),
	(2251799813685482, 2251799813685481, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '8', NULL),
	(2251799813685483, 2251799813685481, 2251799813685449, 2251799813685449, '<default>', 'item', '7', NULL),
	(2251799813685486, 2251799813685485, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '9', NULL),
	(2251799813685487, 2251799813685485, 2251799813685449, 2251799813685449, '<default>', 'item', '8', NULL),
	(2251799813685490, 2251799813685489, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '10', NULL),
	(2251799813685491, 2251799813685489, 2251799813685449, 2251799813685449, '<default>', 'item', '9', NULL),
	(2251799813685494, 2251799813685493, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '11', NULL),
	(2251799813685495, 2251799813685493, 2251799813685449, 2251799813685449, '<default>', 'item', '10', NULL),
	(2251799813685498, 2251799813685497, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '12', NULL),
	(2251799813685499, 2251799813685497, 2251799813685449, 2251799813685449, '<default>', 'item', '11', NULL),
	(2251799813685502, 2251799813685501, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '13', NULL),
	(2251799813685503, 2251799813685501, 2251799813685449, 2251799813685449, '<default>', 'item', '12', NULL),
	(2251799813685506, 2251799813685505, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '14', NULL),
	(2251799813685507, 2251799813685505, 2251799813685449, 2251799813685449, '<default>', 'item', '13', NULL),
	(2251799813685510, 2251799813685509, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '15', NULL),
	(2251799813685511, 2251799813685509, 2251799813685449, 2251799813685449, '<default>', 'item', '14', NULL),
	(2251799813685514, 2251799813685513, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '16', NULL),
	(2251799813685515, 2251799813685513, 2251799813685449, 2251799813685449, '<default>', 'item', '15', NULL),
	(2251799813685518, 2251799813685517, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '17', NULL),
	(2251799813685519, 2251799813685517, 2251799813685449, 2251799813685449, '<default>', 'item', '16', NULL),
	(2251799813685522, 2251799813685521, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '18', NULL),
	(2251799813685523, 2251799813685521, 2251799813685449, 2251799813685449, '<default>', 'item', '17', NULL),
	(2251799813685526, 2251799813685525, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '19', NULL),
	(2251799813685527, 2251799813685525, 2251799813685449, 2251799813685449, '<default>', 'item', '18', NULL),
	(2251799813685530, 2251799813685529, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '20', NULL),
	(2251799813685531, 2251799813685529, 2251799813685449, 2251799813685449, '<default>', 'item', '19', NULL),
	(2251799813685534, 2251799813685533, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '21', NULL),
	(2251799813685535, 2251799813685533, 2251799813685449, 2251799813685449, '<default>', 'item', '20', NULL),
	(2251799813685538, 2251799813685537, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '22', NULL),
	(2251799813685539, 2251799813685537, 2251799813685449, 2251799813685449, '<default>', 'item', '21', NULL),
	(2251799813685542, 2251799813685541, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '23', NULL),
	(2251799813685543, 2251799813685541, 2251799813685449, 2251799813685449, '<default>', 'item', '22', NULL),
	(2251799813685546, 2251799813685545, 2251799813685449, 2251799813685449, '<default>', 'loopCounter', '24', NULL),
	(2251799813685547, 2251799813685545, 2251799813685449, 2251799813685449, '<default>', 'item', '23', NULL),
	(2251799814685489, 2251799814685488, 2251799814685488, 2251799814685488, '<default>', 'items', '[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,97,98,99,100,101,102,103,104,105,106,107,108,109,110,111,112,113,114,115,116,117,118,119]', NULL);

SELECT pg_catalog.setval('public.api_tokens_key_seq', 1, false);

SELECT pg_catalog.setval('public.audit_log_audit_log_key_seq', 1, false);

SELECT pg_catalog.setval('public.authorizations_authorization_key_seq', 1, false);

SELECT pg_catalog.setval('public.batch_operation_items_item_number_seq', 1, false);

SELECT pg_catalog.setval('public.batch_operations_batch_operation_key_seq', 1, false);

SELECT pg_catalog.setval('public.element_count_changes_id_seq', 106, true);

SELECT pg_catalog.setval('public.inbox_id_seq', 2, true);

SELECT pg_catalog.setval('public.job_count_changes_id_seq', 36, true);

SELECT pg_catalog.setval('public.log_position_1', 2251799813685310, true);

SELECT pg_catalog.setval('public.mapping_rules_key_seq', 1, false);

SELECT pg_catalog.setval('public.members_key_seq', 1, false);

SELECT pg_catalog.setval('public.nodes_number_seq', 1, false);

SELECT pg_catalog.setval('public.roles_key_seq', 5, true);

SELECT pg_catalog.setval('public.sessions_key_seq', 1, false);

SELECT pg_catalog.setval('public.tenants_key_seq', 1, true);

SELECT pg_catalog.setval('public.user_groups_key_seq', 1, false);

SELECT pg_catalog.setval('public.users_key_seq', 1, false);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_key_key UNIQUE (key);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_sha256_key UNIQUE (sha256);

ALTER TABLE ONLY public.appenders
    ADD CONSTRAINT appenders_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.archive_erasures
    ADD CONSTRAINT archive_erasures_pkey PRIMARY KEY (root_key, file);

ALTER TABLE ONLY public.archive_files
    ADD CONSTRAINT archive_files_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (partition_id, "position");

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (audit_log_key);

ALTER TABLE ONLY public.authorizations
    ADD CONSTRAINT authorizations_pkey PRIMARY KEY (authorization_key);

ALTER TABLE ONLY public.batch_operation_items
    ADD CONSTRAINT batch_operation_items_batch_operation_key_item_key_key UNIQUE (batch_operation_key, item_key);

ALTER TABLE ONLY public.batch_operation_items
    ADD CONSTRAINT batch_operation_items_pkey PRIMARY KEY (item_number);

ALTER TABLE ONLY public.batch_operations
    ADD CONSTRAINT batch_operations_pkey PRIMARY KEY (batch_operation_key);

ALTER TABLE ONLY public.batch_operations
    ADD CONSTRAINT batch_operations_request_key_key UNIQUE (request_key);

ALTER TABLE ONLY public.batches
    ADD CONSTRAINT batches_pkey PRIMARY KEY (partition_id, from_pos);

ALTER TABLE ONLY public.channel_subscriptions
    ADD CONSTRAINT channel_subscriptions_pkey PRIMARY KEY (subscription_key);

ALTER TABLE ONLY public.clock
    ADD CONSTRAINT clock_pkey PRIMARY KEY (one);

ALTER TABLE ONLY public.cluster
    ADD CONSTRAINT cluster_pkey PRIMARY KEY (one);

ALTER TABLE ONLY public.command_log
    ADD CONSTRAINT command_log_pkey PRIMARY KEY (partition_id, "position");

ALTER TABLE ONLY public.command_log_1_0
    ADD CONSTRAINT command_log_1_0_pkey PRIMARY KEY (partition_id, "position");

ALTER TABLE ONLY public.command_log_1_1
    ADD CONSTRAINT command_log_1_1_pkey PRIMARY KEY (partition_id, "position");

ALTER TABLE ONLY public.command_log_1_2
    ADD CONSTRAINT command_log_1_2_pkey PRIMARY KEY (partition_id, "position");

ALTER TABLE ONLY public.definitions_seq
    ADD CONSTRAINT definitions_seq_pkey PRIMARY KEY (one);

ALTER TABLE ONLY public.deleted_trees
    ADD CONSTRAINT deleted_trees_pkey PRIMARY KEY (root_key);

ALTER TABLE ONLY public.deployments
    ADD CONSTRAINT deployments_pkey PRIMARY KEY (deployment_key);

ALTER TABLE ONLY public.element_count_changes
    ADD CONSTRAINT element_count_changes_pkey PRIMARY KEY (partition_id, id);

ALTER TABLE ONLY public.element_count_totals
    ADD CONSTRAINT element_count_totals_pkey PRIMARY KEY (partition_id);

ALTER TABLE ONLY public.element_counts
    ADD CONSTRAINT element_counts_pkey PRIMARY KEY (partition_id, process_definition_key, element_id);

ALTER TABLE ONLY public.element_durations
    ADD CONSTRAINT element_durations_pkey PRIMARY KEY (process_definition_key, element_id, bucket, partition_id);

ALTER TABLE ONLY public.element_instances
    ADD CONSTRAINT element_instances_pkey PRIMARY KEY (element_instance_key);

ALTER TABLE ONLY public.event_consumers
    ADD CONSTRAINT event_consumers_pkey PRIMARY KEY (partition_id, consumer);

ALTER TABLE ONLY public.event_log
    ADD CONSTRAINT event_log_pkey PRIMARY KEY (partition_id, "position", seq);

ALTER TABLE ONLY public.event_log_1_0
    ADD CONSTRAINT event_log_1_0_pkey PRIMARY KEY (partition_id, "position", seq);

ALTER TABLE ONLY public.event_log_1_1
    ADD CONSTRAINT event_log_1_1_pkey PRIMARY KEY (partition_id, "position", seq);

ALTER TABLE ONLY public.event_log_1_2
    ADD CONSTRAINT event_log_1_2_pkey PRIMARY KEY (partition_id, "position", seq);

ALTER TABLE ONLY public.forms
    ADD CONSTRAINT forms_pkey PRIMARY KEY (form_key);

ALTER TABLE ONLY public.forms
    ADD CONSTRAINT forms_tenant_id_form_id_version_key UNIQUE (tenant_id, form_id, version);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant, key);

ALTER TABLE ONLY public.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (target_partition, id);

ALTER TABLE ONLY public.incidents
    ADD CONSTRAINT incidents_pkey PRIMARY KEY (incident_key);

ALTER TABLE ONLY public.job_count_changes
    ADD CONSTRAINT job_count_changes_pkey PRIMARY KEY (partition_id, id);

ALTER TABLE ONLY public.job_count_totals
    ADD CONSTRAINT job_count_totals_pkey PRIMARY KEY (partition_id);

ALTER TABLE ONLY public.job_counts
    ADD CONSTRAINT job_counts_pkey PRIMARY KEY (period, tenant_id, type, status, worker, partition_id);

ALTER TABLE ONLY public.job_dispatchers
    ADD CONSTRAINT job_dispatchers_pkey PRIMARY KEY (node);

ALTER TABLE ONLY public.job_executions
    ADD CONSTRAINT job_executions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.job_pauses
    ADD CONSTRAINT job_pauses_pkey PRIMARY KEY (one);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (job_key);

ALTER TABLE ONLY public.loop_items
    ADD CONSTRAINT loop_items_pkey PRIMARY KEY (body_key, index);

ALTER TABLE ONLY public.mapping_rules
    ADD CONSTRAINT mapping_rules_claim_name_claim_value_key UNIQUE (claim_name, claim_value);

ALTER TABLE ONLY public.mapping_rules
    ADD CONSTRAINT mapping_rules_key_key UNIQUE (key);

ALTER TABLE ONLY public.mapping_rules
    ADD CONSTRAINT mapping_rules_pkey PRIMARY KEY (mapping_rule_id);

ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_key_key UNIQUE (key);

ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (container_type, container_id, member_type, member_id);

ALTER TABLE ONLY public.message_correlations
    ADD CONSTRAINT message_correlations_pkey PRIMARY KEY (message_correlation_key);

ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (message_key);

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.outbox_deliveries
    ADD CONSTRAINT outbox_deliveries_pkey PRIMARY KEY (partition_id, "position", seq, ordinal);

ALTER TABLE ONLY public.paged_loop_items
    ADD CONSTRAINT paged_loop_items_pkey PRIMARY KEY (body_key, first);

ALTER TABLE ONLY public.partitions
    ADD CONSTRAINT partitions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.paused_job_types
    ADD CONSTRAINT paused_job_types_pkey PRIMARY KEY (job_type);

ALTER TABLE ONLY public.process_definitions
    ADD CONSTRAINT process_definitions_pkey PRIMARY KEY (process_definition_key);

ALTER TABLE ONLY public.process_definitions
    ADD CONSTRAINT process_definitions_tenant_id_process_id_version_key UNIQUE (tenant_id, process_id, version);

ALTER TABLE ONLY public.process_instances
    ADD CONSTRAINT process_instances_pkey PRIMARY KEY (process_instance_key);

ALTER TABLE ONLY public.resources
    ADD CONSTRAINT resources_pkey PRIMARY KEY (sha256);

ALTER TABLE ONLY public.retention_clocks
    ADD CONSTRAINT retention_clocks_pkey PRIMARY KEY (partition_id);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_key_key UNIQUE (key);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_pkey PRIMARY KEY (role_id);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_key_key UNIQUE (key);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (sha256);

ALTER TABLE ONLY public.since_recovery
    ADD CONSTRAINT since_recovery_pkey PRIMARY KEY (one);

ALTER TABLE ONLY public.slot_detours
    ADD CONSTRAINT slot_detours_pkey PRIMARY KEY (partition_id);

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_pkey PRIMARY KEY (slot);

ALTER TABLE ONLY public.start_locks
    ADD CONSTRAINT start_locks_pkey PRIMARY KEY (process_instance_key);

ALTER TABLE ONLY public.start_subscriptions
    ADD CONSTRAINT start_subscriptions_pkey PRIMARY KEY (subscription_key);

ALTER TABLE ONLY public.stuck_timers
    ADD CONSTRAINT stuck_timers_pkey PRIMARY KEY (timer_key, due_at_ms);

ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (subscription_key);

ALTER TABLE ONLY public.tenant_partitions
    ADD CONSTRAINT tenant_partitions_pkey PRIMARY KEY (tenant_id, partition_id);

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_key_key UNIQUE (key);

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.timers
    ADD CONSTRAINT timers_pkey PRIMARY KEY (timer_key);

ALTER TABLE ONLY public.unhashed_variables
    ADD CONSTRAINT unhashed_variables_pkey PRIMARY KEY (partition_id);

ALTER TABLE ONLY public.user_groups
    ADD CONSTRAINT user_groups_key_key UNIQUE (key);

ALTER TABLE ONLY public.user_groups
    ADD CONSTRAINT user_groups_pkey PRIMARY KEY (group_id);

ALTER TABLE ONLY public.user_tasks
    ADD CONSTRAINT user_tasks_pkey PRIMARY KEY (user_task_key);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_key_key UNIQUE (key);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (username);

ALTER TABLE ONLY public.variables
    ADD CONSTRAINT variables_pkey PRIMARY KEY (variable_key);

ALTER TABLE ONLY public.variables
    ADD CONSTRAINT variables_scope_key_name_key UNIQUE (scope_key, name);

ALTER TABLE ONLY public.void_leases
    ADD CONSTRAINT void_leases_pkey PRIMARY KEY (token);

CREATE INDEX api_tokens_by_owner ON public.api_tokens USING btree (owner, owner_provider) WHERE (owner IS NOT NULL);

CREATE INDEX archive_files_keys ON public.archive_files USING btree (last_key, first_key) WHERE (state = 'COMPLETE'::text);

CREATE INDEX archive_files_open ON public.archive_files USING btree (partition_id) WHERE ((state <> 'COMPLETE'::text) OR (waiting <> '{}'::bigint[]));

CREATE INDEX audit_log_actor ON public.audit_log USING btree (actor_id);

CREATE INDEX audit_log_at ON public.audit_log USING btree (at);

CREATE INDEX audit_log_batch ON public.audit_log USING btree (batch_operation_key) WHERE (batch_operation_key IS NOT NULL);

CREATE INDEX audit_log_entity ON public.audit_log USING btree (entity_key);

CREATE INDEX audit_log_instance ON public.audit_log USING btree (process_instance_key) WHERE (process_instance_key IS NOT NULL);

CREATE INDEX audit_log_user_task ON public.audit_log USING btree (user_task_key) WHERE (user_task_key IS NOT NULL);

CREATE INDEX authorizations_by_owner ON public.authorizations USING btree (owner_type, owner_id);

CREATE INDEX batch_operation_items_instance ON public.batch_operation_items USING btree (process_instance_key);

CREATE INDEX batch_operation_items_sent ON public.batch_operation_items USING btree (batch_operation_key, "position") WHERE ((state = 'ACTIVE'::text) AND ("position" IS NOT NULL));

CREATE INDEX batch_operation_items_unsent ON public.batch_operation_items USING btree (batch_operation_key, item_key) WHERE ((state = 'ACTIVE'::text) AND ("position" IS NULL));

CREATE INDEX batch_operations_ended ON public.batch_operations USING btree (ended_at) WHERE (NOT open);

CREATE INDEX batch_operations_open ON public.batch_operations USING btree (batch_operation_key) WHERE open;

CREATE INDEX channel_subscriptions_channel ON public.channel_subscriptions USING btree (slot, tenant_id, md5(correlation_key), subscription_key);

CREATE INDEX deleted_trees_at ON public.deleted_trees USING btree (deleted_at);

CREATE INDEX element_counts_instances ON public.element_counts USING btree (process_definition_key) WHERE (element_id = ''::text);

CREATE INDEX element_instances_definition ON public.element_instances USING btree (process_definition_key, element_id) WHERE ((ended_at IS NULL) AND (process_definition_key IS NOT NULL));

CREATE INDEX element_instances_incidents ON public.element_instances USING btree (process_definition_key, element_id) WHERE ((incidents > 0) AND (ended_at IS NULL));

CREATE INDEX element_instances_instance ON public.element_instances USING btree (process_instance_key, element_instance_key);

CREATE INDEX element_instances_live ON public.element_instances USING btree (part_key) WHERE (ended_at IS NULL);

CREATE INDEX element_instances_scope ON public.element_instances USING btree (scope_key, element_instance_key) WHERE ((ended_at IS NULL) AND (scope_key IS NOT NULL));

CREATE INDEX element_instances_terminated ON public.element_instances USING btree (element_instance_key) WHERE (state = 'TERMINATED'::text);

CREATE INDEX event_log_request ON ONLY public.event_log USING btree (request) WHERE (request IS NOT NULL);

CREATE INDEX event_log_1_0_request_idx ON public.event_log_1_0 USING btree (request) WHERE (request IS NOT NULL);

CREATE INDEX event_log_root ON ONLY public.event_log USING btree (root_key, "position", seq);

CREATE INDEX event_log_1_0_root_key_position_seq_idx ON public.event_log_1_0 USING btree (root_key, "position", seq);

CREATE INDEX event_log_1_1_request_idx ON public.event_log_1_1 USING btree (request) WHERE (request IS NOT NULL);

CREATE INDEX event_log_1_1_root_key_position_seq_idx ON public.event_log_1_1 USING btree (root_key, "position", seq);

CREATE INDEX event_log_1_2_request_idx ON public.event_log_1_2 USING btree (request) WHERE (request IS NOT NULL);

CREATE INDEX event_log_1_2_root_key_position_seq_idx ON public.event_log_1_2 USING btree (root_key, "position", seq);

CREATE INDEX forms_resource ON public.forms USING btree (sha256);

CREATE INDEX idempotency_keys_expiry ON public.idempotency_keys USING btree (expires_at);

CREATE INDEX incidents_causes ON public.incidents USING btree (cause, process_definition_key, element_id, type) INCLUDE (incident_key) WHERE (resolved_at IS NULL);

CREATE INDEX incidents_created ON public.incidents USING btree (created_at);

CREATE INDEX incidents_errors ON public.incidents USING btree (error_hash, process_definition_key, process_instance_key) INCLUDE (incident_key) WHERE (resolved_at IS NULL);

CREATE INDEX incidents_instance ON public.incidents USING btree (process_instance_key, incident_key);

CREATE INDEX incidents_live ON public.incidents USING btree (part_key) WHERE (resolved_at IS NULL);

CREATE INDEX incidents_root ON public.incidents USING btree (root_key, incident_key);

CREATE UNIQUE INDEX job_executions_consumer ON public.job_executions USING btree (job_type, partition_id) WHERE ((partition_id IS NOT NULL) AND (schedule IS NULL));

CREATE INDEX job_executions_failed ON public.job_executions USING btree (failed_at) WHERE (state = 'failed'::text);

CREATE INDEX job_executions_pending ON public.job_executions USING btree (job_type, execute_at) WHERE (state = 'pending'::text);

CREATE UNIQUE INDEX job_executions_schedule ON public.job_executions USING btree (job_type, COALESCE(partition_id, 0)) WHERE ((schedule IS NOT NULL) AND (state <> 'failed'::text));

CREATE INDEX job_executions_stale ON public.job_executions USING btree (alive_at) WHERE (state = 'running'::text);

CREATE UNIQUE INDEX job_executions_unique ON public.job_executions USING btree (job_type, unique_key) WHERE ((unique_key IS NOT NULL) AND (state <> 'failed'::text));

CREATE INDEX jobs_errors ON public.jobs USING btree (type, updated_at) WHERE ((error_code IS NOT NULL) OR (error_message IS NOT NULL));

CREATE INDEX jobs_instance ON public.jobs USING btree (process_instance_key, job_key);

CREATE INDEX jobs_leased ON public.jobs USING btree (type, tenant_id, available_at) WHERE ((NOT ready) AND (available_at IS NOT NULL));

CREATE INDEX jobs_live ON public.jobs USING btree (part_key) WHERE (ended_at IS NULL);

CREATE INDEX jobs_ready ON public.jobs USING btree (type, tenant_id, returned, priority DESC, job_key) WHERE ready;

CREATE INDEX members_by_member ON public.members USING btree (member_type, member_id);

CREATE INDEX message_correlations_age ON public.message_correlations USING btree (correlated_at);

CREATE INDEX message_correlations_instance ON public.message_correlations USING btree (process_instance_key);

CREATE INDEX message_correlations_message ON public.message_correlations USING btree (message_key);

CREATE INDEX messages_channel ON public.messages USING btree (slot, tenant_id, md5(correlation_key), md5(name), message_key);

CREATE INDEX messages_deadline ON public.messages USING btree (partition_id, deadline_ms);

CREATE INDEX messages_id ON public.messages USING btree (slot, tenant_id, md5(correlation_key), md5(message_id)) WHERE (message_id IS NOT NULL);

CREATE INDEX outbox_dead ON public.outbox_deliveries USING btree (due_at) WHERE (state = 'dead'::text);

CREATE INDEX outbox_due ON public.outbox_deliveries USING btree (partition_id, due_at) WHERE (state = ANY (ARRAY['pending'::text, 'dropped'::text]));

CREATE INDEX outbox_trees ON public.outbox_deliveries USING btree (partition_id, root_key, "position", seq, ordinal);

CREATE INDEX process_definitions_resource ON public.process_definitions USING btree (sha256);

CREATE INDEX process_instances_business ON public.process_instances USING btree (business_id) WHERE (business_id IS NOT NULL);

CREATE INDEX process_instances_definition ON public.process_instances USING btree (process_definition_key, process_instance_key);

CREATE INDEX process_instances_ended ON public.process_instances USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX process_instances_incidents ON public.process_instances USING btree (process_instance_key) WHERE ((incidents > 0) AND (ended_at IS NULL));

CREATE INDEX process_instances_incidents_definition ON public.process_instances USING btree (process_definition_key) WHERE ((incidents > 0) AND (ended_at IS NULL));

CREATE INDEX process_instances_late ON public.process_instances USING btree (started_at) WHERE (((ended_at - started_at) < '00:00:00'::interval) OR ((ended_at - started_at) > '00:01:00'::interval));

CREATE INDEX process_instances_live ON public.process_instances USING btree (part_key) WHERE (ended_at IS NULL);

CREATE INDEX process_instances_parent ON public.process_instances USING btree (parent_process_instance_key) WHERE (parent_process_instance_key IS NOT NULL);

CREATE INDEX process_instances_process_started ON public.process_instances USING btree (process_id, started_at, process_instance_key);

CREATE INDEX process_instances_started ON public.process_instances USING btree (started_at);

CREATE INDEX process_instances_tags ON public.process_instances USING gin (tags) WHERE (tags <> '{}'::text[]);

CREATE INDEX process_instances_terminated ON public.process_instances USING btree (process_id, process_instance_key) WHERE ((state = 'TERMINATED'::text) AND (ended_at IS NOT NULL));

CREATE INDEX sessions_by_expiry ON public.sessions USING btree (expires_at);

CREATE INDEX sessions_by_user ON public.sessions USING btree (username, provider);

CREATE INDEX start_locks_channel ON public.start_locks USING btree (slot, tenant_id, md5(correlation_key));

CREATE INDEX subscriptions_ended ON public.subscriptions USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX subscriptions_instance ON public.subscriptions USING btree (process_instance_key, subscription_key);

CREATE INDEX subscriptions_live ON public.subscriptions USING btree (part_key) WHERE (ended_at IS NULL);

CREATE INDEX subscriptions_open ON public.subscriptions USING btree (process_definition_key, process_instance_key) WHERE ((kind = 'MESSAGE'::text) AND (ended_at IS NULL));

CREATE INDEX subscriptions_signal ON public.subscriptions USING btree (tenant_id, md5(name), subscription_key) WHERE ((kind = 'SIGNAL'::text) AND (ended_at IS NULL));

CREATE INDEX timers_definition ON public.timers USING btree (process_definition_key) WHERE ((ended_at IS NULL) AND (root_key IS NULL));

CREATE INDEX timers_due ON public.timers USING btree (partition_id, due_at_ms, timer_key) WHERE (state = 'PENDING'::text);

CREATE INDEX timers_ended ON public.timers USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX timers_instance ON public.timers USING btree (process_instance_key, timer_key);

CREATE INDEX timers_live ON public.timers USING btree (part_key) WHERE ((ended_at IS NULL) AND (part_key IS NOT NULL));

CREATE UNIQUE INDEX timers_pending_target ON public.timers USING btree (element_instance_key, target_element_id) WHERE ((state = 'PENDING'::text) AND (element_instance_key IS NOT NULL));

CREATE INDEX user_tasks_assignee ON public.user_tasks USING btree (assignee, user_task_key) WHERE (ended_at IS NULL);

CREATE INDEX user_tasks_created ON public.user_tasks USING btree (created_at);

CREATE INDEX user_tasks_groups ON public.user_tasks USING gin (candidate_groups) WHERE (ended_at IS NULL);

CREATE INDEX user_tasks_instance ON public.user_tasks USING btree (process_instance_key, user_task_key);

CREATE INDEX user_tasks_live ON public.user_tasks USING btree (part_key) WHERE (ended_at IS NULL);

CREATE INDEX user_tasks_users ON public.user_tasks USING gin (candidate_users) WHERE (ended_at IS NULL);

CREATE INDEX variables_instance ON public.variables USING btree (process_instance_key, name);

CREATE INDEX variables_normal ON public.variables USING btree (name, normal_hash) WHERE (normal_hash IS NOT NULL);

CREATE INDEX variables_value ON public.variables USING btree (name, md5(value));

ALTER INDEX public.command_log_pkey ATTACH PARTITION public.command_log_1_0_pkey;

ALTER INDEX public.command_log_pkey ATTACH PARTITION public.command_log_1_1_pkey;

ALTER INDEX public.command_log_pkey ATTACH PARTITION public.command_log_1_2_pkey;

ALTER INDEX public.event_log_pkey ATTACH PARTITION public.event_log_1_0_pkey;

ALTER INDEX public.event_log_request ATTACH PARTITION public.event_log_1_0_request_idx;

ALTER INDEX public.event_log_root ATTACH PARTITION public.event_log_1_0_root_key_position_seq_idx;

ALTER INDEX public.event_log_pkey ATTACH PARTITION public.event_log_1_1_pkey;

ALTER INDEX public.event_log_request ATTACH PARTITION public.event_log_1_1_request_idx;

ALTER INDEX public.event_log_root ATTACH PARTITION public.event_log_1_1_root_key_position_seq_idx;

ALTER INDEX public.event_log_pkey ATTACH PARTITION public.event_log_1_2_pkey;

ALTER INDEX public.event_log_request ATTACH PARTITION public.event_log_1_2_request_idx;

ALTER INDEX public.event_log_root ATTACH PARTITION public.event_log_1_2_root_key_position_seq_idx;

CREATE TRIGGER api_tokens_changed AFTER INSERT OR DELETE OR UPDATE OF sha256, roles, tenants, expires_at ON public.api_tokens FOR EACH STATEMENT EXECUTE FUNCTION public.notify_identities();

CREATE TRIGGER authorizations_changed AFTER INSERT OR DELETE OR UPDATE ON public.authorizations FOR EACH STATEMENT EXECUTE FUNCTION public.notify_identities();

CREATE TRIGGER groups_changed AFTER INSERT OR DELETE OR UPDATE ON public.user_groups FOR EACH STATEMENT EXECUTE FUNCTION public.notify_identities();

CREATE TRIGGER mapping_rules_changed AFTER INSERT OR DELETE OR UPDATE ON public.mapping_rules FOR EACH STATEMENT EXECUTE FUNCTION public.notify_identities();

CREATE TRIGGER members_changed AFTER INSERT OR DELETE OR UPDATE ON public.members FOR EACH STATEMENT EXECUTE FUNCTION public.notify_identities();

CREATE TRIGGER password_changed AFTER UPDATE OF password_hash ON public.users FOR EACH ROW WHEN ((old.password_hash IS DISTINCT FROM new.password_hash)) EXECUTE FUNCTION public.end_sessions();

CREATE TRIGGER roles_changed AFTER INSERT OR DELETE OR UPDATE ON public.roles FOR EACH STATEMENT EXECUTE FUNCTION public.notify_identities();

CREATE TRIGGER sessions_ended AFTER DELETE ON public.sessions REFERENCING OLD TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION public.notify_ended_sessions();

CREATE TRIGGER tenants_changed AFTER INSERT OR DELETE OR UPDATE ON public.tenants FOR EACH STATEMENT EXECUTE FUNCTION public.notify_identities();

CREATE TRIGGER user_deleted AFTER DELETE ON public.users FOR EACH ROW EXECUTE FUNCTION public.end_sessions();

CREATE TRIGGER user_deleted_with_tokens AFTER DELETE ON public.users FOR EACH ROW EXECUTE FUNCTION public.revoke_tokens_of_user();

CREATE TRIGGER users_changed AFTER INSERT OR DELETE OR UPDATE ON public.users FOR EACH STATEMENT EXECUTE FUNCTION public.notify_identities();

ALTER TABLE ONLY public.tenant_partitions
    ADD CONSTRAINT tenant_partitions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE;

