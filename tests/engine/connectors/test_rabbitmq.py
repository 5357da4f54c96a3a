"""RabbitMQ against a broker of AMQP on loopback: messages out and in, once each; refusals; hostile brokers."""

import json
import ssl
from dataclasses import replace
from types import SimpleNamespace

import pytest
import trio
from pika import frame, spec

from tests.api.tls.conftest import write_certificate
from tests.engine.connectors.amqp_broker import broking
from tests.engine.connectors.dispatching import RESULT, SECRETS, calling, ended, running
from tests.engine.connectors.receiving import receivers_of, receiving, starting, states
from tests.eventually import eventually
from vivero.engine.connectors.contracts.brokers.rabbitmq import RABBITMQ, RABBITMQ_INBOUND
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http import servers
from vivero.engine.connectors.inbound.elements import InboundElement
from vivero.engine.connectors.rabbitmq import publisher, session, wire
from vivero.engine.connectors.rabbitmq.consumer import MOST_MESSAGE_BYTES, RabbitConsumer
from vivero.engine.connectors.rabbitmq.properties import event_of, properties_of
from vivero.engine.connectors.rabbitmq.publisher import RabbitPublisher
from vivero.engine.connectors.rabbitmq.settings import Broker, broker_of
from vivero.engine.connectors.receivers import task
from vivero.engine.connectors.receivers.receiver import Deployed
from vivero.engine.connectors.receivers.states import ReceiverState
from vivero.engine.connectors.receivers.task import Receivers, RunningReceiver
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.secrets import UsedSecrets

TYPE = RABBITMQ_INBOUND.types[0]
SETTINGS = ConnectorSettings(allowed_targets="127.0.0.1")


async def test_a_message_that_a_task_publishes_starts_one_instance(engine, connect, dispatcher, monkeypatch):
    monkeypatch.setattr(task, "SAVE_S", 0.05)
    async with broking(queues={}) as broker:
        broker.put("q", b"hello", message_id="of another")
        sent = {
            "authentication.uri": broker.uri("a%2Fb"),
            "routing.exchange": "orders",
            "routing.routingKey": "q",
            "message.properties": "={headers: {n: 1.5, t: [true, null]}, priority: 3}",
            "message.body": "={id: k}",
        }
        given = {
            "authentication.uri": broker.uri(),
            "queueName": "q",
            "activationCondition": "=message.body.id != 2",
            "resultVariable": "got",
            "resultExpression": "=if message.body.id = 3 then 1 else {}",
        }
        await engine.deploy(calling(RABBITMQ.types[0], sent, RESULT, id="out"), starting(TYPE, given))
        async with running(dispatcher()):
            for key in (1, 2, 3):
                await engine.create("out", k=key)
            await ended(engine, 3)
        again = [each for each in broker.queues["q"] if b":1}" in each[1]]
        broker.queues["q"].extend(again)  # as if a crash had lost its acknowledgement
        async with receiving(receivers_of(engine, connect)):
            await eventually(lambda: broker.acknowledged + len(broker.dead), accept=lambda count: count == 5)
            [state] = await eventually(lambda: states(engine), accept=lambda rows: rows and rows[0].errors)
    assert state.error == "INVALID_EVENT: the property resultExpression must give a context"
    assert sorted((json.loads(body) for body in broker.dead), key=str) == [{"id": 2}, {"id": 3}]
    assert await engine.value("SELECT count(*) FROM process_instances WHERE process_id = 'p'") == 2
    result, got = json.loads(await engine.variable("r")), json.loads(await engine.variable("got"))
    assert (result["statusResult"], len(result["messageId"]) > 30) == ("success", True)
    assert got["message"]["body"] == {"id": 1}
    properties = got["message"]["properties"]
    assert properties.pop("messageId")
    assert (got["message"]["consumerTag"], properties) == (
        "amq.ctag",
        {
            "contentType": "application/json",
            "deliveryMode": 2,
            "headers": {"n": "1.5", "t": [True, None]},
            "priority": 3,
        },
    )


