-- Commands that the hold of a migration in pages keeps in the inbox until the instance tree is free.

-- The root of the tree that a command is about. Its target partition is 0 until then, which has no log.
ALTER TABLE inbox ADD COLUMN held_by bigint;
CREATE INDEX inbox_held ON inbox (held_by, id) WHERE held_by IS NOT NULL;
