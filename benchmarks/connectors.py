"""The HTTP calls of connectors that a process of their own role makes in a second, and the CPU time of a call.

The instances exist before the process starts. The engine and the process that is called are processes of their own.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from time import perf_counter
from uuid import uuid4

import psutil
import trio

from benchmarks.server import fresh_database, program
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.codec import encode_command
from vivero.core.records.instances import CreateInstance
from vivero.embedded.processes import dying_with_us
from vivero.storage.log import command_log
from vivero.storage.log.command_log import LogEntry
from vivero.storage.postgres import driver
from vivero.storage.postgres.driver import Connection

CALLS = 5_000
WARM = 500
AT_ONCE = 500
LOOK_S = 0.02
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
ANSWER = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 18\r\n\r\n{"temperature": 7}'
MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://example.org/bench"
 xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><process id="calls" isExecutable="true"><startEvent id="start"/>
<sequenceFlow id="a" sourceRef="start" targetRef="call"/><serviceTask id="call"><extensionElements>
<zeebe:taskDefinition type="io.camunda:http-json:1"/><zeebe:ioMapping><zeebe:input source="POST" target="method"/>
<zeebe:input source="http://127.0.0.1:{port}/" target="url"/><zeebe:input source="bearer" target="authentication.type"/>
<zeebe:input source="{{{{secrets.TOKEN}}}}" target="authentication.token"/>
<zeebe:input source="={{city: &#34;Oslo&#34;}}" target="body"/></zeebe:ioMapping><zeebe:taskHeaders>
<zeebe:header key="resultExpression" value="={{temperature: response.body.temperature}}"/></zeebe:taskHeaders>
</extensionElements></serviceTask><sequenceFlow id="b" sourceRef="call" targetRef="end"/><endEvent id="end"/>
</process></definitions>"""


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Calls a second, and the CPU time of a call in each process."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    os.environ |= {"VIVERO_CONNECTORS_ALLOWED_TARGETS": "127.0.0.1", "VIVERO_SECRET_TOKEN": "bench"}
    os.environ["VIVERO_CONNECTORS_ENABLED"] = "on"
    async with fresh_database() as (dsn, notes):
        with _called() as port, program(dsn, _files(port), "--roles", "api,engine") as (_, engine):
            connection = await driver.connect(dsn, name="benchmark")
            with program(dsn, {}, "--roles", "jobs") as (_, worker):
                await _create(dsn, WARM)
                await _until(connection, WARM)
            await _create(dsn, CALLS)
            with program(dsn, {}, "--roles", "jobs") as (_, worker):
                await _until(connection, WARM + CALLS // 10)
                before, began, first = _cpu_s(worker, engine), perf_counter(), await _completed(connection)
                await _until(connection, WARM + CALLS)
                seconds, after = perf_counter() - began, _cpu_s(worker, engine)
            connection.close()
    calls = WARM + CALLS - first
    figures = {
        "calls_per_s": calls / seconds,
        "cpu_us": 1e6 * (after[0] - before[0]) / calls,
        "engine_cpu_us": 1e6 * (after[1] - before[1]) / calls,
    }
    return figures, notes | {"calls": f"{calls:,}"}


def _files(port: int) -> dict[str, bytes]:
    return {"calls.bpmn": MODEL.format(port=port).encode()}


def _cpu_s(worker: psutil.Process, engine: psutil.Process) -> tuple[float, float]:
    times = worker.cpu_times(), engine.cpu_times()
    return times[0].user + times[0].system, times[1].user + times[1].system


async def _create(dsn: str, count: int) -> None:
    """Create instances, and wait until they have jobs."""
    connection = await driver.connect(dsn, name="benchmark")
    session = await command_log.begin(connection, uuid4(), 1)
    command = CreateInstance("calls")
    entry = LogEntry(DEFAULT_TENANT, command.intent, encode_command(command))
    last = 0
    for _ in range(count // AT_ONCE):
        last = (await command_log.append(connection, session, 1, uuid4(), None, [entry] * AT_ONCE))[-1].position
    while await command_log.cursor(connection, 1) < last:  # noqa: ASYNC110
        await trio.sleep(LOOK_S)
    connection.close()


async def _completed(connection: Connection) -> int:
    query = "SELECT count(*) FROM process_instances WHERE ended_at IS NOT NULL"
    return int((await connection.execute(query)).rows[0][0])


async def _until(connection: Connection, count: int) -> None:
    while await _completed(connection) < count:  # noqa: ASYNC110
        await trio.sleep(LOOK_S)


@contextmanager
def _called() -> Iterator[int]:
    """A process that answers every request; its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.connectors"], stdout=subprocess.PIPE, text=True, preexec_fn=dying_with_us()
    )
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait(30)


async def _answer_all() -> None:
    async with trio.open_nursery() as nursery:
        [listener] = await nursery.start(partial(trio.serve_tcp, _answer, 0, host="127.0.0.1"))
        print(listener.socket.getsockname()[1], flush=True)


async def _answer(stream: trio.SocketStream) -> None:
    """Answer each request as soon as it is complete, until the client leaves."""
    received = bytearray()
    with suppress(trio.BrokenResourceError):
        while part := await stream.receive_some():
            received += part
            head, end, body = received.partition(b"\r\n\r\n")
            found = LENGTH.search(head)
            if end and found is not None and len(body) >= int(found[1]):
                received.clear()
                await stream.send_all(ANSWER)


if __name__ == "__main__":
    trio.run(_answer_all)