async def published(inputs):
    around = SimpleNamespace(contract=RABBITMQ, settings=SETTINGS)
    values = {"routing": {"routingKey": "q"}, "message": {"body": "x"}} | inputs
    job = SimpleNamespace(job_key="1", variables=b"{}")
    return await RabbitPublisher(around).answer(Call(job, values, UsedSecrets(SECRETS)))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"password": "wrong"}, "LOGIN_REFUSED: the broker refuses it: 403 ACCESS_REFUSED"),
        ({"host": "none"}, "BROKER_REFUSED: the broker refuses it: 530 NOT_ALLOWED - vhost not found"),
        ({"routing": {"exchange": "x"}}, "BROKER_REFUSED: the broker refuses it: 404 NOT_FOUND - no exchange"),
        ({"routing": {"exchange": "orders", "routingKey": "z"}}, "NO_ROUTE: no queue is bound"),
        ({"confirm": spec.Basic.Nack}, "NOT_TAKEN"),
        ({"routing": {}}, "routing.exchange and routing.routingKey are missing"),
        ({"message": {"properties": {"expires": 1}}}, "must not have expires: allowed are contentType, "),
        ({"message": {"properties": {"headers": {"a": "x" * 5000}}}}, "the properties of the message are too large"),
    ],
)
async def test_a_message_that_no_queue_gets_fails_its_job(given, says):
    async with broking(queues={"q": []}) as broker:
        broker.confirm = given.pop("confirm", broker.confirm)
        uri = broker.uri(given.pop("host", ""), given.pop("password", "canary-secret"))
        with pytest.raises(ConnectorError, match=says):
            await published({"authentication": {"uri": uri}} | given)
    assert broker.queues["q"] == []


async def test_a_large_message_goes_in_frames_and_a_short_host_means_the_default_exchange():
    async with broking(queues={"q": []}) as broker:
        login = {"authType": "credentials", "userName": "me", "password": "canary-secret"}
        routing = {"hostName": "127.0.0.1", "port": str(broker.port), "virtualHost": "/", "routingKey": "q"}
        body = "x" * 9000
        await published({"authentication": login, "routing": routing, "message": {"body": body}})
    [(properties, content, _)] = broker.queues["q"]
    assert (content, properties.content_type, properties.delivery_mode) == (body.encode(), "text/plain", 2)


async def test_a_broker_that_blocks_publishers_fails_the_job_in_time(monkeypatch):
    monkeypatch.setattr(publisher, "ANSWER_S", 0.1)

    async def blocking(client):
        await client.method()
        await client.send(spec.Confirm.SelectOk())
        await client.send(spec.Connection.Blocked("low on memory"), channel=0)
        await trio.sleep_forever()

    monkeypatch.setattr(session, "CLOSE_S", 0.0)
    async with broking(script=blocking) as broker:
        uri = broker.uri(password="canary-secret")
        with pytest.raises(ConnectorError, match=r"TIMEOUT: .* takes no messages now: memory or disk are short"):
            await published({"authentication": {"uri": uri}})


def deployed_with(uri, errors):
    """The parts of a receiver whose commands have these outcomes, its element, and the ids that come."""
    ids = []

    async def take(_origin, event, id):
        ids.append((event["message"]["body"], id))
        if (error := errors.pop(0)) is not None:
            raise ConnectorError(error, "no")
        return True

    commands = SimpleNamespace(take=take)
    parts = SimpleNamespace(commands=commands, settings=SETTINGS, secrets=SECRETS, random=lambda: 1.0)
    element = InboundElement("e", None, {"authentication.uri": uri, "queueName": "q"})
    return parts, Deployed("t", "p", 1, True, RABBITMQ_INBOUND, element), ids


def consuming(uri, errors):
    """A receiver whose commands have these outcomes."""
    parts, deployed, ids = deployed_with(uri, errors)
    return RabbitConsumer(parts, deployed, ReceiverState()), ids


