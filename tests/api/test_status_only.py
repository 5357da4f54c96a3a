"""A node without the role `api`: its health, injected faults, and nothing else."""

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from vivero.api.serving import status_only


@pytest.fixture
def client(services):
    return Client(status_only.build(services, "engine,jobs"))


async def test_its_health_is_told(client, health):
    assert (await client("GET", "/v2/status")).status == 204
    health.healthy = False
    assert (await client("GET", "/v2/status")).status == 503


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v2/topology"), ("POST", "/v2/jobs/1/completion"), ("GET", "/"), ("GET", "/v2/stat")]
)
async def test_everything_else_is_refused_as_by_a_node_that_is_away(client, method, path):
    answer = await client(method, path)
    assert (answer.status, answer.json["title"]) == (503, "UNAVAILABLE")
    assert "its roles are engine,jobs; ask a node with the role api" in answer.json["detail"]


async def test_faults_are_injected_if_the_program_allows_them(services, client):
    assert (await client("POST", "/chaos/children/consumer")).status == 404
    hurt = []

    def chaos(name, kind):
        hurt.append((name, kind))
        return True

    allowing = changed(services, chaos=chaos)
    assert (await Client(status_only.build(allowing, "engine"))("POST", "/chaos/children/consumer")).status == 204
    assert hurt == [("consumer", "raise")]
