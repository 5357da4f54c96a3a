-- Log partitions are dropped whole when nothing in them is needed (docs/retention.md).

-- Drops the oldest log partitions of both logs of a partition, up to the first that is still needed. `kept_by` says why that one stays:
--   'cursor'    the consumer has not processed all of it, or nothing was appended behind it
--   'age'       its newest event is not older than `before`
--   'consumer'  a consumer of events has not read all of it
--   'instance'  an instance that began in it, or before, still runs: its trace and its replay need all its events
-- DROP TABLE locks both logs exclusively for a moment. The session's lock_timeout bounds how long others queue behind it.
CREATE FUNCTION drop_log_partitions(p int, before timestamptz) RETURNS TABLE (dropped int, kept_by text) LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    size      CONSTANT bigint := 10000000;
    base      CONSTANT bigint := p::bigint << 51;
    processed CONSTANT bigint := coalesce((SELECT b.to_pos FROM batches b WHERE b.partition_id = p ORDER BY b.from_pos DESC LIMIT 1), base);
    consumed  CONSTANT bigint := (SELECT min(c.position) FROM event_consumers c WHERE c.partition_id = p);
    number    bigint;
    upper     bigint;
BEGIN
    dropped := 0;
    FOR number IN
        SELECT split_part(t.relname, '_', 4)::bigint FROM pg_inherits h JOIN pg_class t ON t.oid = h.inhrelid
        WHERE h.inhparent = 'event_log'::regclass AND t.relname ~ format('^event_log_%s_[0-9]+$', p) ORDER BY 1
    LOOP
        upper := base + (number + 1) * size;
        kept_by := CASE
            WHEN upper > processed OR NOT EXISTS (SELECT FROM command_log c WHERE c.partition_id = p AND c.position >= upper) THEN 'cursor'
            WHEN consumed < upper THEN 'consumer'
            WHEN (SELECT e.processed_at FROM event_log e WHERE e.partition_id = p AND e.position >= upper - size AND e.position < upper
                  ORDER BY e.position DESC, e.seq DESC LIMIT 1) >= before THEN 'age'
            WHEN EXISTS (SELECT FROM process_instances i
                         WHERE i.ended_at IS NULL AND i.created_position >= base AND i.created_position < upper) THEN 'instance'
        END;
        EXIT WHEN kept_by IS NOT NULL;
        EXECUTE format('DROP TABLE %I, %I', format('command_log_%s_%s', p, number), format('event_log_%s_%s', p, number));
        dropped := dropped + 1;
    END LOOP;
    RETURN NEXT;
END $$;
