"""The id of a request: the client's own if it is sane, otherwise a new one; in the answer and in log lines."""

import pytest
import structlog

from vivero.api.http.request_ids import RequestIds, end, identified
from vivero.engine.tracing.current import POSITION, REQUEST_ID

GOOD = ("a", "0", "7f0c-11", "Root=1-67891233-abcdef012345678912345678", "a.b:c/d+e@f_g", "x" * 128)
BAD = ("", "-a", "a b", "a\tb", "x" * 129, "a\x1b[31m", "ä", "a\u2028b", '{"a":1}', "a,b", "a;b")


@pytest.mark.parametrize("value", GOOD)
def test_a_sane_id_is_taken(value):
    assert RequestIds().of([(b"host", b"x"), (b"x-request-id", value.encode())]) == value


def test_the_names_of_the_headers_tell_whether_there_is_one():
    ids, headers = RequestIds(), [(b"host", b"x"), (b"x-request-id", b"mine")]
    assert ids.begin(headers, {b"host", b"x-request-id"}) == (b"x-request-id", b"mine")
    made = [ids.begin(headers[:1], {b"host"})[1] for _ in range(2)]
    assert made[0] != made[1]
    assert (REQUEST_ID.get() or "").encode() == made[1]
    end()
    assert REQUEST_ID.get() is None


@pytest.mark.parametrize("value", BAD)
def test_anything_else_is_replaced(value):
    made = RequestIds().of([(b"x-request-id", value.encode())])
    assert made != value
    assert made.isascii()
    assert RequestIds().of([(b"x-request-id", made.encode())]) == made, "and can be passed on"


def test_made_ids_are_unique():
    servers = [RequestIds() for _ in range(10)]
    assert len({server.of([]) for server in servers for _ in range(100)}) == 1_000


async def test_the_first_of_several_counts():
    assert RequestIds().of([(b"x-request-id", b"a"), (b"x-request-id", b"b")]) == "a"
    assert RequestIds().of([(b"x-request-id", b"a b"), (b"x-request-id", b"b")]) not in ("a b", "b")


async def test_an_application_in_between_has_ids():
    seen, sent = [], []

    async def inner(_scope, _receive, send):
        seen.append((REQUEST_ID.get(), POSITION.get()))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]})
        await send({"type": "http.response.body", "body": b""})

    async def send(message):
        sent.append(message)

    POSITION.set(3)
    await identified(inner, RequestIds())({"headers": [(b"x-request-id", b"mine")]}, None, send)
    assert seen == [("mine", None)]
    assert sent[0]["headers"] == [(b"a", b"b"), (b"x-request-id", b"mine")]
    assert (REQUEST_ID.get(), POSITION.get()) == (None, None)


def ids(answer):
    return [value for name, value in answer.raw_headers if name == b"x-request-id"]


async def test_each_answer_of_the_api_has_the_id(client):
    for path, status in (("/v2/license", 200), ("/v2/nothing", 404), ("/v2/process-instances/x", 400)):
        answer = await client("GET", path, headers=[(b"x-request-id", b"mine")])
        assert (answer.status, ids(answer)) == (status, [b"mine"])
    made = [ids(await client("GET", "/v2/license")) for _ in range(3)]
    assert len({id for each in made for id in each}) == 3


async def test_a_request_is_one_line_at_level_debug(client):
    with structlog.testing.capture_logs() as logged:
        await client("GET", "/v2/process-instances/x?secret=1")
    (line,) = (each for each in logged if each["event"] == "request")
    assert line.items() >= {
        "method": "GET", "route": "/v2/process-instances/{processInstanceKey}", "status": 400, "log_level": "debug",
    }.items()  # fmt: skip
    assert "secret" not in str(line)