async def test_what_is_not_durable_is_not_acknowledged_and_a_bad_message_does_not_stop_the_queue():
    async with broking() as broker:
        broker.put("q", b"x" * (MOST_MESSAGE_BYTES + 1))
        for body in (b"bad", b"good", b"later", b"last"):
            broker.put("q", body, message_id=body.decode())
        receiver, ids = consuming(broker.uri(), ["INVALID_ARGUMENT", None, "UNAVAILABLE"])
        with pytest.raises(ConnectorError, match="UNAVAILABLE"):
            await receiver.run()
        await eventually(lambda: len(broker.queues["q"]), accept=lambda count: count == 2)
    assert ids == [("bad", "bad"), ("good", "good"), ("later", "later")]
    assert ([len(body) for body in broker.dead], broker.acknowledged) == ([MOST_MESSAGE_BYTES + 1, 3], 1)
    assert [(body, again) for _, body, again in broker.queues["q"]] == [(b"later", True), (b"last", True)]


FLOOD = b"\x03\x00\x01\xff\xff\xff\xff"


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ([FLOOD], "no frame of AMQP, or too large"),
        ([b"AMQP\x00\x00\x09\x01"], "does not speak AMQP 0-9-1"),
        ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], "no frame of AMQP, or too large"),
        ([b"\x01\x00\x01\x00\x00\x00\x04\xff\xff\xff\xff\xce"], "a wrong frame: KeyError"),
        ([b"\x01\x00\x01\x00\x00\x00\x04\x00\x3c\x00\x14\x00"], "a wrong frame"),
        ([frame.Method(1, spec.Basic.Ack(1)).marshal()], "answers Ack out of turn"),
        ([frame.Method(1, spec.Basic.Cancel("t")).marshal()], "its queue is gone"),
        ([frame.Method(1, spec.Basic.Deliver("t", 1, False, "", "q")).marshal()] * 2, "a message without a header"),
        (
            [
                frame.Method(1, spec.Basic.Deliver("t", 1, False, "", "q")).marshal(),
                frame.Header(1, 2**63, spec.BasicProperties()).marshal(),
                frame.Body(1, b"").marshal(),
            ],
            "a message without its end",
        ),
        ([], "the broker closed the connection"),
    ],
)
async def test_hostile_brokers_end_the_session(answers, says):
    async def hostile(client):
        await client.method()
        await client.send(spec.Basic.QosOk())
        await client.method()
        await client.send(spec.Basic.ConsumeOk("t"))
        for answer in answers:
            await client.stream.send_all(answer)

    async with broking(script=hostile) as broker:
        receiver, _ = consuming(broker.uri(), [])
        with pytest.raises(ConnectorError, match=says):
            await receiver.run()


async def test_a_silent_broker_is_left(monkeypatch):
    monkeypatch.setattr(session, "ANSWER_S", 0.1)
    monkeypatch.setattr(session, "CLOSE_S", 0.0)

    async def silent(_client):
        await trio.sleep_forever()

    async with broking(script=silent) as broker:
        with pytest.raises(ConnectorError, match="TIMEOUT: the broker did not answer"):
            await consuming(broker.uri(), [])[0].run()


async def test_tls_is_with_the_named_broker_alone(tmp_path, monkeypatch):
    chain, key = write_certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(chain, key)
    async with broking(tls=context) as broker:
        right = Broker("localhost", broker.port, True, ["127.0.0.1"], "/", ("me", "canary-secret"))
        with pytest.raises(ConnectorError, match=r"no TLS with the broker.*self-signed certificate"):
            await _opened(right)
        monkeypatch.setattr(wire, "tls_context", lambda: ssl.create_default_context(cafile=chain))
        with pytest.raises(ConnectorError, match=r"no TLS with the broker.*not valid for 'mq\.example\.com'"):
            await _opened(replace(right, host="mq.example.com"))
        await _opened(right)


async def _opened(broker):
    async with session.session_with(broker):
        pass


