-- Events that the outbox webhook has to deliver (docs/connectors.md). A row is deleted when its event is delivered. The first row of an
-- instance tree is `pending`, or `dead` after its last attempt; rows behind it are `held`. `root_key` is 0 for events of no instance.
CREATE TABLE outbox_deliveries (
    partition_id int NOT NULL,
    position     bigint NOT NULL,
    seq          smallint NOT NULL,
    ordinal      int NOT NULL,
    root_key     bigint NOT NULL,
    type         text NOT NULL,
    document     text NOT NULL,
    state        text NOT NULL CHECK (state IN ('pending', 'held', 'dead', 'dropped')),
    attempts     int NOT NULL DEFAULT 0,
    -- The attempts before the last retry by a person.
    forgiven     int NOT NULL DEFAULT 0,
    due_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    error        text,
    PRIMARY KEY (partition_id, position, seq, ordinal)
);
CREATE INDEX outbox_due ON outbox_deliveries (partition_id, due_at) WHERE state IN ('pending', 'dropped');
CREATE INDEX outbox_trees ON outbox_deliveries (partition_id, root_key, position, seq, ordinal);
CREATE INDEX outbox_dead ON outbox_deliveries (due_at) WHERE state = 'dead';
