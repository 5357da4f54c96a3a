"""Batch operations: the task that scans filters and sends the commands of items (docs/batch-operations.md).

Entry: `task.BatchOperations`.
Imports: core, storage, appender, dry_runs, outcomes, supervision, timers.
"""
