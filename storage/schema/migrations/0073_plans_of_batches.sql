-- Batch operations whose items share a plan, such as the mapping of a migration: what each command takes from it. It may be long,
-- and only the task that sends the commands reads it.
ALTER TABLE batch_operations ADD COLUMN plan json;
-- The program knows the types (engine/batch_operations/items.py). The table is small, so that nobody waits for long.
ALTER TABLE batch_operations DROP CONSTRAINT batch_operations_type_check;
