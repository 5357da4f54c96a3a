-- The command log and the event log of all partitions. Both are append-only. A position is `partition << 51 | n`, so it is unique
-- over all partitions; n counts from 1 in the sequence log_position_<partition>. PostgreSQL partitions both logs by ranges of the
-- position, which is by partition first and by age second, so that old ranges can be dropped whole.

CREATE TABLE command_log (
    partition_id int NOT NULL,
    position     bigint NOT NULL,
    -- The append call that wrote the command, and the command's number in that call: a retry finds them.
    append_id    uuid NOT NULL,
    ord          int NOT NULL,
    at           timestamptz NOT NULL,
    tenant_id    text NOT NULL,
    intent       text NOT NULL,
    -- The key of the command's subject, for display.
    key          bigint,
    -- The position of the command that this one answers.
    request      bigint,
    -- A command is written and read once: compressing a large one would hold up those behind it.
    payload      bytea NOT NULL,
    trace        text,
    -- Of a command that is to be audited: the record of its caller (JSON). The batch that processes it writes the row of the
    -- audit log.
    audit        text,
    PRIMARY KEY (partition_id, position)
) PARTITION BY RANGE (position);
ALTER TABLE command_log ALTER COLUMN payload SET STORAGE EXTERNAL;

-- One row for a processed command (seq 0) and one for each follow-up that is processed with it (seq 1, ...).
CREATE TABLE event_log (
    partition_id int NOT NULL,
    position     bigint NOT NULL,
    seq          smallint NOT NULL,
    root_key     bigint,
    request      bigint,
    -- JSON as text: PostgreSQL need not validate what the engine wrote. Large events have a column of their own.
    events       text,
    large_events text,
    rejection    json,
    response     json,
    version      smallint NOT NULL,
    processed_at timestamptz NOT NULL,
    PRIMARY KEY (partition_id, position, seq),
    CONSTRAINT event_log_has_events CHECK (num_nonnulls(events, large_events) = 1)
) PARTITION BY RANGE (position);
CREATE INDEX event_log_root ON event_log (root_key, position, seq);
CREATE INDEX event_log_request ON event_log (request) WHERE request IS NOT NULL;

-- PostgreSQL's own compression takes 30 ms for 600 kB; LZ4 takes two. A server without LZ4 does not compress large events. It
-- does compress small ones: the events of many batches are alike, and a fifth of their size is left.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        ALTER TABLE event_log ALTER COLUMN events SET COMPRESSION lz4, ALTER COLUMN large_events SET COMPRESSION lz4;
    ELSE
        ALTER TABLE event_log ALTER COLUMN large_events SET STORAGE EXTERNAL;
    END IF;
END $$;

-- Makes the log partitions (of both logs) that hold a position, if they are missing; returns how many it made. Their names end
-- with the partition and a number: the range of number i begins at `partition << 51 | i * 10000000`. It makes a table and then
-- attaches it: that takes SHARE UPDATE EXCLUSIVE on the log, which readers (pg_dump, a report) allow; CREATE TABLE ... PARTITION
-- OF takes ACCESS EXCLUSIVE. There is no DEFAULT partition, because each attachment would lock it exclusively: PostgreSQL refuses
-- a row without a log partition, and that counts as an outage.
CREATE FUNCTION make_log_partitions(pos bigint) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    size  CONSTANT bigint := 10000000;
    p     CONSTANT bigint := pos >> 51;
    i     CONSTANT bigint := (pos - (p << 51)) / size;
    lower CONSTANT bigint := (p << 51) + i * size;
    parent text;
    child  text;
    made   int := 0;
BEGIN
    FOREACH parent IN ARRAY ARRAY['command_log', 'event_log'] LOOP
        child := format('%s_%s_%s', parent, p, i);
        IF to_regclass(child) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
        END IF;
        IF NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = child::regclass) THEN
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', parent, child, lower, lower + size);
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END $$;

-- The last position that was given out in a partition; before its first one, the position before that.
CREATE FUNCTION last_log_position(p int) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN coalesce(pg_sequence_last_value(('log_position_' || p)::regclass), p::bigint << 51);
END $$;
