-- An alert rule may tell the receiver of the outbox instead of its own URL, which is empty then, or beside it. A delivery
-- remembers which of both it has told, so that a failure of one repeats nothing at the other.
DO $$ BEGIN
    IF to_regclass('alert_rules') IS NULL OR to_regclass('alert_deliveries') IS NULL THEN
        RETURN;
    END IF;
    ALTER TABLE alert_rules ADD COLUMN to_outbox boolean NOT NULL DEFAULT false;
    ALTER TABLE alert_deliveries
        ADD COLUMN url_done boolean NOT NULL DEFAULT false,
        ADD COLUMN outbox_done boolean NOT NULL DEFAULT false;
END $$;
