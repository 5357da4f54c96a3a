"""The pages on our own HTTP/1.1 server, beside the API: streams, clients that leave or do not read, the end."""

import pytest
import trio
from trio.testing import memory_stream_pair, wait_all_tasks_blocked

from tests.api.http1.conftest import Client, respond
from vivero.api.http1.connection import serve_connection
from vivero.api.http1.settings import ServerSettings
from vivero.api.http1.state import ServerState
from vivero.web import application
from vivero.web.mount import mount

LIVE = b"GET /console/live?topic=incidents HTTP/1.1\r\nhost: localhost\r\n\r\n"


async def api(_scope, _receive, send):
    await respond(send, b"the API")


@pytest.fixture
async def state(parts):
    return ServerState(mount(api, application.build(parts)), ServerSettings(send_timeout_s=2.0))


@pytest.fixture
def connect(state, nursery):
    def connect():
        mine, theirs = memory_stream_pair()
        nursery.start_soon(serve_connection, state, theirs)
        return Client(mine)

    return connect


def asked(target, accept="*/*"):
    return f"GET {target} HTTP/1.1\r\nhost: localhost\r\naccept: {accept}\r\n\r\n".encode()


@pytest.mark.parametrize(
    ("target", "accept", "status"),
    [
        ("/console/", "*/*", 200),
        ("/console", "text/html,*/*;q=0.8", 302),
        ("/", "text/html,*/*;q=0.8", 302),
        ("/console/assets/none.js", "*/*", 404),
    ],
)
async def test_pages_and_the_api_share_a_connection(connect, target, accept, status):
    client = connect()
    for _ in range(2):
        assert (await client.ask(asked(target, accept))).status == status
        assert (await client.ask(asked("/v2/topology"))).body == b"the API"


@pytest.mark.parametrize(("target", "accept"), [("/", "application/json"), ("/", "*/*"), ("/consoles", "text/html")])
async def test_everything_else_is_the_apis(connect, target, accept):
    assert (await connect().ask(asked(target, accept))).body == b"the API"


async def test_a_stream_arrives_as_it_is_sent(connect, hub):
    client = connect()
    await client.send(LIVE)
    head = await client._until(b"\r\n\r\n")
    assert b"content-type: text/event-stream" in head.lower()
    assert b"event: ready" in await client._until(b"\n\n")
    hub.processed(1, 7)
    assert b'data: {"topics":["incidents"]}' in await client._until(b"\n\n")
    hub.close()
    assert b"event: bye" in await client._until(b"\n\n")
    assert await client._until(b"0\r\n\r\n")
    assert (await client.ask(asked("/v2/topology"))).status == 200


async def test_a_client_that_leaves_ends_its_stream(connect, hub):
    client = connect()
    await client.send(LIVE)
    await client._until(b"\n\n")
    assert hub.streams == 1
    await client.aclose()
    await wait_all_tasks_blocked()
    assert hub.streams == 0


async def test_a_client_that_does_not_read_loses_its_stream(state, hub, nursery, autojump_clock):
    """It is full at once, and the server's send deadline ends it."""
    mine, theirs = memory_stream_pair()
    full = trio.Event()

    async def wait_for_ever():
        full.set()
        await trio.sleep_forever()

    nursery.start_soon(serve_connection, state, theirs)
    client = Client(mine)
    await client.send(LIVE)
    await client._until(b"\n\n")
    theirs.send_stream.send_all_hook = wait_for_ever
    hub.processed(1, 7)
    await full.wait()
    assert hub.streams == 1
    await trio.sleep(3)
    assert hub.streams == 0


async def test_one_stream_too_many_is_told_when_to_come_back(connect):
    clients = [connect() for _ in range(3)]
    for client in clients[:2]:
        await client.send(LIVE)
        await client._until(b"\n\n")
    answer = await clients[2].ask(LIVE)
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert answer.problem["title"] == "RESOURCE_EXHAUSTED"


async def test_topics_are_bounded(connect):
    many = "&".join(f"topic=t{i}" for i in range(51))
    assert (await connect().ask(asked(f"/console/live?{many}"))).status == 400
    assert (await connect().ask(asked(f"/console/live?topic={'t' * 201}"))).status == 400
