"""Clients that hold connections, memory or places to wait, alone and together."""

import json
import re
import socket
from uuid import uuid4

import pytest
import trio

from tests.eventually import eventually
from tests.hostile.others import PEOPLE
from tests.hostile.raw_clients import connect, exchange, many, reset, resident, statuses, try_to_send
from tests.process.http_client import Caller, Unanswered

CONNECTIONS, RESERVED, MEMORY = 120, 10, 40_000_000
PROGRAM_ENVIRONMENT = {
    "VIVERO_HTTP_MAX_CONNECTIONS": str(CONNECTIONS),
    "VIVERO_HTTP_RESERVED_CONNECTIONS": str(RESERVED),
    "VIVERO_HTTP_MEMORY_BYTES": str(MEMORY),
}
MANY = 2 * CONNECTIONS
INSTANCES = CONNECTIONS * 3 // 8
LARGE = 3_900_000
ALLOWED_MEMORY = 250_000_000
"""Beyond what it had before: the budget, what is on its way through the program, and what the allocator keeps."""

HEADER = b"GET /v2/topology HTTP/1.1\r\nHost: localhost\r\nX: "
HEALTH = b"GET /v2/status HTTP/1.1\r\nHost: localhost\r\n\r\n"


def post(path, body, *, length=None):
    head = "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
    return head.format(path, len(body) if length is None else length).encode() + body


STALLED_BODY = post("/v2/process-instances", b'{"', length=1000)
STARTS = {
    "silent": b"",
    "in-the-method": b"GE",
    "in-the-header": HEADER,
    "in-a-small-body": STALLED_BODY,
    "in-a-large-body": post("/v2/process-instances", b"x" * 100_000, length=LARGE),
    "in-a-chunk": b"POST /v2/signals/broadcast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\nx",
    "in-a-trailer": b"POST /v2/signals/broadcast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
    "before-100-continue": STALLED_BODY[:-2].replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"),
    "blank-lines": b"\r\n" * 20,
    "refused-and-lingering": b"rubbish\r\n\r\n",
}
TASK = """<bpmn:process id="{id}" isExecutable="true">
  <bpmn:startEvent id="start"/><bpmn:sequenceFlow id="f" sourceRef="start" targetRef="task"/>
  <bpmn:serviceTask id="task"><bpmn:extensionElements>
    <zeebe:taskDefinition type="{id}"/></bpmn:extensionElements></bpmn:serviceTask>
</bpmn:process>"""


async def healthy(target):
    """Asked over a new connection, as probes do."""
    return statuses(await exchange(target.port, HEALTH, address="127.0.0.1")) == [204]


@pytest.fixture
async def large_variable(target):
    """The path of a variable of 3.9 MB. A crowded machine may take more than one answer's time to store it."""
    await target.deployed(TASK.format(id="large"))
    headers = (("Idempotency-Key", str(uuid4())),)
    document = {"processDefinitionId": "large", "variables": {"x": "y" * LARGE}}

    async def stored():
        try:
            answer = await target.call("POST", "/v2/process-instances", document, headers=headers)
        except Unanswered:
            return None
        assert answer.status in (200, 503, 504), answer
        return answer.json["processInstanceKey"] if answer.status == 200 else None

    key = await eventually(stored, "the variable is stored", within_s=300.0, every_s=0.5)
    (variable,) = await target.search("variables", processInstanceKey=key)
    return f"/v2/variables/{variable['variableKey']}"


@pytest.mark.parametrize("start", STARTS)
async def test_clients_that_stall(target, start):
    async with target.attacked():
        with many(target.port, MANY, STARTS[start]) as clients:
            assert await healthy(target)
            await trio.sleep(0.5)
            assert await healthy(target)

            async def closed():
                over = [raw for raw in clients if not try_to_send(raw, b"") or is_over(raw)]
                return len(over) >= MANY - CONNECTIONS - RESERVED

            await eventually(closed, "too many clients are turned away")


def is_over(raw):
    """Whether the server has said its last word to this client."""
    try:
        while raw.recv(65536):
            pass
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


