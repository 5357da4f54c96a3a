"""Work that is due: activation of jobs, timers, items of batch operations.

Entry: `activation.activate`, `timers`, `batch_operations`.
Imports: core, access, postgres.
"""
