"""Effects of a very long loop on others: a parallel multi-instance of service tasks begins, stands, and is cancelled.

`VIVERO_BENCH_ITEMS` is how wide it is (100,000). Beside it a client in a process of its own starts instances of a small
process at an even pace and awaits their ends; its latencies are counted from when a request was due, for each phase of
the loop. `begin` is from the request that starts the loop to the last of its jobs, `cancel` until that is answered.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import httpx
import psutil
import trio

from benchmarks.http_client import Channel, create_request
from benchmarks.model import EMPTY
from benchmarks.server import fresh_database, program
from vivero.storage.postgres import driver

ITEMS = int(os.environ.get("VIVERO_BENCH_ITEMS", "100000"))
PER_SECOND = float(os.environ.get("VIVERO_BENCH_PER_SECOND", "40"))
WARM_S, IDLE_S = 4.0, 10.0
BETWEEN_S = 2.0
WATCH_S = 0.1
AGAIN_S = 0.1
"""Seconds after which the client of the others repeats a request that was refused."""
PATIENCE_S = 300.0

LOOP = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://example.org"
 xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><process id="long-loop" isExecutable="true"><startEvent id="s"/>
<serviceTask id="work"><extensionElements><zeebe:taskDefinition type="long-work"/></extensionElements>
<multiInstanceLoopCharacteristics><extensionElements>
<zeebe:loopCharacteristics inputCollection="=items" inputElement="item"/></extensionElements>
</multiInstanceLoopCharacteristics></serviceTask><endEvent id="e"/><sequenceFlow id="a" sourceRef="s" targetRef="work"/>
<sequenceFlow id="b" sourceRef="work" targetRef="e"/></process></definitions>"""

_BEGUN = "SELECT count(*) FROM (SELECT sum(active) FROM counted_elements WHERE element_id = 'work') s WHERE s.sum = $1"

Latency = tuple[float, float]
"""The due time of a request, by the wall clock, and how long it took from then; seconds."""


def run() -> tuple[dict[str, float], dict[str, str]]:
    """The time of the loop, the times of others' requests meanwhile, and the server's memory."""
    return trio.run(measured, LOOP, _measure, {"items": f"{ITEMS:,}", "others": f"{PER_SECOND:.0f} instances/s"})


async def measured(
    model: bytes, measure: Callable[[str, int, psutil.Process], Awaitable[dict[str, float]]], notes: dict[str, str]
) -> tuple[dict[str, float], dict[str, str]]:
    """The figures of a program with a model, and with the empty process of the others; and notes.

    `measure` gets the database's DSN, the program's port and the program.
    """
    async with fresh_database() as (dsn, of_database):
        with program(dsn, {"model.bpmn": model, "empty.bpmn": EMPTY}) as (port, process):
            figures = await measure(dsn, port, process)
    return figures, of_database | notes


async def _measure(dsn: str, port: int, process: psutil.Process) -> dict[str, float]:
    others = await begin_others(port)
    memory = [process.memory_info().rss]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch_memory, process, memory)
        moments = await _phases(dsn, port)
        nursery.cancel_scope.cancel()
    idle, begin, begun, cancel, cancelled = moments
    taken = await latencies(others)
    figures = {"begin_s": begun - begin, "cancel_s": cancelled - cancel, "memory_mb": max(memory) / 1e6}
    for name, (first, last) in {"idle": (idle, begin), "begin": (begin, begun), "cancel": (cancel, cancelled)}.items():
        figures |= percentiles(name, sorted(took for due, took in taken if first <= due < last))
    for name in ("begin", "cancel"):
        figures[f"{name}_p99_times_idle"] = figures[f"{name}_p99_ms"] / figures["idle_p99_ms"]
    return figures


async def _phases(dsn: str, port: int) -> tuple[float, float, float, float, float]:
    """The wall clock when nothing but the others' requests began, when the loop's creation was asked for, when it had
    all its jobs, when its cancellation was asked for, and when that was answered.
    """
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/v2", timeout=PATIENCE_S) as client:
        await trio.sleep(WARM_S)
        idle = time.time()
        await trio.sleep(IDLE_S)
        begin = time.time()
        path = await begin_loop(client, dsn, ITEMS)
        begun = time.time()
        await trio.sleep(BETWEEN_S)
        cancel = time.time()
        if (answer := await client.post(f"{path}/cancellation", json={})).status_code != httpx.codes.GATEWAY_TIMEOUT:
            answer.raise_for_status()
        for _ in range(int(PATIENCE_S / WATCH_S)):  # a request is not waited for as long as a slow cancellation takes
            if (await client.get(path)).raise_for_status().json()["state"] == "TERMINATED":
                break
            await trio.sleep(WATCH_S)
        cancelled = time.time()
        await trio.sleep(BETWEEN_S)
        return idle, begin, begun, cancel, cancelled


