"""Kafka against the broker that librdkafka has for tests: records out and in, once each; bad ones; settings."""

import json
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from tests.engine.connectors.dispatching import RESULT, calling, ended, running
from tests.engine.connectors.receiving import receivers_of, receiving, starting, states
from tests.eventually import eventually
from vivero.engine.connectors.contents import INBOUND_BY_TYPE
from vivero.engine.connectors.contracts.brokers.kafka import KAFKA, KAFKA_INBOUND
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.addresses import AddressPolicy
from vivero.engine.connectors.inbound.elements import InboundElement
from vivero.engine.connectors.kafka import consumer, producer
from vivero.engine.connectors.kafka.consumer import KafkaConsumer, event_of
from vivero.engine.connectors.kafka.settings import settings_of
from vivero.engine.connectors.receivers import task
from vivero.engine.connectors.receivers.receiver import Deployed
from vivero.engine.connectors.receivers.states import ReceiverState
from vivero.engine.connectors.receivers.threads import TenantThreads
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.secrets import UsedSecrets

TYPE = KAFKA_INBOUND.types[0]
TRANSPORT = -195  # librdkafka: the connection is lost
ALLOWED = AddressPolicy.parse("127.0.0.1")


@pytest.fixture(scope="module")
def brokers():
    """The addresses of a cluster of one broker."""
    cluster = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "none", "log_level": 0})
    found = cluster.list_topics(timeout=10).brokers.values()
    yield ",".join(f"{each.host}:{each.port}" for each in found)
    del cluster


def inputs(brokers, topic):
    return {"topic.bootstrapServers": brokers, "topic.topicName": topic}


async def test_a_record_that_a_task_sends_starts_one_instance(engine, connect, dispatcher, brokers, monkeypatch):
    monkeypatch.setattr(task, "SAVE_S", 0.05)
    sent = inputs(brokers, "orders") | {"message.key": "=k", "message.value": "={id: 7.5}", "headers": '={h: "x"}'}
    condition = {
        "autoOffsetReset": "earliest",
        "activationCondition": "=value.id > 1",
        "resultVariable": "record",
        "resultExpression": '=if key = "bad" then 1 else {}',
    }
    escaped = {name: text.replace('"', "&quot;") for name, text in sent.items()}
    await engine.deploy(
        calling(KAFKA.types[0], escaped, RESULT, id="out"), starting(TYPE, inputs(brokers, "orders") | condition)
    )
    async with running(dispatcher()):
        for key in ("bad", "good"):
            await engine.create("out", k=key)
        await ended(engine, 2)
    results = [json.loads(text) for (text,) in await engine.rows("SELECT value FROM variables WHERE name = 'r'")]
    assert [(each["topic"], sorted(each)) for each in results] == [
        ("orders", ["offset", "partition", "timestamp", "topic"])
    ] * 2
    for _ in range(2):  # the second time behind what was committed
        async with receiving(receivers_of(engine, connect)):
            await ended(engine, 3)
            await eventually(lambda: states(engine), accept=lambda rows: rows and rows[0].error)
    record = json.loads(await engine.variable("record"))
    assert record == {"key": "good", "rawValue": '{"id":7.5}', "value": {"id": 7.5}, "headers": {"h": "x"}}
    [state] = await states(engine)
    assert state.error == "INVALID_EVENT: the property resultExpression must give a context"
    assert await engine.value("SELECT count(*) FROM process_instances") == 3


class Record:
    """A record of a broker."""

    def __init__(self, value=b"1", offset=0, error=None, key=b"k") -> None:
        self._value, self._offset, self._error, self._key = value, offset, error, key

    def value(self):
        return self._value

    def offset(self):
        return self._offset

    def error(self):
        return self._error

    def key(self):
        return self._key

    def topic(self):
        return "t"

    def partition(self):
        return 3

    def headers(self):
        return [("a", b"\xff\x00"), ("b", None)]


class Client:
    """A consumer of these records, which notes what is committed."""

    def __init__(self, *records) -> None:
        self._records, self.committed, self.faults = records, [], []

    def list_topics(self, _topic, timeout):
        assert timeout < 1
        if isinstance(fault := self.faults.pop(0), KafkaException):
            raise fault
        return SimpleNamespace(topics={"t": SimpleNamespace(error=fault)})

    def consume(self, _count, _timeout):
        return self._records

    def commit(self, offsets, asynchronous):
        assert not asynchronous
        self.committed += [(each.partition, each.offset) for each in offsets]


def consuming(errors):
    """A receiver whose commands have these outcomes."""
    ids = []

    async def take(_origin, _event, id):
        ids.append(id)
        if (error := errors.pop(0)) is not None:
            raise ConnectorError(error, "no")
        return True

    parts = SimpleNamespace(commands=SimpleNamespace(take=take), threads=TenantThreads())
    deployed = Deployed("t", "p", 1, True, INBOUND_BY_TYPE[TYPE], InboundElement("e", None, {}))
    return KafkaConsumer(parts, deployed, ReceiverState()), ids


