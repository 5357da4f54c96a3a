"""The log of whole programs: it stops nobody, whatever becomes of stderr, and it never tells data or credentials."""

import fcntl
import json
import os
import random
import signal
import string
from contextlib import contextmanager

import psycopg
import pytest
import trio

from tests.eventually import eventually
from tests.process.http_client import Caller, Unanswered
from tests.process.load import MODELS, Load, send_files
from vivero.api.routes import ROUTES

DEBUG = {"VIVERO_LOG_LEVEL": "debug"}
PIPE_BYTES = 4096


@pytest.fixture
def talkative(make_program, database, unsafe):
    """A program that logs everything from `debug` on, not started yet."""
    program = make_program("--database-url", database, environment=unsafe | DEBUG)
    yield program
    program.end()


async def works(program, answers=300):
    """The program starts, and serves a load."""
    program.start()
    await program.ready()
    async with Caller(program.port) as caller:
        await send_files(caller, {"one_task.bpmn": (MODELS / "one_task.bpmn").read_text()})
    load = Load([program.port])
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        await load.progress(answers)
        nursery.cancel_scope.cancel()


@contextmanager
def unread_pipe(path):
    """A named pipe whose reader reads nothing until it is told to."""
    os.mkfifo(path)
    reader = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    try:
        yield reader
    finally:
        os.close(reader)


@pytest.mark.long
async def test_a_reader_that_hangs_stops_nobody_and_misses_nothing_but_lines(talkative, tmp_path):
    with unread_pipe(tmp_path / "pipe") as reader:
        talkative.log_to(tmp_path / "pipe")
        await works(talkative, answers=60)
        assert len(os.read(reader, 2 * PIPE_BYTES)) >= PIPE_BYTES // 2, "the pipe was not full: the test did not bite"
        assert await talkative.status() == 204
        talkative.signal(signal.SIGTERM)
        assert await talkative.wait() == 0


@pytest.mark.long
async def test_a_full_disk_stops_nobody(talkative, tmp_path):
    (tmp_path / "full").symlink_to("/dev/full")
    talkative.log_to(tmp_path / "full")
    await works(talkative)
    talkative.signal(signal.SIGTERM)
    assert await talkative.wait() == 0


@pytest.mark.long
async def test_a_pipe_without_reader_stops_nobody(talkative, tmp_path):
    with unread_pipe(tmp_path / "pipe"):
        talkative.log_to(tmp_path / "pipe")
        talkative.start()
        await talkative.ready()
    async with Caller(talkative.port) as caller:
        for _ in range(50):
            assert (await caller.call("GET", "/v2/topology")).status == 200
    talkative.signal(signal.SIGTERM)
    assert await talkative.wait() == 0


async def test_a_signal_turns_everything_on_and_off(program):
    program.start()
    await program.ready()
    async with Caller(program.port) as caller:

        async def asked(id):
            answer = await caller.call("GET", "/v2/topology", headers=[("X-Request-Id", id)])
            assert answer.headers["x-request-id"] == id
            return [entry for entry in program.logged("request") if entry["request_id"] == id]

        assert await asked("one") == []
        program.signal(signal.SIGUSR1)

        async def told():
            return program.logged("the log has everything now")

        await eventually(told, "the signal is heard")

        async def shown():
            return await asked("two")

        line = (await eventually(shown, "requests are logged"))[0]
        assert (line["route"], line["status"], line["level"]) == ("/v2/topology", 200, "debug")
        program.signal(signal.SIGUSR1)

        async def quiet():
            return program.logged("the log has its usual levels again")

        await eventually(quiet, "the second signal is heard")
        assert await asked("three") == []


# ---- what is never told

CANARY = "cnry" + "".join(random.Random(11).choices(string.ascii_lowercase, k=10))
"""It is in all that clients send: variables, headers, passwords, tokens, names of messages, texts of errors."""
PASSWORD = f"{CANARY}-dsn"
HEADERS = (
    ("Authorization", f"Bearer vivero_{CANARY}"),
    ("Cookie", f"session={CANARY}"),
    ("X-Custom", CANARY),
    ("X-Request-Id", f"{CANARY} is no id"),
    ("Idempotency-Key", CANARY),
    ("traceparent", CANARY),
)
FAILING = """<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
    id="d" targetNamespace="x">
  <bpmn:process id="fails" isExecutable="true">
    <bpmn:startEvent id="s"><bpmn:outgoing>f1</bpmn:outgoing></bpmn:startEvent>
    <bpmn:sequenceFlow id="f1" sourceRef="s" targetRef="t"/>
    <bpmn:serviceTask id="t"><bpmn:incoming>f1</bpmn:incoming><bpmn:outgoing>f2</bpmn:outgoing>
      <bpmn:extensionElements><zeebe:taskDefinition type="=type"/>
        <zeebe:ioMapping><zeebe:input source="=assert(x, x = 1)" target="y"/></zeebe:ioMapping></bpmn:extensionElements>
    </bpmn:serviceTask>
    <bpmn:sequenceFlow id="f2" sourceRef="t" targetRef="e"/>
    <bpmn:endEvent id="e"><bpmn:incoming>f2</bpmn:incoming></bpmn:endEvent>
  </bpmn:process>
</bpmn:definitions>"""


BITES = {"request", "request refused", "child ended", "leading the partition", "the database rejects a batch"}
"""Events that must be in the log: without them the test would show nothing."""


