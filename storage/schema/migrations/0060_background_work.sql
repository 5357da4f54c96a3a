-- Work outside of the log: background jobs, consumers of events, the outbox, and batch operations.

-- Background jobs (docs/background-jobs.md). A row is one execution. It is deleted when it has succeeded, so the table stays
-- small.
--
-- `execute_at` is the engine's time, `alive_at` real time. `lease` belongs to one run of the execution: what a run writes after
-- it has lost its lease has no effect. The one execution of a scheduled job has a `schedule`, the one of a consumer in a
-- partition its `partition_id`. `occurrence` counts the runs that ended and were followed by another; attempts of one run share
-- it.
CREATE TABLE job_executions (
    id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    job_type      text NOT NULL,
    execute_at    timestamptz NOT NULL DEFAULT clock_now(),
    state         text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running', 'failed')),
    attempt_index int NOT NULL DEFAULT 0,
    occurrence    bigint NOT NULL DEFAULT 0,
    alive_at      timestamptz,
    payload       jsonb,
    trace_context jsonb,
    created_at    timestamptz NOT NULL DEFAULT clock_now(),
    partition_id  int,
    schedule      text,
    node          text,
    lease         uuid,
    error         text,
    failed_at     timestamptz,
    -- While an execution with a key waits or runs, no other of its type gets the same key.
    unique_key    text,
    CONSTRAINT job_executions_running CHECK ((state = 'running') = (lease IS NOT NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
CREATE INDEX job_executions_pending ON job_executions (job_type, execute_at) WHERE state = 'pending';
CREATE INDEX job_executions_stale ON job_executions (alive_at) WHERE state = 'running';
CREATE INDEX job_executions_failed ON job_executions (failed_at) WHERE state = 'failed';
CREATE UNIQUE INDEX job_executions_unique ON job_executions (job_type, unique_key)
    WHERE unique_key IS NOT NULL AND state <> 'failed';
-- A schedule has one execution, or one in each partition.
CREATE UNIQUE INDEX job_executions_schedule ON job_executions (job_type, coalesce(partition_id, 0))
    WHERE schedule IS NOT NULL AND state <> 'failed';
CREATE UNIQUE INDEX job_executions_consumer ON job_executions (job_type, partition_id)
    WHERE partition_id IS NOT NULL AND schedule IS NULL;

-- Types that an operator has paused.
CREATE TABLE paused_job_types (
    job_type  text PRIMARY KEY,
    paused_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The connections of dispatchers. Only the last one of a node may pull: a late pull of an earlier one would start runs that
-- nobody knows.
CREATE TABLE job_dispatchers (
    node    text PRIMARY KEY,
    session bigint NOT NULL DEFAULT 1,
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The types that it runs, for people: types without executions are listed, too.
    types   text[] NOT NULL DEFAULT '{}'
);

-- One row. It rises with each change of `paused_job_types`.
CREATE TABLE job_pauses (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    pauses bigint NOT NULL DEFAULT 0
);
INSERT INTO job_pauses DEFAULT VALUES;

-- How far consumers of events have come, by partition: the next event to read. `seq` is the row's of `event_log`, `ordinal` the
-- event's in this row.
CREATE TABLE event_consumers (
    consumer        text NOT NULL,
    partition_id    int NOT NULL,
    position        bigint NOT NULL,
    seq             smallint NOT NULL,
    ordinal         int NOT NULL,
    acknowledged_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (partition_id, consumer)
);

-- Events that the outbox webhook has to deliver (docs/connectors.md). A row is deleted when its event is delivered. The first row
-- of an instance tree is `pending`, or `dead` after its last attempt; rows behind it are `held`. `root_key` is 0 for events of no
-- instance.
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

-- Batch operations: one change of all process instances or incidents that match a filter (docs/batch-operations.md).

-- A batch belongs to no partition: its items are in all of them. The owner of partition 1 works on it, and each of its writes
-- compares the epoch of that partition.
CREATE TABLE batch_operations (
    batch_operation_key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    type          text NOT NULL CHECK (type IN ('CANCEL_PROCESS_INSTANCE', 'RESOLVE_INCIDENT', 'DELETE_PROCESS_INSTANCE')),
    state         text NOT NULL DEFAULT 'CREATED' CHECK (state IN
        ('CREATED', 'ACTIVE', 'SUSPENDED', 'COMPLETED', 'PARTIALLY_COMPLETED', 'CANCELED', 'FAILED')),
    -- Rises when a client suspends, resumes or cancels the batch: a late request must not undo a newer one.
    changes       bigint NOT NULL DEFAULT 0,
    -- False when nothing is left to do. A canceled batch is open until its rest is marked.
    open          boolean NOT NULL DEFAULT true,
    -- The resource that the filter selects: process-instances or incidents.
    resource      text NOT NULL,
    filter        json NOT NULL,
    -- The items up to this key exist; `scanned`: all items exist.
    scan_cursor   bigint NOT NULL DEFAULT 0,
    scanned       boolean NOT NULL DEFAULT false,
    -- The caller who created the batch: its rights are read again before each item is sent.
    actor_kind    text NOT NULL,
    actor_id      text NOT NULL,
    mapping_rules text[] NOT NULL DEFAULT '{}',
    -- The tenants and processes that the caller could change at the creation; NULL: all.
    tenants       text[],
    processes     text[],
    -- Rows that are newer than the batch do not belong to it.
    created_at    timestamptz NOT NULL DEFAULT clock_now(),
    started_at    timestamptz,
    ended_at      timestamptz,
    total         bigint NOT NULL DEFAULT 0,
    completed     bigint NOT NULL DEFAULT 0,
    failed        bigint NOT NULL DEFAULT 0,
    skipped       bigint NOT NULL DEFAULT 0,
    canceled      bigint NOT NULL DEFAULT 0,
    error         text,
    -- The idempotency key of the creation with its caller, and the fingerprint of the request.
    request_key   text NOT NULL UNIQUE,
    body_sha      bytea NOT NULL,
    -- The scan of a batch whose filter has a range of time goes in the order of the time, by its index
    -- (docs/batch-operations.md): the time of the row with the key `scan_cursor`. The items up to both exist. NULL: the scan goes
    -- in the order of the keys.
    scan_at       timestamptz,
    -- Who verified the caller (audit_log).
    actor_provider text
) WITH (fillfactor = 50);
CREATE INDEX batch_operations_open ON batch_operations (batch_operation_key) WHERE open;
CREATE INDEX batch_operations_ended ON batch_operations (ended_at) WHERE NOT open;

-- The key of an item is that of a process instance or incident, which has the partition. `item_number` orders the items of all
-- batches.
CREATE TABLE batch_operation_items (
    item_number          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    batch_operation_key  bigint NOT NULL,
    item_key             bigint NOT NULL,
    process_instance_key bigint NOT NULL,
    root_key             bigint NOT NULL,
    -- The position of the item's command. NULL: it is not sent. 0: it may be in the log, and it is appended again with the same
    -- idempotency key.
    position             bigint,
    processed_at         timestamptz,
    type                 text NOT NULL,
    state                text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'COMPLETED', 'SKIPPED', 'CANCELED', 'FAILED')),
    process_id           text NOT NULL,
    tenant_id            text NOT NULL,
    error                text,
    UNIQUE (batch_operation_key, item_key)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
CREATE INDEX batch_operation_items_unsent ON batch_operation_items (batch_operation_key, item_key)
    WHERE state = 'ACTIVE' AND position IS NULL;
CREATE INDEX batch_operation_items_sent ON batch_operation_items (batch_operation_key, position)
    WHERE state = 'ACTIVE' AND position IS NOT NULL;
CREATE INDEX batch_operation_items_instance ON batch_operation_items (process_instance_key);
