"""Suspension of process instances: commands and events."""

from __future__ import annotations

from typing import Any, ClassVar

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender, WhileSuspended


class SuspendInstance(Command, frozen=True):
    """Stop a process instance where it is; `include_called`: with those that it has called, and that run.

    `reason`: for people. `only`: the called instances that are meant; all, if it is empty.
    """

    intent: ClassVar[str] = "PROCESS_INSTANCE:SUSPEND"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.EXECUTE
    changes_tree = True

    key: int
    include_called: bool = False
    reason: str | None = None
    only: tuple[int, ...] = ()


class ResumeInstance(Command, frozen=True):
    """Let a suspended process instance go on; `include_called`: with suspended ones that it has called.

    `only`: the called instances that are meant; all, if it is empty.
    """

    intent: ClassVar[str] = "PROCESS_INSTANCE:RESUME"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.EXECUTE
    changes_tree = True

    key: int
    include_called: bool = False
    only: tuple[int, ...] = ()


Items = tuple[tuple[int, str, Any], ...]
"""Work items (element key, stage, argument)."""


RESUME_WAITS = "resume waits"
"""The stage of a suspended item: the suspended timers and subscriptions of an instance go on, page by page. The
argument is the key before the page."""
RESCHEDULE, AWAIT_MESSAGE = "reschedule", "await message"
"""Stages of items that older versions suspended: one timer or one subscription goes on."""


class InstanceSuspended(Event, frozen=True):
    """The process instance takes no further step. Its jobs are not activated."""

    key: int
    reason: str | None = None


class InstanceResumed(Event, frozen=True):
    """The process instance goes on with all work that waited: with `items`, or, without any, as deferred work."""

    key: int
    items: Items = ()


class WorkSuspended(Event, frozen=True):
    """These work items of a suspended process instance wait for its resumption."""

    instance: int
    items: Items
