"""A client over a memory stream that says exact bytes, and small applications to talk to."""

import socket
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import memory_stream_pair

import vivero.api.serving.server
from tests.eventually import eventually
from vivero.api.http1.connection import serve_connection
from vivero.api.http1.settings import ServerSettings
from vivero.api.http1.state import ServerState
from vivero.api.serving.server import Endpoint, open_listeners, serve

# Nothing here should take long; a test that hangs fails instead.
PATIENCE_S = 20


@dataclass
class Answer:
    """A response as the client read it; `headers` with lower-case names, `informational` the 1xx before it."""

    status: int
    headers: dict[str, str]
    body: bytes
    version: str
    informational: list[int] = field(default_factory=list)

    @property
    def problem(self) -> dict[str, Any]:
        assert self.headers["content-type"] == "application/problem+json"
        return msgspec.json.decode(self.body)


class Client:
    """Sends bytes as they are and reads responses one by one, by RFC 9112 and without the server's own parser."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self.buffer = b""

    async def send(self, *parts: bytes) -> None:
        for part in parts:
            await self.stream.send_all(part)

    async def answer(self, *, to_head: bool = False) -> Answer:
        informational = []
        while True:
            answer = self._head(await self._until(b"\r\n\r\n"))
            if answer.status >= 200:
                break
            informational.append(answer.status)
        answer.informational = informational
        if not to_head and answer.status not in (204, 304):
            answer.body = await self._body(answer.headers)
        return answer

    async def ask(self, request: bytes, **options: Any) -> Answer:
        await self.send(request)
        return await self.answer(**options)

    async def closed(self) -> bool:
        """Wait for more bytes; whether there are none."""
        return self.buffer == b"" and await self._receive() == b""

    async def aclose(self) -> None:
        await self.stream.aclose()

    async def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") == "chunked":
            assert "content-length" not in headers
            body = b""
            while size := int((await self._until(b"\r\n"))[:-2], 16):
                body += (await self._exactly(size + 2))[:-2]
            assert await self._until(b"\r\n") == b"\r\n"
            return body
        if "content-length" in headers:
            return await self._exactly(int(headers["content-length"]))
        assert headers["connection"] == "close"
        while data := await self._receive():
            self.buffer += data
        body, self.buffer = self.buffer, b""
        return body

    @staticmethod
    def _head(head: bytes) -> Answer:
        status_line, *lines = head[:-4].decode("latin-1").split("\r\n")
        version, status, _ = status_line.split(" ", 2)
        fields = [line.split(": ", 1) for line in lines]
        headers = {name.lower(): value for name, value in fields}
        assert len(headers) == len(fields), f"repeated header in {head!r}"
        return Answer(int(status), headers, b"", version)

    async def _until(self, end: bytes) -> bytes:
        while end not in self.buffer:
            await self._more()
        found, _, self.buffer = self.buffer.partition(end)
        return found + end

    async def _exactly(self, size: int) -> bytes:
        while len(self.buffer) < size:
            await self._more()
        found, self.buffer = self.buffer[:size], self.buffer[size:]
        return found

    async def _more(self) -> None:
        data = await self._receive()
        if not data:
            raise EOFError(f"the server closed after {self.buffer!r}")
        self.buffer += data

    async def _receive(self) -> bytes:
        try:
            return bytes(await self.stream.receive_some(65536))
        except trio.BrokenResourceError:
            return b""


@dataclass
class Server:
    """Connections served over memory streams in the test's nursery; `connect` opens one."""

    state: ServerState
    nursery: trio.Nursery
    ended: int = 0

    def connect(self, streams=None) -> Client:
        mine, theirs = streams or memory_stream_pair()
        self.nursery.start_soon(self._serve, theirs)
        return Client(mine)

    async def _serve(self, stream: trio.abc.HalfCloseableStream) -> None:
        await serve_connection(self.state, stream)
        self.ended += 1


App = Callable[[dict, Callable, Callable], Awaitable[None]]


async def give_up() -> None:
    """End a test that waits for what never comes: the ticking of the server keeps a jumping clock going."""
    await trio.sleep(2000)
    raise TimeoutError("the test is still running after 2,000 s on its clock")


