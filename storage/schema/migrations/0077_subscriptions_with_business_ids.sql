-- A message with a business id goes only to subscriptions that opened with it. Those that wait keep what they have. Null: none.
ALTER TABLE IF EXISTS channel_subscriptions ADD COLUMN business_id text;

-- A database without one of the tables is refused later, with all that it lacks.
DO $$
BEGIN
    IF to_regclass('channel_subscriptions') IS NOT NULL AND to_regclass('subscriptions') IS NOT NULL THEN
        UPDATE channel_subscriptions c SET business_id = s.business_id
        FROM subscriptions s WHERE s.subscription_key = c.subscription_key AND s.business_id IS NOT NULL;
    END IF;
END $$;
