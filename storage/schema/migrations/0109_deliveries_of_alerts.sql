-- Each receiver of a rule has deliveries of its own, so that one that is broken holds up no notice of the other, nor uses up its
-- attempts. A notice that both still wait for becomes two deliveries.
DO $$ BEGIN
    IF to_regclass('alert_rules') IS NULL OR to_regclass('alert_deliveries') IS NULL THEN
        RETURN;
    END IF;
    ALTER TABLE alert_deliveries ADD COLUMN receiver text NOT NULL DEFAULT 'URL' CHECK (receiver IN ('URL', 'OUTBOX'));
    UPDATE alert_deliveries d SET receiver = 'OUTBOX' FROM alert_rules r
    WHERE r.alert_rule_key = d.alert_rule_key AND r.to_outbox AND (r.url = '' OR d.url_done);
    WITH split AS (
        SELECT d.*, r.revision + row_number() OVER (PARTITION BY d.alert_rule_key ORDER BY d.revision) AS number
        FROM alert_deliveries d JOIN alert_rules r USING (alert_rule_key)
        WHERE d.state = 'PENDING' AND d.receiver = 'URL' AND r.to_outbox AND NOT d.outbox_done
    ), raised AS (
        UPDATE alert_rules r SET revision = s.last
        FROM (SELECT alert_rule_key, max(number) AS last FROM split GROUP BY alert_rule_key) s
        WHERE r.alert_rule_key = s.alert_rule_key
    )
    INSERT INTO alert_deliveries (alert_rule_key, revision, receiver, kind, value, state, made_at, due_at)
    SELECT alert_rule_key, number, 'OUTBOX', kind, value, state, made_at, due_at FROM split;
    ALTER TABLE alert_deliveries DROP COLUMN url_done, DROP COLUMN outbox_done;
END $$;