class Fuzz:
    """Requests to all routes with bodies that nobody expects. The canary is everywhere."""

    def __init__(self, seed, caller, keys) -> None:
        self._random, self._caller, self._keys = random.Random(seed), caller, keys

    async def all_routes(self):
        for route in ROUTES:
            if "/chaos/" in route.path or route.path.endswith("/clock"):
                continue
            for _ in range(3):
                await self._call(route.method, self._path(route.path))

    def _path(self, path):
        filled = [
            self._random.choice([*self._keys, CANARY, "1", f"%0a{CANARY}"]) if part.startswith("{") else part
            for part in path.split("/")
        ]
        return "/".join(filled) + self._random.choice(["", f"?q={CANARY}", f"?timeout={CANARY}"])

    async def _call(self, method, path):
        headers = self._random.sample(HEADERS, self._random.randrange(len(HEADERS)))
        body = json.dumps(self._value(3)).encode()
        if self._random.random() < 0.2:
            body = body[: self._random.randrange(len(body) + 1)]
        try:
            await self._caller.send(method, path, body, "application/json", headers, within_s=5)
        except Unanswered:
            await self._caller.close()

    def _value(self, depth):
        kind = self._random.randrange(4 if depth else 2)
        if kind == 0:
            return self._random.choice([CANARY, f"\0{CANARY}", f"{CANARY}\r\n2026 forged", f"= {CANARY} + 1"])
        if kind == 1:
            return self._random.choice([None, True, 1, -1, 2**70, 0.5])
        names = ("variables", "processDefinitionId", "filter", "name", "correlationKey", "password", "username", CANARY)
        named = self._random.sample(names, 4)
        return {name: self._value(depth - 1) for name in named} if kind == 2 else [self._value(depth - 1)]


async def use_all(program, seed):
    """Instances, messages, jobs and errors that are as they should be, and then requests that are not."""
    async with Caller(program.port) as caller:
        models = {name: (MODELS / name).read_text() for name in ("one_task.bpmn", "messages.bpmn")}
        assert (await send_files(caller, models | {"fails.bpmn": FAILING})).status == 200
        keys = []
        for process in ("one-task", "fails"):
            body = {"processDefinitionId": process, "variables": {"x": CANARY, "type": CANARY, CANARY: CANARY}}
            answer = await caller.call("POST", "/v2/process-instances", body, headers=HEADERS[1:4])
            assert answer.status == 200, answer
            keys.append(answer.json["processInstanceKey"])
        message = {"name": CANARY, "correlationKey": CANARY, "variables": {"x": CANARY}, "messageId": CANARY}
        assert (await caller.call("POST", "/v2/messages/publication", message)).status == 200
        ask = {"type": "work", "worker": CANARY, "timeout": 60_000, "maxJobsToActivate": 5, "requestTimeout": 5_000}
        (job,) = (await caller.call("POST", "/v2/jobs/activation", ask)).json["jobs"]
        keys.append(job["jobKey"])
        failure = {"retries": 0, "errorMessage": CANARY, "variables": {"x": CANARY}}
        assert (await caller.call("POST", f"/v2/jobs/{job['jobKey']}/failure", failure)).status == 204
        await Fuzz(seed, caller, keys).all_routes()


def insert(dsn, intent, payload):
    """A row that no API would write, with the canary in it."""
    entries = json.dumps([{"o": 0, "tenant": "<default>", "intent": intent, "payload": payload}])
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SELECT begin_appends(%s, 1)", ["00000000-0000-0000-0000-00000000c0de"])
        connection.execute(
            "SELECT pos FROM append_commands(1, gen_random_uuid(), NULL, %s::json, %s, 1)",
            [entries, "00000000-0000-0000-0000-00000000c0de"],
        )


async def hurt(program, dsn):
    """Errors of every kind: of the database, of single commands, of the program's tasks."""
    for intent, payload in (
        ("PROCESS_INSTANCE_CREATION:CREATE", f'{{"process_id":"{CANARY}'),
        ("JOB:COMPLETE", f'{{"key":"{CANARY}"}}'),
        ("PROCESS_INSTANCE_CREATION:CREATE", f'{{"process_id":"one-task","business_id":"{CANARY}\\u0000"}}'),
    ):
        insert(dsn, intent, payload)

    async def rejected():
        return program.logged("the database rejects a batch")

    await eventually(rejected, "the rows that cannot be saved are found")
    for child in ("consumer", "appender", "timers", "listener", "completions"):
        for kind in ("raise", "cancel"):
            assert await program.hurt(child, kind) in (204, 404, 409)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND datname = current_database()"
        )
    await program.ready()


@pytest.mark.long
async def test_no_data_and_no_credentials_are_in_the_log(make_program, database, unsafe, seed):
    dsn = psycopg.conninfo.make_conninfo(database, password=PASSWORD)
    environment = unsafe | DEBUG | {
        "VIVERO_SECRET_TOKEN": CANARY, "VIVERO_OUTBOX_SECRET": CANARY, "VIVERO_AUTH_ADMIN_PASSWORD": CANARY,
    }  # fmt: skip
    program = make_program("--database-url", dsn, environment=environment)
    program.start()
    await program.ready()
    await use_all(program, seed)
    await hurt(program, database)
    program.signal(signal.SIGTERM)
    await program.wait()
    log = program.said(10**6)
    entries = program.entries()
    assert len(entries) == len(log.splitlines()), "an event is one line, whatever clients send"
    assert {entry["event"] for entry in entries} >= BITES, "the test did not bite"
    assert sum(entry["event"] == "request" for entry in entries) > 2 * len(ROUTES)
    found = [line for line in log.splitlines() if CANARY in line]
    assert found == []
    program.end()


@pytest.mark.long
async def test_a_database_that_cannot_be_reached_tells_no_password(make_program):
    program = make_program("--database-url", f"postgresql://u:{PASSWORD}@127.0.0.1:1/none")
    program.start()
    assert await program.wait() != 0
    assert "127.0.0.1" in program.said() + program.printed()
    assert CANARY not in program.said() + program.printed()
