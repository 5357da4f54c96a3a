"""Connections of HTTP/1.1 for the many small requests of a worker: a tenth of the CPU time that httpx takes for one.

A request is one write, its answer one read, parsed by httptools. Failures are those of httpx, so that `failure_of`
tells what they mean. Proxies, redirects and packed answers are not here.
"""

from __future__ import annotations

import re
import select
import ssl
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies

import anyio
import anyio.abc
import httptools
import httpx
from anyio.abc import SocketAttribute
from anyio.streams.tls import TLSAttribute

from vivero.client.answers import MAX_ANSWER_BYTES, ClientError, NotSendable

MAX_HEAD_BYTES = 256 * 1024
"""No server of ours sends as many bytes of headers."""
MOST_CONNECTIONS = 100
KEPT_S = 5.0
"""The time for which a connection without a request is used again. Servers and proxies close those that they keep
longer, perhaps just when a request comes."""
_PATH = re.compile(r"/[!-~]*")
_VALUE = re.compile(r"[!-~]([\t -~]*[!-~])?|")


class Reply(NamedTuple):
    """An answer as it came."""

    status_code: int
    headers: dict[str, str]
    content: bytes


class KeptConnections:
    """At most so many connections to one server, which are kept and used again. Not more requests run at a time."""

    def __init__(
        self,
        address: str,
        headers: Mapping[str, str],
        credentials: tuple[str, str] | None,
        tls: ssl.SSLContext | None,
        timeout_s: float,
        connections: int | None,
    ) -> None:
        parts = urlsplit(address)
        assert parts.hostname is not None
        self._host, self._tls = parts.hostname, tls
        self._port = parts.port or (443 if tls else 80)
        self._path = parts.path
        self._head = f"host: {parts.netloc}\r\n" + _lines(
            {**headers, **({} if credentials is None else _basic(credentials))}
        )
        self._timeout_s = timeout_s
        self._places = anyio.Semaphore(connections or MOST_CONNECTIONS, fast_acquire=True)
        self._idle: list[tuple[anyio.abc.ByteStream, float]] = []

    async def close(self) -> None:
        """Close the connections that no request uses, also while the caller is cancelled."""
        with anyio.CancelScope(shield=True):
            while self._idle:
                await anyio.aclose_forcefully(self._idle.pop()[0])

    async def request(
        self, method: str, path: str, content: bytes, headers: Mapping[str, str], timeout_s: float | None = None
    ) -> Reply:
        """The answer to a request. `timeout_s`: the longest silence of the server, and the longest wait for a place.

        Raises NotSendable, ClientError for an answer that is too large or packed, and what httpx raises without one.
        """
        sent = self._written(method, path, content, headers)
        silence_s = self._timeout_s if timeout_s is None else timeout_s
        late: httpx.TimeoutException = httpx.PoolTimeout("all connections are in use")
        with anyio.CancelScope(deadline=anyio.current_time() + silence_s) as patience:
            async with self._places:
                patience.deadline = anyio.current_time() + silence_s
                late = httpx.ConnectTimeout(f"no connection within {silence_s:g} s")
                stream = await self._taken() or await self._connected()
                patience.deadline = anyio.current_time() + silence_s
                late = httpx.ReadTimeout(f"nothing came for {silence_s:g} s")
                answer = _Answer()
                try:
                    return await _exchanged(stream, sent, answer, patience, silence_s)
                finally:
                    if answer.keeps:
                        self._idle.append((stream, anyio.current_time() + KEPT_S))
                    else:
                        await anyio.aclose_forcefully(stream)
        raise late

    def _written(self, method: str, path: str, content: bytes, headers: Mapping[str, str]) -> bytes:
        if not _PATH.fullmatch(path):
            raise NotSendable(f"the path {path!a} cannot be sent: it has characters that a URL does not have")
        length = f"content-length: {len(content)}\r\n\r\n"
        return f"{method} {self._path}{path} HTTP/1.1\r\n{self._head}{_lines(headers)}{length}".encode() + content

    async def _taken(self) -> anyio.abc.ByteStream | None:
        """A connection that is kept and that the server has not closed. Closes those that are kept for too long."""
        while self._idle and self._idle[0][1] <= anyio.current_time():  # the oldest are first
            await anyio.aclose_forcefully(self._idle.pop(0)[0])
        while self._idle:
            stream, _ = self._idle.pop()
            if not _is_readable(stream):
                return stream
            await anyio.aclose_forcefully(stream)
        return None

    async def _connected(self) -> anyio.abc.ByteStream:
        try:
            if self._tls is None:
                return await anyio.connect_tcp(self._host, self._port)
            return await anyio.connect_tcp(
                self._host, self._port, tls=True, ssl_context=self._tls, tls_standard_compatible=False
            )
        except (OSError, anyio.BrokenResourceError, anyio.EndOfStream) as error:
            raise httpx.ConnectError(str(error)) from error


