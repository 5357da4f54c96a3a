-- name: revision
-- Each change of the clock raises the revision.
SELECT revision FROM clock;

-- name: pin
-- A new revision tells every reader that time may have gone back. The notification leaves with the commit. Both statements
-- compare the revision that was read before: a late call must not undo a newer setting.
WITH changed AS (
    UPDATE clock SET revision = revision + 1, pinned_at = from_epoch_ms($1), shift = '0'
    WHERE revision = $3 RETURNING revision)
SELECT pg_notify($2, revision::text) FROM changed;

-- name: shift
-- The clock runs again, ahead of the database's time by the shift.
WITH changed AS (
    UPDATE clock SET revision = revision + 1, pinned_at = NULL, shift = make_interval(secs => $1 / 1000.0)
    WHERE revision = $3 RETURNING revision)
SELECT pg_notify($2, revision::text) FROM changed;
