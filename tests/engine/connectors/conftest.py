"""Fixtures of the tests of connectors: an HTTP server on loopback whose answers a test decides, and an engine."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import h11
import pytest
import trio

from tests.engine.connectors.dispatching import ConnectorEngine
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.settings import ConnectorSettings


@dataclass
class Received:
    """A request that the server got."""

    method: str
    target: str
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class Server:
    """`answer(request)` gives (status, headers, body); it may be asynchronous."""

    port: int = 0
    received: list = field(default_factory=list)
    answer: Any = None
    connections: int = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, stream):
        self.connections += 1
        connection = h11.Connection(h11.SERVER)
        try:
            while await self._one(stream, connection):
                connection.start_next_cycle()
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.ProtocolError):
            await stream.aclose()

    async def _one(self, stream, connection):
        head, body = None, b""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await stream.receive_some())
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            else:
                break
        if head is None:
            return False
        headers = {name.decode(): value.decode() for name, value in head.headers}
        request = Received(head.method.decode(), head.target.decode(), headers, body)
        self.received.append(request)
        answered = self.answer(request)
        status, given, content = await answered if hasattr(answered, "__await__") else answered
        if not isinstance(content, bytes):
            content, given = json.dumps(content).encode(), {"Content-Type": "application/json", **given}
        sent = [*given.items(), ("Content-Length", str(len(content)))]
        await stream.send_all(connection.send(h11.Response(status_code=status, headers=sent)))
        if head.method != b"HEAD":
            await stream.send_all(connection.send(h11.Data(data=content)))
        await stream.send_all(connection.send(h11.EndOfMessage()) or b"")
        return connection.our_state is h11.DONE and connection.their_state is h11.DONE


@asynccontextmanager
async def serving(answer=lambda _request: (200, {}, {"ok": True})):
    """A server on a free port of 127.0.0.1 for the block."""
    server = Server(answer=answer)
    async with trio.open_nursery() as nursery:
        [listener] = await nursery.start(partial(trio.serve_tcp, server.handle, 0, host="127.0.0.1"))
        server.port = listener.socket.getsockname()[1]
        yield server
        nursery.cancel_scope.cancel()


@pytest.fixture
async def server():
    async with serving() as made:
        yield made


@pytest.fixture
async def other():
    """A second server: the same address, another port, so another origin."""
    async with serving() as made:
        yield made


@pytest.fixture
async def client():
    """A client that may call loopback."""
    made = HttpClient(ConnectorSettings(allowed_targets="127.0.0.0/8", max_response_bytes=10_000, max_redirects=3))
    yield made
    await made.aclose()


@pytest.fixture
async def engine(migrated):
    async with ConnectorEngine(migrated).running() as running:
        yield running


@pytest.fixture
def dispatcher(engine, connect):
    return partial(engine.dispatching, connect)
