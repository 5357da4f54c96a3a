"""Requests that two readers could read differently, and requests of web pages."""

import pytest

from tests.hostile.choice import one_of
from tests.hostile.raw_clients import exchange, resident, statuses

HEALTH = b"GET /v2/status HTTP/1.1\r\nHost: localhost\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked"
HEAD = b"POST /v2/signals/broadcast HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def post(*lines, body=b""):
    return HEAD + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body


def get(target, *lines, host=b"Host: localhost\r\n"):
    return b"GET " + target + b" HTTP/1.1\r\n" + host + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


SMUGGLED = b"0\r\n\r\n" + HEALTH
ODD = {
    "length-and-chunked": (post(b"Content-Length: 5", CHUNKED, body=SMUGGLED), 400),
    "chunked-and-length": (post(CHUNKED, b"Content-Length: 5", body=SMUGGLED), 400),
    "two-lengths": (post(b"Content-Length: 0", b"Content-Length: 5", body=SMUGGLED), 400),
    "two-codings": (post(b"Transfer-Encoding: gzip", CHUNKED, body=SMUGGLED), 400),
    "identity-and-chunked": (post(b"Transfer-Encoding: identity", CHUNKED, body=SMUGGLED), 400),
    "identity": (post(b"Transfer-Encoding: identity", body=SMUGGLED), 501),
    "a-folded-coding": (post(b"Transfer-Encoding:\r\n chunked", body=SMUGGLED), 400),
    "a-thousand-zeros": (post(b"Content-Length: " + b"0" * 5000, body=HEALTH), 400),
    "bare-line-feeds": (HEALTH.replace(b"\r\n", b"\n"), 400),
    "a-bad-chunk": (post(CHUNKED, body=b"zz\r\n" + HEALTH), 400),
    "a-huge-chunk": (post(CHUNKED, body=b"f" * 17 + b"\r\n" + HEALTH), 400),
    "an-endless-extension": (post(CHUNKED, body=b"1;" + b"x" * 200_000), 400),
    "nul-in-a-header": (get(b"/v2/status", b"X: a\0b"), 400),
    "no-host": (get(b"/v2/status", host=b""), 400),
    "two-hosts": (get(b"/v2/status", b"Host: localhost"), 400),
    "a-host-with-a-blank": (get(b"/v2/status", host=b"Host: a b\r\n"), 400),
    "a-user-in-the-target": (get(b"http://u@localhost/v2/status"), 400),
    "a-foreign-target": (get(b"http://evil.example/v2/status"), 421),
    "an-escaped-slash": (get(b"/v2%2fstatus"), 404),
    "a-twice-escaped-slash": (get(b"/v2%252fstatus"), 404),
    "dots": (get(b"/v2/../v2/status"), 404),
    "escaped-dots": (get(b"/v2/%2e%2e/v2/status"), 404),
    "a-parameter": (get(b"/v2/status;x=1"), 404),
    "an-escaped-nul": (get(b"/v2/status%00"), 400),
    "tls": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500, 400),
    "rtsp": (b"DESCRIBE /v2/status RTSP/1.0\r\nHost: localhost\r\n\r\n", 501),
    "a-tunnel": (b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
    "an-expectation": (post(b"Expect: miracles", b"Content-Length: 0"), 417),
    "endless-blank-lines": (b"\r\n" * 100_000, 400),
    "a-header-of-a-megabyte": (get(b"/v2/status", b"X: " + b"x" * 1_000_000), 431),
    "ten-thousand-headers": (get(b"/v2/status", *[b"X: y"] * 10_000), 431),
    "a-target-of-a-megabyte": (get(b"/" + b"x" * 1_000_000), 414),
}


@pytest.mark.parametrize("name", one_of(ODD))
async def test_a_request_with_two_meanings_ends_its_connection(target, name):
    """One answer, and nothing that follows is taken for a request."""
    data, status = ODD[name]
    async with target.attacked(rounds=5):
        for _ in range(5):
            said = await exchange(target.port, data + (HEALTH if status < 404 else b""))
            assert statuses(said) == [status]
            assert b"application/problem+json" in said


async def test_a_flood_of_grpc_takes_nothing_from_others(target):
    """One block of headers, repeated without end, with streams that are given up at once or left open."""
    head = b"\0\0\x05\1\4%b\x83\x86\x84\x41\x00" + b"\0\0\x04\3\0%b\0\0\0\x08"
    async with target.attacked(rounds=5):
        for _ in range(5):
            streams = (number.to_bytes(4, "big") for number in range(1, 8001, 2))
            flood = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0" + b"".join(
                head % (stream, stream) for stream in streams
            )
            assert statuses(await exchange(target.port, flood)) == []


TASK = """<bpmn:process id="page" isExecutable="true">
  <bpmn:startEvent id="start"/><bpmn:sequenceFlow id="f" sourceRef="start" targetRef="task"/>
  <bpmn:serviceTask id="task"><bpmn:extensionElements>
    <zeebe:taskDefinition type="page"/></bpmn:extensionElements></bpmn:serviceTask>
</bpmn:process>"""
PAGES = {
    "origin": ("Origin", "https://evil.example"),
    "no-origin": ("Origin", "null"),
    "site": ("Sec-Fetch-Site", "cross-site"),
    "same-site": ("Sec-Fetch-Site", "same-site"),
}


@pytest.mark.parametrize("page", one_of(PAGES))
async def test_a_foreign_page_changes_nothing(target, page):
    deployed = await target.deployed(TASK)
    definition = deployed["deployments"][0]["processDefinition"]["processDefinitionKey"]
    key = await target.created("page")
    async with target.attacked(rounds=5):
        for path in (
            f"/v2/process-instances/{key}/cancellation",
            f"/v2/resources/{definition}/deletion",
            "/v2/deployments",
        ):
            for body in (None, {}):
                answer = await target.call("POST", path, body, headers=[PAGES[page]])
                assert (answer.status, answer.title) == (403, "Forbidden")
                assert PAGES[page][1] in answer.json["detail"]
    assert (await target.call("GET", f"/v2/process-instances/{key}")).json["state"] == "ACTIVE"


@pytest.mark.representative
async def test_a_page_under_its_own_name_reads_nothing(target):
    async with target.attacked(rounds=5):
        for host in (b"evil.example", b"localhost.evil.example", b"evil.example:80"):
            for path in (b"/v2/topology", b"/v2/status", b"/v2/nothing"):
                said = await exchange(target.port, get(path, b"Connection: close", host=b"Host: " + host + b"\r\n"))
                assert statuses(said) == [421]
                assert b"api.allowed_hosts" in said


async def test_ten_thousand_names_of_the_server(target):
    before = resident(target)
    requests = [get(b"/v2/status", host=b"Host: n%d.localhost\r\n" % number) for number in range(10_000)]
    async with target.attacked(rounds=5):
        for start in range(0, 10_000, 500):
            said = await exchange(target.port, b"".join(requests[start : start + 500]))
            assert statuses(said) == [204] * 500
    assert resident(target) - before < 50_000_000
