-- Suspended process instances. `suspended_work`: work items that wait for the resumption. Only few rows have a value.
ALTER TABLE process_instances
    ADD COLUMN suspended_at timestamptz,
    ADD COLUMN suspended_reason text,
    ADD COLUMN suspended_work json;

-- A suspended job is in neither index of activation. It keeps what it was: ready, or leased or in backoff until a time.
-- Null: the job is not suspended.
ALTER TABLE jobs
    ADD COLUMN suspended_ready boolean,
    ADD COLUMN suspended_until timestamptz;

-- A timer that was due while its instance is suspended. NOT VALID: all rows fit already, and a scan of a large table would
-- stop the timers.
-- A database without the table is refused later, with all that it lacks.
ALTER TABLE IF EXISTS timers DROP CONSTRAINT IF EXISTS timers_state_check;
ALTER TABLE IF EXISTS timers ADD CONSTRAINT timers_state_check
    CHECK (state IN ('PENDING', 'TRIGGERED', 'CANCELED', 'FAILED', 'SUSPENDED')) NOT VALID;
