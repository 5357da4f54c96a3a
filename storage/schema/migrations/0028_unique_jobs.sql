-- Background jobs: unique executions, schedules by partition, the types that a dispatcher runs.

-- While an execution with a key waits or runs, no other of its type gets the same key.
ALTER TABLE job_executions ADD COLUMN unique_key text;
CREATE UNIQUE INDEX job_executions_unique ON job_executions (job_type, unique_key) WHERE unique_key IS NOT NULL AND state <> 'failed';

-- A schedule has one execution, or one in each partition.
DROP INDEX job_executions_schedule;
CREATE UNIQUE INDEX job_executions_schedule ON job_executions (job_type, coalesce(partition_id, 0))
    WHERE schedule IS NOT NULL AND state <> 'failed';
DROP INDEX job_executions_consumer;
CREATE UNIQUE INDEX job_executions_consumer ON job_executions (job_type, partition_id) WHERE partition_id IS NOT NULL AND schedule IS NULL;

-- For people: types without executions are listed, too.
ALTER TABLE job_dispatchers ADD COLUMN types text[] NOT NULL DEFAULT '{}';
