"""Calls: redirects, credentials for one host, bounds of responses, time limits."""

import gzip
import socket

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.authentication import Credentials
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.http.requests import read_request
from vivero.engine.connectors.settings import ConnectorSettings


def get(server, path="/", **inputs):
    return read_request({"url": f"{server.url}{path}", **inputs})


SECRET = Credentials({"Authorization": "Bearer secret"})


async def test_a_response_is_read_whole(server, client):
    response = await client.call(get(server, "/a?b=1", queryParameters={"c": "ä b", "n": 2}), SECRET)
    assert (response.status, response.body) == (200, b'{"ok": true}')
    [request] = server.received
    assert request.target == "/a?b=1&c=%C3%A4+b&n=2"
    assert request.headers["authorization"] == "Bearer secret"


async def test_connections_are_kept(server, client):
    for _ in range(5):
        await client.call(get(server), Credentials())
    assert server.connections == 1


async def test_connections_are_bounded_and_change_their_host(server, other):
    client = HttpClient(ConnectorSettings(allowed_targets="127.0.0.1", max_concurrent=2))
    now, most = [0], [0]

    async def answer(_request):
        now[0] += 1
        most[0] = max(most[0], now[0])
        await wait_all_tasks_blocked()
        now[0] -= 1
        return 200, {}, {}

    server.answer = other.answer = answer
    async with trio.open_nursery() as nursery:
        for number in range(12):
            nursery.start_soon(client.call, get((server, other)[number % 2], f"/{number}"), Credentials())
    await client.aclose()
    assert most[0] <= 2
    assert sorted(request.target for each in (server, other) for request in each.received) == sorted(
        f"/{number}" for number in range(12)
    )


async def test_a_redirect_to_the_same_host_keeps_credentials_and_body(server, client):
    server.answer = lambda request: (308, {"Location": "/b"}, b"") if request.target == "/a" else (200, {}, {})
    await client.call(get(server, "/a", method="POST", body={"x": 1}), SECRET)
    assert [request.target for request in server.received] == ["/a", "/b"]
    assert server.received[1].headers["authorization"] == "Bearer secret"
    assert server.received[1].json == {"x": 1}


async def test_a_redirect_to_another_host_gets_no_credentials(server, other, client):
    server.answer = lambda _: (302, {"Location": f"{other.url}/b"}, b"")
    own = {"X-Api-Key": "secret", "Cookie": "secret", "Accept": "text/plain"}
    await client.call(get(server, "/a", headers=own), SECRET)
    [request] = other.received
    assert "secret" not in str(request.headers)
    assert request.headers["accept"] == "text/plain"


async def test_credentials_do_not_come_back_after_another_host(server, other, client):
    server.answer = lambda request: (302, {"Location": other.url}, b"") if request.target == "/a" else (200, {}, {})
    other.answer = lambda _: (302, {"Location": f"{server.url}/c"}, b"")
    await client.call(get(server, "/a"), SECRET)
    assert "authorization" not in server.received[1].headers


