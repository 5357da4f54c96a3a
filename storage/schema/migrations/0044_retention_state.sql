-- What retention did last, and what it waits for: for `vivero status`, `vivero doctor` and metrics (docs/retention.md).

ALTER TABLE retention_clocks
    -- The value of `moves` that this was written for: a late statement of an earlier run changes nothing.
    ADD COLUMN ran_moves     bigint NOT NULL DEFAULT -1,
    -- When the last run ended, by the server's time.
    ADD COLUMN ran_at        timestamptz,
    -- Trees that it deleted.
    ADD COLUMN ran_deleted   bigint NOT NULL DEFAULT 0,
    -- Why it could not go on, and since when, by the server's time: the archive is away.
    ADD COLUMN problem       text,
    ADD COLUMN problem_since timestamptz,
    -- The root of the tree that should have been deleted first and is still there, when that was due, and what keeps it.
    ADD COLUMN kept_key      bigint,
    ADD COLUMN kept_due      timestamptz,
    ADD COLUMN kept_by       text,
    -- What keeps the oldest log partition that is old enough to be dropped: 'consumer' or 'instance'.
    ADD COLUMN logs_kept_by  text;
