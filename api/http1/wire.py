"""The bytes of one connection: receiving under deadlines, feeding the parser by slices, sending to slow clients."""

import trio

from api.http1.parser import RequestParser
from api.http1.settings import ServerSettings
from api.http1.socket_stream import SocketStream

RECEIVE_BYTES = 64 * 1024
SEND_BYTES = 64 * 1024
LINGER_BYTES = 1024 * 1024


class ClientGone(ConnectionError):
    """The client closed or stopped reading: nobody will see the rest of the response (ASGI: an OSError from `send`)."""


class Wire:
    """A stream, its parser, and the received bytes between them.

    `eof`: the client will send nothing more. `gone`: nothing more can be sent. `scope` encloses the whole connection,
    `closing` says that it was cancelled while idle.
    """

    __slots__ = ("_send_nowait", "closing", "eof", "gone", "parser", "pending", "scope", "settings", "stream")

    def __init__(self, stream: trio.abc.HalfCloseableStream, settings: ServerSettings) -> None:
        self.stream = stream
        self._send_nowait = stream.send_nowait if isinstance(stream, SocketStream) else _send_nothing
        self.settings = settings
        self.parser = RequestParser(settings)
        self.pending: bytes | memoryview = b""
        self.scope = trio.CancelScope()
        self.closing = False
        self.eof = False
        self.gone = False

    def close_idle(self) -> bool:
        """End a connection that waits for a request; False if one has arrived meanwhile, which is then served."""
        if isinstance(self.stream, SocketStream) and self.stream.has_input():
            return False
        self.closing = True
        self.scope.cancel()
        return True

    async def receive(self, deadline: float) -> bool:
        """Wait for more bytes, into `pending`; False if the deadline, in Trio's time, came first."""
        with trio.move_on_at(deadline) as scope:
            await self.receive_some()
        return not scope.cancelled_caught

    async def receive_some(self) -> None:
        """Wait for more bytes, into `pending`, or for the end, into `eof`. Cancelling it loses nothing."""
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

    async def wait_eof(self) -> None:
        """Wait for the client to close. What it sends meanwhile is kept, up to a bound, and then left in the socket."""
        while not self.eof:
            if len(self.pending) >= RECEIVE_BYTES:
                await trio.sleep_forever()
            await self.receive_some()

    def parse_pending(self) -> None:
        """Feed the parser one slice of what was received."""
        size = self.parser.step_bytes()
        if len(self.pending) <= size:
            data, self.pending = self.pending, b""
        else:
            view = memoryview(self.pending)
            data, self.pending = view[:size], view[size:]
        self.parser.feed(data)

    async def transmit(self, data: bytes) -> None:
        """Send all of it; ClientGone if the client closed, or did not take a piece of it in time.

        Not a checkpoint while the client keeps up: a deadline costs as much as the rest of sending a small response.
        """
        if self.gone:
            raise ClientGone("the client closed the connection")
        try:
            sent = self._send_nowait(data)
        except trio.BrokenResourceError as error:
            self.gone = True
            raise ClientGone("the client closed the connection") from error
        if sent < len(data):
            view = memoryview(data)
            for start in range(sent, len(data), SEND_BYTES):
                await self._send(view[start : start + SEND_BYTES])

    async def _send(self, data: memoryview) -> None:
        self.gone = True  # unless all of it is sent: after a part, also of a cancelled send, nothing else may follow
        with trio.move_on_after(self.settings.send_timeout_s) as scope:
            try:
                await self.stream.send_all(data)
                self.gone = False
            except trio.BrokenResourceError as error:
                raise ClientGone("the client closed the connection") from error
        if scope.cancelled_caught:
            raise ClientGone("the client did not read its response in time")

    async def linger(self) -> None:
        """Stop sending, and read on for a moment (RFC 9112 section 9.6).

        Closing a socket with unread bytes sends a reset, and a reset makes the client drop an answer it has not read.
        """
        with trio.move_on_after(self.settings.linger_s):
            try:
                await self.stream.send_eof()
                left = LINGER_BYTES
                while left > 0 and (data := await self.stream.receive_some(RECEIVE_BYTES)):
                    left -= len(data)
            except trio.BrokenResourceError:
                return  # it closed first, which is all that was waited for


def _send_nothing(data: bytes) -> int:
    """For streams that cannot send without waiting."""
    return 0
