"""The connectors of a node, as the supervision tree sees them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Protocol

from vivero.api.services import WebhookAccess
from vivero.config.sections import Config
from vivero.core.agents.wires.prices import Prices
from vivero.engine.appender.task import Appender
from vivero.engine.connectors.work import secrets
from vivero.engine.connectors.work.agent_figures import AgentFigures
from vivero.engine.connectors.work.secrets import BadSecrets
from vivero.engine.outcomes.completions import Completions
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.children import Child
from vivero.engine.tracing.tracer import Tracer
from vivero.node.connections import Connections
from vivero.node.models import NodeModels
from vivero.node.node_events import NodeEvents
from vivero.node.part import NodePart
from vivero.storage.background.job_executions import JOBS_CHANNEL
from vivero.storage.cluster.clock import CLOCK_CHANNEL
from vivero.storage.postgres.plans import ONCE
from vivero.storage.postgres.pool import Pool
from vivero.storage.postgres.startup_problems import StartupProblem
from vivero.storage.state.save import DEFINITIONS_CHANNEL

NAME, RECEIVERS = "connectors", "receivers"


class Dispatcher(Protocol):
    """`engine.connectors.dispatcher.ConnectorDispatcher`."""

    async def run(self, beat: Beat) -> None: ...

    def close(self) -> None: ...

    def drain(self) -> None: ...

    def available(self, type: str, tenant: str) -> None: ...

    def wake(self) -> None: ...


class ReceiverTask(Protocol):
    """`engine.connectors.receivers.task.Receivers`."""

    @property
    def figures(self) -> object: ...

    async def run(self, beat: Beat) -> None: ...

    def close(self) -> None: ...

    def drain(self) -> None: ...

    def outdated(self) -> None: ...


class ConnectorTasks(NodePart):
    """The dispatcher of jobs and the receivers, on nodes with the role `jobs`, and the webhooks.

    It has none of them if connectors are disabled.

    Raises:
        StartupProblem: the secrets or the prices cannot be read.
    """

    def __init__(
        self,
        config: Config,
        connections: Connections,
        reads: Pool,
        appender: Appender,
        completions: Completions,
        models: NodeModels,
        tracer: Tracer | None = None,
        node: str = "node",
    ) -> None:
        self.receivers: ReceiverTask | None = None
        self.dispatcher: Dispatcher | None = None
        self._agent_figures = AgentFigures()
        self.webhooks: WebhookAccess | None = None
        if not config.connectors.enabled:
            return
        definitions = models.definitions
        from vivero.api import webhooks  # these need the libraries of HTTP and of tokens: a tenth of a start
        from vivero.engine.connectors.dispatcher import ConnectorDispatcher
        from vivero.engine.connectors.http.http_client import HttpClient
        from vivero.engine.connectors.inbound.webhook_registry import WebhookRegistry
        from vivero.engine.connectors.outbound.documents import CallDocuments
        from vivero.engine.connectors.outbound.own_commands import OwnCommands
        from vivero.engine.connectors.outbound.surroundings import NodeParts
        from vivero.engine.connectors.receivers.opening import opened
        from vivero.engine.documents.opening import open_stores
        from vivero.engine.documents.uploads import DocumentStorage

        settings, values = config.connectors, _secrets(config)
        self.webhooks = webhooks.Webhooks(WebhookRegistry(reads.connection, definitions), settings, values)
        if config.works_connectors:
            stores = open_stores(config.documents, reads.connection)
            documents = CallDocuments(DocumentStorage(config.documents, stores, reads.connection))
            commands = OwnCommands(appender, completions, reads.connection)
            parts = NodeParts(
                settings,
                commands,
                documents,
                {"agents": config.agents},
                reads.connection,
                definitions.process,
                partial(HttpClient, tracer=tracer),
                _prices(config),
                self._agent_figures,
                models.compute,
            )
            connect = connections.dedicated(RECEIVERS, **ONCE)
            self.receivers = opened(connect, parts, definitions, values, node, config.tenants.enabled)
            self.dispatcher = ConnectorDispatcher(
                connections.dedicated(NAME, **ONCE), parts, values, multi_tenancy=config.tenants.enabled, tracer=tracer
            )

    def children(self) -> Iterator[Child]:
        """The dispatcher's child, if there is one."""
        if (dispatcher := self.dispatcher) is not None:
            yield Child(NAME, dispatcher.run, dispatcher.close, dispatcher.drain)
        if (receivers := self.receivers) is not None:
            yield Child(RECEIVERS, receivers.run, receivers.close, receivers.drain)

    def figures(self) -> Iterator[object]:
        """The counts of the calls of models, and of the receivers."""
        yield self._agent_figures
        if self.receivers is not None:
            yield self.receivers.figures

    def hears(self, events: NodeEvents) -> None:
        """Read the webhooks again after a deployment, and look when jobs may be available."""
        if self.webhooks is not None:
            events.channels.changed(self.webhooks.registry.outdated, DEFINITIONS_CHANNEL)
        if self.receivers is not None:
            events.channels.changed(self.receivers.outdated, DEFINITIONS_CHANNEL)
        if (dispatcher := self.dispatcher) is not None:
            events.jobs.append(lambda type_, tenant, _count: dispatcher.available(type_, tenant))
            events.channels.changed(dispatcher.wake, JOBS_CHANNEL, CLOCK_CHANNEL)


def _secrets(config: Config) -> Mapping[str, str]:
    try:
        return secrets.load(config.connectors.secrets_file, config.connectors.secret_prefix)
    except BadSecrets as error:
        raise StartupProblem(str(error)) from error


def _prices(config: Config) -> Prices:
    from vivero.engine.connectors.agents.price_files import BadPrices, read_prices

    try:
        return read_prices(config.agents.prices_file)
    except BadPrices as error:
        raise StartupProblem(str(error)) from error
