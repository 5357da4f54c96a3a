-- A subscription whose message channel has closed it while its process instance is suspended. The resumption finds it, and the
-- suspended timers, page by page: their indexes have no other rows. A database without a table is refused later, with all that
-- it lacks.
ALTER TABLE IF EXISTS subscriptions ADD COLUMN suspended boolean NOT NULL DEFAULT false;

DO $$
BEGIN
    IF to_regclass('subscriptions') IS NOT NULL THEN
        CREATE INDEX subscriptions_suspended ON subscriptions (process_instance_key, subscription_key)
            WHERE suspended AND ended_at IS NULL;
    END IF;
    IF to_regclass('timers') IS NOT NULL THEN
        CREATE INDEX timers_suspended ON timers (process_instance_key, timer_key) WHERE state = 'SUSPENDED';
    END IF;
END $$;
