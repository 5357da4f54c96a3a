"""The format of a snapshot: a JSON object with the rows of one instance tree, each table in the order of its keys.

Keys are strings of digits: not every reader of JSON has numbers of this size. Times are epoch milliseconds. Fields with
their usual value are left out. docs/snapshots.md describes each field; a test compares the two.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

from vivero.core.state.columns import Field, fields_of
from vivero.core.state.instance_tree import Incident, Job, Subscription, Timer, UserTask
from vivero.core.state.rows import Row

FORMAT = 1
"""The number of this format. A change that an older reader would misunderstand needs the next number."""

Key = Annotated[str, Meta(pattern="^[1-9][0-9]{0,18}$")]
Count = Annotated[int, Meta(ge=0)]
Time = Annotated[int, Meta(ge=0)]
Values = dict[str, Raw]


class Entry(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", forbid_unknown_fields=True, gc=False
):
    """An object in a snapshot.

    The default of a field is None, empty, or a small number: msgspec compares with defaults by identity.
    """


class DefinitionEntry(Entry, frozen=True):
    """A version of a process that an instance of the tree runs. `sha256` is the hash of its BPMN file."""

    key: Key
    process_id: str
    version: Count
    sha256: str
    resource_name: str
    name: str | None = None
    version_tag: str | None = None


class StartEntry(Entry, frozen=True):
    """The start event that has happened, with its variables."""

    element_id: str
    variables: Values = {}


class ProcessEntry(Entry, frozen=True):
    """The fields that only process instances have. `work` is deferred work, only of a root.

    `suspended_work`: work that waits for the end of a suspension. `due_at`: the instance is late afterwards."""

    definition_key: Key
    business_id: str | None = None
    tags: tuple[str, ...] = ()
    created_position: Count = 0
    start: StartEntry | None = None
    start_lock: str | None = None
    terminate_after: tuple[str, ...] = ()
    work: tuple[tuple[int, str, Any], ...] = ()
    suspended_at: Time | None = None
    suspended_reason: str | None = None
    suspended_work: tuple[tuple[int, str, Any], ...] = ()
    due_at: Time | None = None


class LoopEntry(Entry, frozen=True):
    """The progress of a loop. `results` has the results of inner instances by their index."""

    items: tuple[Raw, ...]
    results: dict[str, Raw] = {}
    next: Count = 0
    completed: Count = 0
    terminated: Count = 0
    collected: Count = 0


class ActivationEntry(Entry, frozen=True):
    """Elements that are to begin in one inner instance of an ad-hoc sub-process, with its variables."""

    element_ids: tuple[str, ...]
    variables: Values = {}


class AdHocEntry(Entry, frozen=True):
    """The progress of an ad-hoc sub-process."""

    pending: tuple[ActivationEntry, ...] = ()
    begun: bool = False
    fulfilled: bool = False
    approved: tuple[str, ...] = ()
    secret_places: str | None = None


class PastScopeEntry(Entry, frozen=True):
    """A completed scope whose variables a compensation handler sees."""

    key: Key
    variables: Values = {}


class CompensationEntry(Entry, frozen=True):
    """The subject of a compensation handler, or of its boundary event: `key` is the registration.

    `thrower`: the element that waits for all handlers. `scopes`: keys of live scopes, and of registrations of completed
    ones, whose handlers follow: those `before` a key, and with `only` those of one activity. `inside`: registrations
    that are on their way, the outermost first. `seen`: completed scopes, the innermost first.
    """

    key: Key
    scopes: tuple[Key, ...]
    before: Key
    thrower: Key | None = None
    inside: tuple[Key, ...] = ()
    only: str | None = None
    seen: tuple[PastScopeEntry, ...] = ()


class ElementEntry(Entry, frozen=True):
    """A live element instance or process instance. `scope_key` is its flow scope, which only the root lacks."""

    key: Key
    element_id: str
    type: str
    state: str
    started_at: Time
    scope_key: Key | None = None
    name: str | None = None
    process: ProcessEntry | None = None
    tokens: dict[str, Count] = {}
    loop_index: int = -1
    loop: LoopEntry | None = None
    ad_hoc: AdHocEntry | None = None
    then: tuple[Any, ...] | None = None
    interrupted: bool = False
    occurred: Values | None = None
    request: Key | None = None
    incident_key: Key | None = None
    registered: dict[str, Count] = {}
    awaiting_reset: dict[str, tuple[str, ...]] = {}
    compensation: CompensationEntry | None = None
    occurrences: dict[str, Values] = {}


class RegistrationEntry(Entry, frozen=True):
    """A completed activity that can be compensated. The keys have the order of completion.

    `handler`: its boundary event or event sub-process, until that begins; then `running` says whether it goes on.
    `registered`: numbers of activities inside that can be compensated. `variables`: those of a scope.
    """

    key: Key
    process_instance_key: Key
    scope_key: Key
    element_key: Key
    element_id: str
    is_scope: bool = False
    handler: str | None = None
    registered: dict[str, Count] = {}
    running: bool = False
    variables: Values = {}


class VariableEntry(Entry, frozen=True):
    key: Key
    scope_key: Key
    name: str
    value: Raw


def _derived(kind: type[Row]) -> Any:
    """The fields that snapshots show of a row that an element waits for: its class declares them."""
    place = (("key", Key), ("element_key", Key))
    fields = [_field(field) for field in fields_of(kind) if field.is_shown]
    return msgspec.defstruct(kind.__name__, [*place, *fields], bases=(Entry,), frozen=True, kw_only=True)


def _field(field: Field) -> tuple[str, Any] | tuple[str, Any, Any]:
    usual, type_ = field.column.usual, _type(field)
    if field.optional:
        return field.entry, type_ | None, None
    return (field.entry, type_) if usual is None or isinstance(usual, str) else (field.entry, type_, usual)


def _type(field: Field) -> Any:
    if field.column.key or field.column.time:
        return Key if field.column.key else Time
    return Annotated[field.type, *field.metas] if field.metas else field.type


_Job: Any = _derived(Job)
_UserTask: Any = _derived(UserTask)
_Timer: Any = _derived(Timer)
_Subscription: Any = _derived(Subscription)
_Incident: Any = _derived(Incident)


class JobEntry(_Job):  # type: ignore[misc]  # a derived class
    """A job without its lease: which worker has it is no part of the instance."""


class UserTaskEntry(_UserTask):  # type: ignore[misc]
    pass


class TimerEntry(_Timer):  # type: ignore[misc]
    """`cycle` is the data for the next due date: interval or cron text, zone, anchor, number of this occurrence."""


class SubscriptionEntry(_Subscription):  # type: ignore[misc]
    """The element waits for a message, a signal or a condition (`kind`)."""


class IncidentEntry(_Incident):  # type: ignore[misc]
    """Resolving it runs `stage` of the element again with `argument`."""


class MessageEntry(Entry, frozen=True):
    """A buffered message of a message channel. `given`: the process ids that have had it."""

    key: Key
    name: str
    correlation_key: str
    deadline: Time
    variables: Values = {}
    message_id: str | None = None
    given: tuple[str, ...] = ()
    business_id: str | None = None


class Snapshot(Entry, frozen=True):
    """A snapshot. `version` counts the changes of the tree, and `at` is the time of the last one.

    `state` is that of the root. `messages` are those that a client published for later; PostgreSQL holds those of a
    server, so its snapshots have none. A tree that has ended keeps its root and the root's variables only.
    """

    format: int
    version: Count
    at: Time
    state: str
    next_key: Key
    definitions: tuple[DefinitionEntry, ...]
    elements: tuple[ElementEntry, ...]
    tenant_id: str
    variables: tuple[VariableEntry, ...] = ()
    jobs: tuple[JobEntry, ...] = ()
    user_tasks: tuple[UserTaskEntry, ...] = ()
    timers: tuple[TimerEntry, ...] = ()
    subscriptions: tuple[SubscriptionEntry, ...] = ()
    incidents: tuple[IncidentEntry, ...] = ()
    messages: tuple[MessageEntry, ...] = ()
    compensations: tuple[RegistrationEntry, ...] = ()


def raw(text: str) -> Raw:
    """JSON text as a value of the document."""
    return Raw(text.encode())


def text(value: Raw) -> str:
    """A value of the document as JSON text."""
    return bytes(value).decode()


def key_of(key: str | None) -> int | None:
    return None if key is None else int(key)


def key_text(key: int | None) -> str | None:
    return None if key is None else str(key)
