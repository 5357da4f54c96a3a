"""User tasks: commands and events."""

from __future__ import annotations

import re
from typing import ClassVar, TypedDict

import msgspec

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender, Variables, WhileSuspended


class UserTaskChanges(TypedDict, total=False):
    """New values of attributes of a user task. Missing keys stay unchanged. Dates are epoch ms; None removes a date."""

    assignee: str | None
    candidate_groups: tuple[str, ...]
    candidate_users: tuple[str, ...]
    due_at: int | None
    follow_up_at: int | None
    priority: int


CREATING, ASSIGNING, UPDATING = "CREATING", "ASSIGNING", "UPDATING"
COMPLETING, CANCELING = "COMPLETING", "CANCELING"
TASK_EVENTS = (CREATING, ASSIGNING, UPDATING, COMPLETING, CANCELING)
"""The transitions of a user task that listeners can wait for. Each is also the state of the task meanwhile."""
DENIABLE = (ASSIGNING, COMPLETING, UPDATING)
"""The transitions that a listener can deny."""


class GlobalListener(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A task listener of the whole cluster, as a transition uses it."""

    type: str
    retries: int


class GlobalListeners(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The listeners of the whole cluster for one event, before and after those of the model."""

    before: tuple[GlobalListener, ...] = ()
    after: tuple[GlobalListener, ...] = ()


NO_LISTENERS = GlobalListeners()
LISTENER_ID = re.compile(r"[a-zA-Z0-9_~@.+\-]{1,256}")
"""The id of a listener of the whole cluster."""


class Transition(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A change of a user task, which its listeners may correct or deny.

    `variables` (JSON text) are set at the end: as the result of the task, or for UPDATING in the scopes that `target`
    names. `request` is the position of the command to answer. `assignee`: the model's, assigned after the creation.
    """

    event: str
    action: str = ""
    changes: UserTaskChanges = {}
    variables: dict[str, str] = {}
    target: str | None = None
    """"local" or "merged", for an update of variables."""
    request: int | None = None
    assignee: str | None = None
    listeners: GlobalListeners = NO_LISTENERS
    """The listeners of the whole cluster, as they were when the transition began."""


class AssignUserTask(Command, frozen=True):
    """Assign a user task, or unassign it (None). `action`: the caller's name for the change, for listeners."""

    intent: ClassVar[str] = "USER_TASK:ASSIGN"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True

    key: int
    assignee: str | None
    action: str = "assign"


class ClaimUserTask(Command, frozen=True):
    """Assign a user task, unless it has another assignee."""

    intent: ClassVar[str] = "USER_TASK:CLAIM"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True

    key: int
    assignee: str
    action: str = "claim"


class UpdateUserTask(Command, frozen=True):
    intent: ClassVar[str] = "USER_TASK:UPDATE"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True

    key: int
    changes: UserTaskChanges
    action: str = "update"


class CompleteUserTask(Command, frozen=True):
    intent: ClassVar[str] = "USER_TASK:COMPLETE"
    home = homes.of_key
    sent_by = Sender.CLIENT
    while_suspended = WhileSuspended.REFUSE
    changes_tree = True

    key: int
    variables: Variables = {}
    action: str = "complete"


class UserTaskCreated(Event, frozen=True):
    """A user task was created. Dates are epoch ms. `external_form` is a reference to a form outside the engine."""

    key: int
    element: int
    assignee: str | None
    candidate_groups: tuple[str, ...]
    candidate_users: tuple[str, ...]
    due_at: int | None
    follow_up_at: int | None
    priority: int
    headers: dict[str, str]
    external_form: str | None = None
    form_key: int | None = None


class UserTaskChanged(Event, frozen=True):
    """The assignee or other attributes of the task changed. `action` is the caller's name for the change."""

    key: int
    changes: UserTaskChanges
    action: str


class UserTaskEnded(Event, frozen=True):
    """`state`: COMPLETED or CANCELED."""

    key: int
    state: str
    action: str = ""


class UserTaskChanging(Event, frozen=True):
    """A transition of the task begins, and waits for its listeners."""

    key: int
    transition: Transition


class UserTaskCorrected(Event, frozen=True):
    """A listener corrected attributes of the task, for when its transition ends."""

    key: int
    changes: UserTaskChanges


class UserTaskDenied(Event, frozen=True):
    """A listener denied the transition: the task stays as it was. `reason` may be empty."""

    key: int
    reason: str
