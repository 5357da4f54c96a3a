-- Old rows of a log that grows slowly are deleted one by one (docs/retention.md). Its only piece is never full, so never dropped.

-- Deletes the rows of both logs up to the position of about the `most`-th row of the event log, the oldest first; returns how many rows of the
-- event log. It does so only in the piece that grows, and only when no other one is left: full pieces are dropped whole, in no time. A row
-- stays, with all behind it, for the reasons that keep a piece (0035): it is not processed, not old, not read by a consumer of events,
-- or of a tree that runs. The row at the cursor stays, too: positions after a crash begin behind the last row.
CREATE FUNCTION delete_old_log_rows(p int, before timestamptz, most int) RETURNS int LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    size      CONSTANT bigint := 10000000;
    base      CONSTANT bigint := p::bigint << 51;
    processed CONSTANT bigint := coalesce((SELECT b.to_pos FROM batches b WHERE b.partition_id = p ORDER BY b.from_pos DESC LIMIT 1), base);
    consumed  CONSTANT bigint := (SELECT min(c.position) FROM event_consumers c WHERE c.partition_id = p);
    free      CONSTANT bigint := least(processed, consumed, (
        SELECT c.position FROM command_log c WHERE c.partition_id = p ORDER BY c.position DESC LIMIT 1));
    lower     CONSTANT bigint := base + (processed - base) / size * size;
    upto      bigint;
    deleted   int;
BEGIN
    SELECT e.position INTO upto FROM event_log e WHERE e.partition_id = p ORDER BY e.position, e.seq LIMIT 1;
    IF upto IS NULL OR upto < lower THEN
        RETURN 0;
    END IF;
    SELECT max(s.position) INTO upto FROM (
        SELECT e.position FROM event_log e WHERE e.partition_id = p AND e.position < free ORDER BY e.position, e.seq LIMIT most) s;
    upto := least(upto, (
        SELECT e.position - 1 FROM event_log e
        WHERE e.partition_id = p AND e.position <= upto AND (e.processed_at >= before OR EXISTS (
            SELECT FROM process_instances i WHERE i.process_instance_key = e.root_key AND i.ended_at IS NULL))
        ORDER BY e.position LIMIT 1));
    DELETE FROM command_log c WHERE c.partition_id = p AND c.position <= upto;
    DELETE FROM event_log e WHERE e.partition_id = p AND e.position <= upto;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $$;
