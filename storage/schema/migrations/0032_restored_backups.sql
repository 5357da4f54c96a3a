-- A restored backup may be hours or weeks old. What the original gave out since then is known to clients and receivers of events: more than
-- the fixed jump after a crash covers. And a dump may be restored into the database that it comes from.

-- As before, and the file of a table tells a database that was emptied and filled from a dump of itself. It also changes when somebody
-- rewrites that table: a needless jump does no harm.
CREATE OR REPLACE FUNCTION database_identity() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    server text := '';
BEGIN
    IF has_function_privilege('pg_control_system()', 'EXECUTE') THEN
        SELECT system_identifier INTO server FROM pg_control_system();
    END IF;
    RETURN (SELECT format('%s/%s/%s', server, oid, pg_relation_filenode('since_recovery')) FROM pg_database
            WHERE datname = current_database());
END $$;

-- The database is the same one as before this migration, if it was. Otherwise the next jump takes care of it.
UPDATE since_recovery SET database = database_identity()
WHERE database = regexp_replace(database_identity(), '/[^/]*$', '');

-- For how long another server may have gone on since this database's newest command: from its time until now, by the engine's clock. An
-- empty log may have been trimmed; then the newest migration is the last thing that is known for sure. A clock that is far off must not use
-- up the numbers of a partition.
CREATE FUNCTION seconds_behind(p int) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT least(greatest(extract(epoch FROM clock_now() - coalesce(
        (SELECT at FROM command_log WHERE partition_id = p AND position BETWEEN p::bigint << 51 AND (p::bigint + 1) << 51
         ORDER BY position DESC LIMIT 1),
        (SELECT max(applied_at) FROM schema_migrations))), 0), 400 * 86400)::bigint
$$;

-- As before, and the jumps grow with that time: 65,536 positions and 262,144 keys a second, which is more than a partition gives out. 400
-- days are 2^41 of the 2^51 positions of a partition, and 2^43 of its keys. A position beyond the range of its log partition goes to the
-- beginning of a later range, whose log partitions are made here: an append must find them.
CREATE OR REPLACE FUNCTION skip_lost_positions() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    here CONSTANT text := database_identity();
    size CONSTANT bigint := 10000000;
    p      int;
    behind bigint;
    last   bigint;
    goal   bigint;
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
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('synchronous_commit', reset_val, true) FROM pg_settings WHERE name = 'synchronous_commit';
    FOR p IN SELECT id FROM partitions ORDER BY id LOOP
        behind := seconds_behind(p);
        last := last_log_position(p) - (p::bigint << 51);
        goal := last + greatest(1000000, behind << 16);
        IF goal / size > (last + 1000000) / size THEN
            goal := (goal / size + 1) * size;
            PERFORM make_log_partitions((p::bigint << 51) + goal);
        END IF;
        PERFORM setval(('log_position_' || p)::regclass, (p::bigint << 51) + goal);
        UPDATE batches b SET next_key = b.next_key + greatest(1::bigint << 30, behind << 18)
        WHERE b.partition_id = p AND b.from_pos = (SELECT max(from_pos) FROM batches WHERE partition_id = p);
    END LOOP;
END $$;
