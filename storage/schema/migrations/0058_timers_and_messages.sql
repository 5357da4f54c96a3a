-- Timers, messages and signals.

-- Timers. This table is the source of truth; the program holds a window of the nearest due dates in memory.
--
-- Without `root_key`: the timer of a start event. Two boundary timers of one activity, and the occurrences of a cycle, are
-- different rows.
CREATE TABLE timers (
    timer_key              bigint PRIMARY KEY,
    root_key               bigint,
    part_key               bigint,
    process_instance_key   bigint,
    element_instance_key   bigint,
    process_definition_key bigint NOT NULL,
    due_at_ms              bigint NOT NULL CHECK (due_at_ms BETWEEN 0 AND 253402300799999),
    created_at             timestamptz NOT NULL,
    triggered_at           timestamptz,
    ended_at               timestamptz,
    partition_id           int NOT NULL,
    repetitions            int NOT NULL,
    process_id             text NOT NULL,
    target_element_id      text NOT NULL,
    type                   text NOT NULL CHECK (type IN ('BOUNDARY', 'INTERMEDIATE', 'START_EVENT', 'EVENT_SUB_PROCESS')),
    state                  text NOT NULL CHECK (state IN ('PENDING', 'TRIGGERED', 'CANCELED', 'FAILED')),
    tenant_id              text NOT NULL,
    cycle                  json
);
CREATE UNIQUE INDEX timers_pending_target ON timers (element_instance_key, target_element_id)
    WHERE state = 'PENDING' AND element_instance_key IS NOT NULL;
CREATE INDEX timers_due ON timers (partition_id, due_at_ms, timer_key) WHERE state = 'PENDING';
CREATE INDEX timers_live ON timers (part_key) WHERE ended_at IS NULL AND part_key IS NOT NULL;
CREATE INDEX timers_instance ON timers (process_instance_key, timer_key);
CREATE INDEX timers_definition ON timers (process_definition_key) WHERE ended_at IS NULL AND root_key IS NULL;
CREATE INDEX timers_ended ON timers (ended_at) WHERE ended_at IS NOT NULL;

-- Timers that can neither fire nor be marked as failed, because the database refuses both. The timer task skips them while their
-- due date is the same. No foreign key: checking it would read the row that is at fault.
CREATE TABLE stuck_timers (
    timer_key    bigint NOT NULL,
    due_at_ms    bigint NOT NULL,
    partition_id int NOT NULL,
    noted_at     timestamptz NOT NULL,
    reason       text NOT NULL,
    PRIMARY KEY (timer_key, due_at_ms)
);

-- Messages and signals: subscriptions, buffered messages, correlations. Names and keys may be longer than an index entry, so the
-- indexes have their MD5.

-- The subscriptions of elements, kept for the history. `correlation_key` is NULL for signals and conditions; conditions have no
-- name.
CREATE TABLE subscriptions (
    subscription_key       bigint PRIMARY KEY,
    root_key               bigint NOT NULL,
    part_key               bigint,
    process_instance_key   bigint NOT NULL,
    element_instance_key   bigint NOT NULL,
    process_definition_key bigint NOT NULL,
    created_at             timestamptz NOT NULL,
    updated_at             timestamptz NOT NULL,
    ended_at               timestamptz,
    process_version        int NOT NULL,
    interrupting           boolean NOT NULL,
    process_id             text NOT NULL,
    process_name           text,
    target_element_id      text NOT NULL,
    type                   text NOT NULL CHECK (type IN ('BOUNDARY', 'INTERMEDIATE', 'EVENT_SUB_PROCESS')),
    kind                   text NOT NULL CHECK (kind IN ('MESSAGE', 'SIGNAL', 'CONDITION')),
    name                   text NOT NULL,
    correlation_key        text,
    state                  text NOT NULL CHECK (state IN ('CREATED', 'CORRELATED', 'DELETED')),
    business_id            text,
    tenant_id              text NOT NULL
) WITH (fillfactor = 85);
CREATE INDEX subscriptions_live ON subscriptions (part_key) WHERE ended_at IS NULL;
CREATE INDEX subscriptions_signal ON subscriptions (tenant_id, md5(name), subscription_key)
    WHERE kind = 'SIGNAL' AND ended_at IS NULL;
CREATE INDEX subscriptions_instance ON subscriptions (process_instance_key, subscription_key);
CREATE INDEX subscriptions_ended ON subscriptions (ended_at) WHERE ended_at IS NOT NULL;
-- The statistic of open message subscriptions reads no rows.
CREATE INDEX subscriptions_open ON subscriptions (process_definition_key, process_instance_key)
    WHERE kind = 'MESSAGE' AND ended_at IS NULL;

