"""User tasks: commands and events."""

from __future__ import annotations

from typing import ClassVar, TypedDict

from vivero.engine.core.records.base import Command, Event, Variables


class UserTaskChanges(TypedDict, total=False):
    """Attributes of a user task with their new values; what is absent stays. Dates are epoch ms, None: no date."""

    assignee: str | None
    candidate_groups: tuple[str, ...]
    candidate_users: tuple[str, ...]
    due_at: int | None
    follow_up_at: int | None
    priority: int


class AssignUserTask(Command, frozen=True):
    """Give a user task to somebody, or to nobody (None). `action`: what the caller calls it, for listeners."""

    intent: ClassVar[str] = "USER_TASK:ASSIGN"
    key: int
    assignee: str | None
    action: str = "assign"


class ClaimUserTask(Command, frozen=True):
    """Give a user task to somebody unless another has it."""

    intent: ClassVar[str] = "USER_TASK:CLAIM"
    key: int
    assignee: str
    action: str = "claim"


class UpdateUserTask(Command, frozen=True):
    intent: ClassVar[str] = "USER_TASK:UPDATE"
    key: int
    changes: UserTaskChanges
    action: str = "update"


class CompleteUserTask(Command, frozen=True):
    intent: ClassVar[str] = "USER_TASK:COMPLETE"
    key: int
    variables: Variables = {}
    action: str = "complete"


class UserTaskCreated(Event, frozen=True):
    """The work of a person. Dates are epoch ms; `external_form` is the reference of a form that is kept elsewhere."""

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
    """Somebody has given the task to somebody, or has changed what is asked for; `action` is what they called it."""

    key: int
    changes: UserTaskChanges
    action: str


class UserTaskEnded(Event, frozen=True):
    """`state`: COMPLETED or CANCELED."""

    key: int
    state: str
    action: str = ""
