"""A session with a broker: one connection with one channel, from the handshake to the goodbye (AMQP 0-9-1)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import trio
from pika import frame, spec

from vivero.engine.connectors.contracts.brokers.rabbitmq import BROKER_REFUSED, LOGIN_REFUSED
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.rabbitmq.settings import Broker
from vivero.engine.connectors.rabbitmq.wire import MOST_FRAME_BYTES, Wire, connected

HEARTBEAT_S = 60
ANSWER_S = 30.0
"""The time for the answer to one request."""
CLOSE_S = 1.0
LEAST_FRAME_BYTES = 4096
MOST_SHOWN = 300
ACCESS_REFUSED, NOT_FOUND, PRECONDITION_FAILED, NOT_ALLOWED = 403, 404, 406, 530
FOR_GOOD = (ACCESS_REFUSED, NOT_FOUND, PRECONDITION_FAILED, NOT_ALLOWED)
"""Refusals that a repetition gets again."""
CHANNEL = 1
OURS = {
    "product": "Vivero",
    "capabilities": {
        "authentication_failure_close": True,
        "basic.nack": True,
        "connection.blocked": True,
        "consumer_cancel_notify": True,
        "publisher_confirms": True,
    },
}


@dataclass(frozen=True, slots=True)
class Content:
    """A message. `body` is None if it has more bytes than the reader wants."""

    properties: spec.BasicProperties
    body: bytes | None


class Session:
    """A session. One task uses it; another one may call `beat`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._heartbeat_s = float(HEARTBEAT_S)
        self.is_blocked = False
        """The broker takes no messages now, because it has no memory or no disk left."""

    # -- the beginning and the end

    async def begin(self, broker: Broker) -> None:
        """Log in, and open the channel. Raises ConnectorError."""
        await self._wire.send(frame.ProtocolHeader())
        start = await self.answer(spec.Connection.Start)
        if "PLAIN" not in str(start.mechanisms, "utf-8", "replace").split():
            raise ConnectorError(LOGIN_REFUSED, "the broker takes no login by name and password", final=True)
        name, password = broker.login
        response = f"\0{name}\0{password}"
        await self.send(spec.Connection.StartOk(OURS, "PLAIN", response, "en_US"), channel=0)
        try:
            await self._tune()
        except ConnectorError as error:
            if error.variables.get("status") != ACCESS_REFUSED:
                raise
            raise replace(error, code=LOGIN_REFUSED) from error
        await self.call(spec.Connection.Open(broker.virtual_host), spec.Connection.OpenOk, channel=0)
        await self.call(spec.Channel.Open(), spec.Channel.OpenOk)

    async def _tune(self) -> None:
        """Agree on the limits: the smaller ones, where 0 is none."""
        asked = await self.answer(spec.Connection.Tune)
        size = min(asked.frame_max or MOST_FRAME_BYTES, MOST_FRAME_BYTES)
        if size < LEAST_FRAME_BYTES:
            raise ConnectorError("BAD_RESPONSE", "the broker wants frames that are too small")
        self._wire.frame_bytes = size
        heartbeat_s = min(asked.heartbeat or HEARTBEAT_S, HEARTBEAT_S)
        self._heartbeat_s = float(heartbeat_s)
        await self.send(spec.Connection.TuneOk(CHANNEL, size, heartbeat_s), channel=0)

    async def end(self) -> None:
        """Say goodbye, if the broker answers soon, and close."""
        with trio.CancelScope(shield=True):
            with trio.move_on_after(CLOSE_S), suppress(ConnectorError):
                bye = spec.Connection.Close(200, "done", 0, 0)
                await self._wire.send(frame.Method(0, bye))
                while not isinstance(getattr(await self._wire.receive(), "method", None), spec.Connection.CloseOk):
                    pass
            await self._wire.aclose()

    # -- requests

    async def send(self, method: Any, channel: int = CHANNEL) -> None:
        """Send a method. Raises ConnectorError."""
        await self._wire.send(frame.Method(channel, method))

    async def call(self, method: Any, answer: type[Any], channel: int = CHANNEL) -> Any:
        """The answer to a method. Raises ConnectorError."""
        await self.send(method, channel)
        return await self.answer(answer)

    async def answer(self, *kinds: type[Any]) -> Any:
        """The next method, which must be of one of these kinds, within its time. Raises ConnectorError."""
        try:
            with trio.fail_after(ANSWER_S):
                return await self.method(*kinds)
        except trio.TooSlowError:
            raise ConnectorError("TIMEOUT", "the broker did not answer within the time limit") from None

    async def method(self, *kinds: type[Any]) -> Any:
        """The next method, which must be of one of these kinds, whenever it comes. Raises ConnectorError."""
        while True:
            found = getattr(await self._frame(), "method", None)
            if isinstance(found, kinds):
                return found
            if isinstance(found, spec.Connection.Blocked | spec.Connection.Unblocked):
                self.is_blocked = isinstance(found, spec.Connection.Blocked)
            elif isinstance(found, spec.Connection.Close | spec.Channel.Close):
                raise _refused(found.reply_code, found.reply_text)
            elif isinstance(found, spec.Basic.Cancel):
                raise ConnectorError(BROKER_REFUSED, "the broker ended the consumer: its queue is gone")
            else:
                raise ConnectorError("BAD_RESPONSE", f"the broker answers {type(found).__name__} out of turn")

    async def _frame(self) -> Any:
        """The next frame that is no heartbeat. A broker that is silent for two heartbeats is gone."""
        while True:
            try:
                with trio.fail_after(2 * self._heartbeat_s):
                    found = await self._wire.receive()
            except trio.TooSlowError:
                raise ConnectorError("CONNECTION_FAILED", "the broker is silent") from None
            if not isinstance(found, frame.Heartbeat):
                return found

    # -- messages

    async def publish(self, exchange: str, key: str, properties: spec.BasicProperties, body: bytes) -> None:
        """Publish a message, which comes back if no queue gets it. Raises ConnectorError."""
        most = self._wire.frame_bytes - spec.FRAME_HEADER_SIZE - spec.FRAME_END_SIZE
        header = frame.Header(CHANNEL, len(body), properties)
        if len(header.marshal()) > self._wire.frame_bytes:
            raise ConnectorError("INVALID_INPUT", "the properties of the message are too large", final=True)
        parts = (frame.Body(CHANNEL, body[begin : begin + most]) for begin in range(0, len(body), most))
        method = spec.Basic.Publish(exchange=exchange, routing_key=key, mandatory=True)
        await self._wire.send(frame.Method(CHANNEL, method), header, *parts)

    async def content(self, most_bytes: int) -> Content:
        """The content that follows a method. A body of more than `most_bytes` is passed over. Raises ConnectorError."""
        header = await self._frame()
        if not isinstance(header, frame.Header):
            raise ConnectorError("BAD_RESPONSE", "the broker sends a message without a header")
        left, body = header.body_size, bytearray()
        while left > 0:
            part = await self._frame()
            if not isinstance(part, frame.Body) or not 0 < len(part.fragment) <= left:
                raise ConnectorError("BAD_RESPONSE", "the broker sends a message without its end")
            left -= len(part.fragment)
            if header.body_size <= most_bytes:
                body += part.fragment
        return Content(header.properties, bytes(body) if header.body_size <= most_bytes else None)

    async def beat(self) -> None:
        """Send heartbeats until the connection is broken. The task that receives learns why."""
        with suppress(ConnectorError):
            while True:
                await trio.sleep(self._heartbeat_s / 2)
                await self._wire.send(frame.Heartbeat())


@asynccontextmanager
async def session_with(broker: Broker) -> AsyncIterator[Session]:
    """A session for the block. Raises ConnectorError."""
    session = Session(await connected(broker))
    try:
        await session.begin(broker)
        yield session
    finally:
        await session.end()


def _refused(code: int, text: Any) -> ConnectorError:
    shown = "".join(sign if sign.isprintable() else " " for sign in str(text))[:MOST_SHOWN]
    why = f"the broker refuses it: {code} {shown}"
    return ConnectorError(BROKER_REFUSED, why, {"status": code}, final=code in FOR_GOOD)
