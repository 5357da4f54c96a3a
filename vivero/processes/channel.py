"""The channel between the parent and a child: messages as lines of JSON on a socket pair."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import trio

from vivero.api.http.metrics import Metrics
from vivero.config.sections import Config
from vivero.engine.supervision.children import ChildHealth

M = TypeVar("M")


class Begin(msgspec.Struct, tag=True, frozen=True):
    """The first message to a child: all that it needs in order to serve."""

    name: str
    config: Config
    dsn: str
    listeners: list[int]
    """File descriptors."""
    counts: int
    """The descriptor of the file with the connections of each process (`connection_counts`)."""
    index: int
    """The place of this process in it."""
    siblings: Path
    """The directory with the sockets on which the processes reach each other."""


class Stop(msgspec.Struct, tag=True, frozen=True):
    """To a child: finish open requests and end."""


class Reload(msgspec.Struct, tag=True, frozen=True):
    """To a child: read the certificate of TLS again."""


class LogEverything(msgspec.Struct, tag=True, frozen=True):
    """To a child: log everything from `debug` on, or no longer."""

    everything: bool


class AskStatus(msgspec.Struct, tag=True, frozen=True):
    """To a child: answer with a Status."""

    id: int


class AskMetrics(msgspec.Struct, tag=True, frozen=True):
    """To a child: answer with a ShownMetrics."""

    id: int


class Inflict(msgspec.Struct, tag=True, frozen=True):
    """To a child: make one of its tasks fail (`Supervisor.chaos`); answer with an Inflicted."""

    id: int
    child: str
    kind: str


class Serving(msgspec.Struct, tag=True, frozen=True):
    """From a child: it serves clients."""


class Status(msgspec.Struct, tag=True, frozen=True):
    """From a child: how it is. The counts are those since its start."""

    id: int
    node: str
    healthy: bool
    connections: int
    accepted: int
    requests: int
    children: list[ChildHealth]


class ShownMetrics(msgspec.Struct, tag=True, frozen=True):
    """From a child: its metrics in the text format of Prometheus; None if they are off."""

    id: int
    shown: Metrics | None


class Inflicted(msgspec.Struct, tag=True, frozen=True):
    """From a child: whether there is such a task, and whether it was running."""

    id: int
    known: bool
    running: bool


ToChild = Begin | Stop | Reload | LogEverything | AskStatus | AskMetrics | Inflict
Answer = Status | ShownMetrics | Inflicted
FromChild = Serving | Status | ShownMetrics | Inflicted


def _encoded(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} has no place in a message")


def _decoded(kind: type[Any], value: Any) -> Any:
    return Path(value) if issubclass(kind, Path) else value


encode = msgspec.json.Encoder(enc_hook=_encoded).encode
to_child: msgspec.json.Decoder[ToChild] = msgspec.json.Decoder(ToChild, dec_hook=_decoded)
from_child: msgspec.json.Decoder[FromChild] = msgspec.json.Decoder(FromChild, dec_hook=_decoded)


class Channel(Generic[M]):
    """One end of the channel. It receives messages of the type that `decoder` decodes."""

    def __init__(self, end: socket.socket, decoder: msgspec.json.Decoder[M]) -> None:
        self._stream = trio.SocketStream(trio.socket.from_stdlib_socket(end))
        self._decoder = decoder
        self._sending = trio.Lock()

    async def send(self, message: ToChild | FromChild) -> None:
        """Send a message. Raises trio.BrokenResourceError if the other process is gone."""
        async with self._sending:
            await self._stream.send_all(encode(message) + b"\n")

    async def messages(self) -> AsyncGenerator[M]:
        """The messages of the other process, until it is gone."""
        buffer = bytearray()
        while data := await self._receive():
            *lines, rest = (bytes(buffer) + data).split(b"\n")
            buffer = bytearray(rest)
            for line in lines:
                yield self._decoder.decode(line)

    async def _receive(self) -> bytes | bytearray:
        try:
            return await self._stream.receive_some()
        except trio.BrokenResourceError:  # a killed process may leave unread messages
            return b""

    def close(self) -> None:
        self._stream.socket.close()
