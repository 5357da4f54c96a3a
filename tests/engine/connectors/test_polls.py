"""HTTP polling: requests for each element instance that waits, by one node, as long as it waits."""

from types import SimpleNamespace

import pytest
import trio

from tests.engine.connectors.dispatching import ended
from tests.engine.connectors.receiving import receivers_of, receiving, states, waiting
from tests.eventually import eventually
from vivero.core.records.instances import CancelInstance
from vivero.engine.connectors.contents import INBOUND_BY_TYPE
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.inbound.elements import InboundElement
from vivero.engine.connectors.receivers import polls, task
from vivero.engine.connectors.receivers.inputs import inputs_of, variables_of
from vivero.engine.connectors.receivers.receiver import Deployed
from vivero.engine.connectors.receivers.states import ReceiverState
from vivero.engine.connectors.work.secrets import UsedSecrets
from vivero.storage.postgres.errors import StorageError

TYPE = "io.camunda:http-polling:1"
CONTRACT = INBOUND_BY_TYPE[TYPE]
EVERY = {"httpRequestInterval": "PT0S", "processPollingInterval": "PT0S"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(polls, "LEAST_INTERVAL_S", 0.05)
    monkeypatch.setattr(task, "SAVE_S", 0.05)


def polled(server, **more):
    given = EVERY | {
        "url": f'="{server.url}/orders/" + order',
        "authentication.type": "bearer",
        "authentication.token": "{{secrets.KEY}}",
        "activationCondition": "=body.done",
        "resultExpression": "={amount: body.amount}",
    }
    return waiting(TYPE, given | more)


async def test_each_waiting_instance_is_polled_with_its_variables_until_its_answer_comes(engine, connect, server):
    answers: dict[str, list[int]] = {"/orders/a": [404, 0, 1], "/orders/b": [0]}

    def answer(request):
        left = answers[request.target]
        said = left.pop(0) if len(left) > 1 else left[0]
        return (404, {}, {"token": request.headers["authorization"]}) if said == 404 else (
            200, {}, {"done": said == 1, "amount": 7},
        )  # fmt: skip

    server.answer = answer
    receivers = receivers_of(engine, connect)
    await engine.deploy(polled(server))
    async with receiving(receivers):
        await engine.create(order="a")
        await engine.create(order="b")
        await ended(engine, 1)
        [state] = await eventually(lambda: states(engine), accept=lambda rows: rows and rows[0].events == 1)
        assert (state.element_id, state.error, state.errors) == ("wait", "404: Not Found", 1)
        await eventually(lambda: states(engine), accept=lambda rows: rows[0].waiting == 1 and rows[0].state == "ACTIVE")
        asked = [each for each in server.received if each.target == "/orders/a"]
        assert len(asked) == 3
        assert {each.headers["authorization"] for each in asked} == {"Bearer canary-secret"}
    assert await engine.variable("amount") == "7"
    assert await engine.value("SELECT count(*) FROM process_instances WHERE ended_at IS NULL") == 1


async def test_a_wait_that_ends_during_a_request_gets_no_message(engine, connect, server):
    asked, may_answer = trio.Event(), trio.Event()

    async def answer(_request):
        asked.set()
        await may_answer.wait()
        return 200, {}, {"done": True}

    server.answer = answer
    await engine.deploy(polled(server))
    receivers = receivers_of(engine, connect)
    async with receiving(receivers):
        await engine.create(order="a")
        await asked.wait()
        await engine.run(
            CancelInstance(int(await engine.value("SELECT max(process_instance_key) FROM process_instances")))
        )
        await ended(engine, 1)
        may_answer.set()
        await eventually(lambda: states(engine), accept=lambda rows: rows and rows[0].waiting == 0)
    assert await engine.value("SELECT count(*) FROM command_log WHERE intent = 'MESSAGE:PUBLISH'") == 0


async def test_one_node_polls_and_another_goes_on_after_it(engine, connect, server):
    server.answer = lambda request: (200, {}, {"done": False})
    await engine.deploy(polled(server))
    await engine.create(order="a")
    first, second = receivers_of(engine, connect, "a"), receivers_of(engine, connect, "b")
    async with receiving(second), receiving(first):
        rows = await eventually(lambda: states(engine), accept=lambda rows: rows and rows[0].waiting == 1)
        owner, other = (first, second) if rows[0].node == "a" else (second, first)
        assert (len(owner.states), len(other.states)) == (1, 0)
        owner.drain()
        before = rows[0].node
        await eventually(lambda: states(engine), accept=lambda rows: rows[0].node != before)
        count = len(server.received)
        await eventually(lambda: server.received, accept=lambda received: len(received) > count)


async def test_a_fault_of_an_interval_is_told_and_one_of_the_database_ends_no_poll(monkeypatch):
    def polling(**more):
        element = InboundElement("e", "m", {"url": "https://x", **more})
        parts = SimpleNamespace(client=SimpleNamespace(post=None), connections=None)
        return polls.HttpPolls(parts, Deployed("t", "p", 1, True, CONTRACT, element), ReceiverState())

    for name in EVERY:
        with pytest.raises(ConnectorError, match=name):
            await polling(**{name: "soon"}).run()
    looks, looked = [StorageError("away"), StorageError("away")], trio.Event()

    async def look(_self, _nursery):
        if looks:
            raise looks.pop()
        looked.set()

    monkeypatch.setattr(polls.Polls, "look", look)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(polling(**EVERY).run)
        await looked.wait()
        nursery.cancel_scope.cancel()


def test_secrets_are_put_where_the_author_wrote_them_and_nowhere_else():
    given = {"url": '="https://x/" + path', "headers": '={a: "{{secrets.KEY}}" + path}', "body": "=missing"}
    element = InboundElement("e", "m", given)
    used = UsedSecrets({"KEY": "canary"})
    assert variables_of(CONTRACT, element) == ["missing", "path"]
    values = inputs_of(CONTRACT, element, {"path": "{{secrets.KEY}}"}, used)
    assert values == {"url": "https://x/{{secrets.KEY}}", "headers": {"a": "canary{{secrets.KEY}}"}, "body": None}
    with pytest.raises(ConnectorError, match="UNKNOWN_SECRET: the property url: there is no secret 'NO'"):
        inputs_of(CONTRACT, InboundElement("e", "m", {"url": "https://{{secrets.NO}}"}), {}, used)
