"""The record of a deployed inbound connector, its state, and what its receiver may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol

import trio
from cachetools import LRUCache

from vivero.engine.connectors.contract import InboundContract
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.inbound.elements import InboundElement
from vivero.engine.connectors.outbound.documents import CallDocuments
from vivero.engine.connectors.receivers.events import EventCommands, Origin
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.storage.background.inbound import ReceiverRow
from vivero.storage.postgres.driver import Connection

ACTIVE, FAILING = "ACTIVE", "FAILING"
MOST_SHOWN = 300
"""Characters of an error that are stored."""
AT_ONCE_FROM_HOST = 4
"""Requests to one host that the program makes at once."""
MOST_HOSTS = 1000


@dataclass(frozen=True, slots=True)
class Deployed:
    """An element of a deployed process with an inbound connector."""

    tenant: str
    process_id: str
    definition_key: int
    is_latest: bool
    contract: InboundContract
    element: InboundElement

    @property
    def key(self) -> tuple[int, str]:
        return self.definition_key, self.element.element_id

    @property
    def origin(self) -> Origin:
        """The place of its events."""
        return Origin(self.tenant, self.process_id, self.definition_key, self.element, self.contract.ttl_s)


@dataclass(slots=True)
class ReceiverState:
    """The state of a receiver since its node works it. Times are those of Trio's clock."""

    state: str = ACTIVE
    waiting: int = 0
    """The element instances that it works for."""
    events: int = 0
    errors: int = 0
    event_at: float | None = None
    error_at: float | None = None
    error: str | None = None
    """Without values of variables: those are in the log of the server."""
    is_saved: bool = False

    def took(self) -> None:
        """An event has its effect, durably."""
        self.state, self.events, self.event_at, self.is_saved = ACTIVE, self.events + 1, trio.current_time(), False

    def works(self) -> None:
        """The other system answered."""
        if self.state != ACTIVE:
            self.state, self.is_saved = ACTIVE, False

    def failed(self, error: ConnectorError) -> None:
        """Something went wrong. The receiver goes on."""
        self.state, self.errors, self.error_at, self.is_saved = FAILING, self.errors + 1, trio.current_time(), False
        self.error = str(error)[:MOST_SHOWN].replace("\0", "\ufffd")

    def waits(self, count: int) -> None:
        """The number of element instances that wait."""
        if self.waiting != count:
            self.waiting, self.is_saved = count, False

    def row(self, deployed: Deployed) -> ReceiverRow:
        """The row of the table. Ages are in milliseconds."""
        now = trio.current_time()
        event_age_ms, error_age_ms = (
            None if at is None else round((now - at) * 1000) for at in (self.event_at, self.error_at)
        )
        return ReceiverRow(
            *deployed.key, deployed.tenant, deployed.process_id, deployed.contract.types[0], self.state, self.waiting,
            self.events, self.errors, event_age_ms, error_age_ms, self.error,
        )  # fmt: skip


@dataclass(frozen=True)
class ReceiverParts:
    """The parts of a node that all receivers share."""

    settings: ConnectorSettings
    commands: EventCommands
    secrets: Mapping[str, str]
    connections: Callable[[], AbstractAsyncContextManager[Connection]]
    make_client: Callable[[ConnectorSettings], HttpClient]
    threads: trio.CapacityLimiter
    random: Callable[[], float]
    """A number from 0 to 1, for jitter."""
    documents: CallDocuments | None = None
    hosts: LRUCache[str, trio.CapacityLimiter] = field(default_factory=lambda: LRUCache(MOST_HOSTS))

    @cached_property
    def client(self) -> HttpClient:
        """The client of HTTP, with connections of its own."""
        return self.make_client(self.settings)

    async def aclose(self) -> None:
        """Close the client, if there is one. Another one is made when it is needed."""
        if (client := self.__dict__.pop("client", None)) is not None:
            await client.aclose()

    def place_of(self, host: str) -> trio.CapacityLimiter:
        """The places of a host."""
        if host not in self.hosts:
            self.hosts[host] = trio.CapacityLimiter(AT_ONCE_FROM_HOST)
        return self.hosts[host]


class Receiver(Protocol):
    """Fetches the events of one element. It is made with its parts, the element and the state that it keeps."""

    async def run(self) -> None:
        """Run until cancelled. Raises ConnectorError: it is run again after a pause."""


def made(parts: ReceiverParts, deployed: Deployed, state: ReceiverState) -> Receiver:
    """The receiver of an element. Imports its code. Raises ImportError."""
    module, _, name = deployed.contract.handler.partition(":")
    make: Any = getattr(import_module(module), name)
    found: Receiver = make(parts, deployed, state)
    return found
