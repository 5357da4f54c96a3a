-- Instances that ran for long have an index of their own, for searches in a range of starts by the end (docs/operations/growth.md).

-- Nearly all instances end within a minute, so a walk along the index on the end finds those that began in a range. The others are
-- looked up here: also those that ended before they began, because the clock was set back. Instances that end soon cost it nothing.
-- IF NOT EXISTS: it can be made beforehand, with CONCURRENTLY.
CREATE INDEX IF NOT EXISTS process_instances_late ON process_instances (started_at)
    WHERE ended_at - started_at NOT BETWEEN interval '0' AND interval '1 minute';
