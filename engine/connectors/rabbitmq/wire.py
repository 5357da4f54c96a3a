"""AMQP 0-9-1 on a connection to a checked address: frames in and out, bounded, in pika's encoding.

pika's own connections read as much as a broker sends, in threads that cannot be cancelled. So only its codec is used.
"""

from __future__ import annotations

import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import trio
from pika import exceptions, frame, spec

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.outbound.mail_servers import tls_context
from vivero.engine.connectors.rabbitmq.settings import Broker

CONNECT_S = 10.0
MOST_FRAME_BYTES = 128 * 1024
"""The size of a frame that the program asks for. A broker that sends a larger one is left."""
CHUNK_BYTES = 64 * 1024
BAD = (
    *(exceptions.AMQPError, struct.error, ValueError, KeyError, IndexError, TypeError),
    *(OverflowError, OSError, RecursionError),
)
"""Errors of the codec for bytes that are no frame."""


class Wire:
    """A connection. One task receives; several may send."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream, self._read = stream, bytearray()
        self._turn = trio.Lock()
        self.frame_bytes = MOST_FRAME_BYTES

    async def send(self, *frames: Any) -> None:
        """Send frames, and none of another task between them. Raises ConnectorError."""
        content = b"".join(each.marshal() for each in frames)
        with broken_off():
            async with self._turn:
                await self._stream.send_all(content)

    async def receive(self) -> Any:
        """The next frame. Raises ConnectorError; `Silent` belongs to the caller, who limits the time."""
        await self._fill(spec.FRAME_HEADER_SIZE)
        if self._read.startswith(b"AMQP"):
            raise ConnectorError("BAD_RESPONSE", "the broker does not speak AMQP 0-9-1")
        size = int.from_bytes(self._read[3:7], "big") + spec.FRAME_HEADER_SIZE + spec.FRAME_END_SIZE
        if size > MOST_FRAME_BYTES:
            raise ConnectorError("BAD_RESPONSE", "the broker sends something that is no frame of AMQP, or too large")
        await self._fill(size)
        content = bytes(self._read[:size])
        del self._read[:size]
        try:
            _, found = frame.decode_frame(content)
        except BAD as error:
            raise ConnectorError("BAD_RESPONSE", f"the broker sends a wrong frame: {type(error).__name__}") from error
        return found

    async def _fill(self, size: int) -> None:
        while len(self._read) < size:
            with broken_off():
                content = await self._stream.receive_some(CHUNK_BYTES)
            if not content:
                raise ConnectorError("CONNECTION_FAILED", "the broker closed the connection")
            self._read += content

    async def aclose(self) -> None:
        """Close the connection at once."""
        await trio.aclose_forcefully(self._stream)


async def connected(broker: Broker) -> Wire:
    """A connection to the first address that answers. Raises ConnectorError."""
    failure = ConnectorError("CONNECTION_FAILED", "the host of the broker has no address")
    for address in broker.addresses:
        try:
            with trio.fail_after(CONNECT_S), broken_off():
                return await _opened(broker, address)
        except trio.TooSlowError:
            failure = ConnectorError("TIMEOUT", "no connection to the broker within the time limit")
        except ConnectorError as error:
            failure = error
    raise failure


async def _opened(broker: Broker, address: str) -> Wire:
    stream = await trio.open_tcp_stream(address, broker.port)
    if not broker.is_tls:
        return Wire(stream)
    secured = trio.SSLStream(stream, tls_context(), server_hostname=broker.host, https_compatible=True)
    try:
        await secured.do_handshake()
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return Wire(secured)


@contextmanager
def broken_off() -> Iterator[None]:
    """Errors of the connection become those of connectors."""
    try:
        yield
    except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
        cause = error.__cause__ or error
        text = f": {cause}" if str(cause) else ""
        kind = "no TLS with the broker" if isinstance(cause, ssl.SSLError) else "the connection to the broker broke off"
        raise ConnectorError("CONNECTION_FAILED", f"{kind}{text}") from error
    except OSError as error:
        raise ConnectorError("CONNECTION_FAILED", f"no connection to the broker: {error}") from error
