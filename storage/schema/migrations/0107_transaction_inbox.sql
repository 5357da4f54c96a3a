-- Commands that a client queues in a transaction of its own, beside its own tables (docs/your-own-transaction.md).
--
-- The functions of clients check and insert, and nothing else: the caller's transaction holds no lock but those of its own new
-- rows, however long it stays open. The leader of the partition moves committed rows to the log.

-- Tenants that roles of the database may use in these functions. `*`: all tenants, and background jobs.
CREATE TABLE database_roles (
    role_name  text NOT NULL,
    tenant_id  text NOT NULL,
    granted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (role_name, tenant_id)
);

-- An id has its partition above bit 51, like a key. Rows become visible when their transactions commit, and not in the order of
-- the ids: whoever moves rows finds them by looking, and never by a cursor. Partition 0 has background jobs.
CREATE TABLE transaction_inbox (
    target_partition int NOT NULL,
    id               bigint NOT NULL,
    tenant_id        text NOT NULL,
    intent           text NOT NULL,
    key              bigint,
    payload          bytea NOT NULL,
    -- Bytes of the payload, beside it, because a large one has another place.
    size             int NOT NULL,
    audit            text NOT NULL,
    role_name        text NOT NULL,
    -- The beginning of the transaction, one time for all of its rows.
    began_at         timestamptz NOT NULL DEFAULT transaction_timestamp(),
    PRIMARY KEY (target_partition, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- The fate of each row: its command's position in the log, or its background job. Neither: an erasure has deleted it.
CREATE TABLE transaction_outcomes (
    target_partition int NOT NULL,
    id               bigint NOT NULL,
    tenant_id        text NOT NULL,
    role_name        text NOT NULL,
    position         bigint,
    execution_id     uuid,
    moved_at         timestamptz NOT NULL,
    PRIMARY KEY (target_partition, id)
);
CREATE INDEX transaction_outcomes_age ON transaction_outcomes (moved_at);

-- Two numbers that callers read without a snapshot: a serializable transaction that counted the rows would conflict with every
-- other one. A row with a number up to that of the room certainly fits. Whoever moves rows raises the room.
CREATE SEQUENCE transaction_inbox_numbers;
CREATE SEQUENCE transaction_inbox_room START 10000;

-- The role that calls, and its tenants as a command carries them; NULL: none. A function with the rights of its owner has another
-- current_user, and the session_user of a pooler stands for many roles: the setting `role` tells which one it has become.
CREATE FUNCTION tenants_of_database_role(OUT caller text, OUT tenants text) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_variable
BEGIN
    caller := CASE current_setting('role') WHEN 'none' THEN session_user::text ELSE current_setting('role') END;
    IF pg_has_role(caller::name, current_user, 'USAGE') THEN
        tenants := '*';
        RETURN;
    END IF;
    SELECT CASE WHEN bool_or(d.tenant_id = '*') THEN '*'
        ELSE string_agg(DISTINCT d.tenant_id COLLATE "C", ',' ORDER BY d.tenant_id COLLATE "C") END
    INTO tenants
    FROM database_roles d JOIN pg_roles r ON r.rolname = d.role_name
    WHERE pg_has_role(caller::name, r.oid, 'USAGE');
    IF tenants IS NULL THEN
        RAISE EXCEPTION 'the role "%" has no tenant', caller
            USING ERRCODE = 'insufficient_privilege', HINT = format('vivero database-role grant %I --tenant …', caller);
    END IF;
END $$;

-- The tenant that a call names, if the role may use it.
CREATE FUNCTION tenant_of_call(wanted text, OUT caller text, OUT tenant text) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_variable
DECLARE
    tenants text;
BEGIN
    SELECT r.caller, r.tenants INTO caller, tenants FROM tenants_of_database_role() r;
    tenant := coalesce(wanted, '<default>');
    IF tenants <> '*' AND tenant <> ALL (string_to_array(tenants, ',')) THEN
        RAISE EXCEPTION 'the role "%" may not use the tenant "%"', caller, left(tenant, 100)
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF tenant <> '<default>' AND NOT EXISTS (SELECT FROM tenants t WHERE t.tenant_id = tenant) THEN
        RAISE EXCEPTION 'there is no tenant "%"', left(tenant, 100) USING ERRCODE = 'no_data_found';
    END IF;
END $$;

-- The limits of the REST API. Deeper values, and numbers that no float holds, would be rejected by the engine.
CREATE FUNCTION check_variables(variables jsonb) RETURNS void LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    long text;
BEGIN
    IF jsonb_typeof(variables) IS DISTINCT FROM 'object' THEN
        RAISE EXCEPTION 'variables: this is %, and must be a JSON object', coalesce(jsonb_typeof(variables), 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF (SELECT count(*) FROM jsonb_object_keys(variables)) > 10000 THEN
        RAISE EXCEPTION 'variables: there must not be more than 10000' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT name INTO long FROM jsonb_object_keys(variables) AS name WHERE octet_length(name) > 1024 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'variables: the name of a variable is longer than 1024 bytes: "%…"', left(long, 50)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM check_json('variables', variables, 62);
END $$;

CREATE FUNCTION check_json(name text, value jsonb, depth int) RETURNS void LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    below CONSTANT jsonpath := format('strict $.**{%s} ? (@.type() == "object" || @.type() == "array")', depth + 1);
    large CONSTANT jsonpath := 'strict $.** ? (@.type() == "number" && (@ > $most || @ < -$most))';
BEGIN
    IF octet_length(value::text) > 1048576 THEN
        RAISE EXCEPTION '%: % bytes of JSON are more than 1048576', name, octet_length(value::text)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Keep large content in a document, and queue its reference.';
    END IF;
    IF jsonb_path_exists(value, below) THEN
        RAISE EXCEPTION '%: the nesting is deeper than % levels', name, depth USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF jsonb_path_exists(value, large, '{"most": 1.7976931348623157e308}') THEN
        RAISE EXCEPTION '%: a number is outside of the range of floats', name USING ERRCODE = 'invalid_parameter_value';
    END IF;
END $$;

CREATE FUNCTION check_text(name text, value text, most int, optional boolean) RETURNS void LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF NOT optional AND value IS NULL OR value = '' AND name <> 'correlation_key' THEN
        RAISE EXCEPTION '%: a value is required', name USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF char_length(value) > most THEN
        RAISE EXCEPTION '%: % characters are more than %', name, char_length(value), most
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END $$;

-- Adds a row, or raises if the inbox is full. Rows that wait are counted only if there may be many: a count reads them all.
CREATE FUNCTION queue_in_transaction(p int, tenants text, intent text, subject bigint, document text, caller text, record jsonb)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
    number  bigint := nextval('transaction_inbox_numbers');
    content bytea := convert_to(document, 'UTF8');
    waiting bigint;
    bytes   bigint;
BEGIN
    IF number > (SELECT last_value FROM transaction_inbox_room) OR octet_length(content) > 65536 THEN
        SELECT count(*), coalesce(sum(w.size), 0) INTO waiting, bytes
        FROM (SELECT t.size FROM transaction_inbox t LIMIT 10000) w;
        IF waiting >= 10000 OR bytes + octet_length(content) > 268435456 THEN
            RAISE EXCEPTION 'the inbox is full: % commands with % bytes wait', waiting, bytes
                USING ERRCODE = 'configuration_limit_exceeded',
                HINT = 'Is a server with the role engine running? Try again when it has caught up.';
        END IF;
    END IF;
    number := (p::bigint << 51) + number;
    INSERT INTO transaction_inbox (target_partition, id, tenant_id, intent, key, payload, size, audit, role_name)
    VALUES (p, number, tenants, intent, subject, content, octet_length(content),
        (jsonb_build_object('actor_type', 'CLIENT', 'actor_id', caller, 'actor_provider', 'postgresql',
            'category', 'DEPLOYED_RESOURCES') || record)::text, caller);
    RETURN number;
END $$;

CREATE FUNCTION start_process(
    process_id text, variables jsonb DEFAULT '{}', business_id text DEFAULT NULL, tags text[] DEFAULT '{}',
    version int DEFAULT NULL, tenant text DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
#variable_conflict use_variable
DECLARE
    caller text;
    home   int;
    wrong  text;
BEGIN
    SELECT c.caller, c.tenant INTO caller, tenant FROM tenant_of_call(tenant) c;
    variables := coalesce(variables, '{}');
    tags := coalesce(tags, '{}');
    PERFORM check_text('process_id', process_id, 1000, false), check_text('business_id', business_id, 256, true),
        check_variables(variables);
    SELECT t.tag INTO wrong FROM unnest(tags) AS t(tag)
    WHERE (t.tag COLLATE "C" ~ '^[A-Za-z][A-Za-z0-9_:.-]{0,99}$') IS NOT TRUE LIMIT 1;
    IF FOUND OR array_ndims(tags) > 1 OR cardinality(tags) > 10
        OR cardinality(tags) <> (SELECT count(DISTINCT t.tag) FROM unnest(tags) AS t(tag)) THEN
        RAISE EXCEPTION 'tags: % is not allowed: up to 10 different tags have a letter, and up to 99 letters, digits and _ - : .',
            left(coalesce(wrong, tags::text), 100) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF NOT EXISTS (
        SELECT FROM process_definitions d
        WHERE d.tenant_id = tenant AND d.process_id = process_id
            AND CASE WHEN coalesce(version, -1) < 0 THEN d.state = 'ACTIVE'
                ELSE d.version = version AND d.state IN ('ACTIVE', 'DRAINING') END
    ) THEN
        RAISE EXCEPTION 'there is no process "%"%', process_id,
            CASE WHEN coalesce(version, -1) < 0 THEN '' ELSE format(' with version %s', version) END
            || CASE tenant WHEN '<default>' THEN '' ELSE format(' of the tenant "%s"', tenant) END
            USING ERRCODE = 'no_data_found';
    END IF;
    -- All starts of a transaction begin in one partition, in their order.
    SELECT (array_agg(o.id ORDER BY o.id))[1 + (pg_current_xact_id()::text::numeric % count(*))::int] INTO home
    FROM partitions o
    WHERE NOT EXISTS (SELECT FROM tenant_partitions t WHERE t.tenant_id = tenant)
        OR o.id IN (SELECT t.partition_id FROM tenant_partitions t WHERE t.tenant_id = tenant);
    RETURN queue_in_transaction(home, tenant, 'PROCESS_INSTANCE_CREATION:CREATE', NULL,
        json_build_object('process_id', process_id, 'version', coalesce(version, -1), 'variables', variables, 'tags', tags,
            'business_id', business_id)::text,
        caller, jsonb_build_object('entity_type', 'PROCESS_INSTANCE', 'operation', 'CREATE', 'description', 'SQL start_process',
            'tenant_id', tenant, 'tenants', tenant));
END $$;

CREATE FUNCTION publish_message(
    name text, correlation_key text DEFAULT '', variables jsonb DEFAULT '{}', time_to_live interval DEFAULT '0',
    message_id text DEFAULT NULL, business_id text DEFAULT NULL, tenant text DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
#variable_conflict use_variable
DECLARE
    caller text;
    home   int;
    kept_ms CONSTANT numeric := floor(extract(epoch FROM coalesce(time_to_live, '0')) * 1000);
BEGIN
    SELECT c.caller, c.tenant INTO caller, tenant FROM tenant_of_call(tenant) c;
    variables := coalesce(variables, '{}');
    correlation_key := coalesce(correlation_key, '');
    PERFORM check_text('name', name, 32768, false), check_text('correlation_key', correlation_key, 32768, true),
        check_text('message_id', message_id, 32768, true), check_text('business_id', business_id, 256, true),
        check_variables(variables);
    IF kept_ms NOT BETWEEN 0 AND 3153600000000 THEN
        RAISE EXCEPTION 'time_to_live: % is not from 0 to 100 years', time_to_live USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT s.partition_id INTO home FROM slots s WHERE s.slot = slot_of(tenant, correlation_key);
    RETURN queue_in_transaction(coalesce(home, 1), tenant, 'MESSAGE:PUBLISH', NULL,
        json_build_object('name', name, 'correlation_key', correlation_key, 'time_to_live_ms', kept_ms::bigint,
            'message_id', message_id, 'variables', variables, 'business_id', business_id)::text,
        caller, jsonb_build_object('entity_type', 'PROCESS_INSTANCE', 'operation', 'UPDATE', 'description', 'SQL publish_message',
            'tenant_id', tenant, 'tenants', tenant));
END $$;

-- The lease is compared here and again by the engine: it may end before the commit.
CREATE FUNCTION complete_job(job_key bigint, variables jsonb DEFAULT '{}', lease text DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
#variable_conflict use_variable
DECLARE
    caller  text;
    allowed text;
    job     record;
BEGIN
    SELECT r.caller, r.tenants INTO caller, allowed FROM tenants_of_database_role() r;
    variables := coalesce(variables, '{}');
    PERFORM check_variables(variables);
    SELECT j.ended_at IS NOT NULL AS ended, j.lease_token::text AS token INTO job FROM jobs j
    WHERE j.job_key = job_key AND (allowed = '*' OR j.tenant_id = ANY (string_to_array(allowed, ',')));
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no job with the key %', coalesce(job_key::text, 'NULL') USING ERRCODE = 'no_data_found';
    END IF;
    IF job.ended THEN
        RAISE EXCEPTION 'the job % has ended', job_key USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    IF lease IS NOT NULL AND lease IS DISTINCT FROM job.token THEN
        RAISE EXCEPTION 'the job % has another lease: it was given to another worker, or given back', job_key
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    RETURN queue_in_transaction((job_key >> 51)::int, allowed, 'JOB:COMPLETE', job_key,
        json_build_object('key', job_key, 'variables', variables, 'lease', lease)::text,
        caller, jsonb_strip_nulls(jsonb_build_object('entity_type', 'JOB', 'operation', 'COMPLETE', 'key', job_key,
            'description', 'SQL complete_job', 'tenants', nullif(allowed, '*'))));
END $$;

-- Background jobs are code of the server, and belong to no tenant: a role needs all tenants. The row goes through the inbox,
-- because a unique key in the table of executions would make others wait for the caller's commit.
CREATE FUNCTION defer(
    job_type text, payload jsonb DEFAULT NULL, at timestamptz DEFAULT NULL, unique_key text DEFAULT NULL,
    allow_unknown boolean DEFAULT false
) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
#variable_conflict use_variable
DECLARE
    caller  text;
    allowed text;
BEGIN
    SELECT r.caller, r.tenants INTO caller, allowed FROM tenants_of_database_role() r;
    IF allowed <> '*' THEN
        RAISE EXCEPTION 'the role "%" may not add background jobs: it does not have all tenants', caller
            USING ERRCODE = 'insufficient_privilege', HINT = format('vivero database-role grant %I --all-tenants', caller);
    END IF;
    PERFORM check_text('job_type', job_type, 256, false), check_text('unique_key', unique_key, 256, true);
    IF payload IS NOT NULL THEN
        PERFORM check_json('payload', payload, 62);
    END IF;
    IF starts_with(job_type, 'vivero.') THEN
        RAISE EXCEPTION 'job_type: names that begin with "vivero." belong to the program''s own chores'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF at IS NOT NULL AND (NOT isfinite(at) OR extract(year FROM at) NOT BETWEEN 1 AND 9999) THEN
        RAISE EXCEPTION 'at: % is not in the years 1 to 9999', at USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF NOT coalesce(allow_unknown, false)
        AND NOT EXISTS (SELECT FROM job_dispatchers d WHERE job_type = ANY (d.types)) THEN
        RAISE EXCEPTION 'no node runs background jobs of the type "%", and none has lately', job_type
            USING ERRCODE = 'no_data_found', HINT = 'With allow_unknown => true the job waits for a node that does.';
    END IF;
    RETURN queue_in_transaction(0, '*', 'BACKGROUND_JOB:ADD', NULL,
        jsonb_build_object('type', job_type, 'payload', payload, 'due_ms', to_epoch_ms(at), 'unique_key', unique_key)::text,
        caller, jsonb_build_object('entity_type', 'BACKGROUND_JOB', 'operation', 'CREATE', 'description', 'SQL defer'));
END $$;

-- No row: the transaction has not committed, or it is too long ago. A role sees what it has queued itself.
CREATE FUNCTION outcome(
    id bigint, OUT state text, OUT "position" bigint, OUT execution_id uuid, OUT code text, OUT reason text, OUT answer json
) RETURNS SETOF record LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
#variable_conflict use_variable
DECLARE
    caller CONSTANT text := CASE current_setting('role') WHEN 'none' THEN session_user::text ELSE current_setting('role') END;
    admin  CONSTANT boolean := pg_has_role(caller::name, current_user, 'USAGE');
BEGIN
    PERFORM FROM transaction_inbox t
    WHERE t.target_partition = (id >> 51)::int AND t.id = id AND (admin OR t.role_name = caller);
    IF FOUND THEN
        state := 'QUEUED';
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT o.position, o.execution_id INTO "position", execution_id FROM transaction_outcomes o
    WHERE o.target_partition = (id >> 51)::int AND o.id = id AND (admin OR o.role_name = caller);
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF "position" IS NULL THEN
        state := CASE WHEN execution_id IS NULL THEN 'ERASED' ELSE 'DONE' END;
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT a.rejection ->> 'code', a.rejection ->> 'reason', a.response INTO code, reason, answer
    FROM (
        SELECT e.position AS at, e.seq, e.rejection, e.response FROM event_log e
        WHERE e.partition_id = ("position" >> 51)::int AND e.position = "position" AND e.request IS NULL
            AND (e.response IS NOT NULL OR e.seq = 0 AND e.rejection IS NOT NULL)
        UNION ALL
        SELECT e.position, e.seq, e.rejection, e.response FROM event_log e
        WHERE e.request = "position" AND e.response IS NOT NULL
    ) a ORDER BY a.at, a.seq LIMIT 1;
    state := CASE WHEN code IS NOT NULL THEN 'REJECTED' WHEN FOUND THEN 'DONE' ELSE 'APPENDED' END;
    RETURN NEXT;
END $$;

-- Moves committed rows of a partition to its log, in the order of their ids, behind the id `above`; the last position, NULL when
-- there was nothing. One transaction: a row is in the inbox or in the log. A row that an erasure holds is being deleted.
-- `within_ms`: only rows of transactions that began so short a time ago. An older one may have rows before `above` and behind it,
-- and they keep their order. NULL: all rows.
CREATE FUNCTION take_from_transactions(p int, above bigint, most int, most_bytes bigint, within_ms bigint)
RETURNS TABLE (last_position bigint, last_id bigint) LANGUAGE plpgsql VOLATILE SET lock_timeout = '5s' AS $$
DECLARE
    positions CONSTANT regclass := ('log_position_' || p)::regclass;
BEGIN
    IF NOT EXISTS (SELECT FROM since_recovery) THEN
        PERFORM skip_lost_positions();
    END IF;
    -- A statement of its own: nextval runs under the lock, so that positions become visible in order.
    PERFORM pg_advisory_xact_lock(4711, p);
    WITH candidates AS MATERIALIZED (
        SELECT t.id, t.size FROM transaction_inbox t WHERE t.target_partition = p AND t.id > above
            AND (within_ms IS NULL OR t.began_at > now() - within_ms * interval '1 millisecond')
        ORDER BY t.id LIMIT most FOR UPDATE SKIP LOCKED
    ), taken AS (
        DELETE FROM transaction_inbox t WHERE t.target_partition = p AND t.id = ANY (ARRAY(
            SELECT c.id FROM (SELECT d.id, sum(d.size) OVER (ORDER BY d.id) - d.size AS before FROM candidates d) c
            WHERE c.before < most_bytes))
        RETURNING t.*
    ), w AS MATERIALIZED (
        SELECT s.*, row_number() OVER () AS o, nextval(positions) AS pos FROM (SELECT * FROM taken ORDER BY id) s
    ), ins AS (
        INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, key, payload, audit)
        SELECT p, w.pos, gen_random_uuid(), w.o, clock_now(), w.tenant_id, w.intent, w.key, w.payload, w.audit FROM w
    ), told AS (
        INSERT INTO transaction_outcomes (target_partition, id, tenant_id, role_name, position, moved_at)
        SELECT p, w.id, w.tenant_id, w.role_name, w.pos, clock_timestamp() FROM w
    )
    SELECT max(w.pos), max(w.id) INTO last_position, last_id FROM w;
    IF last_id IS NOT NULL THEN
        PERFORM make_room_in_transactions();
    END IF;
    RETURN NEXT;
END $$;

-- Likewise, background jobs become executions. `tell`: the channel of their dispatchers. The transaction of another run may have
-- added its unique key and still be open: then rows with keys stay for a later look, after one short wait. If the whole table is
-- locked, all stay.
CREATE FUNCTION take_background_jobs(above bigint, most int, within_ms bigint, tell text)
RETURNS TABLE (last_id bigint) LANGUAGE plpgsql VOLATILE SET lock_timeout = '20ms' AS $$
DECLARE
    job    record;
    made   uuid;
    locked boolean := false;
BEGIN
    FOR job IN
        SELECT t.id, t.tenant_id, t.role_name, t.audit, convert_from(t.payload, 'UTF8')::jsonb AS document
        FROM transaction_inbox t WHERE t.target_partition = 0 AND t.id > above
            AND (within_ms IS NULL OR t.began_at > now() - within_ms * interval '1 millisecond')
        ORDER BY t.id LIMIT most FOR UPDATE SKIP LOCKED
    LOOP
        CONTINUE WHEN locked AND job.document ->> 'unique_key' IS NOT NULL;
        BEGIN
            made := add_deferred(job.document);
        EXCEPTION WHEN lock_not_available THEN
            EXIT WHEN job.document ->> 'unique_key' IS NULL;
            locked := true;
            CONTINUE;
        END;
        DELETE FROM transaction_inbox t WHERE t.target_partition = 0 AND t.id = job.id;
        INSERT INTO transaction_outcomes (target_partition, id, tenant_id, role_name, execution_id, moved_at)
        VALUES (0, job.id, job.tenant_id, job.role_name, made, clock_timestamp());
        INSERT INTO audit_log (actor_type, actor_id, category, entity_type, entity_key, operation, result, description,
            actor_provider)
        SELECT a.actor_type, a.actor_id, a.category, a.entity_type, made::text, a.operation, 'SUCCESS', a.description,
            a.actor_provider
        FROM json_to_record(job.audit::json) AS a(actor_type text, actor_id text, category text, entity_type text,
            operation text, description text, actor_provider text);
        last_id := job.id;
    END LOOP;
    IF last_id IS NOT NULL THEN
        PERFORM pg_notify(tell, ''), make_room_in_transactions();
    END IF;
    RETURN NEXT;
END $$;

-- The execution of a background job. One with its unique key that waits or runs stands for it, also if it came just before. It
-- may end in between: then there is room for another.
CREATE FUNCTION add_deferred(document jsonb) RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    made uuid;
BEGIN
    LOOP
        INSERT INTO job_executions (job_type, payload, execute_at, unique_key)
        VALUES (document ->> 'type', nullif(document -> 'payload', 'null'),
            coalesce(from_epoch_ms((document ->> 'due_ms')::bigint), clock_now()), document ->> 'unique_key')
        ON CONFLICT DO NOTHING RETURNING id INTO made;
        IF made IS NULL THEN
            SELECT e.id INTO made FROM job_executions e
            WHERE e.job_type = document ->> 'type' AND e.unique_key = document ->> 'unique_key' AND e.state <> 'failed';
        END IF;
        EXIT WHEN made IS NOT NULL;
    END LOOP;
    RETURN made;
END $$;

CREATE FUNCTION make_room_in_transactions() RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT setval('transaction_inbox_room', (SELECT last_value FROM transaction_inbox_numbers) + 10000
        - (SELECT count(*) FROM (SELECT FROM transaction_inbox LIMIT 10000) w))
$$;

-- The functions of clients work in the schema of this installation alone, whatever the caller's search_path is, and nobody may
-- call them without a grant. The others are no business of clients.
DO $$
DECLARE
    called regprocedure;
BEGIN
    FOR called IN
        SELECT p.oid FROM pg_proc p WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.proname = ANY (ARRAY[
            'start_process', 'publish_message', 'complete_job', 'defer', 'outcome', 'tenants_of_database_role',
            'tenant_of_call', 'check_variables', 'check_json', 'check_text', 'queue_in_transaction',
            'take_from_transactions', 'take_background_jobs', 'add_deferred', 'make_room_in_transactions'])
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', called);
        IF (SELECT prosecdef FROM pg_proc WHERE oid = called) THEN
            EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', called, current_schema());
        END IF;
    END LOOP;
END $$;