async def test_clients_that_drip(target):
    async with target.attacked():
        with many(target.port, MANY, HEADER) as clients:
            for _ in range(20):
                for raw in clients:
                    try_to_send(raw, b"x")
                await trio.sleep(0.1)
            assert await healthy(target)


async def test_one_client_of_each_of_many_addresses(target):
    async with target.attacked():
        opened = [connect(target.port, address=f"127.0.{1 + n // 250}.{1 + n % 250}") for n in range(MANY)]
        for raw in opened:
            try_to_send(raw, HEADER)
        assert await healthy(target)
        for raw in opened:
            raw.close()


async def test_a_storm_of_resets(target):
    async with target.attacked():
        for number in range(1000):
            raw = connect(target.port)
            try_to_send(raw, (HEADER, STALLED_BODY, HEALTH, b"")[number % 4])
            reset(raw)
            if number % 50 == 0:
                await trio.lowlevel.checkpoint()
        assert await healthy(target)


async def test_clients_that_do_not_read(target, large_variable):
    before = resident(target)
    async with target.attacked():
        request = f"GET {large_variable} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        with many(target.port, CONNECTIONS - 20, request, receive_buffer=4096):
            await trio.sleep(3)
            assert await healthy(target)
            assert resident(target) - before < ALLOWED_MEMORY
            answer = await target.call("GET", large_variable)
            assert len(answer.json["value"]) > LARGE


async def test_clients_that_read_one_byte_at_a_time(target, large_variable):
    async with target.attacked():
        request = f"GET {large_variable} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        with many(target.port, CONNECTIONS - 20, request, receive_buffer=4096) as clients:
            for _ in range(20):
                for raw in clients:
                    try:
                        raw.recv(1)
                    except OSError:
                        continue
                await trio.sleep(0.05)
            assert await healthy(target)


async def test_large_bodies_that_stop_before_their_last_byte(target):
    before = resident(target)
    body = json.dumps({"processDefinitionId": "one-task", "variables": {"x": "y" * (LARGE - 100)}}).encode()

    async def upload():
        raw = trio.socket.from_stdlib_socket(connect(target.port))
        with raw, trio.move_on_after(8):
            stream = trio.SocketStream(raw)
            try:
                await stream.send_all(post("/v2/process-instances", body)[:-1])
                answers.append(await stream.receive_some())
            except trio.BrokenResourceError:
                answers.append(b"")

    answers = []
    async with target.attacked(), trio.open_nursery() as nursery:
        for _ in range(40):
            nursery.start_soon(upload)
        await trio.sleep(4)
        assert await healthy(target)
        assert resident(target) - before < ALLOWED_MEMORY
    for answer in filter(None, answers):  # a client that still sends is closed, and sees no answer
        assert statuses(answer) == [503]
        assert b"retry-after: 1" in answer


@pytest.mark.representative
async def test_uploads_that_leave_in_the_middle(target):
    async with target.attacked():
        for _ in range(100):
            with many(target.port, 2, STARTS["in-a-large-body"]):
                await trio.lowlevel.checkpoint()
        assert await healthy(target)


def awaiting(process_id):
    document = {"processDefinitionId": process_id, "awaitCompletion": True, "requestTimeout": 3_600_000}
    return post("/v2/process-instances", json.dumps(document).encode())


async def test_those_who_await_leave_room_for_workers_and_for_other_addresses(target):
    await target.deployed(TASK.format(id="awaited"))
    async with target.attacked():
        with many(target.port, CONNECTIONS - 20, awaiting("awaited")) as clients:
            assert b"RESOURCE_EXHAUSTED" in await told(clients, b"HTTP/1.1 503")
            async with Caller(target.port) as caller:
                document = {"processDefinitionId": "awaited", "awaitCompletion": True, "requestTimeout": 100}
                assert (await caller.call("POST", "/v2/process-instances", document)).status == 504
            assert await healthy(target)


