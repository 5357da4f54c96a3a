"""Two servers on the same listening socket take equal shares of the connections."""

import os
import socket
from contextlib import asynccontextmanager

import pytest
import trio

from tests.eventually import eventually
from vivero.api.http1.figures import HttpFigures
from vivero.api.serving.server import Endpoint, ServerSettings, open_listeners, serve
from vivero.processes.connection_counts import ConnectionCounts, create

CLIENTS = 16
PATIENCE_S = 20


async def app(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def two_servers():
    """Their port, and the figures and counts of each."""
    listeners = await open_listeners("127.0.0.1", 0)
    with create(2) as file, trio.fail_after(PATIENCE_S):
        figures = [HttpFigures(), HttpFigures()]
        counts = [ConnectionCounts(file.fileno(), 2, index) for index in range(2)]
        again = socket.socket(fileno=os.dup(listeners[0].socket.fileno()))
        shared = [listeners, [trio.SocketListener(trio.socket.from_stdlib_socket(again))]]

        async def run(index, task_status):
            endpoint = Endpoint(shared[index], counts[index], figures[index])
            await serve(
                app, endpoint, settings=ServerSettings(), drain=trio.Event(), beat=lambda: None, task_status=task_status
            )

        async with trio.open_nursery() as nursery:
            for index in range(2):
                await nursery.start(run, index)
            yield listeners[0].socket.getsockname()[1], figures, counts
            nursery.cancel_scope.cancel()
    for each in shared:
        each[0].socket.close()


async def connect(port, clients):
    """Connect at once, and ask once, so that all are accepted when this returns."""
    streams = []

    async def one():
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        streams.append(stream)
        await stream.send_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await stream.receive_some()

    async with trio.open_nursery() as nursery:
        for _ in range(clients):
            nursery.start_soon(one)
    return streams


async def test_a_burst_is_divided():
    async with two_servers() as (port, figures, _):
        streams = await connect(port, CLIENTS)
        shares = sorted(each.connections for each in figures)
        assert sum(shares) == CLIENTS
        assert shares[1] - shares[0] <= 4
        assert [each.requests for each in figures] == [each.accepted for each in figures]
        for stream in streams:
            await stream.aclose()


async def test_whoever_has_more_takes_a_connection_that_nobody_else_takes():
    """A process that is stopped has the fewest connections for ever."""
    async with two_servers() as (port, figures, counts):
        for each in counts:
            each.others_first = lambda _connections: True
        streams = await connect(port, 3)
        assert sum(each.connections for each in figures) == 3
        for stream in streams:
            await stream.aclose()


@pytest.mark.parametrize("closed", [1, 3])
async def test_open_connections_are_counted(closed):
    async with two_servers() as (port, figures, _):
        streams = await connect(port, 4)
        for stream in streams[:closed]:
            await stream.aclose()
        await eventually(lambda: sum(each.connections for each in figures), accept=lambda open: open == 4 - closed)
        assert sum(each.accepted for each in figures) == 4
        for stream in streams[closed:]:
            await stream.aclose()
