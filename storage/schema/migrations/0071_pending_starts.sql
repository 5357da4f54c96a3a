-- Messages of one correlation key that start an instance together: whether a start event awaits several, and those that have
-- come. A row of `start_locks` with an element is a pending start, whose key is that of no instance.

ALTER TABLE start_subscriptions ADD COLUMN together boolean NOT NULL DEFAULT false;
ALTER TABLE start_locks ADD COLUMN element_id text, ADD COLUMN kept json, ADD COLUMN deadline_ms bigint;
CREATE INDEX start_locks_deadline ON start_locks (deadline_ms) WHERE deadline_ms IS NOT NULL;
