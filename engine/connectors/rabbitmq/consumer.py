"""The inbound connector `io.camunda:connector-rabbitmq-inbound:1`: each message of a queue is an event.

A message is acknowledged when its command is durable. One that comes again after a crash has the id that it had.
"""

from __future__ import annotations

import trio
from pika import spec

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.rabbitmq.properties import event_of, table_of
from vivero.engine.connectors.rabbitmq.session import Content, Session, session_with
from vivero.engine.connectors.rabbitmq.settings import broker_of
from vivero.engine.connectors.receivers.receiver import Deployed, ReceiverParts, is_done
from vivero.engine.connectors.receivers.states import ReceiverState
from vivero.engine.connectors.work.calls import masked
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.secrets import UsedSecrets
from vivero.storage.postgres.errors import StorageError

AHEAD = 16
"""The messages that the broker sends before their acknowledgement."""
MOST_MESSAGE_BYTES = 1024 * 1024


class RabbitConsumer:
    """Consumes one queue."""

    def __init__(self, parts: ReceiverParts, deployed: Deployed, state: ReceiverState) -> None:
        self._parts, self._deployed, self._state = parts, deployed, state

    async def run(self) -> None:
        """Consume until cancelled. Raises ConnectorError; the broker then gives what was not acknowledged again."""
        used = UsedSecrets(self._parts.secrets)
        try:
            inputs = self._deployed.inputs(used)
            broker = await broker_of(inputs, self._parts.settings, used)
            async with session_with(broker) as session:
                await self._begin(session, inputs)
                await self._consume(session)
        except ConnectorError as error:
            raise masked(error, used) from error

    async def _begin(self, session: Session, inputs: Inputs) -> None:
        arguments = table_of(inputs.context("arguments"), "arguments")
        consume = spec.Basic.Consume(
            queue=inputs.line("queueName"), consumer_tag=inputs.line("consumerTag"),
            exclusive=inputs.flag("exclusive"), arguments=arguments,
        )  # fmt: skip
        await session.call(spec.Basic.Qos(prefetch_count=AHEAD), spec.Basic.QosOk)
        await session.call(consume, spec.Basic.ConsumeOk)
        self._state.works()

    async def _consume(self, session: Session) -> None:
        """Take messages beside the heartbeats, which go on while a command waits for the database."""
        failure: Exception | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(session.beat)
            nursery.start_soon(self._state.recover)
            try:
                while True:
                    await self.turn(session)
            except (ConnectorError, StorageError) as error:
                failure = error
            nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def turn(self, session: Session) -> None:
        """Take the next message, and acknowledge or reject it."""
        delivery = await session.method(spec.Basic.Deliver)
        content = await session.content(MOST_MESSAGE_BYTES)
        tag = delivery.delivery_tag
        taking = self._take(str(delivery.consumer_tag), content)
        if await is_done(self._deployed, self._state, taking):
            await session.send(spec.Basic.Ack(tag))
        else:  # it can never have an effect, and goes where the queue sends its dead letters
            await session.send(spec.Basic.Reject(tag, requeue=False))

    async def _take(self, tag: str, content: Content) -> bool:
        """Give a message its effect. False: it does not meet the condition. Raises ConnectorError."""
        if content.body is None:
            raise ConnectorError("BAD_RECORD", f"a message has more than {MOST_MESSAGE_BYTES} bytes")
        event = event_of(tag, content.properties, content.body)
        id = event["message"]["properties"].get("messageId")
        return await self._parts.commands.take(self._deployed.origin, event, id or None)
