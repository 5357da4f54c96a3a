"""The aggregates of messages in memory: message channels and start subscriptions (docs/design/execution.md §11).

A message channel belongs to a tenant and a correlation key. It holds buffered messages, waiting elements, and start
locks. All messages are loaded if they are few. There may be a million: then only pages of the oldest messages of a name
that a process has not had yet. The variables of large messages are loaded when they are delivered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, NamedTuple

import msgspec

from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.messages import KeptMessage
from vivero.core.state.columns import CHANGES, DEFINITION, DELETES, MEMORY, TENANT, Column, Time
from vivero.core.state.rows import Row

CHANNEL_WEIGHT = 1150
CHANNEL_ROW_WEIGHT = 450
"""Estimated bytes of a channel, and of a row in it, with their share of the dictionaries."""

MESSAGES_PER_PAGE = 100
"""The messages of a channel are loaded together up to this number, and in pages of this size if there are more."""
BODY_WITH_MESSAGE = 2_000
"""Variables with more stored bytes are not loaded with their message: a page might have hundreds of megabytes."""
MAX_MESSAGES_IN_MEMORY = 2_000
"""A channel with more messages evicts them between batches (`eviction`)."""

OPEN = "OPEN"
CORRELATING = "CORRELATING"
CLOSED = "CLOSED"

ChannelKey = tuple[str, str]
"""Tenant and correlation key."""


class BusinessIds(NamedTuple):
    """The business ids of messages that a receiver takes: `any`, or those of messages without one or with `own`."""

    any: bool = True
    own: str = ""

    def include(self, business_id: str | None) -> bool:
        return self.any or business_id is None or business_id == self.own


ANY_BUSINESS_ID = BusinessIds()


class MessageChannel(msgspec.Struct, eq=False):
    """A tenant and a correlation key with their messages, subscriptions and start locks. It is not a row."""

    tenant: str
    correlation_key: str
    messages: dict[int, Message] = {}
    """Buffered messages by key, in ascending order."""
    subscriptions: dict[int, ChannelSubscription] = {}
    locks: dict[str, StartLock] = {}
    """By process id."""
    pending: dict[tuple[str, str], StartLock] = {}
    """Pending starts by process id and start event."""
    complete: bool = True
    """Whether `messages` has all messages. Otherwise `known` says which ones it has."""
    known: dict[tuple[str, str, BusinessIds], int | None] = {}
    """By name, process id and business ids: the key up to which all messages that the process has not had are here;
    None: all."""
    asked: set[tuple[str, str]] = set()
    """(name, message id) pairs that were looked up in the database."""
    sought: set[int] = set()
    """Keys of messages that were looked up in the database."""
    bytes: int = 0
    """The size of the messages (estimated)."""
    weight: int = 0
    commits_under_way: int = 0
    """The number of batches that changed it, and whose commits are under way."""
    under_way: list[set[int]] = []
    """The keys of the messages that each of these batches changed, the oldest batch first."""

    @property
    def id(self) -> ChannelKey:
        return self.tenant, self.correlation_key

    def estimate(self) -> int:
        """Its memory in bytes."""
        rows = len(self.messages) + len(self.subscriptions) + len(self.locks) + len(self.asked) + len(self.sought)
        pending = sum(CHANNEL_ROW_WEIGHT + one.size() for one in self.pending.values()) if self.pending else 0
        return CHANNEL_WEIGHT + CHANNEL_ROW_WEIGHT * rows + self.bytes + pending

    def kept_for(self, start: StartSubscription, now: int) -> tuple[KeptMessage, ...]:
        """The messages that wait for others at a start event, unless their time is over."""
        pending = self.pending.get((start.process_id, start.element))
        return () if pending is None or (pending.deadline or 0) <= now else pending.kept or ()

    def oldest(
        self, name: str, process_id: str, now: int, business_ids: BusinessIds = ANY_BUSINESS_ID
    ) -> Message | None:
        """The oldest message of this name that has not expired and that the process has not had.

        Raises:
            NotLoaded: such a message may be in the database only.
        """
        upto = self._known_up_to(name, process_id, business_ids)
        for message in self.messages.values():
            if upto is not None and message.key > upto:
                break
            fits = message.name == name and business_ids.include(message.business_id)
            if fits and message.deadline > now and process_id not in message.given:
                return message
        if upto is not None:
            raise self._lacks(name, process_id, upto, business_ids)
        return None

    def require_all(self, name: str, process_id: str) -> None:
        """Check that all messages of this name that the process has not had are in memory.

        Raises:
            NotLoaded: some may be in the database only.
        """
        upto = self._known_up_to(name, process_id, ANY_BUSINESS_ID)
        if upto is not None:
            raise self._lacks(name, process_id, upto, ANY_BUSINESS_ID)

    def _known_up_to(self, name: str, process_id: str, business_ids: BusinessIds) -> int | None:
        """The key up to which these messages are in memory; None: all of them are."""
        return None if self.complete else self.known.get((name, process_id, business_ids), 0)

    def _lacks(self, name: str, process_id: str, upto: int, business_ids: BusinessIds) -> NotLoaded:
        page = self.tenant, self.correlation_key, name, process_id, upto, *business_ids
        return NotLoaded(Need(NeedKind.MESSAGES, page))

    def is_here(self, key: int) -> bool:
        """Whether a message is buffered.

        Raises:
            NotLoaded: it may be in the database only.
        """
        if key in self.messages or self.complete or key in self.sought:
            return key in self.messages
        raise NotLoaded(Need(NeedKind.MESSAGE, (self.tenant, self.correlation_key, key)))

    def waiting(self, name: str) -> Iterator[ChannelSubscription]:
        """The subscriptions to messages of this name, the longest wait first."""
        return (one for one in self.subscriptions.values() if one.name == name)

    def evict_messages(self) -> None:
        """Evict all messages that the database has. They are loaded again when they are needed."""
        kept = set().union(*self.under_way)
        self.messages = {key: message for key, message in self.messages.items() if key in kept}
        self.bytes = sum(message.size() for message in self.messages.values())
        self.complete = False
        self.known, self.asked, self.sought = {}, set(), set()

    def add_body(self, key: int, variables: dict[str, str] | None) -> None:
        """Add the loaded variables of a message; None: the message has expired, and is removed."""
        message = self.messages.get(key)
        if message is None or message.variables is not None:
            return
        if variables is None:
            del self.messages[key]
        else:
            message.variables = variables
            self.bytes += message.size()

    def add_loaded(self, messages: list[Message]) -> None:
        """Add loaded messages. Messages in memory may be newer, and stay."""
        for message in messages:
            if self.messages.setdefault(message.key, message) is message:
                self.bytes += message.size()
        rows = sorted(self.messages.items())
        self.messages.clear()
        self.messages.update(rows)


class Message(Row):
    """A row of `messages`. `deadline` is epoch milliseconds. `variables` are JSON text; None if they are not loaded."""

    channel: Annotated[MessageChannel, MEMORY]
    name: str
    message_id: str | None
    deadline: Annotated[int, Column(stored="deadline_ms", time=True, changes=True)]
    variables: dict[str, str] | None
    given: Annotated[tuple[str, ...], CHANGES] = ()
    """The process ids that have had it. Each gets it once."""
    business_id: str | None = None
    """It goes only to instances with this one, and an instance that it starts gets it. None: to any."""

    def size(self) -> int:
        return sum(len(name) + len(value) for name, value in (self.variables or {}).items())


class ChannelSubscription(Row):
    """A row of `channel_subscriptions`: an element waits for a message. The element's subscription has the same key.

    The state is OPEN, CORRELATING while a message is on its way to the element, or CLOSED: the row is deleted.
    """

    channel: Annotated[MessageChannel, MEMORY]
    name: str
    process_id: Annotated[str, CHANGES]
    interrupting: Annotated[bool, CHANGES]
    state: Annotated[str, CHANGES] = OPEN
    business_id: str | None = None
    """That of the process instance when it began to wait."""

    @property
    def business_ids(self) -> BusinessIds:
        """Those of the messages that it takes."""
        return BusinessIds(any=False, own=self.business_id or "")


class StartLock(Row):
    """A row of `start_locks`: an instance, whose key it has, locks a process for the correlation key. Or, with
    `element`, messages wait for others that start an instance together with them: a pending start.

    A row with state CLOSED is deleted."""

    channel: Annotated[MessageChannel, MEMORY]
    process_id: str
    state: Annotated[str, DELETES] = OPEN
    element: Annotated[str | None, Column(stored="element_id")] = None
    kept: Annotated[tuple[KeptMessage, ...] | None, CHANGES] = None
    """The messages in order of arrival."""
    deadline: Annotated[int | None, Column(stored="deadline_ms", time=True, changes=True)] = None

    def size(self) -> int:
        return sum(len(name) + len(value) for one in self.kept or () for name, value in one.variables.items())


class StartSubscription(Row):
    """A row of `start_subscriptions`: a start event of the latest version of a process. CLOSED rows are deleted."""

    definition: Annotated[int, DEFINITION]
    tenant: Annotated[str, TENANT]
    process_id: str
    element: Annotated[str, Column(stored="element_id")]
    kind: str
    name: str
    opened_at: Time
    together: bool = False
    """All messages of the start event start one instance together, those of one correlation key."""
    properties: dict[str, str] | None = None
    """The properties of the start event for agents and connectors."""
    state: Annotated[str, DELETES] = OPEN


class Correlation(Row):
    """A row of `message_correlations`, for the history: an instance received a message."""

    message: Annotated[int, Column(stored="message_key", key=True)]
    subscription: Annotated[int, Column(stored="subscription_key", key=True)]
    name: str
    correlation_key: str
    root: Annotated[int, Column(stored="root_key", key=True)]
    instance: Annotated[int, Column(stored="process_instance_key", key=True)]
    definition: Annotated[int, DEFINITION]
    process_id: str
    business_id: str | None
    target: Annotated[str, Column(stored="element_id")]
    element: Annotated[int | None, Column(stored="element_instance_key", key=True)]
    tenant: Annotated[str, TENANT]
    at: Annotated[int, Column(stored="correlated_at", time=True)]


class Starts(msgspec.Struct, eq=False):
    """The open start subscriptions of a partition's catalogue, with three indexes."""

    rows: dict[int, StartSubscription] = {}
    by_name: dict[tuple[str, str, str], dict[int, StartSubscription]] = {}
    """By tenant, kind and name."""
    by_process: dict[tuple[str, str], dict[int, StartSubscription]] = {}
    """By tenant and process id."""

    def named(self, tenant: str, kind: str, name: str) -> list[StartSubscription]:
        """The start events that wait for a message or signal (`kind`) of this name."""
        return list(self.by_name.get((tenant, kind, name), {}).values())

    def of_process(self, tenant: str, process_id: str, kind: str | None = None) -> list[StartSubscription]:
        """The start events of a process; with a `kind`, only that kind."""
        starts = self.by_process.get((tenant, process_id), {}).values()
        return [start for start in starts if kind in (None, start.kind)]

    def add(self, start: StartSubscription) -> None:
        """Add a loaded row. Appliers use `State.link` instead, so that a change can be undone."""
        self.rows[start.key] = start
        self.by_name.setdefault((start.tenant, start.kind, start.name), {})[start.key] = start
        self.by_process.setdefault((start.tenant, start.process_id), {})[start.key] = start
