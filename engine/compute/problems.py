"""The failures of a task of a compute process."""

from __future__ import annotations


class NotComputed(Exception):
    """The task was not done."""


class Busy(NotComputed):
    """Too many tasks wait, or the task waited too long. It can be tried again later."""


class TooCostly(NotComputed):
    """The task takes more CPU time or memory than one task may. The message says which."""


class ProcessDied(NotComputed):
    """Somebody ended the compute processes that did the task. It can be tried again."""


class CannotWork(NotComputed):
    """No compute process can be started, or it ends at once: the system or the installation does not let it work."""


class TaskFailed(Exception):
    """The function of the task raised an exception: a bug. The message is its traceback."""
