"""The greatest body of each route: a larger one is refused before it is read, and its client sees the answer."""

import pytest
import trio

from tests.api.http1.conftest import Client, Running
from tests.api.rows import KEY
from vivero.api import app
from vivero.api.http.decoding import MAX_BYTES
from vivero.api.http1.settings import ServerSettings
from vivero.api.routes import ROUTES
from vivero.api.serving.server import open_listeners
from vivero.api.settings import ApiSettings

LIMITS = ApiSettings()
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
SEARCH = b"/v2/jobs/search"
TAKES_VARIABLES = {
    "/v2/process-instances",
    "/v2/jobs/{jobKey}/completion",
    "/v2/jobs/{jobKey}/failure",
    "/v2/jobs/{jobKey}/error",
    "/v2/user-tasks/{userTaskKey}/completion",
    "/v2/element-instances/{elementInstanceKey}/variables",
    "/v2/element-instances/ad-hoc-activities/{adHocSubProcessInstanceKey}/activation",
    "/v2/messages/publication",
    "/v2/messages/correlation",
    "/v2/signals/broadcast",
    "/v2/conditionals/evaluation",
    "/v2/expression/evaluation",
    "/v2/decision-definitions/evaluation",
    "/inbound/{path}",
}


def head(size, *lines, path=SEARCH, version=b"1.1"):
    fields = (b"Host: localhost", b"Content-Type: application/json", b"Content-Length: %d" % size, *lines)
    return b"POST %b HTTP/%b\r\n" % (path, version) + b"\r\n".join(fields) + b"\r\n\r\n"


def chunked(*sizes):
    lines = b"Host: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"".join(b"%x\r\n%b\r\n" % (size, b" " * size) for size in sizes)
    return b"POST %b HTTP/1.1\r\n" % SEARCH + lines + chunks


@pytest.fixture
async def connect(services):
    """`await connect()`: a client of a server of the API."""
    server = Running(await open_listeners("127.0.0.1", 0), Client)
    async with trio.open_nursery() as nursery:
        await nursery.start(server.run, app.build(services), ServerSettings())
        yield server.connect
        nursery.cancel_scope.cancel()
    await server.close()


def test_routes_with_variables_or_files_take_larger_bodies():
    limits = {route.path: route.max_body_bytes(LIMITS) for route in ROUTES}
    for path in ("/v2/deployments", "/v2/deployments/validation"):
        assert limits.pop(path) == LIMITS.max_deployment_bytes
    assert {path for path, limit in limits.items() if limit == LIMITS.max_body_bytes} == TAKES_VARIABLES
    assert {limit for path, limit in limits.items() if path not in TAKES_VARIABLES} == {MAX_BYTES}


def test_a_lower_limit_holds_for_all_json():
    settings = ApiSettings(max_body_bytes=1000)
    assert {route.max_body_bytes(settings) for route in ROUTES if route.takes_json} == {1000}


@pytest.mark.parametrize("method", ["POST", "DELETE"])
async def test_a_declared_length_is_enough_for_a_refusal(client, settings, method):
    path = f"/v2/jobs/{KEY}/completion" if method == "POST" else f"/v2/user-tasks/{KEY}/assignee"
    limit = settings.max_body_bytes if method == "POST" else MAX_BYTES
    answer = await client(method, path, headers=[(b"content-length", b"%d" % (limit + 1))])
    assert (answer.status, answer.problem["title"]) == (413, "Content Too Large")
    assert f"larger than {limit} bytes" in answer.problem["detail"]


async def test_the_answer_comes_before_the_body(connect):
    client = await connect()
    answer = await client.ask(head(MAX_BYTES + 1))
    assert (answer.status, answer.headers["connection"]) == (413, "close")
    assert answer.problem["instance"] == SEARCH.decode()
    assert await client.closed()


@pytest.mark.parametrize("size", [MAX_BYTES + 1, 4 * MAX_BYTES])
async def test_a_client_that_sends_everything_first_sees_the_answer(connect, size):
    client = await connect()
    await client.send(head(size), b" " * size)
    assert (await client.answer()).status == 413
    assert await client.closed()


async def test_a_client_that_asks_is_not_told_to_continue(connect):
    client = await connect()
    answer = await client.ask(head(MAX_BYTES + 1, b"Expect: 100-continue"))
    assert (answer.status, answer.informational, answer.headers["connection"]) == (413, [], "close")
    assert await client.closed()


async def test_a_client_that_asks_may_send_a_body_within_the_limit(connect):
    client = await connect()
    await client.send(head(MAX_BYTES, b"Expect: 100-continue", path=b"/v2/jobs/activation"))
    assert await client.stream.receive_some() == CONTINUE
    answer = await client.ask(b"{" + b" " * (MAX_BYTES - 2) + b"}")
    assert (answer.status, "connection" in answer.headers) == (400, False)


async def test_chunks_are_received_up_to_the_limit(connect):
    client = await connect()
    await client.send(chunked(MAX_BYTES, 1))  # without an end
    answer = await client.answer()
    assert (answer.status, answer.headers["connection"]) == (413, "close")
    assert await client.closed()


async def test_a_body_is_not_taken_for_the_next_request(connect):
    client = await connect()
    probe = b"GET /v2/license HTTP/1.1\r\nHost: localhost\r\n\r\n"
    await client.send(probe, head(MAX_BYTES + len(probe)), probe, b" " * MAX_BYTES, probe)
    assert [(await client.answer()).status, (await client.answer()).status] == [200, 413]
    assert await client.closed()


async def test_an_old_client_is_refused_too(connect):
    client = await connect()
    answer = await client.ask(head(MAX_BYTES + 1, b"Connection: keep-alive", version=b"1.0"))
    assert (answer.status, answer.headers["connection"]) == (413, "close")
