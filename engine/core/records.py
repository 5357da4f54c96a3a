"""Everything that goes through the log: commands in, events out, rejections, replies and follow-ups.

Commands are imperative, events past tense (`JobCompleted`). Both are frozen records; a command's payload in the log is
its JSON object, an event's its JSON array with the class name first, so that fields may only ever be added at the end.
Keys are 64-bit integers (`partition << 51 | counter`), times are epoch milliseconds, variable values are JSON text.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import reduce
from operator import or_
from typing import Any, ClassVar, TypedDict

import msgspec

PARTITION_SHIFT = 51


def partition_of(key: int) -> int:
    """The partition that gave out this key and owns its aggregate."""
    return key >> PARTITION_SHIFT


# --------------------------------------------------------------------------------------------------------- commands


class Command(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What somebody wants done. `intent` is its name in the log, FAMILY:VERB."""

    intent: ClassVar[str]


Variables = dict[str, msgspec.Raw]


class CreateInstance(Command, frozen=True):
    """Start a process: by `definition_key`, or by `process_id` and `version` (-1: the latest).

    With `start_elements` (ids) it begins before each of these, instead of at its none start event. When one of
    `terminate_after` (ids) has ended, the instance is terminated.
    """

    intent: ClassVar[str] = "PROCESS_INSTANCE_CREATION:CREATE"
    process_id: str | None = None
    definition_key: int | None = None
    version: int = -1
    variables: Variables = {}
    tags: tuple[str, ...] = ()
    business_id: str | None = None
    awaited: bool = False
    start_elements: tuple[str, ...] = ()
    terminate_after: tuple[str, ...] = ()


class CancelInstance(Command, frozen=True):
    intent: ClassVar[str] = "PROCESS_INSTANCE:CANCEL"
    key: int


class ContinueWork(Command, frozen=True):
    """Internal: the next slice of a tree's deferred work."""

    intent: ClassVar[str] = "PROCESS_INSTANCE:CONTINUE"
    key: int


class CompleteJob(Command, frozen=True):
    intent: ClassVar[str] = "JOB:COMPLETE"
    key: int
    variables: Variables = {}
    lease: str | None = None


class FailJob(Command, frozen=True):
    intent: ClassVar[str] = "JOB:FAIL"
    key: int
    retries: int = 0
    backoff_ms: int = 0
    message: str | None = None
    variables: Variables = {}
    lease: str | None = None


class ThrowJobError(Command, frozen=True):
    intent: ClassVar[str] = "JOB:THROW_ERROR"
    key: int
    code: str
    message: str | None = None
    variables: Variables = {}
    lease: str | None = None


class UpdateJob(Command, frozen=True):
    """New retries or priority. The timeout is a statement on the lease, not a command (CORE D11)."""

    intent: ClassVar[str] = "JOB:UPDATE"
    key: int
    retries: int | None = None
    priority: int | None = None


class ResolveIncident(Command, frozen=True):
    intent: ClassVar[str] = "INCIDENT:RESOLVE"
    key: int


class SetVariables(Command, frozen=True):
    """Set variables seen from an element instance: in its own scope (`local`), or merged upwards."""

    intent: ClassVar[str] = "VARIABLE_DOCUMENT:UPDATE"
    key: int
    variables: Variables
    local: bool = False


class TriggerTimer(Command, frozen=True):
    """A timer is due. One that was moved, cancelled or triggered since does nothing: `due_at` must still be its own."""

    intent: ClassVar[str] = "TIMER:TRIGGER"
    key: int
    due_at: int


class FireTimer(Command, frozen=True):
    """A person wants a timer to fire now, whatever its due date."""

    intent: ClassVar[str] = "TIMER:FIRE"
    key: int


class MoveTimer(Command, frozen=True):
    """A person wants a timer to fire at another time (epoch ms)."""

    intent: ClassVar[str] = "TIMER:MOVE"
    key: int
    due_at: int


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


class PublishMessage(Command, frozen=True):
    """A message for whoever waits for `name` with `correlation_key`, or starts with `name`.

    It is kept for `time_to_live_ms` for those who begin to wait later. `thrower`: the element that publishes it, which
    goes on when it has been given to who waits; None: a client, which is told the message's key. `business_id`: of an
    instance that it starts.
    """

    intent: ClassVar[str] = "MESSAGE:PUBLISH"
    name: str
    correlation_key: str = ""
    time_to_live_ms: int = 0
    message_id: str | None = None
    variables: Variables = {}
    thrower: int | None = None
    business_id: str | None = None


