"""The log appender: what waits to be appended goes in one call, and who is admitted.

Entry: `task.Appender`.
Imports: core, storage, counters, outcomes, supervision, tracing.
"""
