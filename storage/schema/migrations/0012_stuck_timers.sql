-- Timers that can neither fire nor be marked as failed, because the database refuses both.

-- The timer task skips them while their due date is the same. No foreign key: checking it would read the row that is at fault.
CREATE TABLE stuck_timers (
    timer_key    bigint NOT NULL,
    due_at_ms    bigint NOT NULL,
    partition_id int NOT NULL,
    noted_at     timestamptz NOT NULL,
    reason       text NOT NULL,
    PRIMARY KEY (timer_key, due_at_ms)
);
