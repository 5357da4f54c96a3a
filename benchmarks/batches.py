"""Effects of batches of operations on others, and of modifications of a large instance tree.

`VIVERO_BENCH_INSTANCES` is how many instances a batch has (10,000), `VIVERO_BENCH_TREE` how many elements the tree has
(9,990), `VIVERO_BENCH_PER_SECOND` how many instances others start a second (100). A batch migrates all instances alone,
once their creations count no more as others. Then, beside others, a batch migrates them back, a batch moves their
tokens, and forecasts of a batch follow each other. In the tree as many elements begin, move and end, each by one
modification.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx
import psutil
import trio

from benchmarks.http import cpu_s
from benchmarks.loops import (
    IDLE_S,
    PATIENCE_S,
    WARM_S,
    WATCH_S,
    Latency,
    begin_others,
    latencies,
    measured,
    percentiles,
)

INSTANCES = int(os.environ.get("VIVERO_BENCH_INSTANCES", "10000"))
TREE = int(os.environ.get("VIVERO_BENCH_TREE", "9990"))
PER_SECOND = float(os.environ.get("VIVERO_BENCH_PER_SECOND", "100"))
FORECAST_S = 15.0
BETWEEN_S = 3.0
AT_ONCE = 16
"""Clients that create the instances."""
MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://example.org"
 xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><process id="{id}" isExecutable="true"><startEvent id="s"/>
<serviceTask id="one"><extensionElements><zeebe:taskDefinition type="one"/></extensionElements></serviceTask>
<serviceTask id="two"><extensionElements><zeebe:taskDefinition type="two"/></extensionElements></serviceTask>
<endEvent id="e"/><sequenceFlow id="a" sourceRef="s" targetRef="one"/>
<sequenceFlow id="b" sourceRef="one" targetRef="two"/><sequenceFlow id="c" sourceRef="two" targetRef="e"/>
</process></definitions>"""
LARGE, FIRST, SECOND = (MODEL.format(id=id).encode() for id in ("large", "first", "second"))
Phases = dict[str, tuple[float, float]]
"""Name → when it began and ended, by the wall clock."""


def run() -> tuple[dict[str, float], dict[str, str]]:
    """The durations and rates of the operations, and what others' requests take meanwhile."""
    return trio.run(measured, LARGE, _measure, {"instances": f"{INSTANCES:,}", "elements": f"{TREE:,}"})


async def _measure(_dsn: str, port: int, process: psutil.Process) -> dict[str, float]:
    figures: dict[str, float] = {}
    phases: Phases = {}
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/v2", timeout=PATIENCE_S) as client:
        first, second = [await _deploy(client, model) for model in (FIRST, SECOND)]
        await _create_all(client)
        await trio.sleep(WARM_S)
        before = cpu_s(process)
        await _batch(client, "migration", _migration(first, second), "alone", phases)
        figures["alone_program_cpu_ms_per_item"] = 1000 * (cpu_s(process) - before) / INSTANCES
        others = await begin_others(port, PER_SECOND)
        await trio.sleep(WARM_S)
        async with _phase("idle", phases):
            await trio.sleep(IDLE_S)
        await _batch(client, "migration", _migration(second, first), "migration", phases)
        await _batch(client, "modification", MOVES | _all_of(first), "modification", phases)
        figures["forecasts_per_s"] = await _forecasts(client, _migration(first, second), phases)
        await _modify_tree(client, phases)
        figures["longest_turn_ms"] = 1000 * await _longest_turn_s(client)
        taken = await latencies(others)
    for name in ("alone", "migration", "modification"):
        begin, end = phases[name]
        figures[f"{name}_per_s"] = INSTANCES / (end - begin)
    return figures | _felt(taken, phases)


def _felt(taken: list[Latency], phases: Phases) -> dict[str, float]:
    """The times of others' requests in each phase, also as a multiple of those with nothing else."""
    figures: dict[str, float] = {}
    beside = {name: phase for name, phase in phases.items() if name != "alone"}
    for name, (begin, end) in beside.items():
        figures |= percentiles(name, sorted(took for due, took in taken if begin <= due < end))
        figures[f"{name}_s"] = end - begin
        figures[f"{name}_p99_times_idle"] = figures[f"{name}_p99_ms"] / figures["idle_p99_ms"]
    return figures


# ---- batches

MOVES = {"moveInstructions": [{"sourceElementId": "one", "targetElementId": "two"}]}


def _all_of(definition: str) -> dict[str, Any]:
    return {"filter": {"processDefinitionKey": definition}}


