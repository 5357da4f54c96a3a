-- The scan of a batch operation whose filter has a range of time goes in the order of the time, by its index (docs/batch-operations.md).

-- The time of the row with the key `scan_cursor`: the items up to both exist. NULL: the scan goes in the order of the keys.
ALTER TABLE batch_operations ADD COLUMN scan_at timestamptz;
