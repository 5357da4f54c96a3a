"""The connector `io.camunda:connector-rabbitmq:1`: one message, which the broker has confirmed then."""

from __future__ import annotations

import hashlib
from typing import Any

import trio
from pika import spec

from vivero.core.feel import to_json
from vivero.engine.connectors.contracts.brokers.rabbitmq import NO_ROUTE, NOT_TAKEN
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.rabbitmq.properties import MOST_TEXT_BYTES, properties_of
from vivero.engine.connectors.rabbitmq.session import ANSWER_S, Session, session_with
from vivero.engine.connectors.rabbitmq.settings import broker_of
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.jobs import ConnectorJob


class RabbitPublisher:
    """Works jobs of the type. Each message has a connection of its own, so that no broker holds up another's."""

    def __init__(self, around: Surroundings) -> None:
        self._contract, self._settings = around.contract, around.settings

    async def answer(self, call: Call) -> dict[str, Any]:
        """The id of the message. Raises ConnectorError unless the broker has it in a queue."""
        inputs = Inputs(self._contract, call.inputs)
        exchange, key = (_short(inputs, name) for name in ("routing.exchange", "routing.routingKey"))
        if not exchange and not key:
            raise bad_input("routing.exchange and routing.routingKey are missing")
        body = inputs.value("message.body")
        properties = properties_of(inputs.context("message.properties"), body, _id(call.job))
        content = b"" if body is None else (body if isinstance(body, str) else to_json(body)).encode()
        async with session_with(await broker_of(inputs, self._settings, call.used)) as session:
            await session.call(spec.Confirm.Select(), spec.Confirm.SelectOk)
            await session.publish(exchange, key, properties, content)
            await _confirmed(session)
        return {"statusResult": "success", "messageId": properties.message_id}


def _short(inputs: Inputs, name: str) -> str:
    text = inputs.line(name)
    if len(text.encode()) > MOST_TEXT_BYTES:
        raise bad_input(f"the input {name} has more than {MOST_TEXT_BYTES} bytes")
    return text


def _id(job: ConnectorJob) -> str:
    """The same for a repeated job. Other servers have jobs of the same key."""
    return f"{job.job_key}-{hashlib.sha256(bytes(job.variables)).hexdigest()[:20]}"


async def _confirmed(session: Session) -> None:
    """Wait until the broker has the message. Raises ConnectorError."""
    returned: Any = None
    try:
        with trio.fail_after(ANSWER_S):
            while True:
                found = await session.method(spec.Basic.Ack, spec.Basic.Nack, spec.Basic.Return)
                if not isinstance(found, spec.Basic.Return):
                    break
                returned = found
                await session.content(0)
    except trio.TooSlowError:
        why = "it takes no messages now: memory or disk are short" if session.is_blocked else "it is slow"
        raise ConnectorError("TIMEOUT", f"the broker did not confirm the message in time: {why}") from None
    if returned is not None:
        why = "no queue is bound for this exchange and routing key, so the broker gave the message back"
        raise ConnectorError(NO_ROUTE, why)
    if isinstance(found, spec.Basic.Nack):
        raise ConnectorError(NOT_TAKEN, "the broker could not keep the message")