async def begin_loop(client: httpx.AsyncClient, dsn: str, items: int) -> str:
    """Begin a loop with so many items, and wait for its jobs. Returns the path of its instance."""
    create = {"processDefinitionId": "long-loop", "variables": {"items": list(range(items))}}
    created = (await client.post("/process-instances", json=create)).raise_for_status().json()
    await until_begun(dsn, items)
    return f"/process-instances/{created['processInstanceKey']}"


async def until_begun(dsn: str, tasks: int) -> None:
    """Wait until so many elements `work` are active."""
    connection = await driver.connect(dsn, name="benchmark")
    try:
        for _ in range(int(PATIENCE_S / WATCH_S)):
            if (await connection.execute(_BEGUN, (tasks,))).rows[0][0]:
                return
            await trio.sleep(WATCH_S)
    finally:
        connection.close()
    raise RuntimeError(f"the loop has not all of its jobs after {PATIENCE_S:.0f} s")


def percentiles(name: str, ordered: Sequence[float]) -> dict[str, float]:
    """In milliseconds, as figures of the phase `name`."""
    if not ordered:
        raise RuntimeError(f"nobody asked for anything in the phase {name!r}: make the loop longer")
    at = {"p50": len(ordered) // 2, "p99": len(ordered) * 99 // 100, "max": len(ordered) - 1}
    return {f"{name}_{which}_ms": 1000 * ordered[place] for which, place in at.items()}


async def watch_memory(process: psutil.Process, memory: list[int]) -> None:
    """Collect the resident memory of a process until cancelled."""
    while True:
        await trio.sleep(WATCH_S)
        memory.append(process.memory_info().rss)


async def begin_others(port: int, per_second: float = PER_SECOND) -> trio.Process:
    """Begin the client of the others, in a process of its own. It starts this many instances a second."""
    command = [sys.executable, "-m", "benchmarks.loops", str(port), str(per_second)]
    return await trio.lowlevel.open_process(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1]
    )


async def latencies(others: trio.Process) -> list[Latency]:
    """The latencies of the client, which ends when nobody holds its input any more."""
    assert others.stdin is not None
    assert others.stdout is not None
    await others.stdin.aclose()
    output = b"".join([part async for part in others.stdout])
    if await others.wait():
        raise RuntimeError(f"the client of the others failed: {others.returncode}")
    return [(due, took) for due, took in json.loads(output)]


class _Others:
    """Starts instances at an even pace and awaits their ends, on as many connections as wait at once.

    A request that is refused, because the server has too much to do, is sent again. Its latency counts from when it
    was due first.
    """

    def __init__(self, port: int, per_second: float) -> None:
        self.selector = selectors.DefaultSelector()
        self._port = port
        self._per_second = per_second
        self._free: deque[Channel] = deque()
        """Each gets its turn before the server closes it for having been idle."""
        self._request = create_request("await")
        self._again: deque[tuple[float, float]] = deque()
        """Refused requests: when they are sent again, and when they were due."""
        self.latencies: list[Latency] = []

    def run(self) -> None:
        """Until its input ends."""
        self.selector.register(sys.stdin, selectors.EVENT_READ)
        following = time.perf_counter()
        while True:
            turn = min(following, self._again[0][0]) if self._again else following
            for key, _ in self.selector.select(max(turn - time.perf_counter(), 0)):
                if key.data is None:
                    return
                key.data.readable()
            if time.perf_counter() >= following:
                self._start(following)
                following += 1 / self._per_second
            while self._again and self._again[0][0] <= time.perf_counter():
                self._start(self._again.popleft()[1])

    def _start(self, due: float) -> None:
        channel = self._free.popleft() if self._free else Channel(self.selector, self._port)
        wall = time.time() - (time.perf_counter() - due)

        def answered(status: int, body: bytes) -> None:
            if status == httpx.codes.SERVICE_UNAVAILABLE:
                channel.reconnect()  # the server closes the connection of a request that it refuses unread
            self._free.append(channel)
            if status == httpx.codes.SERVICE_UNAVAILABLE:
                self._again.append((time.perf_counter() + AGAIN_S, due))
                return
            if status != httpx.codes.OK:
                raise RuntimeError(f"an instance was refused with {status}: {body.decode()}")
            self.latencies.append((wall, time.perf_counter() - due))

        channel.request(self._request, answered)


if __name__ == "__main__":
    _client = _Others(int(sys.argv[1]), float(sys.argv[2]))
    _client.run()
    print(json.dumps(_client.latencies))