async def _exchanged(
    stream: anyio.abc.ByteStream, sent: bytes, answer: _Answer, patience: anyio.CancelScope, silence_s: float
) -> Reply:
    with suppress(anyio.BrokenResourceError, OSError):  # a server may answer and close before it has read everything
        await stream.send(sent)
    try:
        while not answer.is_whole:
            answer.feed(await stream.receive())
            patience.deadline = anyio.current_time() + silence_s
    except anyio.EndOfStream as error:
        if not answer.ends_with_the_connection:
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.") from error
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError) as error:
        raise httpx.ReadError(str(error.__cause__ or error)) from error
    return answer.reply


class _Answer:
    """The answer to one request, while it arrives."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self._received = self._head_bytes = 0
        self._in_body = False
        self.is_whole = False
        self.keeps = False
        """Whether the connection is good for another request."""

    def feed(self, data: bytes) -> None:
        """Raises httpx.RemoteProtocolError, ClientError."""
        self._received += len(data)
        if not self._in_body:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self.keeps = False
            if not self.is_whole:
                raise httpx.RemoteProtocolError(str(error)) from error
        if not self._in_body and self._head_bytes > MAX_HEAD_BYTES:
            raise httpx.RemoteProtocolError("the headers of the answer are too long")
        if len(self._body) > MAX_ANSWER_BYTES or self._received > 2 * MAX_ANSWER_BYTES:  # also of chunks and trailers
            raise ClientError(f"the answer has more than {MAX_ANSWER_BYTES >> 20} MiB")

    @property
    def ends_with_the_connection(self) -> bool:
        """Whether the answer has neither a length nor chunks, so that it lasts until the server closes."""
        return self._in_body and "content-length" not in self._headers and "transfer-encoding" not in self._headers

    @property
    def reply(self) -> Reply:
        """Raises ClientError for a packed body: few bytes unpack to many."""
        if self._headers.get("content-encoding", "identity") != "identity":
            raise ClientError("the answer is packed, although the client did not ask for that")
        return Reply(self._parser.get_status_code(), self._headers, bytes(self._body))

    # -- what the parser calls

    def on_message_begin(self) -> None:
        self.keeps = False  # a second answer, which nobody has asked for

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_body:
            self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._in_body = True

    def on_body(self, data: bytes) -> None:
        if not self.is_whole:
            self._body += data

    def on_message_complete(self) -> None:
        if self.is_whole:
            return
        if self._parser.get_status_code() < httpx.codes.OK:  # such as 103: the answer comes later
            self._headers.clear()
            self._in_body = False
            return
        self.is_whole = True
        self.keeps = self._parser.should_keep_alive()


def _is_readable(stream: anyio.abc.ByteStream) -> bool:
    """Whether a connection without a request has something to read: its end, or an answer that belongs to nothing."""
    poll = select.poll()
    poll.register(stream.extra(SocketAttribute.raw_socket), select.POLLIN)
    return bool(poll.poll(0)) or _is_decrypted(stream)


def _is_decrypted(stream: anyio.abc.ByteStream) -> bool:
    """Whether TLS has more of what came with the last answer."""
    tls = stream.extra(TLSAttribute.ssl_object, None)
    if tls is None:
        return False
    try:
        tls.read(1)
    except ssl.SSLWantReadError:
        return False
    except ssl.SSLError:  # such as the end
        return True
    return True


def _lines(headers: Mapping[str, str]) -> str:
    for name, value in headers.items():
        if not _VALUE.fullmatch(value):
            raise NotSendable(f"the header {name} has characters that a header cannot have")
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items())


def _basic(credentials: tuple[str, str]) -> dict[str, str]:
    return {"authorization": f"Basic {b64encode(':'.join(credentials).encode()).decode()}"}


def reaches(address: str, is_local: bool) -> bool:
    """Whether these connections can be used. httpx knows the environment's proxies, and names of hosts in Unicode."""
    proxies = {} if is_local else getproxies()
    return not proxies.keys() & {"http", "https", "all"} and bool(_PATH.fullmatch(f"/{address}"))
