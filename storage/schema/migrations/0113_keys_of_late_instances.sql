-- The search of late instances reads the keys of all that are late, and nothing else of them: the index has the keys, too.
DO $$ BEGIN
    IF to_regclass('process_instances') IS NULL THEN
        RETURN;
    END IF;
    DROP INDEX process_instances_open;
    CREATE INDEX process_instances_open ON process_instances (process_definition_key, started_at)
        INCLUDE (process_instance_key) WHERE ended_at IS NULL AND due_at IS NULL;
END $$;
