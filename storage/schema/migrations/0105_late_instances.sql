-- An instance is late after the due time of its model, else after the usual duration of its version.
CREATE TABLE usual_durations (
    process_definition_key bigint PRIMARY KEY,
    usual_ms               bigint NOT NULL,
    computed_at            timestamptz NOT NULL
) WITH (fillfactor = 50);

-- A database that somebody has changed may lack a table, and is refused after all migrations.
DO $$ BEGIN
    IF to_regclass('process_instances') IS NULL THEN
        RETURN;
    END IF;
    ALTER TABLE process_instances ADD COLUMN due_at timestamptz;
    CREATE INDEX process_instances_due ON process_instances (due_at) WHERE due_at IS NOT NULL AND ended_at IS NULL;
    -- Late ones are the first of each definition. An instance that ends in the batch of its start has no entry. Statements that
    -- load batches say nothing of due dates, so that none reads this index as a whole while it seems to be empty.
    CREATE INDEX process_instances_open ON process_instances (process_definition_key, started_at)
        WHERE ended_at IS NULL AND due_at IS NULL;
END $$;
