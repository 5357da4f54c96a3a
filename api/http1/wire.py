"""The bytes of one connection: receives with deadlines, feeds the parser in slices, sends to slow clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import trio

from vivero.api.http1.known_heads import KnownHeads
from vivero.api.http1.parser import RequestParser
from vivero.api.http1.problems import Refusal
from vivero.api.http1.request import ParsedRequest
from vivero.api.http1.response import CONTINUE
from vivero.api.http1.settings import ServerSettings
from vivero.api.http1.socket_stream import SocketStream
from vivero.storage.postgres.given_time import given_time, patient

RECEIVE_BYTES = 64 * 1024
SEND_BYTES = 64 * 1024
# A client that still sends when it is answered may send this much, so that it comes to read its answer.
LINGER_BYTES = 16 * 1024 * 1024
# It has more time for what it sends at this rate.
MIN_LINGER_BYTES_PER_S = 512 * 1024
HUNG_UP_S = 1.0
"""The interval of checks for a disconnect of a client that has sent more than is read ahead, or sends nothing more."""
CHECKS = 15
"""Checks between two probes of a client that sends nothing more."""
PROBED_S = (0.001, 0.005, 0.02, 0.1, 0.4)
"""Pauses for the answer to a probe: a client that has closed its socket answers with a reset."""


class ClientGone(ConnectionError):
    """The client closed or stopped reading, so the rest of the response cannot be sent (ASGI: an OSError)."""


class WaitingConnections(Protocol):
    """`capacities.ConnectionCapacity`: where connections are known that wait for their client."""

    idle: dict[Wire, float]
    slow: dict[Wire, float]


class AnswerMemory(Protocol):
    """`memory.Memory`: the memory for answers that are not read."""

    def take_nowait(self, wire: Wire, size: int) -> bool: ...

    def give_back(self, wire: Wire, size: int) -> None: ...


class Wire:
    """A stream, its parser, and the received bytes between them.

    `eof`: the client sends nothing more. `gone`: nothing more can be sent. `scope` encloses the whole connection.
    `closing`: it was cancelled while idle. `evicted`: it must end in favour of others. `used`: it had a request.
    `held`: its bytes of the memory budget. `slow_request`: the request whose body or answer is slow.
    """

    __slots__ = (
        "_memory",
        "_send_nowait",
        "_wait",
        "capacity",
        "closing",
        "eof",
        "evicted",
        "gone",
        "held",
        "lingering",
        "parser",
        "pending",
        "scope",
        "settings",
        "slow_request",
        "stream",
        "used",
    )

    def __init__(
        self,
        stream: trio.abc.HalfCloseableStream,
        settings: ServerSettings,
        capacity: WaitingConnections,
        memory: AnswerMemory,
        known: KnownHeads,
    ) -> None:
        self.stream = stream
        self.capacity = capacity
        self._memory = memory
        self._wait: trio.CancelScope | None = None
        self.evicted = self.lingering = self.used = False
        self.held = 0
        self.slow_request: ParsedRequest | None = None
        self._send_nowait = stream.send_nowait if isinstance(stream, SocketStream) else _send_nothing
        self.settings = settings
        self.parser = RequestParser(settings, known)
        self.pending: bytes | memoryview = b""
        self.scope = trio.CancelScope()
        self.closing = False
        self.eof = False
        self.gone = False

    def close_idle(self) -> bool:
        """End a connection that waits for a request. False if a request has arrived, which is then served."""
        if isinstance(self.stream, SocketStream) and self.stream.has_input():
            return False
        self.closing = True
        self.scope.cancel()
        return True

    def evict(self) -> None:
        """End a connection that waits for its client within a request or an answer."""
        self.evicted = True
        if self._wait is not None:
            self._wait.cancel()

    @contextmanager
    def waiting(self, deadline: float, since: float, request: ParsedRequest | None) -> Iterator[trio.CancelScope]:
        """The block waits for the client, up to a deadline in Trio's time. The connection may be evicted meanwhile."""
        self.capacity.slow[self] = since
        self.slow_request = request
        with trio.CancelScope(deadline=deadline) as scope, patient(scope):
            self._wait = scope
            try:
                yield scope
            finally:
                self.capacity.slow.pop(self, None)
                self._wait = self.slow_request = None

    async def receive(self, deadline: float, since: float, request: ParsedRequest | None = None) -> bool:
        """Wait for more bytes, into `pending`. False at the deadline, in Trio's time, and after an eviction."""
        if not self.evicted:
            with self.waiting(deadline, since, request) as scope:
                await self.receive_some()
        return not (self.evicted or scope.cancelled_caught)

    def refusal(self, timeout_detail: str) -> Refusal:
        """The refusal after `receive` gave False: for an eviction, or for a timeout with this detail."""
        if self.evicted:
            return Refusal(503, "The request arrived too slowly, and the server needed its place for another client")
        return Refusal(408, timeout_detail)

    async def receive_some(self) -> None:
        """Wait for more bytes, into `pending`, or for the end, into `eof`. A cancellation loses no bytes."""
        try:
            data = await self.stream.receive_some(RECEIVE_BYTES)
        except trio.BrokenResourceError:
            data = b""
        if not data:
            self.eof = True
        elif self.pending:
            self.pending = bytes(self.pending) + data
        else:
            self.pending = bytes(data)

    async def wait_left(self, may_probe: Callable[[], bool]) -> None:
        """Wait for the client to leave. Bytes that arrive meanwhile are kept up to a bound; the rest stays unread.

        A client that closes its sending side only has not left: it waits for its answer (RFC 9112, section 9.6).
        """
        await self._wait_end()
        while not await self.has_left(may_probe):
            for _ in range(CHECKS):
                if self._is_broken():
                    self.eof = True
                    return
                await trio.sleep(HUNG_UP_S)

    async def _wait_end(self) -> None:
        """Wait until the client has closed one side. Bytes before the end may be unread."""
        while not self._has_ended():
            if len(self.pending) < RECEIVE_BYTES:
                await self.receive_some()
            else:
                await trio.sleep(HUNG_UP_S)

    def _has_ended(self) -> bool:
        return self.eof or (isinstance(self.stream, SocketStream) and self.stream.has_hung_up())

    async def has_left(self, may_probe: Callable[[], bool]) -> bool:
        """True if the client has closed its socket, as far as the system can tell now.

        The end of what it sends looks alike whether it has closed its socket or its sending side only. Therefore the
        server sends an interim response, if it may: a closed socket answers with a reset. What a client that is still
        there has sent before its end stays to be read.
        """
        if not self._has_ended():
            return False
        if may_probe() and self._probe() and not await self._is_broken_soon():
            return False
        self.eof = True
        return True

    def _probe(self) -> bool:
        """Send an interim response, which says nothing. False if it cannot be sent as a whole."""
        try:
            sent = self._send_nowait(CONTINUE)
        except trio.BrokenResourceError:
            sent = 0
        self.gone = self.gone or sent < len(CONTINUE)
        return not self.gone

    async def _is_broken_soon(self) -> bool:
        for pause_s in PROBED_S:
            if self._is_broken():
                return True
            await trio.sleep(pause_s)
        return self._is_broken()

    def _is_broken(self) -> bool:
        return isinstance(self.stream, SocketStream) and self.stream.is_broken()

    def parse_pending(self) -> None:
        """Feed the parser one slice of the received bytes."""
        data, parser = self.pending, self.parser
        if len(data) <= parser.slice_bytes or len(data) <= (size := parser.step_bytes()):
            self.pending = b""
        else:
            view = memoryview(data)
            data, self.pending = view[:size], view[size:]
        parser.feed(data)

    async def transmit(self, data: bytes, request: ParsedRequest | None = None) -> None:
        """Send all bytes. Raises ClientGone if the client closed or is too slow, or the connection is evicted.

        This is not a checkpoint if the client reads fast enough, because a deadline costs as much as the rest of
        sending a small response.
        """
        sent = self.send_nowait(data)
        if sent < len(data):
            await self.transmit_rest(data, sent, request)

    def send_nowait(self, data: bytes) -> int:
        """Send as much as the socket takes. Returns the number of bytes: `transmit_rest` must send the others.

        Raises ClientGone if the client closed.
        """
        if self.gone:
            raise ClientGone("the client closed the connection")
        try:
            return self._send_nowait(data)
        except trio.BrokenResourceError as error:
            self.gone = True
            raise ClientGone("the client closed the connection") from error

    async def transmit_rest(self, data: bytes, sent: int, request: ParsedRequest | None) -> None:
        """Send the rest to a slow client, and count its memory. Meanwhile another task may wait for a disconnect."""
        size = len(data)
        if not self._memory.take_nowait(self, size):
            self.gone = True
            raise ClientGone("the client did not read its response, and the server has no memory for it")
        try:
            await self._send_pieces(memoryview(data), sent, request)
        except BaseException:
            self.gone = True  # nothing may follow a part of an answer
            raise
        finally:
            self._memory.give_back(self, min(size, self.held))

    async def _send_pieces(self, view: memoryview, sent: int, request: ParsedRequest | None) -> None:
        settings, since = self.settings, trio.current_time()
        left_s = settings.send_timeout_s
        for start in range(sent, len(view), SEND_BYTES):
            now, began = trio.current_time(), given_time()
            piece = view[start : start + SEND_BYTES]
            with self.waiting(now + left_s, since, request) as scope:
                try:
                    await self.stream.send_all(piece)
                except trio.BrokenResourceError as error:
                    raise ClientGone("the client closed the connection") from error
            if scope.cancelled_caught:
                raise ClientGone(
                    "another client needed its place"
                    if self.evicted
                    else "the client did not read its response in time"
                )
            took_s = given_time() - began
            left_s += len(piece) / settings.min_send_bytes_per_s - took_s
            if left_s >= settings.send_timeout_s:
                left_s, since = settings.send_timeout_s, trio.current_time()  # it is fast enough

    async def linger(self) -> None:
        """Stop sending, and continue to read for a moment (RFC 9112 section 9.6).

        Closing a socket with unread bytes sends a reset, which makes the client drop an answer that it has not read.
        """
        if self.evicted:
            if isinstance(self.stream, SocketStream):
                self.stream.finish_nowait()
            return
        self.lingering = True
        now = trio.current_time()
        with self.waiting(now + self.settings.linger_s, now, None) as scope:
            try:
                await self.stream.send_eof()
                left = LINGER_BYTES
                while left > 0 and (data := await self.stream.receive_some(RECEIVE_BYTES)):
                    left -= len(data)
                    scope.deadline += len(data) / MIN_LINGER_BYTES_PER_S
            except trio.BrokenResourceError:
                return  # the client closed first


def _send_nothing(data: bytes) -> int:
    """`send_nowait` of streams that have none."""
    return 0
