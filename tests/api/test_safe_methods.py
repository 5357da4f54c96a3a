"""HEAD and OPTIONS have no effect on any route (RFC 9110, section 9.2.1)."""

import re

import pytest

from vivero.api.app import send_response
from vivero.api.http.response import Response
from vivero.api.routes import ROUTES
from vivero.api.routes.webhook_routes import PATH

PATHS = sorted({route.path for route in ROUTES})
SAFE = {route.path for route in ROUTES if route.method == "GET"} - {PATH}


async def test_head_and_options_change_nothing(client, engine):
    for path in PATHS:
        target = re.sub(r"\{\w+\}", "1", path)
        head = await client("HEAD", target)
        assert (head.status == 405) == (path not in SAFE), (path, head.status)
        options = await client("OPTIONS", target)
        assert (options.status, bool(options.headers[b"allow"])) == (405, True), path
        assert engine.appended == [], path


def test_no_route_that_is_read_changes_anything():
    changing = {route.path for route in ROUTES if route.method == "GET" and (route.is_new or route.audited is not None)}
    assert changing == {PATH}


@pytest.mark.parametrize(("more_bytes", "length"), [(5, (b"content-length", b"5")), (None, None)])
async def test_head_tells_the_length_of_a_body_that_is_not_read(more_bytes, length):
    """The server's function for whole responses would tell that of the empty body."""
    sent = []

    async def send(message):
        sent.append(message)

    async def answer(*_):
        raise AssertionError("the response is not whole")

    await send_response(Response(200, more_bytes=more_bytes), send, (), answer)
    assert sent[0]["headers"] == (() if length is None else (length,))
