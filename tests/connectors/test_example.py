"""The example in a whole program: a node that only works connectors, beside one that does all the rest."""

import http.server
import importlib.util
import threading
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import trio

from vivero import tree
from vivero.api.http1.listeners import open_listeners
from vivero.api.server import Endpoint
from vivero.config import Config
from vivero.engine.bpmn.parser import parse
from vivero.engine.connectors import models
from vivero.engine.connectors.settings import ConnectorSettings

EXAMPLE = Path(__file__).parents[2] / "examples" / "connectors"


@pytest.fixture
def weather():
    """The URL of the service of the example."""
    spec = importlib.util.spec_from_file_location("weather_example", EXAMPLE / "weather.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with http.server.HTTPServer(("127.0.0.1", 0), module.Weather) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


async def serve(database, config, node, stop, task_status):
    listeners = await open_listeners("127.0.0.1", 0)
    port = listeners[0].socket.getsockname()[1]
    try:
        await tree.run(
            config, database, node, Endpoint(listeners), stop, lambda built: task_status.started((port, built))
        )
    finally:
        for listener in listeners:
            listener.socket.close()


async def test_a_node_with_the_role_jobs_works_what_others_create(migrated, weather, nursery, monkeypatch):
    monkeypatch.setenv("VIVERO_SECRET_WEATHER_TOKEN", "sunshine")
    settings = ConnectorSettings(enabled=True, allowed_targets="127.0.0.1", poll_interval="PT10M")
    stop, config = trio.Event(), replace(Config(), connectors=settings, drain_s=2.0)
    port, _ = await nursery.start(serve, migrated, replace(config, roles="api,engine"), "a", stop)
    _, worker = await nursery.start(serve, migrated, replace(config, roles="jobs"), "b", stop)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/v2", timeout=30) as client:
        with trio.fail_after(20):
            while not (await client.get("/topology")).json()["brokers"]:  # noqa: ASYNC110
                await trio.sleep(0.01)
        files = {"resources": ("weather.bpmn", (EXAMPLE / "weather.bpmn").read_bytes())}
        deployed = await client.post("/deployments", files=files)
        assert deployed.json()["warnings"] == []
        variables = {"service": weather, "city": "Oslo"}
        body = {"processDefinitionId": "weather", "variables": variables, "awaitCompletion": True}
        oslo = (await client.post("/process-instances", json=body)).json()
        assert oslo["variables"] == {**variables, "temperature": -4}
        variables["city"] = "Atlantis"
        atlantis = (await client.post("/process-instances", json=body)).json()
        assert "temperature" not in atlantis["variables"]
    assert worker.connectors.dispatcher.figures.started == 2
    stop.set()


def test_a_deployment_without_connectors_is_warned():
    file = EXAMPLE / "weather.bpmn"
    [warning] = models.warnings("weather.bpmn", parse(file.read_bytes(), "weather.bpmn").processes)
    assert "'weather.bpmn' element 'ask'" in warning
    assert "connectors.enabled" in warning
