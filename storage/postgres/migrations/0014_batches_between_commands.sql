-- A batch of deferred work between commands (docs/adr/0009-slices-between-commands.md). The cursor stays where it is, and no
-- row is written: keys come out of those that the last batch with commands has set aside. Raises as `fence` does. Of a batch that nobody is told of, the flush is left to the next: whatever is based
-- on it stands behind it in the WAL.
CREATE FUNCTION fence_between(p int, e bigint, pos bigint, used_to bigint, told boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    last batches;
BEGIN
    PERFORM FROM partitions WHERE id = p AND epoch = e FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'partition % is no longer owned by epoch %', p, e USING ERRCODE = 'VV001';
    END IF;
    SELECT * INTO last FROM batches WHERE partition_id = p ORDER BY from_pos DESC LIMIT 1;
    IF last.to_pos IS DISTINCT FROM pos OR last.next_key < used_to THEN
        RAISE EXCEPTION 'partition % stands at % with keys up to %, not at % with %', p, last.to_pos, last.next_key, pos, used_to
            USING ERRCODE = 'VV001';
    END IF;
    IF NOT told THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
END $$;
