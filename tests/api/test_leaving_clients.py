"""Clients that leave, at each step of a request and in each way. Afterwards the program has what it had before."""

import gc
import json
import operator
import socket
import struct
import tempfile
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import psycopg
import pytest
import trio

from tests import plain_http
from tests.api.whole_program import whole_program
from tests.eventually import eventually
from vivero.engine.compute.turns import Turns, WorkKind
from vivero.engine.documents.pace import PART_BYTES
from vivero.storage.postgres.pool import Pool

MODEL = (Path(__file__).parents[1] / "models" / "one_task.bpmn").read_bytes()
RESET = struct.pack("ii", 1, 0)
PATIENCE_MS = 3_600_000
JSON = "Content-Type: application/json"
OURS = (
    *("vivero.api.", "vivero.web.", "vivero.engine.appender.", "vivero.engine.compute.turns"),
    *("vivero.engine.documents.", "vivero.engine.outcomes."),
)
USED = ("count", "held", "in_flight", "open", "streams", "taken", "used", "waiting")
"""Attributes that say how much of a limit is in use."""


def request(method, path, body=b"", *headers, declared=None):
    size = len(body) if declared is None else declared
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {size}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def in_json(path, document, **options):
    return request("POST", path, json.dumps(document).encode(), JSON, **options)


def file(path, name, content):
    """The first part of a multipart body that promises more."""
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="x.bpmn"\r\n\r\n'.encode()
    body = head + content
    return request("POST", path, body, "Content-Type: multipart/form-data; boundary=b", declared=len(body) + PART_BYTES)


def agent(name, arguments):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return in_json("/mcp/cluster", call)


def polling(type):
    limits = {"timeout": PATIENCE_MS, "maxJobsToActivate": 1, "requestTimeout": PATIENCE_MS}
    return in_json("/v2/jobs/activation", {"type": type, "worker": "w", **limits})


AWAITING = {"processDefinitionId": "waits", "awaitCompletion": True, "requestTimeout": PATIENCE_MS}
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
CHUNKED = (
    f"POST /v2/signals/broadcast HTTP/1.1\r\nHost: localhost\r\n{JSON}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
)
EVALUATION = in_json("/v2/expression/evaluation", {"expression": "=count(for i in 1..20000 return i)"})
STEPS = {
    "connected": b"",
    "half a header": b"POST /v2/process-instances HTTP/1.1\r\nHost: localhost",
    "half a body": in_json("/v2/process-instances", {}, declared=1000),
    "half a large body": in_json("/v2/process-instances", {"x": "y" * 200_000}, declared=1_000_000),
    "before 100": request("POST", "/v2/process-instances", b"", JSON, "Expect: 100-continue", declared=9),
    "half a chunk": CHUNKED + b"ffff\r\nx",
    "half a trailer": CHUNKED + b"0\r\nX: ",
    "half a model": file("/v2/deployments", "resources", MODEL[:300]),
    "half a document": file("/v2/documents", "file", b"x" * (2 * PART_BYTES + 9)),
    "half a batch of documents": file("/v2/documents/batch", "files", b"x" * (2 * PART_BYTES + 9)),
    "a long poll": polling("work"),
    "a long poll with a pipeline": polling("work") + request("GET", "/v2/status") * 50,
    "an awaited end": in_json("/v2/process-instances", AWAITING),
    "an awaited end of an agent": agent("createProcessInstance", AWAITING),
    "half a call of an agent": in_json("/mcp/cluster", {}, declared=100),
    "a stream of hints": request("GET", "/console/live?topic=x"),
    "half a preface of HTTP/2": PREFACE[:16],
    "the door of gRPC": PREFACE,
}
REACHED = {
    "Wire": len(STEPS) + 1,
    "Exchange": 15,
    "Poller": 2,
    "Wait": 4,
    "ContentUpload": 2,
    "Http2Refusals": 1,
    "Hub.streams": 1,
}
"""The things that exist when each client, and one that does not read its download, is at its step."""


