"""The command log: append, read batches, outcomes, commands that are held, and those that may have ended a term.

Entry: `command_log.append`, `log_batches`, `attempts`.
Imports: core, access, postgres.
"""
