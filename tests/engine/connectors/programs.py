"""Whole programs in the process of a test."""

from contextlib import asynccontextmanager
from dataclasses import replace

import trio

from tests import plain_http
from tests.eventually import eventually
from vivero.api.http1.listeners import open_listeners
from vivero.api.serving.server import Endpoint
from vivero.config.sections import Config
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.node import tree
from vivero.node.connector_tasks import ConnectorTasks


async def serve(database, config, node, stop, task_status):
    """Reports the port and the tree."""
    listeners = await open_listeners("127.0.0.1", 0)
    port = listeners[0].socket.getsockname()[1]

    def started(built):
        task_status.started((port, built))

    try:
        await tree.run(config, database, node, Endpoint(listeners), stop, started)
    finally:
        for listener in listeners:
            listener.socket.close()


@asynccontextmanager
async def program(database, node="a", others=(), **connectors):
    """A client of a program that has a leader; `others`: further configurations. The trees are in `client.trees`."""
    settings = ConnectorSettings(enabled=True, allowed_targets="127.0.0.1", poll_interval="PT10M", **connectors)
    base, stop = replace(Config(), connectors=settings, drain_s=2.0), trio.Event()
    async with trio.open_nursery() as nursery:
        started = [
            await nursery.start(serve, database, replace(base, **more), f"{node}{number}", stop)
            for number, more in enumerate(({}, *others) if not others or "roles" not in others[0] else others)
        ]
        async with plain_http.async_client(base_url=f"http://127.0.0.1:{started[0][0]}", timeout=30) as client:
            await eventually(lambda: client.get("/v2/topology"), accept=lambda answer: answer.json()["brokers"])
            yield client, [built for _, built in started], [port for port, _ in started]
        stop.set()


async def deploy(client, *models):
    """Deploy files; the answer."""
    files = [("resources", (f"{number}.bpmn", model)) for number, model in enumerate(models)]
    return await client.post("/v2/deployments", files=files)


def connectors_of(tree):
    """The connectors of a node."""
    (found,) = (part for part in tree.parts if isinstance(part, ConnectorTasks))
    return found
