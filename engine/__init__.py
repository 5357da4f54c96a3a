"""The tasks of a running engine: what a nursery runs around the pure core.

Entry: `appender.task.Appender`, `consumer.leadership.Consumer`, `timers.task.Timers`.
Imports: nothing of ours.
"""
