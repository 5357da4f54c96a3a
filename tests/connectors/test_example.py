"""The example in a whole program: a node that only works connectors, beside one that does all the rest."""

import http.server
import importlib.util
import threading
from pathlib import Path

import pytest
import trio

from tests.connectors.programs import deploy, program
from vivero.engine.bpmn.parser import parse
from vivero.engine.connectors import models

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


async def test_a_node_with_the_role_jobs_works_what_others_create(migrated, weather, monkeypatch):
    monkeypatch.setenv("VIVERO_SECRET_WEATHER_TOKEN", "sunshine")
    others = ({"roles": "api,engine"}, {"roles": "jobs"})
    async with program(migrated, others=others) as (client, trees, _):
        deployed = await deploy(client, (EXAMPLE / "weather.bpmn").read_bytes())
        assert deployed.json()["warnings"] == []
        variables = {"service": weather, "city": "Oslo"}
        body = {"processDefinitionId": "weather", "variables": variables, "awaitCompletion": True}
        oslo = (await client.post("/v2/process-instances", json=body)).json()
        assert oslo["variables"] == {**variables, "temperature": -4}
        with trio.fail_after(20):
            while not trees[1].supervisor.chaos("connectors", "raise"):  # noqa: ASYNC110
                await trio.sleep(0.01)
        variables["city"] = "Atlantis"
        atlantis = (await client.post("/v2/process-instances", json=body)).json()
        assert "temperature" not in atlantis["variables"]
        assert trees[0].connectors.dispatcher is None
        assert trees[1].connectors.dispatcher.figures.started == 2


def test_a_deployment_without_connectors_is_warned():
    file = EXAMPLE / "weather.bpmn"
    [warning] = models.warnings("weather.bpmn", parse(file.read_bytes(), "weather.bpmn").processes)
    assert "'weather.bpmn' element 'ask'" in warning
    assert "connectors.enabled" in warning
