"""Whole programs in the test's process, and their metrics as Prometheus reads them."""

from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import trio
from prometheus_client.parser import text_string_to_metric_families

from tests import plain_http
from tests.eventually import eventually
from vivero.api.http1.listeners import open_listeners
from vivero.api.serving.server import Endpoint
from vivero.config.sections import Config
from vivero.metrics.settings import MetricsSettings
from vivero.node import tree

GREET = Path(__file__).parents[3] / "examples" / "first" / "greet.bpmn"


class Node:
    """A running program: its tree, and a client of its API."""

    def __init__(self, built, client) -> None:
        self.tree, self.client = built, client

    async def deploy(self):
        answer = await self.client.post("/v2/deployments", files={"resources": ("greet.bpmn", GREET.read_bytes())})
        assert answer.status_code == 200, answer.text

    async def create(self):
        answer = await self.client.post("/v2/process-instances", json={"processDefinitionId": "greet"})
        assert answer.status_code == 200, answer.text

    async def metrics(self):
        answer = await self.client.get("/metrics")
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/plain; version=")
        return Samples(answer.text)


class Samples:
    """The samples of an answer."""

    def __init__(self, text) -> None:
        families = list(text_string_to_metric_families(text))
        self.names = {family.name for family in families}
        self.all = [one for family in families for one in family.samples]

    def sum(self, name, **labels):
        """The sum of the samples with this name and these labels; KeyError without any."""
        found = [one.value for one in self.all if one.name == name and labels.items() <= one.labels.items()]
        if not found:
            raise KeyError(f"{name} {labels}")
        return sum(found)

    def labels(self, name, label):
        return {one.labels[label] for one in self.all if one.name == name}


@asynccontextmanager
async def running(database, name="one", metrics=MetricsSettings(), **config):  # noqa: B008
    """A program on this database."""
    listeners = await open_listeners("127.0.0.1", 0)
    port = listeners[0].socket.getsockname()[1]
    stop = trio.Event()
    built = []
    settings = replace(Config(), metrics=metrics, **config)
    try:
        client = plain_http.async_client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        async with trio.open_nursery() as nursery, client:
            nursery.start_soon(tree.run, settings, database, name, Endpoint(listeners), stop, built.append)
            await eventually(lambda: client.get("/ready"), accept=lambda answer: answer.status_code == 200)
            yield Node(built[0], client)
            stop.set()
    finally:
        for listener in listeners:
            listener.socket.close()