async def test_a_receiver_recovers_without_a_restart_when_its_broker_is_back(nursery, monkeypatch):
    monkeypatch.setattr(task, "LEAST_PAUSE_S", 0.01)
    visits = []

    async def away(client):
        visits.append(client)
        if len(visits) == 3:
            broker.script = None  # back from now on

    async with broking(script=away) as broker:
        broker.put("q", b"late")
        parts, deployed, ids = deployed_with(broker.uri(), [None])
        running = RunningReceiver(deployed)
        nursery.start_soon(Receivers(None, None, parts, "a", make=RabbitConsumer).keep, running)
        await eventually(lambda: broker.acknowledged, accept=lambda count: count == 1)
        nursery.cancel_scope.cancel()
    assert (running.state.state, running.state.errors, ids) == ("ACTIVE", 3, [("late", None)])
    assert len(visits) == 3


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "authentication.uri must be like amqps://"),
        ({"uri": "http://a"}, "authentication.uri must be like amqps://"),
        ({"uri": "amqp://me:canary-secret@h:99999"}, "its host or port is not valid"),
        ({"uri": "amqp://me@127.0.0.1"}, "has only one of name and password"),
        ({"uri": "amqp://me:@127.0.0.1"}, "has only one of name and password"),
        ({"uri": "amqp://me:x@127.0.0.1/a/b"}, "must be written as %2F"),
        ({"uri": "amqps://me:x@10.0.0.1"}, "FORBIDDEN_ADDRESS"),
        ({"uri": "amqp://me:x@8.8.8.8"}, "PLAIN_LOGIN: the password would go to 8.8.8.8 without TLS"),
        ({"authType": "credentials"}, "routing.hostName is missing"),
    ],
)
async def test_inputs_that_name_no_broker(given, says):
    with pytest.raises(ConnectorError, match=says) as caught:
        await broker_of(Inputs(RABBITMQ, {"authentication": given}), SETTINGS, UsedSecrets({}))
    assert caught.value.final
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("uri", "found"),
    [
        ("amqp://127.0.0.1", (5672, False, "/", ("guest", "guest"))),
        ("amqps://a:b%40c@127.0.0.1/v%2Fw", (5671, True, "v/w", ("a", "b@c"))),
        ("amqp://a:b@127.0.0.1:99/?heartbeat=1", (99, False, "/", ("a", "b"))),
    ],
)
async def test_uris(uri, found):
    broker = await broker_of(Inputs(RABBITMQ, {"authentication": {"uri": uri}}), SETTINGS, UsedSecrets({}))
    assert (broker.port, broker.is_tls, broker.virtual_host, broker.login) == found


def test_passwords_go_without_tls_where_the_operator_says():
    allowed = ConnectorSettings(plain_logins="10.0.0.0/8,mq.example.com").plain_login_targets
    servers.check_plain_login("mq", ["10.1.1.1"], allowed)
    servers.check_plain_login("mq.example.com", ["192.0.2.1"], allowed)
    servers.check_plain_login("mq", ["127.0.0.1", "::1"], allowed)
    with pytest.raises(ConnectorError, match=r"let connectors\.plain_logins name the host"):
        servers.check_plain_login("mq", ["127.0.0.1", "192.0.2.1"], allowed)


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("timestamp", "2026-01-01T00:00:00Z", 1767225600),
        ("timestamp", 5, 5),
        ("headers", {"a": {"b": 2**70, "c": "\0"}}, {"a": {"b": str(2**70), "c": "\ufffd"}}),
        ("deliveryMode", "1", 1),
        ("expiration", 100, "100"),
    ],
)
def test_properties_go_and_come(name, value, found):
    made = properties_of({name: value}, "x", "id")
    received = spec.BasicProperties()
    received.decode(b"".join(made.encode()))
    message = event_of("t", received, b'{"a": "\\u0000"}')["message"]
    assert (message["properties"][name], message["body"]) == (found, {"a": "\ufffd"})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"priority": 256}, "priority must be a whole number from 0 to 255"),
        ({"deliveryMode": True}, "deliveryMode must be a whole number from 1 to 2"),
        ({"timestamp": "soon"}, "timestamp must be the seconds since 1970"),
        ({"timestamp": -1}, "timestamp must be the seconds since 1970"),
        ({"headers": [1]}, "headers must be a context"),
        ({"headers": {"x" * 256: 1}}, "a name in message.properties.headers has more than 255 bytes"),
        ({"replyTo": "x" * 256}, "replyTo has more than 255 bytes"),
    ],
)
def test_properties_that_no_message_can_have(given, says):
    with pytest.raises(ConnectorError, match=says):
        properties_of(given, None, "id")
