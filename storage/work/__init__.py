"""What is leased, fired and done in bulk: activation of jobs, due timers, items of batch operations.

Entry: `activation.activate`, `timers`, `batch_operations`.
Imports: core, access, postgres.
"""