async def test_what_is_not_durable_is_not_committed_and_a_bad_record_does_not_stop_the_topic():
    receiver, ids = consuming(["INVALID_ARGUMENT", None, "UNAVAILABLE"])
    client = Client(Record(offset=1), Record(offset=2), Record(b"x" * (consumer.MOST_RECORD_BYTES + 1), 3))
    await receiver.turn(client)
    assert (ids, client.committed) == (["t-3-1", "t-3-2"], [(3, 4)])
    client = Client(Record(offset=4))
    with pytest.raises(ConnectorError, match="UNAVAILABLE"):
        await receiver.turn(client)
    assert client.committed == []


async def test_a_receiver_is_active_again_when_a_broker_answers_although_no_record_comes():
    receiver, _ = consuming([])
    client, state = Client(), receiver.state
    client.faults = [KafkaException(KafkaError(TRANSPORT)), KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART), None]
    receiver.lost(KafkaError(TRANSPORT))
    found = []
    for _ in range(5):
        await receiver.turn(client)
        found.append(state.state)
    assert (found, client.faults) == (["FAILING", "FAILING", "FAILING", "ACTIVE", "ACTIVE"], [])


async def test_a_receiver_is_active_again_when_its_group_gives_it_partitions():
    receiver, _ = consuming([])
    receiver.state.failed(ConnectorError("KAFKA", "no"))
    for partitions, found in (([], "FAILING"), ([1], "ACTIVE")):
        receiver.assigned(None, partitions)
        await receiver.turn(Client())
        assert receiver.state.state == found
    assert receiver.state.has_worked


@pytest.mark.parametrize(
    ("content", "raw", "value"),
    [
        (b"", "", None),
        (None, "", None),
        (b'{"a": "\\u0000"}', '{"a": "\\u0000"}', {"a": "\ufffd"}),
        (b"\xff\x00", "\ufffd\ufffd", "\ufffd\ufffd"),
        (b"[" * 10_000, "[" * 10_000, "[" * 10_000),
    ],
)
def test_odd_records(content, raw, value):
    event = event_of(Record(content))
    assert (event["rawValue"], event["value"], event["headers"]) == (raw, value, {"a": "\ufffd\ufffd", "b": None})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"additionalProperties": {"plugin.library.paths": "/x.so"}}, "must not have plugin.library.paths"),
        ({"additionalProperties": {"sasl.kerberos.kinit.cmd": "sh"}}, "must not have sasl.kerberos.kinit.cmd"),
        ({"additionalProperties": {"sasl.mechanism": "GSSAPI"}}, "sasl.mechanism in additionalProperties must be"),
        (
            {"additionalProperties": {"security.protocol": "SASL_PLAINTEXT"}},
            "security.protocol in additionalProperties must",
        ),
        (
            {
                "authentication": {"username": "a", "password": "b"},
                "additionalProperties": {"security.protocol": "PLAINTEXT"},
            },
            "a login needs the security.protocol SASL_SSL",
        ),
        ({"authentication": {"username": "a"}}, "are needed together"),
        ({"topic": {"bootstrapServers": "nohost"}}, "must be a host with a port"),
        ({"topic": {"bootstrapServers": "10.0.0.1:9092"}}, "connectors.allowed_targets must name 10.0.0.1"),
        ({"topic": {"bootstrapServers": "8.8.8.8:9092"}}, "connectors.allowed_targets must name 8.8.8.8"),
    ],
)
async def test_models_choose_no_dangerous_settings_and_no_cluster_that_the_operator_does_not_name(given, says):
    values = {"topic": {"bootstrapServers": "127.0.0.1:9092", "topicName": "t"}} | given
    with pytest.raises(ConnectorError, match=says):
        await settings_of(Inputs(KAFKA, values), ALLOWED, UsedSecrets({}))


async def test_a_login_is_over_tls_and_a_broker_that_is_not_there_fails_the_record(monkeypatch):
    values = {
        "topic": {"bootstrapServers": "127.0.0.1:9", "topicName": "t"},
        "authentication": {"username": "a", "password": "b"},
        "additionalProperties": {"acks": "0", "sasl.mechanism": "SCRAM-SHA-512"},
    }
    made = await settings_of(Inputs(KAFKA, values), ALLOWED, UsedSecrets({}))
    assert (made["security.protocol"], made["sasl.mechanism"], "acks" in made) == ("SASL_SSL", "SCRAM-SHA-512", False)
    monkeypatch.setattr(producer, "DELIVERY_S", 0.2)
    with pytest.raises(ConnectorError, match=r"FAIL: (no broker took|the record was not delivered)"):
        producer.deliver({"bootstrap.servers": "127.0.0.1:9", "log_level": 0}, {"topic": "t", "value": b"x"})
