"""Receivers of inbound connectors beside an engine, and models with such connectors."""

from contextlib import asynccontextmanager
from xml.sax.saxutils import quoteattr

import trio

from tests.engine.connectors.dispatching import SECRETS
from tests.engine.whole_engine import HEAD
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.outbound.own_commands import OwnCommands
from vivero.engine.connectors.receivers.events import EventCommands
from vivero.engine.connectors.receivers.receiver import ReceiverParts
from vivero.engine.connectors.receivers.registry import ReceiverRegistry
from vivero.engine.connectors.receivers.task import Receivers
from vivero.engine.connectors.receivers.threads import TenantThreads
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.background import inbound


def properties(type, given):
    items = ({"inbound.type": type} | given).items()
    shown = "".join(f"<zeebe:property name={quoteattr(name)} value={quoteattr(value)}/>" for name, value in items)
    return f"<extensionElements><zeebe:properties>{shown}</zeebe:properties></extensionElements>"


def waiting(type, given, id="p"):
    """A process that waits for an event with its order."""
    return (
        f'{HEAD}<message id="m" name="came"><extensionElements><zeebe:subscription correlationKey="=order"/>'
        f'</extensionElements></message><process id="{id}" isExecutable="true"><startEvent id="start"/>'
        f'<sequenceFlow id="a" sourceRef="start" targetRef="wait"/><intermediateCatchEvent id="wait">'
        f'{properties(type, given)}<messageEventDefinition messageRef="m"/></intermediateCatchEvent>'
        f'<sequenceFlow id="b" sourceRef="wait" targetRef="end"/><endEvent id="end"/></process></definitions>'
    ).encode()


def starting(type, given, id="p"):
    """An event starts the process, which ends at once."""
    return (
        f'{HEAD}<process id="{id}" isExecutable="true"><startEvent id="start">{properties(type, given)}</startEvent>'
        f'<sequenceFlow id="a" sourceRef="start" targetRef="end"/><endEvent id="end"/></process></definitions>'
    ).encode()


def receivers_of(engine, connect, node="a", documents=None):
    parts = ReceiverParts(
        ConnectorSettings(enabled=True, allowed_targets="127.0.0.1"),
        EventCommands(OwnCommands(engine.appender, engine.completions, engine.pool.connection)),
        SECRETS,
        engine.pool.connection,
        HttpClient,
        TenantThreads(),
        lambda: 0.5,
        documents,
    )
    return Receivers(connect, ReceiverRegistry(engine.pool.connection, engine.definitions), parts, node)


@asynccontextmanager
async def receiving(receivers):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(receivers.run, Beat(SupervisionSettings()))
        yield
        nursery.cancel_scope.cancel()


async def states(engine):
    """The rows of the table."""
    async with engine.pool.connection() as connection:
        return (await inbound.read_page(connection, 0, 100))[0]