-- The start events of the latest versions.
CREATE TABLE start_subscriptions (
    subscription_key       bigint PRIMARY KEY,
    process_definition_key bigint NOT NULL,
    opened_at              timestamptz NOT NULL,
    tenant_id              text NOT NULL,
    process_id             text NOT NULL,
    element_id             text NOT NULL,
    kind                   text NOT NULL CHECK (kind IN ('MESSAGE', 'SIGNAL', 'CONDITION')),
    name                   text NOT NULL
);

-- A message channel is (tenant_id, correlation_key): its buffered messages, its open subscriptions, and the locks of the
-- instances that its messages started. The slot of the channel leads its indexes, so that a slot can move to another partition.
CREATE TABLE messages (
    message_key     bigint PRIMARY KEY,
    deadline_ms     bigint NOT NULL,
    partition_id    int NOT NULL,
    slot            smallint GENERATED ALWAYS AS (slot_of(tenant_id, correlation_key)) STORED NOT NULL,
    tenant_id       text NOT NULL,
    name            text NOT NULL,
    correlation_key text NOT NULL,
    message_id      text,
    -- Instances that the message starts later have it.
    business_id     text,
    variables       json NOT NULL,
    -- The processes that got the message.
    given           text[] NOT NULL
) WITH (fillfactor = 90);
CREATE INDEX messages_channel ON messages (slot, tenant_id, md5(correlation_key), md5(name), message_key);
CREATE INDEX messages_id ON messages (slot, tenant_id, md5(correlation_key), md5(message_id)) WHERE message_id IS NOT NULL;
CREATE INDEX messages_deadline ON messages (partition_id, deadline_ms);

CREATE TABLE channel_subscriptions (
    subscription_key bigint PRIMARY KEY,
    interrupting     boolean NOT NULL,
    slot             smallint GENERATED ALWAYS AS (slot_of(tenant_id, correlation_key)) STORED NOT NULL,
    tenant_id        text NOT NULL,
    correlation_key  text NOT NULL,
    name             text NOT NULL,
    process_id       text NOT NULL,
    state            text NOT NULL CHECK (state IN ('OPEN', 'CORRELATING'))
) WITH (fillfactor = 90);
CREATE INDEX channel_subscriptions_channel ON channel_subscriptions (slot, tenant_id, md5(correlation_key), subscription_key);

CREATE TABLE start_locks (
    process_instance_key bigint PRIMARY KEY,
    slot                 smallint GENERATED ALWAYS AS (slot_of(tenant_id, correlation_key)) STORED NOT NULL,
    tenant_id            text NOT NULL,
    correlation_key      text NOT NULL,
    process_id           text NOT NULL
);
CREATE INDEX start_locks_channel ON start_locks (slot, tenant_id, md5(correlation_key));

-- The history: which instance got which message.
CREATE TABLE message_correlations (
    message_correlation_key bigint PRIMARY KEY,
    message_key             bigint NOT NULL,
    subscription_key        bigint NOT NULL,
    root_key                bigint NOT NULL,
    process_instance_key    bigint NOT NULL,
    element_instance_key    bigint,
    process_definition_key  bigint NOT NULL,
    correlated_at           timestamptz NOT NULL,
    process_id              text NOT NULL,
    element_id              text NOT NULL,
    name                    text NOT NULL,
    correlation_key         text NOT NULL,
    business_id             text,
    tenant_id               text NOT NULL
);
CREATE INDEX message_correlations_message ON message_correlations (message_key);
CREATE INDEX message_correlations_instance ON message_correlations (process_instance_key);
-- Correlations are deleted by age.
CREATE INDEX message_correlations_age ON message_correlations (correlated_at);

-- The message subscriptions of the REST API: those of elements and those of start events. They say when they ended: a search for
-- open ones then reads the index that only these have, and not all that were closed in thirty days. As every view, it shows what
-- its reader may see, not what its owner may (security_invoker).
CREATE VIEW message_subscriptions WITH (security_invoker = true) AS
SELECT subscription_key, process_id, process_definition_key, process_name, process_version, process_instance_key, root_key,
       target_element_id AS element_id, element_instance_key, state, 'PROCESS_EVENT' AS subscription_type, updated_at, name,
       correlation_key, tenant_id, business_id, ended_at
FROM subscriptions WHERE kind = 'MESSAGE'
UNION ALL
SELECT s.subscription_key, s.process_id, s.process_definition_key, d.name, d.version, NULL, NULL, s.element_id, NULL,
       'CREATED', 'START_EVENT', s.opened_at, s.name, NULL, s.tenant_id, NULL, NULL
FROM start_subscriptions s JOIN process_definitions d USING (process_definition_key) WHERE s.kind = 'MESSAGE';
