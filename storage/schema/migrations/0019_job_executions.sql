-- Background jobs (docs/background-jobs.md). A row is one execution. It is deleted when it has succeeded, so the table stays small.

-- `execute_at` is the engine's time, `alive_at` real time. `lease` belongs to one run of the execution: what a run writes after it has
-- lost its lease has no effect. The one execution of a scheduled job has a `schedule`, the one of a consumer in a partition its
-- `partition_id`. `occurrence` counts the runs that ended and were followed by another; attempts of one run share it.
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
    CONSTRAINT job_executions_running CHECK ((state = 'running') = (lease IS NOT NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
CREATE INDEX job_executions_pending ON job_executions (job_type, execute_at) WHERE state = 'pending';
CREATE INDEX job_executions_stale ON job_executions (alive_at) WHERE state = 'running';
CREATE INDEX job_executions_failed ON job_executions (failed_at) WHERE state = 'failed';
CREATE UNIQUE INDEX job_executions_schedule ON job_executions (job_type) WHERE schedule IS NOT NULL AND state <> 'failed';
CREATE UNIQUE INDEX job_executions_consumer ON job_executions (job_type, partition_id) WHERE partition_id IS NOT NULL;

-- Types that an operator has paused.
CREATE TABLE paused_job_types (
    job_type  text PRIMARY KEY,
    paused_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The connections of dispatchers. Only the last one of a node may pull: a late pull of an earlier one would start runs that nobody knows.
CREATE TABLE job_dispatchers (
    node    text PRIMARY KEY,
    session bigint NOT NULL DEFAULT 1,
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- One row. It rises with each change of `paused_job_types`.
CREATE TABLE job_pauses (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    pauses bigint NOT NULL DEFAULT 0
);
INSERT INTO job_pauses DEFAULT VALUES;
