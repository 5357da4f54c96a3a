-- Documents that came with a message. They go with it if it is deleted before any process has got it: nothing refers to them.
ALTER TABLE documents ADD COLUMN message_key bigint;
CREATE INDEX documents_message ON documents (message_key) WHERE message_key IS NOT NULL;

-- Chores delete messages, and erasures: never a batch. By the index, whatever the tables contained when the plan was made.
CREATE FUNCTION end_documents_of_messages() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off
    SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    UPDATE documents d SET expires_at = '-infinity'
    WHERE d.message_key = ANY (ARRAY(SELECT g.message_key FROM gone g WHERE g.given = '{}'));
    RETURN NULL;
END $$;

-- A database that somebody has changed may lack the table, and is refused after all migrations.
DO $$ BEGIN
    IF to_regclass('messages') IS NOT NULL THEN
        CREATE TRIGGER messages_deleted AFTER DELETE ON messages REFERENCING OLD TABLE AS gone
            FOR EACH STATEMENT EXECUTE FUNCTION end_documents_of_messages();
    END IF;
END $$;
