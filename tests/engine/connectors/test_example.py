"""The examples in whole programs: a node that only works connectors, beside one that does all the rest; a webhook."""

import hmac
import http.server
import importlib.util
import threading
from functools import partial
from pathlib import Path

import pytest
import trio

from tests.engine.connectors.dispatching import RESULT, calling
from tests.engine.connectors.programs import connectors_of, deploy, program
from tests.engine.connectors.test_email import SmtpServer
from tests.engine.connectors.webhook_models import by_message
from tests.eventually import eventually
from vivero.core.bpmn.parser import parse
from vivero.engine.connectors import models
from vivero.engine.connectors.contracts.email import EMAIL
from vivero.engine.connectors.contracts.send_message import SEND_MESSAGE

EXAMPLE = Path(__file__).parents[3] / "examples" / "connectors"


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


async def test_a_node_with_the_role_jobs_works_what_others_create(migrated, weather, monkeypatch, nursery):
    monkeypatch.setenv("VIVERO_SECRET_WEATHER_TOKEN", "sunshine")
    others = ({"roles": "api,engine"}, {"roles": "jobs"})
    async with program(migrated, others=others) as (client, trees, _):
        deployed = await deploy(client, (EXAMPLE / "weather.bpmn").read_bytes())
        assert deployed.json()["warnings"] == []
        variables = {"service": weather, "city": "Oslo"}
        body = {"processDefinitionId": "weather", "variables": variables, "awaitCompletion": True}
        oslo = (await client.post("/v2/process-instances", json=body)).json()
        assert oslo["variables"] == {**variables, "temperature": -4}
        await eventually(lambda: trees[1].supervisor.chaos("connectors", "raise"))
        variables["city"] = "Atlantis"
        atlantis = (await client.post("/v2/process-instances", json=body)).json()
        assert "temperature" not in atlantis["variables"]
        assert connectors_of(trees[0]).dispatcher is None
        assert connectors_of(trees[1]).dispatcher.figures.started == 2
        await _message_and_mail(client, nursery)


async def _message_and_mail(client, nursery):
    """This node learns the outcome of its message from the node that leads the partition."""
    mails = SmtpServer()
    [listener] = await nursery.start(partial(trio.serve_tcp, mails.handle, 0, host="127.0.0.1"))
    config = {"smtpHost": "127.0.0.1", "smtpPort": f"={listener.socket.getsockname()[1]}"}
    inputs = {f"data.smtpConfig.{name}": value for name, value in config.items()} | {
        "authentication.type": "noAuth",
        "data.smtpConfig.smtpCryptographicProtocol": "NONE",
        "data.smtpAction.from": "a@a.example",
        "data.smtpAction.to": "b@b.example",
        "data.smtpAction.subject": "=x",
    }
    message = calling(
        SEND_MESSAGE.types[0], {"messageName": "called-called", "variables": "={x: x}"}, RESULT, id="send"
    )
    mail = calling(EMAIL.types[0], inputs, RESULT, id="mail")
    deployed = await deploy(client, message, mail, by_message(id="called"))
    assert deployed.json()["warnings"] == []
    for process in ("send", "mail"):
        body = {"processDefinitionId": process, "variables": {"x": "Tschüß"}, "awaitCompletion": True}
        answer = (await client.post("/v2/process-instances", json=body)).json()
        assert answer["variables"]["r"].keys() >= {"send": {"messageKey"}, "mail": {"messageId"}}[process]
    assert [mail["Subject"] for mail in mails.mails] == ["Tschüß"]
    found = await client.post("/v2/process-instances/search", json={"filter": {"processDefinitionId": "called"}})
    assert found.json()["page"]["totalItems"] == 1


async def test_the_example_of_a_webhook(migrated, monkeypatch):
    monkeypatch.setenv("VIVERO_SECRET_PAYMENTS", "our-secret")
    body = b'{"id": "p-1", "type": "payment", "invoice": "i-7", "amount": 120}'
    headers = {"Content-Type": "application/json", "X-Signature": hmac.digest(b"our-secret", body, "sha256").hex()}
    async with program(migrated) as (client, _, _):
        assert (await deploy(client, (EXAMPLE / "payment.bpmn").read_bytes())).json()["warnings"] == []
        start = {"processDefinitionId": "payment", "variables": {"invoice": "i-7"}, "awaitCompletion": True}
        answers = {}

        async def create():
            answers["created"] = (await client.post("/v2/process-instances", json=start)).json()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(create)
            statuses = [
                (await client.post("/inbound/payments", content=body, headers=headers)).status_code for _ in "ab"
            ]
        assert statuses == [200, 200]
        assert answers["created"]["variables"] == {"invoice": "i-7", "amount": 120}
        forged = await client.post("/inbound/payments", content=body.replace(b"120", b"999"), headers=headers)
        assert forged.status_code == 401


def test_a_deployment_without_connectors_is_warned():
    file = EXAMPLE / "weather.bpmn"
    [warning] = models.warnings("weather.bpmn", parse(file.read_bytes(), "weather.bpmn").processes, enabled=False)
    assert "'weather.bpmn' element 'ask'" in warning
    assert "connectors.enabled" in warning
