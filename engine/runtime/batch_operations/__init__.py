"""Batch operations: the task that scans filters and sends the commands of items (docs/batch-operations.md)."""
