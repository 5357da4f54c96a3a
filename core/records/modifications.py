"""Modification of a process instance: the command, its instructions, and the event that records it."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender, Variables, WhileSuspended
from vivero.core.records.instances import IncidentRaised
from vivero.core.records.jobs import JobCreated, JobErrorThrown, JobFailed
from vivero.core.records.messages import SubscriptionOpened
from vivero.core.records.migrations import CHECK_PAGE, MOVE_PAGE, RENAME_PAGE
from vivero.core.records.timers import TimerFailed, TimerScheduled
from vivero.core.records.user_tasks import UserTaskCreated

DIRECT, INFERRED, SOURCE_PARENT = "direct", "inferred", "sourceParent"
"""The ways in which a move finds the scope of its target (`MoveInstruction.scope_type`)."""

TERMINATE_PAGE = "terminate page"
"""The stage of an item of deferred work: elements of a modification end, page by page. The argument is their keys."""
PAGES = CHECK_PAGE, MOVE_PAGE, RENAME_PAGE, TERMINATE_PAGE
"""Stages that hold the instance tree until their last page."""


class VariableInstruction(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Variables that are set before the element begins. `scope`: the id of the element or of a flow scope around it;
    empty for the process instance."""

    variables: Variables
    scope: str = ""


class ActivateInstruction(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Activate an element. `ancestor`: the key of a scope around it, below which all scopes are new; None: the live
    ones are used."""

    element_id: str
    variables: tuple[VariableInstruction, ...] = ()
    ancestor: int | None = None


class TerminateInstruction(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Terminate an element instance by its key, or all of an element by its id. Exactly one of both."""

    key: int | None = None
    element_id: str | None = None


class MoveInstruction(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Activate the target and terminate the source, for each source. A source is named by its key, or all by their id.

    `scope_type`: the scope of the target is below `ancestor` (`direct`), below the innermost scope that source and
    target have in common (`inferred`), or below the parent of the source (`sourceParent`).
    """

    target: str
    source_id: str | None = None
    source_key: int | None = None
    scope_type: str = DIRECT
    ancestor: int | None = None
    variables: tuple[VariableInstruction, ...] = ()


class LoopProgress(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The progress of a multi-instance body. `items`: the item and the result (JSON text) of each inner instance."""

    next: int
    completed: int
    terminated: int
    collected: int
    items: tuple[tuple[str, str | None], ...]


class ElementRestored(Event, frozen=True):
    """An undo begins an element instance in the state that `former` had when a modification terminated it.

    No stage of the element runs again. `variables`: key, name and JSON text of each. `tokens`: those on sequence flows.
    `counted`: the loop of this inner instance has counted the former one as terminated.
    """

    key: int
    former: int
    scope: int
    element: str
    type: str
    state: str
    name: str | None = None
    index: int = -1
    variables: tuple[tuple[int, str, str], ...] = ()
    tokens: dict[str, int] = {}
    interrupted: bool = False
    awaiting_reset: dict[str, tuple[str, ...]] = {}
    occurred: dict[str, str] | None = None
    occurrences: dict[str, dict[str, str]] = {}
    loop: LoopProgress | None = None
    counted: bool = False


Restoring = (
    ElementRestored
    | JobCreated
    | JobFailed
    | JobErrorThrown
    | TimerScheduled
    | TimerFailed
    | SubscriptionOpened
    | UserTaskCreated
    | IncidentRaised
)
"""The events that restore an element instance with its waits."""


class ModifyInstance(Command, frozen=True):
    """Activate, move and terminate elements of a process instance: everything or nothing.

    `skip_absent`: leave out moves whose source is not active, as items of batches do. `is_undo`: scopes
    that are left empty stay, as they were before. `restore`: the elements that an undo restores, by the events that do
    so, with the keys of the former elements and waits.
    """

    intent: ClassVar[str] = "PROCESS_INSTANCE_MODIFICATION:MODIFY"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True

    key: int
    activate: tuple[ActivateInstruction, ...] = ()
    terminate: tuple[TerminateInstruction, ...] = ()
    move: tuple[MoveInstruction, ...] = ()
    skip_absent: bool = False
    is_undo: bool = False
    restore: tuple[Restoring, ...] = ()


class InstanceModified(Event, frozen=True):
    """A client has modified the process instance: elements (ids) that begin, and element instances (keys) that end.

    It is for the history: other events have the effects. `former`: the events that would restore what it terminates,
    with the present keys. `lost`: the reason why nothing can restore it.
    """

    key: int
    activated: tuple[str, ...] = ()
    terminated: tuple[int, ...] = ()
    former: tuple[Restoring, ...] = ()
    lost: str | None = None
