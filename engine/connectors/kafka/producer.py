"""The connector `io.camunda:connector-kafka:1`: one record, which all replicas in sync have then."""

from __future__ import annotations

from functools import partial
from typing import Any

import trio
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from vivero.core.feel import to_json
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.requests import text_of
from vivero.engine.connectors.kafka.settings import Settings, settings_of
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.inputs import Inputs

DELIVERY_S = 45.0


class KafkaProducer:
    """Works jobs of the type. Each record has a client of its own, so that no broker holds up another's."""

    def __init__(self, around: Surroundings) -> None:
        self._contract, self._policy = around.contract, around.settings.addresses
        self._threads = trio.CapacityLimiter(around.at_once)

    async def answer(self, call: Call) -> dict[str, Any]:
        """The place of the record. Raises ConnectorError FAIL if it was not delivered in 45 s."""
        inputs = Inputs(self._contract, call.inputs)
        settings = await settings_of(inputs, self._policy, call.used)
        key, value = inputs.value("message.key"), inputs.value("message.value")
        record = {
            "topic": inputs.line("topic.topicName"),
            "key": None if key is None else text_of(key).encode(),
            "value": None if value is None else _bytes(value),
            "headers": [(name, text_of(each).encode()) for name, each in inputs.context("headers").items()],
        }
        work = partial(deliver, settings, record)
        return await trio.to_thread.run_sync(work, limiter=self._threads, abandon_on_cancel=True)


def _bytes(value: Any) -> bytes:
    return (value if isinstance(value, str) else to_json(value)).encode()


def deliver(settings: Settings, record: dict[str, Any]) -> dict[str, Any]:
    """Deliver a record. Raises ConnectorError."""
    delivered: list[tuple[KafkaError | None, Message]] = []
    limits: Settings = {"acks": "all", "delivery.timeout.ms": round(DELIVERY_S * 1000)}
    try:
        producer = Producer({**settings, **limits})
        producer.produce(**record, on_delivery=lambda error, message: delivered.append((error, message)))
        producer.flush(DELIVERY_S)
    except (KafkaException, BufferError, ValueError, TypeError) as error:
        raise ConnectorError("FAIL", f"the record cannot be sent: {error}") from error
    if not delivered:
        producer.purge()
        raise ConnectorError("FAIL", f"no broker took the record in {round(DELIVERY_S)} s")
    fault, message = delivered[0]
    if fault is not None:
        raise ConnectorError("FAIL", f"the record was not delivered: {fault.str()}")
    return {
        "topic": message.topic(),
        "timestamp": message.timestamp()[1],
        "offset": message.offset(),
        "partition": message.partition(),
    }
