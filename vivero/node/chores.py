"""The chores of a node: of the partitions that it leads, and, with the role `jobs`, of the whole database."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from types import MappingProxyType

from vivero.config import budget
from vivero.config.roles import Role
from vivero.config.sections import Config
from vivero.engine.alerts import chores as alert_chores
from vivero.engine.connectors.work import secrets
from vivero.engine.documents import chores as document_chores
from vivero.engine.documents.opening import open_stores
from vivero.engine.documents.settings import LINK_KEY_S
from vivero.engine.jobs import execution
from vivero.engine.jobs.definitions import JobDefinition, JobRegistry
from vivero.engine.jobs.dispatcher import JobDispatcher
from vivero.engine.retention import chores
from vivero.engine.retention.chores import ChoreSettings
from vivero.engine.supervision.children import Child
from vivero.node.connections import Connections
from vivero.node.node_events import NodeEvents
from vivero.node.part import NodePart
from vivero.storage.background.job_executions import JOBS_CHANNEL
from vivero.storage.cluster.clock import CLOCK_CHANNEL
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.plans import CHORES
from vivero.storage.postgres.pool import Pool

NAME = "chores"
SESSION = {**CHORES, "lock_timeout": "100ms"}
"""Chores never wait long for a lock, because other sessions would queue behind them."""


@asynccontextmanager
async def no_connections() -> AsyncGenerator[Connection]:
    """For who asks only which chores there are."""
    raise NotImplementedError("the chores do not run here")
    yield


def registries(
    config: Config, connections: execution.Connections, positions: Mapping[int, int] = MappingProxyType({})
) -> dict[Role, JobRegistry]:
    """The chores by the role of the nodes that do them. `positions`: how far partitions are processed."""
    settings = ChoreSettings(config.expiry, config.maintenance, config.retention)
    of_database = chores.of_database(settings, connections).definitions.values()
    keys_s = config.documents.max_link_s + LINK_KEY_S
    stores = open_stores(config.documents, connections)
    of_documents = document_chores.chores(config.retention, keys_s, connections, stores)
    of_alerts = alert_chores.chores(config.connectors, config.outbox, connections, partial(_secrets, config))
    return {
        Role.ENGINE: chores.of_partitions(settings, connections, positions),
        Role.JOBS: JobRegistry.of((*of_database, *of_documents, *of_alerts)),
    }


def _secrets(config: Config) -> Mapping[str, str]:
    return secrets.load(config.connectors.secrets_file, config.connectors.secret_prefix)


class Chores(NodePart):
    """The dispatcher of the chores, with its pool. A node without the roles `engine` and `jobs` has none."""

    def __init__(self, config: Config, connections: Connections, node: str) -> None:
        self._pool = Pool(connections.by_deadline("chore-runs", **SESSION), budget.CHORES)
        self._positions: dict[int, int] = {}
        found = registries(config, self._pool.connection, self._positions)
        mine = JobRegistry.of(_all(registry for role, registry in found.items() if config.has_role(role)))
        self._dispatcher = JobDispatcher(
            connections.dedicated("chores", **CHORES),
            self._pool.connection,
            node,
            mine,
            chores.dispatcher_settings(config.jobs.types),
            chores=True,
        )
        self._has_chores = bool(mine.definitions)

    def children(self) -> Iterator[Child]:
        """The dispatcher's child, if the node has chores."""
        if self._has_chores:
            yield Child(NAME, self._dispatcher.run, self._shut, self._dispatcher.drain)

    def _shut(self) -> None:
        self._dispatcher.close()
        self._pool.abort()

    def hears(self, events: NodeEvents) -> None:
        """Look when executions were changed by hand, or the clock changed. Some chores follow progress."""
        events.progress.append(self._positions.__setitem__)
        events.channels.changed(self._dispatcher.wake, JOBS_CHANNEL, CLOCK_CHANNEL)

    async def close(self) -> None:
        """Close the idle connections, when the program ends."""
        self._pool.close()


def _all(registries: Iterator[JobRegistry]) -> Iterator[JobDefinition]:
    return (job for registry in registries for job in registry.definitions.values())
