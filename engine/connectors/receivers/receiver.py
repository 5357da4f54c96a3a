"""The record of a deployed inbound connector, its state, and what its receiver may use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol

import msgspec
import structlog
import trio
from cachetools import LRUCache

from vivero.engine.connectors.contract import InboundContract
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.inbound.elements import InboundElement
from vivero.engine.connectors.outbound.documents import CallDocuments
from vivero.engine.connectors.receivers.events import EventCommands, Origin
from vivero.engine.connectors.receivers.inputs import inputs_of
from vivero.engine.connectors.receivers.states import ReceiverState
from vivero.engine.connectors.receivers.threads import TenantThreads
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.secrets import UsedSecrets
from vivero.storage.background.inbound import ReceiverRow, Wait
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)

OF_AN_EVENT = frozenset(
    (
        *("BAD_MAIL", "BAD_RECORD", "BAD_RESPONSE", "INVALID_EVENT"),
        *("INVALID_ARGUMENT", "INVALID_STATE", "NOT_FOUND", "PROCESSING_ERROR"),
    )
)
"""Codes of errors that an event has, or the model with it. The next ones go on."""
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

    def inputs(self, used: UsedSecrets) -> Inputs:
        """The inputs of an element that no element instance needs. Raises ConnectorError."""
        return Inputs(self.contract, inputs_of(self.contract, self.element, {}, used))

    def job(self, key: int = 0, wait: Wait | None = None) -> ConnectorJob:
        """The element as calls and documents know the job that they are made for, or what waits at it."""
        return ConnectorJob(
            job_key=str(key),
            type=self.contract.types[0],
            element_id=self.element.element_id,
            process_definition_key=str(self.definition_key),
            tenant_id=self.tenant,
            retries=1,
            custom_headers={},
            variables=msgspec.Raw(b"{}"),
            job_lease_token="",
            process_definition_id=self.process_id,
            process_instance_key=None if wait is None else str(wait.process_instance_key),
            element_instance_key=None if wait is None else str(wait.element_instance_key),
        )


def row_of(deployed: Deployed, state: ReceiverState) -> ReceiverRow:
    """The row of the table. Ages are in milliseconds."""
    now = trio.current_time()
    event_age_ms, error_age_ms = (
        None if at is None else round((now - at) * 1000) for at in (state.event_at, state.error_at)
    )
    return ReceiverRow(
        *deployed.key, deployed.tenant, deployed.process_id, deployed.contract.types[0], state.state, state.waiting,
        state.events, state.errors, event_age_ms, error_age_ms, state.error,
    )  # fmt: skip


@dataclass(frozen=True)
class ReceiverParts:
    """The parts of a node that all receivers share."""

    settings: ConnectorSettings
    commands: EventCommands
    secrets: Mapping[str, str]
    connections: Callable[[], AbstractAsyncContextManager[Connection]]
    make_client: Callable[[ConnectorSettings], HttpClient]
    threads: TenantThreads
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


async def is_done(deployed: Deployed, state: ReceiverState, taking: Awaitable[bool]) -> bool:
    """Whether an event is done with: it had its effect, or is consumed although it does not meet the condition.

    An event that has a fault, or whose model has one, counts as an error, and the next ones go on. `taking`: see
    `EventCommands.take`. Raises ConnectorError for failures of another kind: the event must come again.
    """
    try:
        if await taking:
            state.took()
            return True
    except ConnectorError as error:
        if error.code not in OF_AN_EVENT:
            raise
        state.failed(error)
        element, kind = deployed.element.element_id, deployed.contract.types[0]
        log.warning("an event is passed over", element=element, kind=kind, error=describe(error))
        return False
    state.works()
    return deployed.element.get("consumeUnmatchedEvents") == "true"


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
