"""Cancelling an instance of very many rows: a parallel loop of parallel loops of tasks, alone and beside others.

`VIVERO_BENCH_SIDE` is the number of items of the outer loop, and of each inner one (200: 40,000 tasks);
`VIVERO_BENCH_TASK` is `user` (the default) or `service`. Beside the second cancellation, clients in a process of their
own start instances of a small process without a pause, each awaiting the end of its last one. `cancel` is from the
request until it is answered.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import trio

from benchmarks.http_client import Channel, create_request
from benchmarks.loops import BETWEEN_S, PATIENCE_S, WATCH_S, Latency, latencies, measured, percentiles, until_begun

SIDE = int(os.environ.get("VIVERO_BENCH_SIDE", "200"))
TASK = os.environ.get("VIVERO_BENCH_TASK", "user")
CLIENTS = 2

_TASKS = {
    "user": '<userTask id="work"><extensionElements><zeebe:userTask/></extensionElements>{loop}</userTask>',
    "service": '<serviceTask id="work"><extensionElements><zeebe:taskDefinition type="nested-work"/>'
    "</extensionElements>{loop}</serviceTask>",
}
_LOOP = """<multiInstanceLoopCharacteristics><extensionElements>
<zeebe:loopCharacteristics inputCollection="=items" inputElement="item"/></extensionElements>
</multiInstanceLoopCharacteristics>"""
_PROCESS = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://example.org"
 xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><process id="nested-loops" isExecutable="true"><startEvent id="s"/>
<sequenceFlow id="a" sourceRef="s" targetRef="outer"/><subProcess id="outer"><startEvent id="i"/>
<sequenceFlow id="b" sourceRef="i" targetRef="work"/>{task}{loop}</subProcess></process></definitions>"""


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Measure the cancellations, and the requests of others beside the second one."""
    model = _PROCESS.format(task=_TASKS[TASK].format(loop=_LOOP), loop=_LOOP).encode()
    notes = {"tasks": f"{SIDE * SIDE:,} ({TASK})", "others": f"{CLIENTS} clients"}
    return trio.run(measured, model, _measure, notes)


async def _measure(dsn: str, port: int, process: psutil.Process) -> dict[str, float]:
    alone = await _begun(dsn, port)
    cpu_s = _cpu_s(process)
    began, ended = await _cancel(port, alone)
    figures = {"alone_cancel_s": ended - began, "alone_cancel_cpu_s": _cpu_s(process) - cpu_s}
    beside = await _begun(dsn, port)
    others = await trio.lowlevel.open_process(
        [sys.executable, "-m", "benchmarks.nested_loops", str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[1],
    )
    await trio.sleep(BETWEEN_S)
    began, ended = await _cancel(port, beside)
    await trio.sleep(BETWEEN_S)
    figures["beside_cancel_s"] = ended - began
    taken = await latencies(others)
    figures |= percentiles("others", sorted(took for due, took in taken if began <= due < ended))
    return figures | {"others_per_s": sum(began <= due < ended for due, _ in taken) / (ended - began)}


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def _begun(dsn: str, port: int) -> str:
    """A new instance that has all of its tasks; its key."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/v2", timeout=PATIENCE_S) as client:
        create = {"processDefinitionId": "nested-loops", "variables": {"items": list(range(SIDE))}}
        created = (await client.post("/process-instances", json=create)).raise_for_status().json()
    await until_begun(dsn, SIDE * SIDE)
    await trio.sleep(BETWEEN_S)
    return str(created["processInstanceKey"])


async def _cancel(port: int, key: str) -> tuple[float, float]:
    """The wall clock before a cancellation and after it."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/v2", timeout=PATIENCE_S) as client:
        path, began = f"/process-instances/{key}", time.time()
        if (answer := await client.post(f"{path}/cancellation", json={})).status_code != httpx.codes.GATEWAY_TIMEOUT:
            answer.raise_for_status()
        for _ in range(int(PATIENCE_S / WATCH_S)):  # the server answers earlier than a slow cancellation ends
            if (await client.get(path)).raise_for_status().json()["state"] == "TERMINATED":
                return began, time.time()
            await trio.sleep(WATCH_S)
    raise RuntimeError(f"the instance has not ended after {PATIENCE_S:.0f} s")


class _Others:
    """Start instances one after the other on each connection, and await their ends."""

    def __init__(self, port: int) -> None:
        self._selector = selectors.DefaultSelector()
        self._port = port
        self._request = create_request("await")
        self.latencies: list[Latency] = []

    def run(self) -> None:
        """Until its input ends."""
        self._selector.register(sys.stdin, selectors.EVENT_READ)
        for _ in range(CLIENTS):
            self._start(Channel(self._selector, self._port))
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    return
                key.data.readable()

    def _start(self, channel: Channel) -> None:
        wall, began = time.time(), time.perf_counter()

        def answered(status: int, body: bytes) -> None:
            if status != 200:
                raise RuntimeError(f"an instance was refused with {status}: {body.decode()}")
            self.latencies.append((wall, time.perf_counter() - began))
            self._start(channel)

        channel.request(self._request, answered)


if __name__ == "__main__":
    _client = _Others(int(sys.argv[1]))
    _client.run()
    print(json.dumps(_client.latencies))
