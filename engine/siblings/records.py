"""Messages between sibling processes, and their framing: lists of records, each behind its length."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec
import trio

from vivero.engine.outcomes.admission import (
    InDoubt,
    Lost,
    NotAppended,
    Overloaded,
    Unavailable,
    ValueRejected,
)
from vivero.storage.log.command_log import Appended, CommandOutcome, LogEntry

LENGTH_BYTES = 4
RECEIVE_BYTES = 262_144
_ERRORS: dict[str, type[NotAppended]] = {
    kind.__name__: kind for kind in (Overloaded, Unavailable, ValueRejected, Lost, InDoubt)
}


class Submission(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A command for the log of a partition that the receiver leads. `number` is unique in its connection."""

    number: int
    partition: int
    flush: bool
    entry: LogEntry


class AppendFailure(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The reason why a command was not, or perhaps not, appended."""

    kind: str
    why: str

    @classmethod
    def of(cls, error: Exception) -> AppendFailure:
        """An error that the other process cannot know leaves the command in doubt."""
        kind = type(error).__name__
        return cls(kind if kind in _ERRORS else InDoubt.__name__, str(error))

    @property
    def error(self) -> NotAppended:
        """The error for the request that waits."""
        return _ERRORS[self.kind](self.why)


class SubmissionAnswer(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The answer to a submitted command. A command may get two: its position first, and then its outcome.

    `taken` is False if the receiver does not append: certainly nothing was written, and the sender appends it itself.
    """

    number: int
    taken: bool = True
    appended: Appended | None = None
    outcome: CommandOutcome | None = None
    failure: AppendFailure | None = None


_encoder = msgspec.msgpack.Encoder()
submissions_decoder = msgspec.msgpack.Decoder(list[Submission])
answers_decoder = msgspec.msgpack.Decoder(list[SubmissionAnswer])


MAX_PATH_BYTES = 103
"""`sun_path` has 104 bytes on macOS and 108 on Linux, including the terminating zero."""


def fits(directory: Path) -> bool:
    """Whether the addresses of nodes in this directory are short enough for sockets."""
    return len(os.fsencode(address(directory, ""))) <= MAX_PATH_BYTES


def address(directory: Path, node: str) -> Path:
    """The socket of a node. Names of nodes may be too long for a socket's path."""
    return directory / blake2b(node.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def frame(records: Sequence[Submission] | Sequence[SubmissionAnswer]) -> bytes:
    """The bytes of one message."""
    body = _encoder.encode(records)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


class Frames:
    """The bodies of the messages that a stream receives."""

    def __init__(self, stream: trio.abc.ReceiveStream) -> None:
        self._stream = stream
        self._buffer = bytearray()

    async def receive(self) -> bytes | None:
        """The body of the next message. None: the other process is gone."""
        while (body := self._next_body()) is None:
            try:
                data = await self._stream.receive_some(RECEIVE_BYTES)
            except trio.BrokenResourceError:  # a killed process may leave unread messages
                return None
            if not data:
                return None
            self._buffer += data
        return body

    def _next_body(self) -> bytes | None:
        end = LENGTH_BYTES + int.from_bytes(self._buffer[:LENGTH_BYTES], "big")
        if len(self._buffer) < max(end, LENGTH_BYTES):
            return None
        body = bytes(self._buffer[LENGTH_BYTES:end])
        del self._buffer[:end]
        return body
