"""Effects other than events, and the exceptions that end a handler or a stage early."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from vivero.core.records.base import Command, Event


class RejectionCode(StrEnum):
    """The reason of a rejection, with the names of the REST API's problem titles."""

    NOT_FOUND = "NOT_FOUND"
    INVALID_STATE = "INVALID_STATE"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    PRECONDITION_FAILED = "PRECONDITION_FAILED"
    PROCESSING_ERROR = "PROCESSING_ERROR"
    RESOURCE_EXHAUSTED = "RESOURCE_EXHAUSTED"
    """It would have to wait, and too many wait already."""


class Violation(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One of several reasons for a rejection. `element`: the id of the element that it is about, in the process
    instance with the key `instance`.
    """

    message: str
    element: str | None = None
    instance: int | None = None


class Rejection(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The command changed nothing. The caller is at fault; with PROCESSING_ERROR, a bug of the engine is.

    `violations`: all reasons, if the handler has looked for all. The first of them is `reason`.
    `moot`: there is nothing to change. The item of a batch is skipped then, and does not fail.
    """

    code: RejectionCode
    reason: str
    violations: tuple[Violation, ...] = ()
    moot: bool = False


class Reject(Exception):
    """Raised by handlers to reject the command. The caller is at fault, and nothing has changed."""

    def __init__(
        self, code: RejectionCode, reason: str, violations: tuple[Violation, ...] = (), *, moot: bool = False
    ) -> None:
        super().__init__(reason)
        self.rejection = Rejection(code, reason, violations, moot)


class IncidentType(StrEnum):
    """The error types of incidents in the REST API."""

    JOB_NO_RETRIES = "JOB_NO_RETRIES"
    IO_MAPPING_ERROR = "IO_MAPPING_ERROR"
    CONDITION_ERROR = "CONDITION_ERROR"
    EXTRACT_VALUE_ERROR = "EXTRACT_VALUE_ERROR"
    UNHANDLED_ERROR_EVENT = "UNHANDLED_ERROR_EVENT"
    CALLED_DECISION_ERROR = "CALLED_DECISION_ERROR"
    DECISION_EVALUATION_ERROR = "DECISION_EVALUATION_ERROR"
    CALLED_ELEMENT_ERROR = "CALLED_ELEMENT_ERROR"
    FORM_NOT_FOUND = "FORM_NOT_FOUND"
    RESOURCE_NOT_FOUND = "RESOURCE_NOT_FOUND"
    AD_HOC_SUB_PROCESS_NO_RETRIES = "AD_HOC_SUB_PROCESS_NO_RETRIES"
    EXECUTION_LISTENER_NO_RETRIES = "EXECUTION_LISTENER_NO_RETRIES"
    TASK_LISTENER_NO_RETRIES = "TASK_LISTENER_NO_RETRIES"
    MESSAGE_SIZE_EXCEEDED = "MESSAGE_SIZE_EXCEEDED"
    UNKNOWN = "UNKNOWN"


MAX_MESSAGE = 10_000
"""In characters, for the message of an incident."""


def incident_message(message: str) -> str:
    """The message, fit for an incident: NUL is escaped, as PostgreSQL cannot store it, and a long text is truncated."""
    message = message[:MAX_MESSAGE].replace("\0", "\\u0000") if "\0" in message else message
    return message if len(message) <= MAX_MESSAGE else f"{message[: MAX_MESSAGE - 1]}…"


class Fail(Exception):
    """Raised by stages: model or data are at fault. The core raises an incident of the element at this stage.

    `stage`: an earlier stage that resolving the incident runs instead. `facts`: events that happened all the same.
    """

    def __init__(
        self, type: IncidentType, message: str, stage: str | None = None, facts: tuple[Event, ...] = ()
    ) -> None:
        super().__init__(message)
        self.type = type
        self.message = incident_message(message)
        self.stage = stage
        self.facts = facts


class Reply(msgspec.Struct, frozen=True, gc=False):
    """The answer to a client's command: `to` is its position, None for the command being handled.

    `rejection`: the rejection of a command that was to be answered later.
    """

    body: msgspec.Struct | None = None
    to: int | None = None
    rejection: Rejection | None = None


class ReplyLater(msgspec.Struct, frozen=True, gc=False):
    """A later command will answer the client. The row that it concerns stores the position of the request."""


class Send(msgspec.Struct, frozen=True, gc=False):
    """A follow-up, handled next in the same transaction. With `later` it goes to the inbox, and runs between others.

    `again`: it is the command itself, which has to wait. Its record in the audit log goes with it. `held_by`: the root
    of the tree that has to be free before it goes to the inbox.
    """

    command: Command
    later: bool = False
    again: bool = False
    held_by: int | None = None


class Happens(msgspec.Struct, frozen=True, gc=False):
    """An event that the element itself awaits at the node `target` has occurred. Its `trigger` runs next."""

    element: int
    target: str
    variables: dict[str, str]


class Enter(msgspec.Struct, frozen=True, gc=False):
    """The node begins in the scope so many times, in this quantum or later ones. The scope does not complete before."""

    scope: int
    node: str
    times: int


class Check(msgspec.Struct, frozen=True, gc=False):
    """Let the event definition of the subscription decide, in a later stage, whether its event has occurred."""

    element: int
    subscription: int


class AwaitAgain(msgspec.Struct, frozen=True, gc=False):
    """All definitions of the event that `element` awaits at `target` have occurred. Await them again in a stage."""

    element: int
    target: str


class LoadMore(msgspec.Struct, frozen=True, gc=False):
    """The body of a paged loop needs more items in memory. A later command loads them and continues."""

    body: int


Effect = Event | Send | Reply | ReplyLater | Happens | Enter | Check | AwaitAgain | LoadMore

Effects = Iterable[Effect]
"""A generator for several effects, a tuple for one, which costs a third as much."""


def reject_not_found(what: str, doing: str, key: int) -> Reject:
    """The rejection of a command for an unknown key. Clients of Camunda know the text."""
    return Reject(RejectionCode.NOT_FOUND, f"Expected to {doing} {what} with key '{key}', but no such {what} was found")