async def test_workers_of_one_address_leave_room_for_those_of_others(target):
    """Others' polls take the places of the longest waiting ones, which get an answer without jobs."""
    document = {"type": "nothing", "worker": "w", "timeout": 1000, "maxJobsToActivate": 1, "requestTimeout": 3_600_000}
    polling = post("/v2/jobs/activation", json.dumps(document).encode())
    await eventually(lambda: alone(target), "the clients of earlier tests have left their places")
    async with target.attacked():
        with many(target.port, CONNECTIONS - 20, polling) as clients:
            assert b"RESOURCE_EXHAUSTED" in await told(clients, b"HTTP/1.1 503")
            assert await healthy(target)
            async with Caller(target.port) as caller:
                answer = await caller.call("POST", "/v2/jobs/activation", document | {"requestTimeout": 100})
                assert (answer.status, answer.json) == (200, {"jobs": []})
            # More workers than there are others, who may just have left a place each.
            with many(target.port, 2 * PEOPLE, polling, address="127.0.0.1"):
                assert statuses(await told(clients, b'{"jobs":[]}')) == [200]


async def alone(target):
    """Whether nobody but who asks has a connection, if there is a place for who asks."""
    try:
        answer = await target.call("GET", "/metrics")
    except Unanswered:
        return False
    if answer.status != 200:
        return False
    (shown,) = re.findall(r"^vivero_http_connections\{.*\} (\S+)$", answer.body.decode(), re.MULTILINE)
    return float(shown) == 1


async def told(clients, text):
    """Wait until a client is told `text`: all that it is told."""

    async def found():
        return next((said for said in map(heard, clients) if text in said), None)

    return await eventually(found, f"a client is told {text!r}", every_s=0.1)


def heard(raw):
    """The bytes that the server has sent; they stay in the socket."""
    try:
        return raw.recv(65536, socket.MSG_PEEK)
    except BlockingIOError:
        return b""


async def test_those_who_await_and_leave_give_back_their_places(target):
    await target.deployed(TASK.format(id="left"))
    async with target.attacked():
        for _ in range(3):
            with many(target.port, INSTANCES, awaiting("left")):
                await trio.sleep(1)

        async def free():
            document = {"processDefinitionId": "left", "awaitCompletion": True, "requestTimeout": 10}
            try:
                return (await target.call("POST", "/v2/process-instances", document)).status == 504
            except Unanswered:
                return False

        await eventually(free, "there are places again", every_s=0.1)


async def test_those_who_await_send_more_and_leave(target):
    await target.deployed(TASK.format(id="more"))
    async with target.attacked():
        with many(target.port, INSTANCES, awaiting("more") + HEALTH * 1500):
            await trio.sleep(1)

        async def free():
            document = {"processDefinitionId": "more", "awaitCompletion": True, "requestTimeout": 10}
            return (await target.call("POST", "/v2/process-instances", document)).status == 504

        await eventually(free, "there are places again", every_s=0.1)


async def test_pipelines_that_are_not_read(target):
    async with target.attacked():
        with many(target.port, 50, HEALTH * 2000, receive_buffer=4096) as clients:
            for _ in range(20):
                for raw in clients:
                    try_to_send(raw, HEALTH * 2000)
                await trio.sleep(0.05)
            assert await healthy(target)


async def test_everything_at_once(target, large_variable):
    await target.deployed(TASK.format(id="all"))
    before = resident(target)
    reading = f"GET {large_variable} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    async with target.attacked():
        with (
            many(target.port, INSTANCES // 2, awaiting("all"), address="127.0.0.3"),
            many(target.port, CONNECTIONS, HEADER),
            many(target.port, CONNECTIONS, reading, receive_buffer=4096, address="127.0.0.4"),
            many(target.port, CONNECTIONS, STARTS["in-a-large-body"], address="127.0.0.5"),
            many(target.port, CONNECTIONS, address="127.0.0.6"),
        ):
            for _ in range(10):
                assert await healthy(target)
                await trio.sleep(0.2)
            assert resident(target) - before < ALLOWED_MEMORY
