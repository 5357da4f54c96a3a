"""An engine with a dispatcher of connectors, and models whose service task is a connector."""

from contextlib import asynccontextmanager
from functools import partial

import trio

from tests.engine.whole_engine import HEAD, WholeEngine
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.contents import CONTRACTS
from vivero.engine.connectors.dispatcher import ConnectorDispatcher
from vivero.engine.connectors.outbound.own_commands import OwnCommands
from vivero.engine.connectors.outbound.surroundings import NodeParts
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.outcomes.completions import Completions
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.postgres import driver

SECRETS = {"KEY": "canary-secret", "OTHER": "canary-other"}
RESULT = '<zeebe:header key="resultVariable" value="r"/>'


def calling(type, inputs, headers="", retries=2, id="p"):
    """A process of one service task with a connector of this type. `inputs`: sources by target."""
    mappings = "".join(f'<zeebe:input source="{source}" target="{target}"/>' for target, source in inputs.items())
    return (
        f'{HEAD}<process id="{id}" isExecutable="true"><startEvent id="start"/><serviceTask id="call">'
        f'<extensionElements><zeebe:taskDefinition type="{type}" retries="{retries}"/><zeebe:ioMapping>{mappings}'
        f"</zeebe:ioMapping><zeebe:taskHeaders>{headers}</zeebe:taskHeaders></extensionElements>"
        '</serviceTask><sequenceFlow id="a" sourceRef="start" targetRef="call"/><endEvent id="end"/>'
        '<sequenceFlow id="b" sourceRef="call" targetRef="end"/></process></definitions>'
    ).encode()


class ConnectorEngine(WholeEngine):
    """An engine that tells a dispatcher of jobs."""

    dispatcher: ConnectorDispatcher | None = None

    def __init__(self, dsn) -> None:
        super().__init__(dsn)
        self.completions = Completions(partial(driver.connect, dsn))

    @asynccontextmanager
    async def running(self):
        """With the child that finds outcomes of earlier commands."""
        async with super().running() as running, trio.open_nursery() as nursery:
            nursery.start_soon(self.completions.run, Beat(SupervisionSettings()))
            yield running
            nursery.cancel_scope.cancel()

    def available(self, type, tenant, count):
        if self.dispatcher is not None:
            self.dispatcher.available(type, tenant)

    def dispatching(
        self, connect, multi_tenancy=False, contracts=CONTRACTS, documents=None, agents=None, parts=None, **settings
    ):
        """A dispatcher that hears of the engine's jobs. `parts`: more parts of its node, by name."""
        given = {"allowed_targets": "127.0.0.1", "poll_interval": "PT10M", **settings}
        commands = OwnCommands(self.appender, self.completions, self.pool.connection)
        sections = {"agents": agents or AgentSettings()}
        all_parts = NodeParts(
            ConnectorSettings(enabled=True, **given),
            commands,
            documents,
            sections,
            self.pool.connection,
            self.definitions.process,
            **(parts or {}),
        )
        self.dispatcher = ConnectorDispatcher(
            connect, all_parts, SECRETS, multi_tenancy=multi_tenancy, contracts=contracts
        )
        return self.dispatcher

    async def variable(self, name):
        """The JSON text of the latest variable of this name."""
        return await self.value("SELECT value FROM variables WHERE name = $1 ORDER BY variable_key DESC LIMIT 1", name)


@asynccontextmanager
async def running(dispatcher):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(dispatcher.run, Beat(SupervisionSettings()))
        yield
        nursery.cancel_scope.cancel()


async def ended(engine, count):
    await engine.until(lambda: len(engine.ended) == count)