class CorrelateMessage(Command, frozen=True):
    """A message that is never kept, and whose publisher is told which process instance got it."""

    intent: ClassVar[str] = "MESSAGE_CORRELATION:CORRELATE"
    name: str
    correlation_key: str = ""
    variables: Variables = {}
    business_id: str | None = None


class OpenSubscription(Command, frozen=True):
    """Internal, to a channel: an element (its subscription has this key) waits for messages from now on."""

    intent: ClassVar[str] = "MESSAGE_SUBSCRIPTION:CREATE"
    key: int
    tenant: str
    name: str
    correlation_key: str
    process_id: str
    interrupting: bool


class CloseSubscription(Command, frozen=True):
    """Internal, to a channel: an element waits no longer."""

    intent: ClassVar[str] = "MESSAGE_SUBSCRIPTION:DELETE"
    key: int
    tenant: str
    correlation_key: str


class Offer(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a subscription is offered: a message, or (`message` None) a signal. `variables` are JSON text.

    `request`: the position of the command whose client is told who got the message. `business_id`: of an instance that
    it starts. `process_id`: for whom the message is, so that it can go to the next one of that process.
    """

    name: str
    variables: dict[str, str] = {}
    message: int | None = None
    correlation_key: str = ""
    request: int | None = None
    business_id: str | None = None
    process_id: str | None = None


class TriggerSubscription(Command, frozen=True):
    """Internal, to a tree: what the subscription `key` waits for has happened."""

    intent: ClassVar[str] = "PROCESS_MESSAGE_SUBSCRIPTION:CORRELATE"
    key: int
    offer: Offer


class AcknowledgeCorrelation(Command, frozen=True):
    """Internal, to a channel: the subscription took the message, and still waits."""

    intent: ClassVar[str] = "MESSAGE_SUBSCRIPTION:CORRELATE"
    key: int
    tenant: str
    offer: Offer


class RejectCorrelation(Command, frozen=True):
    """Internal, to a channel: the subscription waits no longer; the message goes to the next one of its process."""

    intent: ClassVar[str] = "MESSAGE_SUBSCRIPTION:REJECT"
    key: int
    tenant: str
    offer: Offer


class StartInstance(Command, frozen=True):
    """Internal: an event starts a process at its start event `element`. `key` is the instance's, given out already.

    `start_lock`: the correlation key that keeps others with it from being started meanwhile. `variables` are JSON text.
    `offer`: the message that started it. `process_id`: the definition's.
    """

    intent: ClassVar[str] = "PROCESS_INSTANCE:START"
    key: int
    definition_key: int
    element: str
    variables: dict[str, str] = {}
    start_lock: str | None = None
    subscription: int | None = None
    offer: Offer | None = None
    process_id: str = ""


class ReleaseStart(Command, frozen=True):
    """Internal, to a channel: the instance `key`, which a message has started, has ended; the next one may start."""

    intent: ClassVar[str] = "MESSAGE_START_EVENT_SUBSCRIPTION:RELEASE"
    key: int
    tenant: str
    process_id: str
    correlation_key: str


class BroadcastSignal(Command, frozen=True):
    """A signal for everybody who waits for `name` now. `thrower` as of a published message."""

    intent: ClassVar[str] = "SIGNAL:BROADCAST"
    name: str
    variables: Variables = {}
    thrower: int | None = None


class CompleteThrow(Command, frozen=True):
    """Internal, to a tree: what the element `key` has thrown was given to who waits for it; it completes."""

    intent: ClassVar[str] = "PROCESS_INSTANCE:COMPLETE_THROW"
    key: int


class DeliverSignal(Command, frozen=True):
    """Internal: the next page of the subscriptions that a signal is for: those with a key in (after, upto).

    `told`: those among them that have it already.
    """

    intent: ClassVar[str] = "SIGNAL:DELIVER"
    key: int
    name: str
    after: int
    variables: dict[str, str] = {}
    told: tuple[int, ...] = ()

    @property
    def upto(self) -> int:
        """The signal's own key: whoever waits since later has a greater one, so a loop is not hit twice."""
        return self.key


class StartMetadata(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A start event of a process that waits for a message or signal (`kind`: MESSAGE or SIGNAL) called `name`.

    Or for a timer (`kind`: TIMER_DATE, TIMER_CYCLE); `name` is then the text of its expression.
    """

    element: str
    kind: str
    name: str


class ProcessMetadata(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What the catalogue needs to know of one executable process of a resource."""

    id: str
    name: str | None = None
    version_tag: str | None = None
    starts: tuple[StartMetadata, ...] = ()


class ResourceReference(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A resource whose bytes were stored under their SHA-256 (hex) before the command was appended."""

    name: str
    sha256: str
    processes: tuple[ProcessMetadata, ...]


class Deploy(Command, frozen=True):
    intent: ClassVar[str] = "DEPLOYMENT:CREATE"
    resources: tuple[ResourceReference, ...]


class DeleteResource(Command, frozen=True):
    intent: ClassVar[str] = "RESOURCE_DELETION:DELETE"
    key: int


class RetireDefinition(Command, frozen=True):
    """Internal: the last instance of a draining definition has ended."""

    intent: ClassVar[str] = "PROCESS_DEFINITION:RETIRE"
    key: int


COMMANDS: dict[str, type[Command]] = {
    command.intent: command
    for command in (
        CreateInstance,
        CancelInstance,
        ContinueWork,
        CompleteJob,
        FailJob,
        ThrowJobError,
        UpdateJob,
        ResolveIncident,
        SetVariables,
        TriggerTimer,
        FireTimer,
        MoveTimer,
        PublishMessage,
        CorrelateMessage,
        OpenSubscription,
        CloseSubscription,
        TriggerSubscription,
        AcknowledgeCorrelation,
        RejectCorrelation,
        StartInstance,
        ReleaseStart,
        BroadcastSignal,
        DeliverSignal,
        CompleteThrow,
        AssignUserTask,
        ClaimUserTask,
        UpdateUserTask,
        CompleteUserTask,
        Deploy,
        DeleteResource,
        RetireDefinition,
    )
}

_command_decoders = {intent: msgspec.json.Decoder(command) for intent, command in COMMANDS.items()}


def encode_command(command: Command) -> bytes:
    """The payload of `command` in the log: a JSON object in UTF-8."""
    return msgspec.json.encode(command)


def decode_command(intent: str, payload: bytes) -> Command:
    """The command of a log row.

    Raises:
        KeyError: no command has this intent.
        msgspec.DecodeError: the payload does not have the command's shape.
    """
    return _command_decoders[intent].decode(payload)


# ----------------------------------------------------------------------------------------------------------- events


class Event(msgspec.Struct, frozen=True, array_like=True, tag_field="event", tag=True, gc=False):
    """What happened. Appliers turn it into state and look nothing else up."""


class InstanceCreated(Event, frozen=True):
    """A process instance, ACTIVATING. `parent` is the call activity's key, None for a root.

    `start`: the start event that has happened, and the variables (JSON text) that it brings; None: the none start
    event. `start_lock`: the correlation key of the message that has started it. `begin`: as of an element.
    `terminate_after`: the elements (ids) whose end is the end of the instance.
    """

    key: int
    definition_key: int
    process_id: str
    version: int
    version_tag: str | None
    name: str | None
    tenant: str
    business_id: str | None
    tags: tuple[str, ...]
    parent: int | None = None
    start: tuple[str, dict[str, str]] | None = None
    start_lock: str | None = None
    begin: tuple[str, ...] = ()
    terminate_after: tuple[str, ...] = ()


class ElementActivating(Event, frozen=True):
    """A token entered `element` in `scope`; it took one token from each of `consumed`.

    `index`: of an inner instance of a loop. `occurred`: of an event that has already happened, the variables it brings.
    `begin`: of a scope, the elements below it that it begins with, instead of its start event.
    """

    key: int
    scope: int
    element: str
    type: str
    consumed: tuple[str, ...] = ()
    index: int = -1
    name: str | None = None
    occurred: dict[str, str] | None = None
    begin: tuple[str, ...] = ()


class ElementActivated(Event, frozen=True):
    key: int


class ElementCompleting(Event, frozen=True):
    key: int


class ElementCompleted(Event, frozen=True):
    """The element ended; one token was put on each of `flows`."""

    key: int
    flows: tuple[str, ...] = ()


class ElementTerminating(Event, frozen=True):
    """The element is to end without completing; then comes `then`. `request`: the command to be answered at the end."""

    key: int
    then: tuple[Any, ...] | None = None
    request: int | None = None


class ElementTerminated(Event, frozen=True):
    key: int


class ScopeInterrupted(Event, frozen=True):
    """The scope stays active but takes no more arrivals; when it is empty, `then` happens: ("complete",), …"""

    scope: int
    then: tuple[Any, ...]


class ScopeEmptied(Event, frozen=True):
    """What an interruption had to end has ended; what it was for comes now."""

    scope: int


class EventTriggered(Event, frozen=True):
    """Something that `element` catches has happened, at its boundary or event sub-process `target`."""

    element: int
    target: str


class TimerScheduled(Event, frozen=True):
    """A timer is due at `due_at` (epoch ms). `element` waits for it, or, for a process start, `definition` does.

    `repetitions`: how often it will still fire, this time included, -1 without end. `cycle`: what the next due date is
    computed from: (interval or cron text, zone, anchor in epoch ms, number of this occurrence).
    """

    key: int
    element: int | None
    target: str
    type: str
    due_at: int
    repetitions: int = 1
    cycle: tuple[str, str, int, int] | None = None
    definition: int | None = None
    process_id: str | None = None
    tenant: str | None = None


class TimerTriggered(Event, frozen=True):
    key: int


class TimerCanceled(Event, frozen=True):
    key: int


class TimerFailed(Event, frozen=True):
    """Handling its trigger raised: it does not fire until a person tries again (resolve, fire or move)."""

    key: int


class TimerMoved(Event, frozen=True):
    """A person has given the timer another due date (epoch ms)."""

    key: int
    due_at: int


class SubscriptionOpened(Event, frozen=True):
    """`element` waits at the node `target` for a message or a signal (`kind`: MESSAGE, SIGNAL) called `name`.

    `type`: BOUNDARY, EVENT_SUB_PROCESS or INTERMEDIATE. `correlation_key` is None for signals.
    """

    key: int
    element: int
    target: str
    type: str
    kind: str
    name: str
    correlation_key: str | None = None
    interrupting: bool = True


class SubscriptionTriggered(Event, frozen=True):
    """What an element waited for has happened. An interrupting subscription takes nothing more until it is closed."""

    key: int


class SubscriptionClosed(Event, frozen=True):
    key: int


class MessageReceived(Event, frozen=True):
    """For the history: the instance (and, unless the message started it, the element) that got a message."""

    key: int
    message: int
    subscription: int
    name: str
    correlation_key: str
    instance: int
    target: str
    element: int | None = None


class MessagePublished(Event, frozen=True):
    """`deadline` (epoch ms): until when it is kept; None: not at all, and `variables` (JSON text) are left out."""

    key: int
    tenant: str
    name: str
    correlation_key: str
    message_id: str | None = None
    deadline: int | None = None
    variables: dict[str, str] = {}
    business_id: str | None = None


class MessageCorrelated(Event, frozen=True):
    """The message goes to a process: to `subscription`, or, None, it starts an instance."""

    message: int
    tenant: str
    correlation_key: str
    process_id: str
    subscription: int | None = None


class CorrelationAnswered(Event, frozen=True):
    """The subscription took the message and waits on; or it did not (`accepted` false) and is gone.

    `process_id`: its process, that has not had the message, if it is not accepted. None: as the subscription says.
    """

    message: int
    tenant: str
    correlation_key: str
    subscription: int
    accepted: bool
    process_id: str | None = None


class ChannelSubscribed(Event, frozen=True):
    key: int
    tenant: str
    correlation_key: str
    name: str
    process_id: str
    interrupting: bool


class ChannelUnsubscribed(Event, frozen=True):
    key: int
    tenant: str
    correlation_key: str


class StartLocked(Event, frozen=True):
    """The instance `key` of `process_id` was started with this correlation key; until it ends no other one is."""

    key: int
    tenant: str
    correlation_key: str
    process_id: str


class StartReleased(Event, frozen=True):
    key: int
    tenant: str
    correlation_key: str
    process_id: str


class StartOpened(Event, frozen=True):
    """Messages or signals called `name` start `definition` at its start event `element`."""

    key: int
    definition: int
    tenant: str
    process_id: str
    element: str
    kind: str
    name: str


class StartClosed(Event, frozen=True):
    key: int


class SignalBroadcast(Event, frozen=True):
    """Everybody who waits for `name` since before `key` was given out gets `variables` (JSON text)."""

    key: int
    name: str
    variables: dict[str, str] = {}


class LoopStarted(Event, frozen=True):
    """The collection of a multi-instance activity, evaluated once; each item is JSON text."""

    body: int
    items: tuple[str, ...]
    paged: bool = False
    """It is so long that what belongs to it is loaded in pages."""


class ItemCollected(Event, frozen=True):
    """The result (JSON text) of an inner instance."""

    body: int
    index: int
    value: str


class LoopResultSet(Event, frozen=True):
    """The results of a loop, in the order of its items and null where there is none, become a variable."""

    key: int
    body: int
    scope: int
    name: str


class WorkDeferred(Event, frozen=True):
    """The slice is used up: these work items of the tree (key, stage, argument) go on in a later command."""

    root: int
    items: tuple[tuple[int, str, Any], ...]


class WorkResumed(Event, frozen=True):
    """The deferred work of a tree goes on, with the items that it consists of."""

    root: int
    items: tuple[tuple[int, str, Any], ...]


class VariableSet(Event, frozen=True):
    """`value` is JSON text; `key` is the variable's own, the old one again when it existed."""

    key: int
    scope: int
    name: str
    value: str


class JobCreated(Event, frozen=True):
    key: int
    element: int
    type: str
    retries: int
    priority: int
    headers: dict[str, str]
    kind: str = "BPMN_ELEMENT"
    listener_event: str = "UNSPECIFIED"
    listener_index: int = 0


class JobCompleted(Event, frozen=True):
    key: int


class JobFailed(Event, frozen=True):
    """`available_at` (epoch ms): when a failed job with retries may be activated again; None: at once."""

    key: int
    retries: int
    available_at: int | None
    message: str | None


class JobErrorThrown(Event, frozen=True):
    """`caught`: some event catches it, and the job is over; otherwise it waits for a person."""

    key: int
    code: str
    message: str | None
    caught: bool = False


class JobUpdated(Event, frozen=True):
    key: int
    retries: int | None
    priority: int | None


class JobReleased(Event, frozen=True):
    """An incident of the job was resolved: it may be activated again."""

    key: int


class JobCanceled(Event, frozen=True):
    key: int


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


class IncidentRaised(Event, frozen=True):
    """`stage` and `argument` name the work item that resolving runs again ("" when a job is released instead)."""

    key: int
    element: int
    stage: str
    type: str
    message: str
    job: int | None = None
    argument: Any = 0


class IncidentResolved(Event, frozen=True):
    key: int


class DeploymentCreated(Event, frozen=True):
    key: int
    tenant: str


class DefinitionAdded(Event, frozen=True):
    key: int
    deployment: int
    tenant: str
    process_id: str
    version: int
    name: str | None
    version_tag: str | None
    resource: str
    sha256: str


class DefinitionDraining(Event, frozen=True):
    """No new instances by id, latest or key; the running ones go on."""

    key: int


class DefinitionDeleted(Event, frozen=True):
    key: int


COMMAND_STAGE = "command"
"""The stage of an incident that parks a whole command, because handling it raised."""

DEADLOCK_STAGE = "deadlock"
"""The stage of the incident of a scope that can never go on: resolving it makes the scope settle again."""

EVENTS: tuple[type[Event], ...] = tuple(Event.__subclasses__())
EVENT_FORMAT = 1
"""Stored with every row of the event log; a change of meaning (not a new last field) needs the next number."""

_events_decoder: msgspec.json.Decoder[tuple[Event, ...]] = msgspec.json.Decoder(
    tuple[reduce(or_, EVENTS), ...]  # type: ignore[misc]
)


def encode_events(events: list[Event]) -> bytes:
    """A JSON array of the events, each a JSON array headed by its class name."""
    return msgspec.json.encode(events)


def decode_events(text: bytes | str) -> tuple[Event, ...]:
    """The events of a row of the event log.

    Raises:
        msgspec.DecodeError: not something that `encode_events` wrote.
    """
    return _events_decoder.decode(text)


# -------------------------------------------------------------------------------------------- rejections and replies


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
    UNKNOWN = "UNKNOWN"


class Fail(Exception):
    """Raised by stages: the model's or the data's fault. Becomes an incident on this element at this stage."""

    def __init__(self, type: IncidentType, message: str) -> None:
        super().__init__(message)
        self.type = type
        self.message = message


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


class LoadMore(msgspec.Struct, frozen=True, gc=False):
    """The body of a paged loop has nothing left in memory to go on with: a later command does, once there is more."""

    body: int


Effect = Event | Send | Reply | ReplyLater | Happens | LoadMore
Effects = Iterator[Effect]


class InstanceReply(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What creating an instance answers."""

    process_instance_key: int
    process_definition_key: int
    process_definition_id: str
    process_definition_version: int
    tenant_id: str
    tags: tuple[str, ...]
    business_id: str | None


class DeployedProcess(msgspec.Struct, frozen=True, rename="camel", gc=False):
    process_definition_id: str
    process_definition_version: int
    resource_name: str
    tenant_id: str
    process_definition_key: int


class DeploymentReply(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What a deployment answers: the processes in the order of the resources, existing ones again."""

    deployment_key: int
    tenant_id: str
    processes: tuple[DeployedProcess, ...]


class MessageReply(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What publishing a message answers; correlating one also tells the process instance that got it."""

    tenant_id: str
    message_key: int
    process_instance_key: int | None = None


class SignalReply(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What broadcasting a signal answers."""

    tenant_id: str
    signal_key: int
