"""Paths to handlers: the tree, and what the application says to paths and methods that it does not know."""

from urllib.parse import unquote_to_bytes

import pytest

from vivero.api.http.router import Router
from vivero.api.routes import ROUTES


def router(*templates):
    return Router([("GET", template, template) for template in templates])


@pytest.mark.parametrize(
    ("path", "template", "params"),
    [
        ("/a", "/a", {}),
        ("/a/b", "/a/b", {}),
        ("/a/5", "/a/{key}", {"key": "5"}),
        ("/a/5/c", "/a/{key}/c", {"key": "5"}),
        ("/a/5/c/6", "/a/{key}/c/{other}", {"key": "5", "other": "6"}),
        ("/a/ü /c", "/a/{key}/c", {"key": "ü "}),
    ],
)
def test_paths_that_are_routed(path, template, params):
    match = router("/a", "/a/b", "/a/{key}", "/a/{key}/c", "/a/{key}/c/{other}").match(path)
    assert (match.methods, match.params) == ({"GET": template}, params)


@pytest.mark.parametrize(
    "path", ["", "/", "a", "/b", "/a/", "//a", "/a//c", "/a/5/", "/a/5/d", "/a/b/c", "/A", "/a/5/c/6/7"]
)
def test_paths_that_are_not(path):
    assert router("/a", "/a/b", "/a/{key}", "/a/{key}/c", "/a/{key}/c/{other}").match(path) is None


@pytest.mark.parametrize(
    ("raw_path", "params"),
    [
        (b"/a%2Fb", None),
        (b"/a%2fb", None),
        (b"%2fa%2fb", None),
        (b"/a%252fb", None),
        (b"/a/%2e%2e", {"key": ".."}),
        (b"/a/5%2Fc", {"key": "5/c"}),
        (b"/%61/%35", {"key": "5"}),
        (b"/a/b;c", {"key": "b;c"}),
    ],
)
def test_an_escaped_slash_separates_nothing(raw_path, params):
    match = router("/a", "/a/b", "/a/{key}", "/a/{key}/c").match(unquote_to_bytes(raw_path).decode(), raw_path)
    assert (match and match.params) == params


def test_a_route_twice_is_an_error():
    with pytest.raises(ValueError, match="routed already"):
        router("/a/{key}", "/a/{key}")
    with pytest.raises(ValueError, match="other names"):
        Router([("GET", "/a/{key}", 1), ("POST", "/a/{other}", 2)])


def test_every_route_is_found():
    table = Router((route.method, route.path, route) for route in ROUTES)
    for route in ROUTES:
        path = "/".join("5" if segment.startswith("{") else segment for segment in route.path.split("/"))
        assert table.match(path).methods[route.method] is route


@pytest.mark.parametrize(
    "path", ["/", "/v2", "/v2/", "/v2/nothing", "/v2/jobs/5", "/v2/topology/", "/v1/topology", "//v2/topology"]
)
async def test_unknown_paths_are_404(client, path):
    answer = await client("GET", path)
    if path == "/v2/jobs/5":
        assert (answer.status, answer.headers[b"allow"]) == (405, b"PATCH")
    else:
        assert (answer.status, answer.problem["title"]) == (404, "Not Found")
        assert ("the REST API is below /v2" in answer.problem["detail"]) is (
            path.removesuffix("/") in ("", "/v2", "//v2/topology")
        )
        assert ("use /v2/topology" in answer.problem["detail"]) is (path == "/v1/topology")
    assert answer.problem["instance"] == path


async def test_unknown_methods_are_405(client):
    answer = await client("DELETE", "/v2/process-instances")
    assert (answer.status, answer.problem["title"], answer.headers[b"allow"]) == (405, "Method Not Allowed", b"POST")
    assert (await client("BREW", "/v2/topology")).headers[b"allow"] == b"GET"


async def test_head_is_get(client):
    assert (await client("HEAD", "/v2/status")).status == 204


async def test_other_protocols_are_refused(client):
    with pytest.raises(ValueError, match="websocket"):
        await client.app({"type": "websocket"}, None, None)
