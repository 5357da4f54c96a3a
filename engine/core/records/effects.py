"""What a handler or a stage yields besides events, and the ways in which it ends early."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from vivero.engine.core.records.base import Command, Event


class RejectionCode(StrEnum):
    """Whose fault it was, in the words of the REST API's problem titles."""

    NOT_FOUND = "NOT_FOUND"
    INVALID_STATE = "INVALID_STATE"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    PROCESSING_ERROR = "PROCESSING_ERROR"


class Rejection(msgspec.Struct, frozen=True, gc=False):
    """The command did nothing, because of its caller (or, PROCESSING_ERROR, because of a bug of ours)."""

    code: RejectionCode
    reason: str


class Reject(Exception):
    """Raised by handlers: the caller's fault; nothing happened."""

    def __init__(self, code: RejectionCode, reason: str) -> None:
        super().__init__(reason)
        self.rejection = Rejection(code, reason)


class IncidentType(StrEnum):
    """The error types that the REST API gives incidents."""

    JOB_NO_RETRIES = "JOB_NO_RETRIES"
    IO_MAPPING_ERROR = "IO_MAPPING_ERROR"
    CONDITION_ERROR = "CONDITION_ERROR"
    EXTRACT_VALUE_ERROR = "EXTRACT_VALUE_ERROR"
    UNHANDLED_ERROR_EVENT = "UNHANDLED_ERROR_EVENT"
    CALLED_ELEMENT_ERROR = "CALLED_ELEMENT_ERROR"
    FORM_NOT_FOUND = "FORM_NOT_FOUND"
    EXECUTION_LISTENER_NO_RETRIES = "EXECUTION_LISTENER_NO_RETRIES"
    MESSAGE_SIZE_EXCEEDED = "MESSAGE_SIZE_EXCEEDED"
    UNKNOWN = "UNKNOWN"


MAX_MESSAGE = 10_000
"""Characters of the message of an incident."""


def incident_message(message: str) -> str:
    """The message of an incident: NUL, which a column of text cannot hold, as its escape, and what is too long cut."""
    message = message[:MAX_MESSAGE].replace("\0", "\\u0000") if "\0" in message else message
    return message if len(message) <= MAX_MESSAGE else f"{message[: MAX_MESSAGE - 1]}…"


class Fail(Exception):
    """Raised by stages: the model's or the data's fault. Becomes an incident on this element at this stage."""

    def __init__(self, type: IncidentType, message: str) -> None:
        super().__init__(message)
        self.type = type
        self.message = incident_message(message)


class Reply(msgspec.Struct, frozen=True, gc=False):
    """The answer to a client's command: `to` is its position, None for the command being handled.

    `rejection`: what a command that was to be answered later has come to.
    """

    body: msgspec.Struct | None = None
    to: int | None = None
    rejection: Rejection | None = None


class ReplyLater(msgspec.Struct, frozen=True, gc=False):
    """A later command will answer; the row that will keeps the request's position."""


class Send(msgspec.Struct, frozen=True, gc=False):
    """A follow-up. Handled next, in the same transaction; `later`: written to the inbox, between other work."""

    command: Command
    later: bool = False


class Happens(msgspec.Struct, frozen=True, gc=False):
    """What an element itself waits for, at the node `target`, has happened: its behaviour's `trigger` comes next."""

    element: int
    target: str
    variables: dict[str, str]


class Check(msgspec.Struct, frozen=True, gc=False):
    """Whether what a subscription of the element waits for has happened is asked of its event, in its turn."""

    element: int
    subscription: int


class LoadMore(msgspec.Struct, frozen=True, gc=False):
    """The body of a paged loop has nothing left in memory to go on with: a later command does, once there is more."""

    body: int


Effect = Event | Send | Reply | ReplyLater | Happens | Check | LoadMore

Effects = Iterable[Effect]
"""A generator where they are several, a tuple where there is one: it costs a third."""


def failing(failure: Fail) -> Effects:
    """The effects of a stage that fails before it gives any."""
    raise failure
    yield
