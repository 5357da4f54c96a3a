-- name: revision
-- Which setting of the clock this is.
SELECT revision FROM clock;

-- name: pin
-- A new revision tells every reader that time may have gone back. The notification leaves with the commit. Only after the
-- revision that was read, here and below: what comes late must not undo what was set since.
WITH changed AS (
    UPDATE clock SET revision = revision + 1, pinned_at = from_epoch_ms($1), shift = '0'
    WHERE revision = $3 RETURNING revision)
SELECT pg_notify($2, revision::text) FROM changed;

-- name: shift
-- Time goes on, so much before (or after) the database's.
WITH changed AS (
    UPDATE clock SET revision = revision + 1, pinned_at = NULL, shift = make_interval(secs => $1 / 1000.0)
    WHERE revision = $3 RETURNING revision)
SELECT pg_notify($2, revision::text) FROM changed;
