"""Fixtures of the tests of storage: an empty database, a TCP proxy that misbehaves on request, a pooler, a refuser."""

import struct
from functools import partial

import pytest
import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.proxies import Proxy, open_server
from tests.server_objects import new_database


@pytest.fixture
def empty_database(postgres_dsn):
    """The DSN of a database of this test alone, without our schema."""
    with new_database(postgres_dsn, "empty") as dsn:
        yield dsn


@pytest.fixture
async def proxy(nursery):
    """A `Proxy`; `proxy.dsn(database)` leads through it."""
    proxy = Proxy()
    await nursery.start(proxy.serve)
    return proxy


class Messages:
    """One side of PostgreSQL's protocol, message by message."""

    NO_ENCRYPTION = (80877103, 80877104)

    def __init__(self, stream) -> None:
        self.stream = stream
        self._buffer = b""

    async def _read(self, count):
        while len(self._buffer) < count:
            data = await self.stream.receive_some(65536)
            if not data:
                raise trio.ClosedResourceError
            self._buffer += data
        data, self._buffer = self._buffer[:count], self._buffer[count:]
        return data

    async def startup(self):
        """The packet that begins a session, whole; offers of encryption are declined."""
        while True:
            head = await self._read(4)
            packet = head + await self._read(struct.unpack("!I", head)[0] - 4)
            if struct.unpack("!I", packet[4:8])[0] not in self.NO_ENCRYPTION:
                return packet
            await self.stream.send_all(b"N")

    async def next(self):
        """(type, the message as it was on the wire)."""
        head = await self._read(5)
        return head[:1], head + await self._read(struct.unpack("!I", head[1:])[0] - 4)

    async def until(self, types):
        """All messages up to the first of one of these types, and that one."""
        data = b""
        while True:
            kind, message = await self.next()
            data += message
            if kind in types:
                return kind, data


class Pooler:
    """A pooler in transaction mode: a session of the server belongs to a client for a transaction, then to the next.

    At most `size` sessions; the one used last is used next, or, with `round_robin`, the one that rested longest.
    """

    def __init__(self, database, size=10, round_robin=False) -> None:
        self._target = conninfo_to_dict(database)
        self._round_robin = round_robin
        self._slots = trio.Semaphore(size)
        self._servers = []
        self._idle = []
        self._greeting = self._startup = None
        self.dsn = ""

    async def serve(self, task_status):
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        parameters = {key: value for key, value in self._target.items() if key not in {"host", "hostaddr", "port"}}
        port = listeners[0].socket.getsockname()[1]
        self.dsn = make_conninfo("", **parameters, host="127.0.0.1", port=port)
        try:
            await trio.serve_listeners(self._handle, listeners, task_status=task_status)
        finally:
            for server in self._servers:
                server.stream.socket.close()

    async def _handle(self, stream):
        client = Messages(stream)
        try:
            async with stream:
                self._startup = await client.startup()
                if self._greeting is None:
                    self._idle.append(await self._open())
                await stream.send_all(self._greeting)
                while True:
                    await self._transaction(client)
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            pass

    async def _open(self):
        server = Messages(await open_server(self._target))
        self._servers.append(server)
        await server.stream.send_all(self._startup)
        _, self._greeting = await server.until({b"Z"})
        return server

    async def _transaction(self, client):
        kind, request = await client.until({b"S", b"Q", b"X"})
        if kind == b"X":
            raise trio.ClosedResourceError
        async with self._slots:
            server = self._idle.pop(0 if self._round_robin else -1) if self._idle else await self._open()
            while True:
                await server.stream.send_all(request)
                _, answer = await server.until({b"Z"})
                await client.stream.send_all(answer)
                if answer.endswith(b"I"):
                    break
                kind, request = await client.until({b"S", b"Q", b"X"})
            self._idle.append(server)


@pytest.fixture
def pooler(nursery):
    """Starts a `Pooler` in front of a database: `await pooler(database)`."""

    async def start(*arguments, **options):
        pooler = Pooler(*arguments, **options)
        await nursery.start(pooler.serve)
        return pooler.dsn

    return start


@pytest.fixture
def refuser(nursery):
    """Starts a server that refuses every session with a SQLSTATE, in a foreign language; gives its DSN."""

    async def serve(fields, stream):
        async with stream:
            await Messages(stream).startup()
            await stream.send_all(b"E" + struct.pack("!I", len(fields) + 4) + fields)

    async def start(sqlstate, message="Non volumus"):
        fields = f"SFATAL\0VFATAL\0C{sqlstate}\0M{message}\0\0".encode()
        listeners = await nursery.start(partial(trio.serve_tcp, partial(serve, fields), 0, host="127.0.0.1"))
        port = listeners[0].socket.getsockname()[1]
        return f"postgresql://user:secret@127.0.0.1:{port}/db"

    return start