@pytest.fixture
def start(nursery) -> Callable[..., Server]:
    """`start(app, **settings)`: a server without sockets; tests that wait take `autojump_clock` beside it."""

    def start(app: App, **settings: Any) -> Server:
        server = Server(ServerState(app, ServerSettings(**settings)), nursery)
        nursery.start_soon(server.state.keep_ticking)
        nursery.start_soon(give_up)
        return server

    return start


@pytest.fixture
def client_of() -> type[Client]:
    """`client_of(stream)`: a client over any stream."""
    return Client


async def read_body(receive: Callable[[], Awaitable[dict]]) -> tuple[bytes, list[int]]:
    """The whole request body, and the sizes of the messages it came in."""
    body, sizes = b"", []
    while True:
        message = await receive()
        assert message["type"] == "http.request"
        body += message["body"]
        sizes.append(len(message["body"]))
        if not message["more_body"]:
            return body, sizes


async def respond(send, body: bytes = b"", status: int = 200, headers=()) -> None:
    await send({"type": "http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "http.response.body", "body": body})


async def echo(scope, receive, send) -> None:
    """Answers with the path and body it got, and how many messages the body took."""
    body, sizes = await read_body(receive)
    text = f"{scope['method']} {scope['path']} {len(sizes)} ".encode() + body
    await respond(send, text, headers=[(b"content-type", b"text/plain")])


@pytest.fixture
def apps():
    """The helpers of this file, for tests that write their own applications."""

    return SimpleNamespace(echo=echo, respond=respond, read_body=read_body)


class Running:
    """A server in its own nursery; `stop` drains it and returns how long that took, in seconds."""

    def __init__(self, listeners, make_client) -> None:
        self.listeners = listeners
        self.port = listeners[0].socket.getsockname()[1]
        self.drain = trio.Event()
        self.done = trio.Event()
        self.beats = 0
        self.beat_heard = trio.Event()
        self.make_client = make_client
        self.clients = []
        self.state = None

    async def close(self) -> None:
        for closing in (*self.clients, *self.listeners):
            await closing.aclose()

    async def run(self, app, settings, task_status=trio.TASK_STATUS_IGNORED) -> None:
        """Serve, like the program; `state` is what the server's tasks share."""
        await serve(
            app, Endpoint(self.listeners), settings=settings, drain=self.drain, beat=self.beat, task_status=task_status
        )
        self.done.set()

    def beat(self) -> None:
        self.beats += 1
        self.beat_heard.set()
        self.beat_heard = trio.Event()

    async def beaten(self, times: int) -> None:
        """Wait for so many beats, each in time for a supervisor that wants four a second."""
        for _ in range(times):
            with trio.fail_after(2):
                await self.beat_heard.wait()

    async def connect(self, receive_buffer: int | None = None, address: str = "127.0.0.1"):
        await trio.lowlevel.checkpoint()
        return self.connect_nowait(receive_buffer, address)

    async def until(self, condition) -> None:
        """Wait for the server to come that far."""
        await eventually(lambda: condition(self.state), every_s=0)

    def connect_nowait(self, receive_buffer: int | None = None, address: str = "127.0.0.1"):
        """Into the backlog, which needs no turn of the server; `raw` sends without one, too."""
        raw = socket.socket()
        raw.bind((address, 0))
        if receive_buffer:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        raw.connect(("127.0.0.1", self.port))
        client = self.make_client(trio.SocketStream(trio.socket.from_stdlib_socket(raw)))
        client.raw = raw
        self.clients.append(client)
        return client

    async def stop(self) -> float:
        begun = trio.current_time()
        self.drain.set()
        await self.done.wait()
        return trio.current_time() - begun


@pytest.fixture
def running(client_of, monkeypatch):
    """`async with running(app, **settings) as server`"""

    @asynccontextmanager
    async def running(app, **settings):
        listeners = await open_listeners("127.0.0.1", 0)
        server = Running(listeners, client_of)

        def state(*arguments):
            server.state = ServerState(*arguments)
            return server.state

        monkeypatch.setattr(vivero.api.serving.server, "ServerState", state)
        try:
            with trio.fail_after(PATIENCE_S):
                async with trio.open_nursery() as nursery:
                    await nursery.start(server.run, app, ServerSettings(**settings))
                    yield server
                    nursery.cancel_scope.cancel()
        finally:
            await server.close()

    return running


@pytest.fixture
def running_class() -> type[Running]:
    """For tests that serve the same listeners several times."""
    return Running
