-- A database that went back in time must not assign keys again that others may still know: after a crash, after the promotion of a
-- standby that was behind, and as a restored backup or a copy.

-- A backup contains the row of `since_recovery`. The database that the row was made in tells such a copy from the original. NULL in a
-- new database, and in one of an older schema: it is then taken for the original.
ALTER TABLE since_recovery ADD COLUMN database text;

-- Unique among all databases of all servers, except for standbys and physical copies, which have no row. Some services do not let
-- users ask for the identity of the server.
CREATE FUNCTION database_identity() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    server text := '';
BEGIN
    IF has_function_privilege('pg_control_system()', 'EXECUTE') THEN
        SELECT system_identifier INTO server FROM pg_control_system();
    END IF;
    RETURN (SELECT format('%s/%s', server, oid) FROM pg_database WHERE datname = current_database());
END $$;

-- As before, and keys jump with the positions. A thousand times as far, since keys need no space: 2^30 keys are hours of work, and
-- a partition has space for two million such jumps. Each term calls this between its claim and its first look at the cursor, so no
-- term uses keys from before the jump.
CREATE OR REPLACE FUNCTION skip_lost_positions() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    here CONSTANT text := database_identity();
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'this is a standby: nothing can be appended' USING ERRCODE = 'read_only_sql_transaction';
    END IF;
    IF EXISTS (SELECT FROM since_recovery WHERE database = here) THEN
        RETURN;
    END IF;
    UPDATE since_recovery SET database = here WHERE database IS NULL;
    DELETE FROM since_recovery WHERE database <> here;
    INSERT INTO since_recovery (database) VALUES (here) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM set_config('synchronous_commit', reset_val, true) FROM pg_settings WHERE name = 'synchronous_commit';
        PERFORM setval(('log_position_' || id)::regclass, last_log_position(id) + 1000000) FROM partitions;
        UPDATE batches b SET next_key = b.next_key + (1::bigint << 30)
        FROM partitions p
        WHERE b.partition_id = p.id AND b.from_pos = (SELECT max(from_pos) FROM batches WHERE partition_id = p.id);
    END IF;
END $$;
