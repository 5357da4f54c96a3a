-- How far consumers of events have come, by partition: the next event to read. `seq` is the row's of `event_log`, `ordinal` the event's in
-- this row.
CREATE TABLE event_consumers (
    consumer        text NOT NULL,
    partition_id    int NOT NULL,
    position        bigint NOT NULL,
    seq             smallint NOT NULL,
    ordinal         int NOT NULL,
    acknowledged_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (partition_id, consumer)
);