@pytest.mark.parametrize(("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
async def test_the_method_after_a_redirect(server, client, status, method):
    server.answer = lambda request: (status, {"Location": "/b"}, b"") if request.target == "/a" else (200, {}, {})
    await client.call(get(server, "/a", method="POST", body="x"), Credentials())
    assert (server.received[1].method, server.received[1].body) == (method, b"x" if method == "POST" else b"")


async def test_a_body_is_not_redirected_to_another_host(server, other, client):
    server.answer = lambda _: (307, {"Location": other.url}, b"")
    with pytest.raises(ConnectorError, match="redirects a request with a body"):
        await client.call(get(server, method="POST", body="secret"), Credentials())
    assert other.received == []


async def test_redirects_are_bounded(server, client):
    server.answer = lambda _: (302, {"Location": "/again"}, b"")
    with pytest.raises(ConnectorError, match="TOO_MANY_REDIRECTS"):
        await client.call(get(server), Credentials())
    assert len(server.received) == 4


async def test_redirects_are_not_followed_if_the_model_says_so(server, client):
    server.answer = lambda _: (302, {"Location": "/again"}, b"")
    assert (await client.call(get(server, followRedirects="false"), Credentials())).status == 302


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://user:pw@127.0.0.1/", "gopher://x/", "http://"])
async def test_a_redirect_to_something_else_is_an_error(server, client, location):
    server.answer = lambda _: (302, {"Location": location}, b"")
    with pytest.raises(ConnectorError):
        await client.call(get(server), Credentials())


@pytest.mark.parametrize("packed", [False, True])
async def test_a_large_response_is_rejected(server, client, packed):
    body = b"x" * 10_001
    server.answer = lambda _: (200, {"Content-Encoding": "gzip"}, gzip.compress(body)) if packed else (200, {}, body)
    with pytest.raises(ConnectorError, match="RESPONSE_TOO_LARGE"):
        await client.call(get(server), Credentials())
    server.answer = lambda _: (200, {}, b"")
    assert (await client.call(get(server), Credentials())).body == b""


async def test_a_bomb_is_not_unpacked(server, client):
    bomb = gzip.compress(bytes(50_000_000))
    server.answer = lambda _: (200, {"Content-Encoding": "gzip"}, bomb)
    with pytest.raises(ConnectorError, match="RESPONSE_TOO_LARGE"):
        await client.call(get(server), Credentials())


async def test_a_packed_response_is_unpacked(server, client):
    server.answer = lambda _: (200, {"Content-Encoding": "gzip"}, gzip.compress(b"x" * 10_000))
    assert (await client.call(get(server), Credentials())).body == b"x" * 10_000


@pytest.mark.parametrize(("encoding", "body"), [("gzip", b"no gzip"), ("br", b"x")])
async def test_a_response_in_an_unknown_encoding_is_an_error(server, client, encoding, body):
    server.answer = lambda _: (200, {"Content-Encoding": encoding}, body)
    with pytest.raises(ConnectorError, match="BAD_RESPONSE"):
        await client.call(get(server), Credentials())


async def test_a_silent_server_is_given_up(server, client):
    async def never(_request):
        await trio.sleep_forever()

    server.answer = never
    with pytest.raises(ConnectorError, match="TIMEOUT"):
        await client.call(get(server, readTimeoutInSeconds="0.01"), Credentials())


async def test_nobody_listens(client):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectorError, match="CONNECTION_FAILED"):
            await client.call(read_request({"url": f"http://127.0.0.1:{taken.getsockname()[1]}/"}), Credentials())


@pytest.mark.parametrize(
    "inputs",
    [
        {},
        {"url": "example.com"},
        {"url": "ftp://example.com"},
        {"url": "http://user:pw@example.com"},
        {"url": "http://example.com", "method": "TRACE"},
        {"url": "http://example.com", "headers": {"Host": "other"}},
        {"url": "http://example.com", "headers": {"Content-Length": "5"}},
        {"url": "http://example.com", "headers": {"transfer-encoding": "chunked"}},
        {"url": "http://example.com", "headers": {"X": "a\r\nY: b"}},
        {"url": "http://example.com", "headers": {"X: Y": "b"}},
        {"url": "http://example.com", "headers": {"X": "ä"}},
        {"url": "http://example.com", "headers": ["X"]},
        {"url": "http://example.com", "queryParameters": "x"},
        {"url": "http://example.com", "queryParameters": {"a": "x" * 70_000}},
        {
            "url": "http://e.com",
            "method": "post",
            "body": "€",
            "headers": {"Content-Type": "text/plain; charset=latin1"},
        },
        {"url": "http://example.com", "readTimeoutInSeconds": "soon"},
        {"url": "http://example.com", "connectionTimeoutInSeconds": -1},
        {"url": "http://example.com", "method": "post", "body": {}, "headers": {"content-type": "multipart/form-data"}},
    ],
)
def test_wrong_inputs_are_told_and_final(inputs):
    with pytest.raises(ConnectorError) as raised:
        read_request(inputs)
    assert (raised.value.code, raised.value.final) == ("INVALID_INPUT", True)


@pytest.mark.parametrize(
    ("inputs", "content", "type"),
    [
        ({"body": {"a": 1, "b": None}}, b'{"a":1,"b":null}', "application/json"),
        ({"body": {"a": 1, "b": None}, "ignoreNullValues": "true"}, b'{"a":1}', "application/json"),
        ({"body": "plain"}, b"plain", "application/json"),
        ({"body": {"a": "x y"}, "headers": {"content-type": "application/x-www-form-urlencoded"}}, b"a=x+y", None),
        (
            {"body": {"a": [1, "ü", None], "b": []}, "headers": {"content-type": "application/x-www-form-urlencoded"}},
            b"a=1&a=%C3%BC",
            None,
        ),
        ({"body": "ü", "headers": {"Content-Type": "text/plain; charset=iso-8859-1"}}, b"\xfc", None),
        ({"body": {"a": "ü"}, "headers": {"Content-Type": "application/json;charset=cp1252"}}, b'{"a":"\xfc"}', None),
    ],
)
def test_bodies(inputs, content, type):
    request = read_request({"url": "http://example.com", "method": "post", **inputs})
    assert request.content == content
    assert type is None or request.headers["Content-Type"] == type


@pytest.mark.parametrize(
    ("url", "parameters", "target"),
    [
        ("http://e.com/", {"id": [1, "b c", True, None], "x": "y"}, "/?id=1&id=b%20c&id=true&x=y"),
        ("http://e.com/?a=1&id=0", {"id": [1, 2]}, "/?a=1&id=1&id=2"),
        ("http://e.com/?a=1", {"id": [], "n": None, "none": [None]}, "/?a=1"),
        ("http://e.com/", {"o": {"a": 1}, "l": [[1], {"b": 2}]}, "/?o=%7B%22a%22%3A1%7D&l=%5B1%5D&l=%7B%22b%22%3A2%7D"),
    ],
)
def test_a_list_is_a_repeated_query_parameter(url, parameters, target):
    sent = read_request({"url": url, "queryParameters": parameters}).url.raw_path.decode()
    assert sent.replace("+", "%20") == target


def test_a_list_is_a_header_of_several_values():
    headers = {"Accept": ["text/plain", "text/csv", None], "X": 5, "Y": None}
    assert read_request({"url": "http://e.com/", "headers": headers}).headers == {
        "Accept": "text/plain, text/csv",
        "X": "5",
    }


def test_only_methods_with_a_body_have_one():
    assert read_request({"url": "http://example.com", "method": "get", "body": {"a": 1}}).content == b""
