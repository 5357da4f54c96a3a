-- The appender makes the jump behind lost positions (0016) when it connects, in a transaction of its own: in that of an
-- append, a value that PostgreSQL refuses took back the note that it was made, and the next append made another. Those that
-- append still look, for whoever has not.
--
-- A standby has the table empty, too, but cannot read it, and says so as of a statement that is wrong. It is an outage.
CREATE OR REPLACE FUNCTION skip_lost_positions() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'this is a standby: nothing can be appended' USING ERRCODE = 'read_only_sql_transaction';
    END IF;
    INSERT INTO since_recovery DEFAULT VALUES ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM set_config('synchronous_commit', reset_val, true) FROM pg_settings WHERE name = 'synchronous_commit';
        PERFORM setval('command_log_position_seq', last_value + 1000000) FROM command_log_position_seq;
    END IF;
END $$;
