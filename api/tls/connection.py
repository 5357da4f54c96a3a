"""One connection with TLS, with deadlines for reading and writing.

hypercorn shields what it sends from cancellation. Therefore the stream below TLS has the deadlines, and closing that
stream always ends the connection.
"""

from __future__ import annotations

import socket

import trio

from vivero.api.http1.settings import ServerSettings
from vivero.api.http1.socket_stream import SocketStream
from vivero.storage.postgres.given_time import given_time, patient

PIECE_BYTES = 64 * 1024


class Connection(trio.abc.HalfCloseableStream):
    """The stream below TLS. `requests`: how many run. `slow_since`: since when one waits for its client."""

    def __init__(self, stream: SocketStream, settings: ServerSettings) -> None:
        self.stream = stream
        self._settings = settings
        self.requests = 0
        self.slow_since: float | None = None
        self.http1 = True
        self.served = False
        """Whether it has had a request."""
        self._quiet_since = trio.current_time()
        self._head_since: float | None = self._quiet_since
        self._has_more = False
        self.closed = False

    @property
    def socket(self) -> socket.socket:
        """hypercorn reads the addresses from it."""
        return self.stream.socket

    @property
    def address(self) -> str:
        return "" if self.stream.client is None else self.stream.client[0]

    def began(self) -> None:
        """A request begins."""
        self.requests += 1
        self.served = True
        self._head_since = None

    def ended(self) -> None:
        """A request has ended."""
        self.requests -= 1
        self._quiet_since = trio.current_time()
        if self.http1 and self._has_more:
            self._head_since = self._quiet_since

    def body_complete(self) -> None:
        """Note that all further bytes belong to the next request."""
        self._has_more = False

    def is_late(self, now: float) -> bool:
        """Whether its handshake or a header takes too long. Frames on an idle HTTP/2 connection do not count."""
        since = self._head_since
        return not self.requests and since is not None and now - since > self._settings.header_timeout_s

    def waits_since(self) -> float | None:
        """The time since which it is idle or waits for its client; None while a request is being handled."""
        return self.slow_since if self.requests else self._quiet_since

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        data = await self.stream.receive_some(max_bytes)
        self._has_more = True
        if not self.requests and self._head_since is None and self.http1:
            self._head_since = trio.current_time()
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send all bytes. Also raises BrokenResourceError if the client reads too slowly."""
        view, settings = memoryview(data), self._settings
        left_s = settings.send_timeout_s
        for start in range(0, len(view), PIECE_BYTES):
            piece, since, began = view[start : start + PIECE_BYTES], trio.current_time(), given_time()
            self.slow_since = since if self.slow_since is None else self.slow_since
            with trio.move_on_after(left_s) as scope, patient(scope):
                await self.stream.send_all(piece)
            if scope.cancelled_caught:
                self.close()
                raise trio.BrokenResourceError("the client did not read its response in time")
            left_s += len(piece) / settings.min_send_bytes_per_s - (given_time() - began)
            left_s = min(left_s, settings.send_timeout_s)
        self.slow_since = None

    async def wait_send_all_might_not_block(self) -> None:
        await self.stream.wait_send_all_might_not_block()

    async def send_eof(self) -> None:
        await self.stream.send_eof()

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """End the connection at once, even while hypercorn sends in a shielded scope."""
        self.closed = True
        self.stream.close()
