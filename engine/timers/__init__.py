"""The timers of a partition: the task, its window of due dates, and its pace.

Entry: `task.Timers`.
Imports: core, storage, appender, counters, outcomes, supervision.
"""
