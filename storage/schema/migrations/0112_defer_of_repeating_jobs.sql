-- An execution of a type that has a schedule, or follows events, would go on for ever: as over HTTP, `defer` refuses it, also
-- with allow_unknown. Each half of that question has the condition of a unique index.
CREATE OR REPLACE FUNCTION defer(
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
    IF EXISTS (SELECT FROM job_executions e WHERE e.job_type = job_type AND e.schedule IS NOT NULL AND e.state <> 'failed')
        OR EXISTS (SELECT FROM job_executions e
            WHERE e.job_type = job_type AND e.partition_id IS NOT NULL AND e.schedule IS NULL) THEN
        RAISE EXCEPTION 'job_type: "%" has a schedule or follows events, and runs by itself', job_type
            USING ERRCODE = 'invalid_parameter_value', HINT = 'vivero background run ID lets its execution run now.';
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

-- A replaced function keeps its grants, but not its settings.
DO $$
DECLARE
    called regprocedure;
BEGIN
    SELECT p.oid INTO STRICT called FROM pg_proc p
    WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.proname = 'defer';
    EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', called, current_schema());
END $$;
