"""The inbound connector `io.camunda:connector-kafka-inbound:1`: each record of a topic is an event.

Offsets are committed when the commands are durable. Records that come again after a crash have the ids that they had.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import trio
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from vivero.core.records.base import DEFAULT_TENANT
from vivero.engine.connectors.contracts.brokers.kafka import NONE
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.kafka.settings import Settings, settings_of
from vivero.engine.connectors.receivers.receiver import Deployed, ReceiverParts, is_done
from vivero.engine.connectors.receivers.states import ACTIVE, ReceiverState
from vivero.engine.connectors.receivers.texts import decoded, json_or_text, storable
from vivero.engine.connectors.work.calls import masked
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.secrets import UsedSecrets

T = TypeVar("T")

AT_ONCE, WAIT_S, CLOSE_S = 100, 0.5, 5.0
"""The records of a turn, and the time that a thread waits for them."""
MOST_RECORD_BYTES = 1024 * 1024


class KafkaConsumer:
    """Consumes one topic."""

    def __init__(self, parts: ReceiverParts, deployed: Deployed, state: ReceiverState) -> None:
        self._parts, self._deployed, self.state = parts, deployed, state
        self._topic, self._has_joined = "", False
        self._errors: list[KafkaError] = []
        self._is_unreachable = state.state != ACTIVE
        """No broker has answered since the connection was lost, or since an earlier run failed."""

    async def run(self) -> None:
        """Consume until cancelled. Raises ConnectorError; the group then goes on behind what was committed."""
        used = UsedSecrets(self._parts.secrets)
        try:
            inputs = self._deployed.inputs(used)
            settings = self._settings(inputs) | await settings_of(inputs, self._parts.settings.addresses, used)
            self._topic = inputs.line("topic.topicName")
            await self._consume(settings)
        except ConnectorError as error:
            raise masked(error, used) from error

    def _settings(self, inputs: Inputs) -> Settings:
        if inputs.value("offsets") is not None:
            raise bad_input("offsets are not supported: set those of the group with the tools of Kafka")
        reset = inputs.text("autoOffsetReset")
        return {
            "group.id": inputs.line("groupId") or self._group,
            "auto.offset.reset": "error" if reset == NONE else reset,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "queued.max.messages.kbytes": 8192,
        }

    @property
    def _group(self) -> str:
        """The same for all versions of a process."""
        tenant = "" if self._deployed.tenant == DEFAULT_TENANT else f"{self._deployed.tenant}-"
        return f"kafka-inbound-connector-{tenant}{self._deployed.process_id}"

    async def _consume(self, settings: Settings) -> None:
        try:
            consumer = Consumer({**settings, "error_cb": self.lost})
            consumer.subscribe([self._topic], on_assign=self.assigned)
        except (KafkaException, ValueError, TypeError) as error:
            raise bad_input(f"the consumer cannot be made: {error}") from error
        try:
            while True:
                await self.turn(consumer)
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLOSE_S):
                await self._in_thread(consumer.close)

    def lost(self, error: KafkaError) -> None:
        """A connection is lost. librdkafka calls this in a thread that consumes."""
        self._errors.append(error)

    def assigned(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """The group has given partitions to this member. librdkafka calls this in a thread that consumes."""
        self._has_joined = bool(partitions)

    async def turn(self, consumer: Consumer) -> None:
        """Take the records that are there, and commit them."""
        records = await self._in_thread(lambda: consumer.consume(AT_ONCE, WAIT_S))
        if self._has_joined:
            self._has_joined = False
            self.state.works()
        reached: dict[int, TopicPartition] = {}
        for record in records:
            error = record.error()
            if error is not None:
                self.state.failed(ConnectorError("KAFKA", error.str()))
                continue
            await is_done(self._deployed, self.state, self._take(record))
            place = place_of(record)
            reached[place.partition] = TopicPartition(place.topic, place.partition, place.offset + 1)
        if reached:
            await self._in_thread(lambda: consumer.commit(offsets=list(reached.values()), asynchronous=False))
        await self._note_connection(consumer)

    async def _note_connection(self, consumer: Consumer) -> None:
        """Show whether the topic can be read. librdkafka tells that a connection is lost, but not that it is back."""
        if self._errors:
            self.state.failed(ConnectorError("CONNECTION_FAILED", self._errors[-1].str()))
            self._errors.clear()
            self._is_unreachable = True
        elif self._is_unreachable or self.state.is_due:
            try:
                found = await self._parts.threads.run(
                    self._deployed.tenant, lambda: consumer.list_topics(self._topic, timeout=WAIT_S)
                )
            except KafkaException:
                return  # asked again in the next turn
            if any(each.error is not None for each in found.topics.values()):
                return  # the topic does not exist, or not yet
            self._is_unreachable = False
            self.state.works()

    async def _take(self, record: Message) -> bool:
        """Give a record its effect. False: it does not meet the condition. Raises ConnectorError."""
        place = place_of(record)
        id = f"{place.topic}-{place.partition}-{place.offset}"
        return await self._parts.commands.take(self._deployed.origin, event_of(record), id)

    async def _in_thread(self, call: Callable[[], T]) -> T:
        try:
            return await self._parts.threads.run(self._deployed.tenant, call)
        except (KafkaException, RuntimeError) as error:
            raise ConnectorError("KAFKA", str(error)) from error


class Place(NamedTuple):
    """The place of a record."""

    topic: str
    partition: int
    offset: int


def place_of(record: Message) -> Place:
    """The place of a record that a broker has sent."""
    topic, partition, offset = record.topic(), record.partition(), record.offset()
    assert topic is not None
    assert partition is not None
    assert offset is not None
    return Place(topic, partition, offset)


def event_of(record: Message) -> dict[str, Any]:
    """The fields of a record. Raises ConnectorError BAD_RECORD if it is too large."""
    content = record.value() or b""
    if len(content) > MOST_RECORD_BYTES:
        raise ConnectorError("BAD_RECORD", f"a record has more than {MOST_RECORD_BYTES} bytes")
    raw = _text(content)
    key = record.key()
    given: Any = record.headers() or ()
    headers = {storable(name): None if each is None else _text(each) for name, each in given}
    return {
        "key": None if key is None else _text(key),
        "rawValue": raw,
        "value": json_or_text(decoded(content)),
        "headers": headers,
    }


def _text(content: bytes | str) -> str:
    return storable(decoded(content))