class Counts:
    """The numbers of the program: what exists for a request, and what a request uses."""

    def __init__(self, directory) -> None:
        self._directory = directory

    def now(self):
        gc.collect()
        found = Counter({"tasks": trio.lowlevel.current_statistics().tasks_living})
        found["files"] = len(list(self._directory.iterdir()))
        for one in gc.get_objects():
            kind = type(one)
            if isinstance(one, Pool):
                found["connections"] += one.stats.in_use
            elif str(getattr(kind, "__module__", "")).startswith(OURS):
                found[kind.__name__] += 1
                for name in USED:
                    used = getattr(one, name, None)  # tuples have a method `count`
                    found[f"{kind.__name__}.{name}"] += used if isinstance(used, int) else 0
        return found

    async def at_rest(self):
        """The numbers when no client is there and no limit is in use, without what a task has for a moment."""

        async def in_use():
            return {name: used for name, used in self.now().items() if used and (name == "Wire" or "." in name)}

        await eventually(in_use, "no client is there", accept=lambda found: not found, every_s=0.05)
        return self.now() & self.now()

    async def reached(self, before, more):
        async def missing():
            now = self.now()
            return {name: now[name] - before[name] for name in more if now[name] - before[name] < more[name]}

        await eventually(missing, "each client is at its step", accept=lambda found: not found, every_s=0.05)

    async def same(self, before):
        async def more():
            now = self.now()
            return {name: now[name] - before[name] for name in now if now[name] > before[name]}

        await eventually(more, "nothing is left", accept=lambda found: not found, every_s=0.05)


