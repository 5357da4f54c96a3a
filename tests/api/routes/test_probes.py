"""The probes of schedulers, and the route of metrics."""

from tests.api.changed_services import changed
from tests.api.conftest import Client
from vivero.api import app
from vivero.api.http.metrics import Metrics
from vivero.engine.supervision.children import ChildState


async def test_live_needs_no_healthy_task(client):
    response = await client("GET", "/live")
    assert (response.status, response.json) == (200, {"status": "UP", "nodeId": "node"})


async def test_ready_names_the_tasks_that_fail(client, health):
    health.health()[1].last_error = "ConnectFailed: it cannot be reached"
    response = await client("GET", "/ready")
    assert response.status == 503
    failing = {"task": "consumer-2", "state": "running", "error": "ConnectFailed: it cannot be reached"}
    assert response.json == {"status": "DOWN", "nodeId": "node", "reasons": [failing]}
    health.health()[1].healthy = True
    assert (await client("GET", "/ready")).json == {"status": "UP", "nodeId": "node", "reasons": []}


async def test_startup_waits_for_the_first_sign_of_life_alone(client, health):
    assert (await client("GET", "/startup")).status == 200
    health.health()[0].state = ChildState.STARTING
    response = await client("GET", "/startup")
    assert (response.status, [one["task"] for one in response.json["reasons"]]) == (503, ["appender"])


async def test_metrics_are_shown_as_they_come(services):
    async def shown():
        return Metrics("text/plain; version=1", b"a 1\n")

    response = await Client(app.build(changed(services, metrics=shown)))("GET", "/metrics")
    assert (response.status, response.body) == (200, b"a 1\n")
