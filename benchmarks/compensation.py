"""Effects of a very long compensation on others: a loop of sub-processes, each with a completed task and its handler.

`VIVERO_BENCH_ITEMS` is how many handlers run (100,000). Beside it a client starts instances of a small process at an
even pace, as in `loops`. `forward` is from the request that starts the loop until all of it has completed, `compensate`
until the last handler has.
"""

from __future__ import annotations

import time

import httpx
import psutil
import trio

from benchmarks.loops import (
    BETWEEN_S,
    IDLE_S,
    ITEMS,
    PER_SECOND,
    WARM_S,
    WATCH_S,
    begin_others,
    latencies,
    measured,
    percentiles,
    watch_memory,
)

PATIENCE_S = 1_200.0

_PROCESS = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://example.org"
 xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><process id="undone" isExecutable="true"><startEvent id="s"/>
<sequenceFlow id="a" sourceRef="s" targetRef="trips"/><subProcess id="trips"><multiInstanceLoopCharacteristics>
<extensionElements><zeebe:loopCharacteristics inputCollection="=items" inputElement="item"/></extensionElements>
</multiInstanceLoopCharacteristics><startEvent id="i"/><sequenceFlow id="b" sourceRef="i" targetRef="book"/>
<manualTask id="book"/><boundaryEvent id="undo" attachedToRef="book"><compensateEventDefinition/></boundaryEvent>
<scriptTask id="cancel" isForCompensation="true"><extensionElements>
<zeebe:script expression="=item" resultVariable="last"/></extensionElements></scriptTask>
<association id="c" associationDirection="One" sourceRef="undo" targetRef="cancel"/>
</subProcess><sequenceFlow id="d" sourceRef="trips" targetRef="wait"/><receiveTask id="wait" messageRef="go"/>
<sequenceFlow id="e" sourceRef="wait" targetRef="throw"/><intermediateThrowEvent id="throw"><compensateEventDefinition/>
</intermediateThrowEvent></process><message id="go" name="go"><extensionElements>
<zeebe:subscription correlationKey="=key"/></extensionElements></message></definitions>"""


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Measure how long the loop and its compensation take, and the requests of others meanwhile."""
    notes = {"handlers": f"{ITEMS:,}", "others": f"{PER_SECOND:.0f} instances/s"}
    return trio.run(measured, _PROCESS, _measure, notes)


async def _measure(_dsn: str, port: int, process: psutil.Process) -> dict[str, float]:
    others = await begin_others(port)
    memory, cpu_s = [process.memory_info().rss], list[float]()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch_memory, process, memory)
        idle, begin, forward, throw, end = await _phases(port, process, cpu_s)
        nursery.cancel_scope.cancel()
    taken = await latencies(others)
    figures = {"forward_s": forward - begin, "compensate_s": end - throw, "memory_mb": max(memory) / 1e6}
    figures |= {"forward_cpu_s": cpu_s[1] - cpu_s[0], "compensate_cpu_s": cpu_s[2] - cpu_s[1]}
    spans = {"idle": (idle, begin), "forward": (begin, forward), "compensate": (throw, end)}
    for name, (first, last) in spans.items():
        figures |= percentiles(name, sorted(took for due, took in taken if first <= due < last))
    return figures


async def _phases(port: int, process: psutil.Process, cpu_s: list[float]) -> tuple[float, float, float, float, float]:
    """The wall clock before the others were alone, at the start of the loop and its end, and at those of the
    compensation. The server's CPU time at three of them goes into `cpu_s`."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/v2", timeout=PATIENCE_S) as client:
        await trio.sleep(WARM_S)
        idle = time.time()
        await trio.sleep(IDLE_S)
        cpu_s.append(_cpu_s(process))
        begin = time.time()
        create = {"processDefinitionId": "undone", "variables": {"items": list(range(ITEMS)), "key": "k"}}
        created = (await client.post("/process-instances", json=create)).raise_for_status().json()
        key = created["processInstanceKey"]
        await _until(client, {"processInstanceKey": key, "elementId": "wait", "state": "ACTIVE"})
        forward = time.time()
        cpu_s.append(_cpu_s(process))
        await trio.sleep(BETWEEN_S)
        throw = time.time()
        message = {"name": "go", "correlationKey": "k", "timeToLive": 0}
        (await client.post("/messages/publication", json=message)).raise_for_status()
        await _until(client, {"processInstanceKey": key, "elementId": "throw", "state": "COMPLETED"})
        end = time.time()
        cpu_s.append(_cpu_s(process))
        await trio.sleep(BETWEEN_S)
        return idle, begin, forward, throw, end


async def _until(client: httpx.AsyncClient, filter: dict[str, str]) -> None:
    for _ in range(int(PATIENCE_S / WATCH_S)):
        found = await client.post("/element-instances/search", json={"filter": filter, "page": {"limit": 1}})
        if found.raise_for_status().json()["items"]:
            return
        await trio.sleep(WATCH_S)
    raise RuntimeError(f"{filter} has not come after {PATIENCE_S:.0f} s")


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
