"""User tasks: commands and events."""

from __future__ import annotations

from typing import ClassVar, TypedDict

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender, Variables


class UserTaskChanges(TypedDict, total=False):
    """New values of attributes of a user task. Missing keys stay unchanged. Dates are epoch ms; None removes a date."""

    assignee: str | None
    candidate_groups: tuple[str, ...]
    candidate_users: tuple[str, ...]
    due_at: int | None
    follow_up_at: int | None
    priority: int


class AssignUserTask(Command, frozen=True):
    """Assign a user task, or unassign it (None). `action`: the caller's name for the change, for listeners."""

    intent: ClassVar[str] = "USER_TASK:ASSIGN"
    home = homes.of_key
    sent_by = Sender.CLIENT
    changes_tree = True

    key: int
    assignee: str | None
    action: str = "assign"


class ClaimUserTask(Command, frozen=True):
    """Assign a user task, unless it has another assignee."""

    intent: ClassVar[str] = "USER_TASK:CLAIM"
    home = homes.of_key
    sent_by = Sender.CLIENT
    changes_tree = True

    key: int
    assignee: str
    action: str = "claim"


class UpdateUserTask(Command, frozen=True):
    intent: ClassVar[str] = "USER_TASK:UPDATE"
    home = homes.of_key
    sent_by = Sender.CLIENT
    changes_tree = True

    key: int
    changes: UserTaskChanges
    action: str = "update"


class CompleteUserTask(Command, frozen=True):
    intent: ClassVar[str] = "USER_TASK:COMPLETE"
    home = homes.of_key
    sent_by = Sender.CLIENT
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
