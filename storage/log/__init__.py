"""The command log: append, read batches, outcomes, and commands that may have ended a term.

Entry: `command_log.append`, `log_batches`, `attempts`.
Imports: core, access, postgres.
"""
