"""A small HTTP client for hurting servers: one connection, one request at a time, and an honest end.

A request ends in an answer or in `Unanswered`, which says whether anything may have reached the server.
"""

import json
from dataclasses import dataclass

import trio

_LOST = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)


class Unanswered(Exception):
    """No answer came. `sent`: the request, or a part of it, may have been received."""

    def __init__(self, why, *, sent) -> None:
        super().__init__(why)
        self.sent = sent


@dataclass(frozen=True)
class Answer:
    """Status, headers (names in lower case) and body of an answer."""

    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body) if self.body else None

    @property
    def title(self):
        """The detail of a problem."""
        return self.json["title"]


class Caller:
    """A keep-alive connection to a port of this machine, made when it is needed.

    `address` is the caller's own: all of 127.0.0.0/8 are addresses of a machine with Linux.
    """

    def __init__(self, port, address=None) -> None:
        self.port, self._address = port, address
        self._stream: trio.SocketStream | None = None
        self._buffer = bytearray()

    async def __aenter__(self) -> "Caller":
        return self

    async def __aexit__(self, *_) -> None:
        await self.close()

    async def close(self):
        stream, self._stream = self._stream, None
        self._buffer.clear()
        if stream is not None:
            await trio.aclose_forcefully(stream)

    async def call(self, method, path, document=None, *, headers=(), within_s=60.0):
        """The answer. Raises Unanswered."""
        body = b"" if document is None else json.dumps(document).encode()
        return await self.send(method, path, body, "application/json", headers, within_s)

    async def send(self, method, path, body, content_type, headers=(), within_s=60.0):
        """Like `call`, with a body of any type."""
        fields = [("Host", "localhost"), ("Content-Type", content_type), ("Content-Length", str(len(body))), *headers]
        head = "".join(f"{name}: {value}\r\n" for name, value in fields)
        with trio.move_on_after(within_s):
            return await self._exchange(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        await self.close()
        raise Unanswered(f"nothing within {within_s} s", sent=True)

    async def _exchange(self, request):
        await self._connect()
        try:
            await self._stream.send_all(request)
            return await self._answer()
        except _LOST as error:
            await self.close()
            raise Unanswered(repr(error), sent=True) from error
        except trio.Cancelled:
            stream, self._stream = self._stream, None
            self._buffer.clear()
            if stream is not None:  # the answer said that the connection ends
                stream.socket.close()
            raise

    async def _connect(self):
        if self._stream is not None:
            return
        try:
            self._stream = await trio.open_tcp_stream("127.0.0.1", self.port, local_address=self._address)
        except OSError as error:
            raise Unanswered(str(error), sent=False) from error

    async def _answer(self):
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            await self._receive()
        first, *lines = bytes(self._buffer[:end]).decode().split("\r\n")
        del self._buffer[: end + 4]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if headers.get("transfer-encoding") == "chunked":
            body = await self._chunks()
        else:
            body = await self._bytes(int(headers.get("content-length", 0)))
        if headers.get("connection", "").lower() == "close":
            await self.close()
        return Answer(int(first.split()[1]), headers, body)

    async def _chunks(self):
        body = b""
        while True:
            while (end := self._buffer.find(b"\r\n")) < 0:
                await self._receive()
            size = int(await self._bytes(end + 2), 16)
            body += (await self._bytes(size + 2))[:-2]
            if not size:
                return body

    async def _bytes(self, size):
        while len(self._buffer) < size:
            await self._receive()
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    async def _receive(self):
        data = await self._stream.receive_some(65536)
        if not data:
            raise ConnectionResetError("the server closed the connection")
        self._buffer += data