@pytest.fixture
def counts(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gc.freeze()  # what other tests have left is none of this program
    yield Counts(tmp_path)
    gc.unfreeze()


@pytest.fixture
async def url(counts, database, nursery):
    """The URL of a whole program in this process, which runs two processes."""
    from vivero.config.sections import Config  # imported late, as whole_program() does
    from vivero.engine.compute.settings import ComputeSettings

    config = replace(Config(), compute=ComputeSettings(processes=1, idle_s=3600.0))
    waits = MODEL.replace(b'"one-task"', b'"waits"').replace(b'type="work"', b'type="other"')
    async with whole_program(config, database, nursery) as url:
        async with plain_http.async_client(base_url=url) as client:
            files = [("resources", ("a.bpmn", MODEL)), ("resources", ("b.bpmn", waits))]
            (await client.post("/v2/deployments", files=files)).raise_for_status()
        yield url


@pytest.fixture
async def download(url):
    """A request for a document that no buffer takes whole."""
    async with plain_http.async_client(base_url=url) as client:
        stored = (await client.post("/v2/documents", files={"file": ("a", b"x" * 8_000_000)})).json()
    return request("GET", "/v2/documents/{documentId}?contentHash={contentHash}".format_map(stored))


@pytest.fixture
async def connected(url):
    """A connection to the program that has sent this."""
    port = int(url.rpartition(":")[2])

    async def connect(data, receive_buffer=None):
        raw = trio.socket.socket()
        if receive_buffer is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        await raw.connect(("127.0.0.1", port))
        stream = trio.SocketStream(raw)
        await stream.send_all(data)
        return stream

    return connect


def leave(stream, way):
    """A close with received bytes that nobody has read sends a reset, too."""
    if way == "reset":
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    stream.socket.close()


@pytest.fixture
def stored(rows):
    """The contents of documents, their bytes, and the leases of jobs."""

    def read():
        return rows.execute(
            "SELECT (SELECT count(*) FROM document_contents), (SELECT sum(bytes) FROM document_usage),"
            " (SELECT count(*) FROM document_parts), (SELECT count(*) FROM jobs WHERE lease_token IS NOT NULL)"
        ).fetchone()

    return read


@pytest.fixture
def in_log(rows):
    """The number of commands that clients have appended."""
    return lambda: rows.execute(
        "SELECT count(*) FROM command_log WHERE intent = 'PROCESS_INSTANCE_CREATION:CREATE'"
    ).fetchone()[0]


@pytest.mark.long
async def test_clients_that_leave_at_each_step(counts, connected, download, stored):
    async def visit(way, before):
        clients = [await connected(data) for data in STEPS.values()]
        clients.append(await connected(download, receive_buffer=4096))
        await counts.reached(before, REACHED)
        for client in clients:
            leave(client, way)

    for _ in range(2):  # makes what stays: pages, caches, channels, and the heads that come for the second time
        await visit("end", await counts.at_rest())
    before, kept = await counts.at_rest(), stored()
    for way in ("end", "reset"):
        await visit(way, before)
        await counts.same(before)
        assert stored() == kept


@pytest.fixture
def turns(url):
    """Those at the compute processes of the program."""
    (found,) = (one for one in gc.get_objects() if isinstance(one, Turns))
    return found


async def test_clients_that_leave_in_the_queue_of_the_compute_processes(counts, connected, turns):
    before = None
    for way in ("end", "end", "reset"):
        await turns.take(WorkKind.EXPRESSIONS)  # other work has the only place
        clients = [await connected(EVALUATION) for _ in range(3)]
        await eventually(lambda: turns.waiting, "they wait", accept=lambda waiting: waiting == 3)
        for client in clients:
            leave(client, way)
        turns.give()
        if before is not None:
            await counts.same(before)
        before = await counts.at_rest()


@pytest.mark.long
async def test_clients_that_leave_between_the_append_and_the_outcome(counts, connected, database, in_log):
    creation = in_json("/v2/process-instances", {"processDefinitionId": "one-task"})
    before = None
    for way in ("end", "end", "reset"):
        appended = in_log()
        with psycopg.connect(database) as holds:
            holds.execute("SELECT FROM partitions FOR UPDATE")  # no batch is saved
            clients = [await connected(creation) for _ in range(3)]
            await eventually(in_log, "they are in the log", accept=partial(operator.eq, appended + 3))
            for client in clients:
                leave(client, way)
        if before is not None:
            await counts.same(before)
        before = await counts.at_rest()


AWAITED = {
    "an awaited end": (in_json("/v2/process-instances", AWAITING), b'"paid":true'),
    "an awaited end of an agent": (agent("createProcessInstance", AWAITING), b'{\\"paid\\":true}'),
    "a long poll": (polling("work"), b'"jobKey"'),
}
SHORT = {
    "a creation": (in_json("/v2/process-instances", AWAITING | {"awaitCompletion": False}), b'"processInstanceKey"'),
    "an evaluation": (EVALUATION, b"20000"),
    "a search": (in_json("/v2/process-instances/search", {}), b'"items"'),
}


@pytest.mark.parametrize("step", [*SHORT, *(pytest.param(step, marks=pytest.mark.long) for step in AWAITED)])
async def test_clients_that_close_their_sending_side_get_their_answer(url, connected, step):
    """The server asks those that wait for long whether they are there. Only then comes what they wait for."""
    data, told = (SHORT | AWAITED)[step]
    client = await connected(data.replace(b"Host: localhost", b"Host: localhost\r\nConnection: close"))
    await client.send_eof()
    async with client, plain_http.async_client(base_url=url) as worker:
        if step in AWAITED:
            assert await client.receive_some() == b"HTTP/1.1 100 Continue\r\n\r\n"
            await work(worker)
        said = b"".join([part async for part in client])
    assert told in said, said


async def work(client):
    """Complete what clients await, and start an instance of which a job is polled."""
    await client.post("/v2/process-instances", json={"processDefinitionId": "one-task"})
    ask = {"type": "other", "worker": "w", "timeout": 60_000, "maxJobsToActivate": 9, "requestTimeout": -1}
    for job in (await client.post("/v2/jobs/activation", json=ask)).json()["jobs"]:
        await client.post(f"/v2/jobs/{job['jobKey']}/completion", json={"variables": {"paid": True}})
