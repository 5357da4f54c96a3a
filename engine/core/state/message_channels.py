"""The aggregates of messages in memory: channels, and who starts at what (docs/design/execution.md §11).

A channel is a tenant's correlation key: messages that are kept for it, elements that wait with it, and locks of
instances that a message with it has started. Few messages are loaded whole. Of many, because there may be a million,
only those that somebody asks for: the oldest of a name that a process has not had. Large bodies are loaded when they
are given to somebody.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import msgspec

from vivero.engine.core.needs import Need, NeedKind, NotLoaded
from vivero.engine.core.state.rows import Row

CHANNEL_WEIGHT = 900
CHANNEL_ROW_WEIGHT = 450
"""Estimated bytes of a channel, and of a row in it, with their share of the dictionaries."""

MESSAGES_PER_PAGE = 100
"""With more than these a channel's messages are not loaded whole; and so many of a name are loaded at a time."""
BODY_WITH_MESSAGE = 2_000
"""Larger ones (bytes as they are stored) are left where they are: a page of messages might be hundreds of megabytes."""
MAX_MESSAGES_IN_MEMORY = 2_000
"""A channel with more forgets them between batches, where a database is behind the state (`State.evict`)."""

OPEN = "OPEN"
CORRELATING = "CORRELATING"
CLOSED = "CLOSED"

ChannelKey = tuple[str, str]
"""Tenant and correlation key."""


class MessageChannel(msgspec.Struct, eq=False):
    """See the module. It is not a row itself."""

    tenant: str
    correlation_key: str
    messages: dict[int, Message] = {}
    """Kept messages by their keys, rising."""
    subscriptions: dict[int, ChannelSubscription] = {}
    locks: dict[str, StartLock] = {}
    """By process id."""
    complete: bool = True
    """Whether `messages` are all there are; else `known` says which are."""
    known: dict[tuple[str, str], int | None] = {}
    """By name and process id: up to which message all that the process has not had are here; None: all of them."""
    asked: set[tuple[str, str]] = set()
    """(name, message id) that have been looked for in the database."""
    sought: set[int] = set()
    """Keys of messages that have been looked for in the database."""
    bytes: int = 0
    """Of the messages, about."""
    weight: int = 0
    commits_under_way: int = 0
    """Batches that changed it and whose commit is not known yet."""
    under_way: deque[set[int]] = msgspec.field(default_factory=deque)
    """The keys of the messages that each of these batches changed, the oldest batch first."""

    @property
    def id(self) -> ChannelKey:
        return self.tenant, self.correlation_key

    def estimate(self) -> int:
        """How many bytes it takes."""
        rows = len(self.messages) + len(self.subscriptions) + len(self.locks) + len(self.asked) + len(self.sought)
        return CHANNEL_WEIGHT + CHANNEL_ROW_WEIGHT * rows + self.bytes

    def oldest(self, name: str, process_id: str, now: int) -> Message | None:
        """The oldest message of this name that has not expired, and that the process has not had.

        Raises:
            NotLoaded: there may be one that is not here.
        """
        upto = None if self.complete else self.known.get((name, process_id), 0)
        for message in self.messages.values():
            if upto is not None and message.key > upto:
                break
            if message.name == name and message.deadline > now and process_id not in message.given:
                return message
        if upto is not None:
            raise NotLoaded(Need(NeedKind.MESSAGES, (self.tenant, self.correlation_key, name, process_id, upto)))
        return None

    def is_here(self, key: int) -> bool:
        """Whether a message is kept.

        Raises:
            NotLoaded: it may be, and is not in memory.
        """
        if key in self.messages or self.complete or key in self.sought:
            return key in self.messages
        raise NotLoaded(Need(NeedKind.MESSAGE, (self.tenant, self.correlation_key, key)))

    def waiting(self, name: str) -> Iterator[ChannelSubscription]:
        """Who waits for messages of this name, the longest wait first."""
        return (one for one in self.subscriptions.values() if one.name == name)

    def evict_messages(self) -> None:
        """Only those stay that the database does not have yet; others are read again when somebody asks for them."""
        kept = set().union(*self.under_way)
        self.messages = {key: message for key, message in self.messages.items() if key in kept}
        self.bytes = sum(message.size() for message in self.messages.values())
        self.complete = False
        self.known, self.asked, self.sought = {}, set(), set()

    def add_body(self, key: int, variables: dict[str, str] | None) -> None:
        """What was loaded of a message whose variables were not here; None: it has expired, and is there no more."""
        message = self.messages.get(key)
        if message is None or message.variables is not None:
            return
        if variables is None:
            del self.messages[key]
        else:
            message.variables = variables
            self.bytes += message.size()

    def add_loaded(self, messages: list[Message]) -> None:
        """What was there already may be newer, and stays."""
        for message in messages:
            if self.messages.setdefault(message.key, message) is message:
                self.bytes += message.size()
        rows = sorted(self.messages.items())
        self.messages.clear()
        self.messages.update(rows)


class Message(Row):
    """A row of `messages`. `deadline` is epoch milliseconds, `variables` are JSON text; None: they are not here."""

    channel: MessageChannel
    name: str
    message_id: str | None
    deadline: int
    variables: dict[str, str] | None
    given: tuple[str, ...] = ()
    """The process ids that got it: each gets it once."""
    business_id: str | None = None
    """Of an instance that it starts."""

    def size(self) -> int:
        return sum(len(name) + len(value) for name, value in (self.variables or {}).items())


class ChannelSubscription(Row):
    """A row of `channel_subscriptions`: an element waits for a message; its own subscription has the same key.

    OPEN; CORRELATING: a message is on its way to it; CLOSED: it is deleted.
    """

    channel: MessageChannel
    name: str
    process_id: str
    interrupting: bool
    state: str = OPEN


class StartLock(Row):
    """A row of `start_locks`; `key` is the instance's. CLOSED: it is deleted."""

    channel: MessageChannel
    process_id: str
    state: str = OPEN


class Start(Row):
    """A row of `start_subscriptions`: a start event of the latest version of a process. CLOSED: it is deleted."""

    definition: int
    tenant: str
    process_id: str
    element: str
    kind: str
    name: str
    opened_at: int
    state: str = OPEN


class Correlation(Row):
    """A row of `message_correlations`, for the history: a message went to an instance."""

    message: int
    subscription: int
    name: str
    correlation_key: str
    root: int
    instance: int
    definition: int
    process_id: str
    business_id: str | None
    target: str
    element: int | None
    tenant: str
    at: int


class Starts(msgspec.Struct, eq=False):
    """The open start subscriptions of a partition's catalogue, each found in three ways."""

    rows: dict[int, Start] = {}
    by_name: dict[tuple[str, str, str], dict[int, Start]] = {}
    """By tenant, kind and name."""
    by_process: dict[tuple[str, str], dict[int, Start]] = {}
    """By tenant and process id."""

    def named(self, tenant: str, kind: str, name: str) -> list[Start]:
        """The start events that a message or signal (`kind`) of this name is for."""
        return list(self.by_name.get((tenant, kind, name), {}).values())

    def of_process(self, tenant: str, process_id: str, kind: str | None = None) -> list[Start]:
        """The start events of a process; with a `kind`, those of it."""
        starts = self.by_process.get((tenant, process_id), {}).values()
        return [start for start in starts if kind in (None, start.kind)]

    def add(self, start: Start) -> None:
        """What was loaded; appliers link rows instead, so that it can be undone."""
        self.rows[start.key] = start
        self.by_name.setdefault((start.tenant, start.kind, start.name), {})[start.key] = start
        self.by_process.setdefault((start.tenant, start.process_id), {})[start.key] = start