def _migration(source: str, target: str) -> dict[str, Any]:
    mappings = [{"sourceElementId": id, "targetElementId": id} for id in ("one", "two")]
    plan = {"targetProcessDefinitionKey": target, "mappingInstructions": mappings}
    return _all_of(source) | {"migrationPlan": plan}


async def _batch(client: httpx.AsyncClient, operation: str, body: dict[str, Any], name: str, phases: Phases) -> None:
    """Run a batch operation to its end, as a phase. All of its items must be completed."""
    async with _phase(name, phases):
        answer = await client.post(f"/process-instances/{operation}", json=body)
        path = f"/batch-operations/{answer.raise_for_status().json()['batchOperationKey']}"
        for _ in range(int(PATIENCE_S / WATCH_S)):
            batch = (await client.get(path)).raise_for_status().json()
            if batch["state"] not in ("CREATED", "ACTIVE"):
                break
            await trio.sleep(WATCH_S)
    if batch["operationsCompletedCount"] != INSTANCES:
        raise RuntimeError(f"the batch {name!r} has not completed all of its {INSTANCES:,} items: {batch}")


async def _forecasts(client: httpx.AsyncClient, body: dict[str, Any], phases: Phases) -> float:
    """Ask for forecasts of a batch again and again, as a phase. Returns the number of instances tried in a second."""
    tried = 0
    async with _phase("forecast", phases):
        while time.time() < phases["forecast"][0] + FORECAST_S:
            answer = await client.post("/process-instances/migration?dryRun=true", json=body)
            tried += answer.raise_for_status().json()["total"]
    begin, end = phases["forecast"]
    return tried / (end - begin)


# ---- one large tree


async def _modify_tree(client: httpx.AsyncClient, phases: Phases) -> None:
    """Activate, move and terminate as many elements as the tree has, each by one command and as one phase."""
    key = await _create(client, "large")
    move = {"sourceElementInstruction": {"sourceType": "byId", "sourceElementId": "one"}, "targetElementId": "two"}
    for name, body, one, two in (
        ("activate", {"activateInstructions": [{"elementId": "one"}] * (TREE - 1)}, TREE, 0),
        ("move", {"moveInstructions": [move]}, 0, TREE),
        (
            "terminate",
            {"terminateInstructions": [{"elementId": "two"}], "activateInstructions": [{"elementId": "e"}]},
            0,
            0,
        ),
    ):
        async with _phase(name, phases):
            answer = await client.post(f"/process-instances/{key}/modification", json=body)
            answer.raise_for_status()
            await _until(client, key, {"one": one, "two": two})


async def _until(client: httpx.AsyncClient, key: str, wanted: dict[str, int]) -> None:
    """Wait until so many jobs of each type are open."""
    for _ in range(int(PATIENCE_S / WATCH_S)):
        if {type_: await _open_jobs(client, key, type_) for type_ in wanted} == wanted:
            return
        await trio.sleep(WATCH_S)
    raise RuntimeError(f"the tree has not {wanted} jobs after {PATIENCE_S:.0f} s")


async def _open_jobs(client: httpx.AsyncClient, key: str, type_: str) -> int:
    wanted = {"processInstanceKey": key, "type": type_, "state": "CREATED"}
    answer = await client.post("/jobs/search", json={"filter": wanted, "page": {"limit": 1}})
    return int(answer.raise_for_status().json()["page"]["totalItems"])


async def _longest_turn_s(client: httpx.AsyncClient) -> float:
    """The longest turn of the program's loop of events."""
    lines = (await client.get(client.base_url.join("/metrics"))).raise_for_status().text.splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith("vivero_loop_longest_turn_seconds"))


# ---- words


@asynccontextmanager
async def _phase(name: str, phases: Phases) -> AsyncGenerator[None]:
    """A phase, with a break after it."""
    begin = time.time()
    phases[name] = begin, begin
    yield
    phases[name] = begin, time.time()
    await trio.sleep(BETWEEN_S)


async def _deploy(client: httpx.AsyncClient, model: bytes) -> str:
    """The key of the definition."""
    answer = await client.post("/deployments", files={"resources": ("model.bpmn", model)})
    return str(answer.raise_for_status().json()["deployments"][0]["processDefinition"]["processDefinitionKey"])


async def _create(client: httpx.AsyncClient, id: str) -> str:
    """The key of a new instance."""
    answer = await client.post("/process-instances", json={"processDefinitionId": id})
    return str(answer.raise_for_status().json()["processInstanceKey"])


async def _create_all(client: httpx.AsyncClient) -> None:
    async def some(count: int) -> None:
        for _ in range(count):
            await _create(client, "first")

    async with trio.open_nursery() as nursery:
        for number in range(AT_ONCE):
            nursery.start_soon(partial(some, len(range(number, INSTANCES, AT_ONCE))))
