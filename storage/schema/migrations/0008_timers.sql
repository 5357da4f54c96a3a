-- Timers. This table is the source of truth; the program holds a window of the nearest due dates in memory.

-- Without `root_key`: the timer of a start event. Two boundary timers of one activity, and the occurrences of a cycle, are different rows.
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
