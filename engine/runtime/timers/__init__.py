"""The timers of a partition: the task, its window of due dates, and its pace."""
