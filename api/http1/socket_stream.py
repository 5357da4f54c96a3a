"""A TCP connection as a Trio stream with few system calls.

`trio.SocketStream` tries to receive before it waits, which fails between two requests of a keep-alive connection. It
cannot send without a checkpoint, and therefore has no cheap deadline. This stream waits first, and `send_nowait` sends
as much as the socket buffer takes. If the client reads, that is the whole response, and no deadline is necessary
(docs/adr/0001 has the figures).
"""

import select
import socket
import threading
from contextlib import suppress

import trio

RECEIVE_BYTES = 64 * 1024
FINISH_READS = 16
_HUNG_UP = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR

Address = tuple[str, int]


class _Buffer(threading.local):
    """The buffer for received bytes, one for each thread. The thread keeps a copy of the bytes.

    `socket.recv` allocates its limit and then cuts the block to what came. While the head of a block is in use, nothing
    as large fits into its rest: each request that waits would make the heap grow by RECEIVE_BYTES.
    """

    def __init__(self) -> None:
        self.view = memoryview(bytearray(RECEIVE_BYTES))


_buffer = _Buffer()


class SocketStream(trio.abc.HalfCloseableStream):
    """A stream that owns a connected TCP socket. One task may receive while another sends.

    Raises BrokenResourceError if the peer is gone, ClosedResourceError after `aclose`.
    """

    __slots__ = ("_socket", "client", "server")

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)
        self._socket = connected
        self.client: Address | None = None
        self.server: Address | None = None
        with suppress(OSError):  # the client is gone, and the first receive will raise
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.client = connected.getpeername()[:2]
            self.server = connected.getsockname()[:2]

    @property
    def socket(self) -> socket.socket:
        """The socket, for questions about its addresses."""
        return self._socket

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Wait for bytes, at most RECEIVE_BYTES; b"" at the end. A cancellation loses no bytes."""
        view = _buffer.view
        if max_bytes is not None and max_bytes < RECEIVE_BYTES:
            view = view[:max_bytes]
        while True:
            self._check_open()
            await trio.lowlevel.wait_readable(self._socket)
            try:
                return bytes(view[: self._socket.recv_into(view)])
            except BlockingIOError:
                continue
            except OSError as error:
                raise trio.BrokenResourceError(f"receiving failed: {error}") from error

    def send_nowait(self, data: bytes | memoryview) -> int:
        """Send as much as fits into the socket buffer, and return the number of bytes, which may be 0."""
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            if self._socket.fileno() < 0:
                raise trio.ClosedResourceError("this stream was closed") from None
            raise trio.BrokenResourceError(f"sending failed: {error}") from error

    def has_input(self) -> bool:
        """True if `receive_some` would return bytes at once."""
        try:
            return bool(self._socket.recv(1, socket.MSG_PEEK))
        except OSError:  # nothing yet, or a reset
            return False

    def has_hung_up(self) -> bool:
        """True if one side has closed, even if there are unread bytes. Always False on systems that do not tell."""
        return self._has(_HUNG_UP)

    def is_broken(self) -> bool:
        """True after a reset, and if both sides have closed: nothing that is sent arrives."""
        return self._has(select.POLLHUP | select.POLLERR)

    def _has(self, events: int) -> bool:
        descriptor = self._socket.fileno()
        if descriptor < 0:
            return True
        poll = select.poll()
        poll.register(descriptor, events)
        return bool(poll.poll(0))

    def finish_nowait(self) -> None:
        """Send the end, and drop received bytes: closing with unread bytes sends a reset, which loses the answer."""
        with suppress(OSError):  # the client may be gone
            self._socket.shutdown(socket.SHUT_WR)
            for _ in range(FINISH_READS):
                if not self._socket.recv(RECEIVE_BYTES):
                    break

    def _check_open(self) -> None:
        """Trio confuses closed sockets with each other: all have the same descriptor."""
        if self._socket.fileno() < 0:
            raise trio.ClosedResourceError("this connection was closed")

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await trio.lowlevel.checkpoint()
        self._check_open()
        view = memoryview(data)
        while view:
            sent = self.send_nowait(view)
            view = view[sent:]
            if view:
                await trio.lowlevel.wait_writable(self._socket)

    async def wait_send_all_might_not_block(self) -> None:
        self._check_open()
        await trio.lowlevel.wait_writable(self._socket)

    async def send_eof(self) -> None:
        await trio.lowlevel.checkpoint()
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            raise trio.BrokenResourceError(f"shutting down failed: {error}") from error

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """Close at once. A task that waits in this stream gets ClosedResourceError."""
        if self._socket.fileno() >= 0:
            trio.lowlevel.notify_closing(self._socket)
            self._socket.close()
