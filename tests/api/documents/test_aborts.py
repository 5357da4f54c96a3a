"""Clients that leave, over real sockets: at every step of an upload and of a download, nothing is left of them."""

import os
import socket
import struct
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing

from tests import plain_http
from tests.api.documents.conftest import BOUNDARY, form, part
from tests.eventually import eventually
from vivero.api import app as api_app
from vivero.api.http1.listeners import open_listeners
from vivero.api.http1.settings import ServerSettings
from vivero.api.serving.server import Endpoint, serve
from vivero.engine.documents.directory import MARK
from vivero.engine.documents.opening import open_stores
from vivero.engine.documents.pace import PART_BYTES
from vivero.engine.documents.settings import DocumentSettings

NOTHING = (0, 0, 0, 0)
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER of a close that resets the connection."""
DESCRIPTORS = Path("/dev/fd")


@pytest.fixture(params=["postgres", "directory"])
def limits(request, tmp_path):
    return {"store": request.param, "directory": tmp_path / "files"}


@pytest.fixture
def stores(stored, limits):
    return open_stores(DocumentSettings(**limits), stored.reads.pool.connection)


class Served:
    """A server with the documents, and what its clients hold."""

    def __init__(self, documents, port, directory) -> None:
        self.documents, self.port, self.directory = documents, port, directory
        self.base = None

    def held(self):
        """Rows, files, open descriptors, tasks, and connections of the pool that somebody has."""
        files = [path for path in self.directory.rglob("*") if path.is_file() and path.name != MARK]
        tasks = trio.lowlevel.current_statistics().tasks_living
        in_use = self.documents.services.reads.pool.stats.in_use
        return self.documents.stored, len(files), len(os.listdir(DESCRIPTORS)), tasks, in_use

    async def settled(self):
        """Wait until nothing is held but what was held before."""
        await eventually(self.held, accept=lambda held: held == self.base)

    async def connect(self, receive_buffer=None):
        raw = socket.socket()
        if receive_buffer:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        raw.connect(("127.0.0.1", self.port))
        return trio.SocketStream(trio.socket.from_stdlib_socket(raw))


async def leave(stream, resets):
    if resets:
        stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        stream.socket.close()
    await stream.aclose()


@pytest.fixture
async def served(documents, limits):
    @asynccontextmanager
    async def running():
        listeners = await open_listeners("127.0.0.1", 0)
        app = api_app.build(documents.services)
        drain = trio.Event()
        async with trio.open_nursery() as nursery:
            settings = ServerSettings()
            await nursery.start(
                partial(serve, app, Endpoint(listeners), settings=settings, drain=drain, beat=lambda: None)
            )
            await trio.testing.wait_all_tasks_blocked()
            alone = trio.lowlevel.current_statistics().tasks_living
            served = Served(documents, listeners[0].socket.getsockname()[1], limits["directory"])
            # it opens what stays open: connections of the pool, the directory
            async with plain_http.async_client() as client:
                url = f"http://127.0.0.1:{served.port}/v2/documents"
                made = await client.post(url, files={"file": b"x" * PART_BYTES})
                await client.delete(f"{url}/{made.json()['documentId']}")
            await eventually(lambda: trio.lowlevel.current_statistics().tasks_living, accept=lambda n: n == alone)
            yield served
            nursery.cancel_scope.cancel()
        for listener in listeners:
            await listener.aclose()

    return running


BODY = form(part("metadata", {"fileName": "a"}), part("file", bytes(3 * PART_BYTES), "b"))
HEAD = (
    b"POST /v2/documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary="
    + BOUNDARY
    + b"\r\nContent-Length: %d\r\n\r\n" % len(BODY)
)
REQUEST = HEAD + BODY
FILE_AT = REQUEST.index(b'name="file"')
STEPS = {
    "in the head": 30,
    "behind the head": len(HEAD),
    "in the head of a part": len(HEAD) + 40,
    "in the head of the file": FILE_AT + 20,
    "in the first part of the file": FILE_AT + 1000,
    "behind the first stored part": FILE_AT + PART_BYTES + 1000,
    "in the last stored part": FILE_AT + 3 * PART_BYTES - 10,
    "in the last boundary": len(REQUEST) - 5,
}


@pytest.mark.long
async def test_an_upload_that_ends_anywhere_leaves_nothing(served):
    async with served() as server:
        server.base = server.held()
        assert server.base[0] == NOTHING
        for step, end in STEPS.items():
            for resets in (False, True):
                stream = await server.connect()
                await stream.send_all(REQUEST[:end])
                if "stored" in step:
                    await eventually(lambda: server.documents.stored[1], accept=bool)
                await leave(stream, resets)
                await server.settled()


async def test_an_upload_whose_client_does_not_wait_for_the_answer_is_whole_or_nothing(served):
    """The client may have left before or behind the last step: a document has all of its bytes, or there is none."""
    async with served() as server:
        base = server.base = server.held()
        for resets in (False, True):
            stream = await server.connect()
            await stream.send_all(REQUEST)
            await leave(stream, resets)
            await eventually(
                lambda: (server.documents.stored[:2], *server.held()[2:]),
                accept=lambda found: found[0] in ((0, 0), (1, 1)) and found[1:] == base[2:],
            )
            if server.documents.stored[0]:
                assert server.documents.stored[3] == 3 * PART_BYTES
                (id,) = server.documents.rows.execute("SELECT document_id FROM documents").fetchone()
                assert (await server.documents.get(id, method="DELETE")).status == 204
            await server.settled()


async def test_a_download_that_ends_anywhere_holds_nothing(served):
    async with served() as server:
        content = bytes(8 * 1024 * 1024)
        reference = await server.documents.upload(content)
        server.base = server.held()
        ask = f"GET /v2/documents/{reference['documentId']} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        for read in (0, 10, PART_BYTES + 10):
            for resets in (False, True):
                stream = await server.connect(receive_buffer=4096)
                await stream.send_all(ask)
                left = read
                while left > 0:
                    left -= len(await stream.receive_some(left))
                await leave(stream, resets)
                await server.settled()


async def test_a_client_that_stops_reading_holds_no_connection_of_the_database(served):
    async with served() as server:
        reference = await server.documents.upload(bytes(8 * 1024 * 1024))
        server.base = server.held()
        stream = await server.connect(receive_buffer=4096)
        ask = f"GET /v2/documents/{reference['documentId']} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        await stream.send_all(ask.encode())
        await stream.receive_some(100)
        await trio.testing.wait_all_tasks_blocked(0.05)
        await eventually(lambda: server.documents.services.reads.pool.stats.in_use, accept=lambda held: held == 0)
        await leave(stream, True)
        await server.settled()
