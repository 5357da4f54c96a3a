-- A batch that refuses a request later than its command corrects the record of the request, which it finds by its position.
DO $$ BEGIN
    IF to_regclass('audit_log') IS NULL THEN
        RETURN;
    END IF;
    CREATE INDEX audit_log_position ON audit_log (position) WHERE position IS NOT NULL;
END $$;
