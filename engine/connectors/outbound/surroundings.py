"""The parts of a node that a connector may use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from importlib import import_module
from typing import Any

import isodate

from vivero.core.agents.wires.prices import Prices
from vivero.core.bpmn.model import Process
from vivero.engine.compute.pool import ComputePool
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.contract import Contract
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.outbound.documents import CallDocuments
from vivero.engine.connectors.outbound.own_commands import OwnCommands
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.agent_figures import AgentFigures
from vivero.engine.connectors.work.calls import Connector
from vivero.storage.postgres.driver import Connection

MakeClient = Callable[[ConnectorSettings], HttpClient]


@dataclass(frozen=True)
class NodeParts:
    """The parts of a node that all connectors share."""

    settings: ConnectorSettings
    commands: OwnCommands
    """The engine of the own cluster."""
    documents: CallDocuments | None = None
    """None: calls can have none."""
    sections: Mapping[str, Any] = field(default_factory=lambda: {"agents": AgentSettings()})
    """Further settings, by the name of their section."""
    connections: Callable[[], AbstractAsyncContextManager[Connection]] | None = None
    """Connections to the database, for the length of a block."""
    definition: Callable[[str, int], Awaitable[Process | None]] | None = None
    """The model of a tenant's process definition, by its key."""
    make_client: MakeClient = HttpClient
    prices: Prices = field(default_factory=Prices)
    """The prices of models."""
    agent_figures: AgentFigures = field(default_factory=AgentFigures)
    compute: ComputePool | None = None
    """Processes that evaluate expressions. None: the event loop evaluates all."""


@dataclass(frozen=True)
class Surroundings:
    """The parts of a node for the connector of one contract."""

    parts: NodeParts
    contract: Contract

    @property
    def settings(self) -> ConnectorSettings:
        return self.parts.settings

    @property
    def documents(self) -> CallDocuments | None:
        return self.parts.documents

    @property
    def commands(self) -> OwnCommands:
        return self.parts.commands

    @property
    def at_once(self) -> int:
        """The jobs that the connector works at once."""
        most = self.settings.max_concurrent
        return most if self.contract.at_once is None else min(self.contract.at_once, most)

    @property
    def limit_s(self) -> float:
        """The time of a call: the setting that the contract names. Raises ValueError for one that is unknown."""
        section, _, name = self.contract.limit.partition(".")
        holder = self.settings if section == "connectors" else self.parts.sections.get(section)
        limit_s = getattr(holder, f"{name}_s", None)
        if not isinstance(limit_s, float):
            raise ValueError(
                f"the connector {self.contract.name} has the limit {self.contract.limit}, which is unknown"
            )
        return limit_s

    @cached_property
    def client(self) -> HttpClient:
        """An HTTP client with connections of its own, so that slow calls of other connectors take no place of it."""
        call = isodate.duration_isoformat(timedelta(seconds=self.limit_s))
        return self.parts.make_client(replace(self.settings, max_call=call, max_concurrent=self.at_once))

    def open(self) -> Connector:
        """The connector. Imports its code. Raises ImportError."""
        module, _, name = self.contract.handler.partition(":")
        made: Connector = getattr(import_module(module), name)(self)
        return made

    async def aclose(self) -> None:
        """Close the client, if there is one."""
        if "client" in self.__dict__:
            await self.client.aclose()
