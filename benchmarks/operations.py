"""Effects of operations on a large instance tree on others: a loop is migrated, suspended and resumed.

`VIVERO_BENCH_TREE` is the number of items of the loop (9,990), and `VIVERO_BENCH_KINDS` names its kinds, which run in
programs of their own. `jobs` and `user_tasks` are its activities. The `timers` are due while it is suspended, and
messages come for its `subscriptions`. The migration of `waits` opens a timer in each inner instance; there are half as
many. The others are those of the benchmark `loops`. A phase ends a second after all that it began is done.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import httpx
import psutil
import trio

from benchmarks.loops import (
    IDLE_S,
    PATIENCE_S,
    WARM_S,
    WATCH_S,
    begin_loop,
    begin_others,
    latencies,
    measured,
    percentiles,
)
from vivero.storage.cluster import clock
from vivero.storage.postgres import driver
from vivero.storage.postgres.driver import Connection

ITEMS = int(os.environ.get("VIVERO_BENCH_TREE", "9990"))
KINDS = os.environ.get("VIVERO_BENCH_KINDS", "jobs user_tasks timers subscriptions waits").split()
INNER = "timers", "waits"
REST_S = 1.0
PUBLISHERS = 16
HOUR_MS = 3_600_000

_ACTIVITIES = {
    "jobs": ("serviceTask", '<extensionElements><zeebe:taskDefinition type="long-work"/></extensionElements>'),
    "user_tasks": ("userTask", "<extensionElements><zeebe:userTask/></extensionElements>"),
    "timers": (
        "subProcess",
        '<startEvent id="ws"/><intermediateCatchEvent id="wait"><timerEventDefinition><timeDuration>PT1H</timeDuration>'
        '</timerEventDefinition></intermediateCatchEvent><endEvent id="we"/>'
        '<sequenceFlow id="wa" sourceRef="ws" targetRef="wait"/>'
        '<sequenceFlow id="wb" sourceRef="wait" targetRef="we"/>',
    ),
    "subscriptions": ("receiveTask", ""),
    "waits": (
        "subProcess",
        '<startEvent id="ws"/><serviceTask id="wait"><extensionElements><zeebe:taskDefinition type="long-work"/>'
        '</extensionElements></serviceTask><sequenceFlow id="wa" sourceRef="ws" targetRef="wait"/>',
    ),
}
"""Kind → the activity of the loop, and its content. Those of `timers` and `waits` have two elements for each item."""
_OPENED = (
    '<subProcess id="reminder" triggeredByEvent="true"><startEvent id="due" isInterrupting="false">'
    "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></startEvent></subProcess>"
)
"""The later version of `waits` has this, too."""


def run() -> tuple[dict[str, float], dict[str, str]]:
    """The times of others' requests during each operation, and the longest turn of the loop of events."""
    figures: dict[str, float] = {}
    notes: dict[str, str] = {}
    for kind in KINDS:
        found, notes = trio.run(measured, model(kind, "work"), partial(_measure, kind), {"items": f"{ITEMS:,}"})
        figures |= {f"{kind}_{name}": value for name, value in found.items()}
    return figures, notes


def model(kind: str, id: str) -> bytes:
    """A version of the process whose loop has the activity `id`."""
    name, content = _ACTIVITIES[kind]
    extensions, inside = ("", content) if kind in INNER else (content, "")
    inside += _OPENED if kind == "waits" and id != "work" else ""
    awaited = ' messageRef="m"' if kind == "subscriptions" else ""
    return f"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://example.org"
 xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><message id="m" name="m"><extensionElements><zeebe:subscription
 correlationKey="=string(item)"/></extensionElements></message><process id="long-loop" isExecutable="true">
<startEvent id="s"/><{name} id="{id}"{awaited}>{extensions}<multiInstanceLoopCharacteristics><extensionElements>
<zeebe:loopCharacteristics inputCollection="=items" inputElement="item"/></extensionElements>
</multiInstanceLoopCharacteristics>{inside}</{name}><endEvent id="e"/>
<sequenceFlow id="a" sourceRef="s" targetRef="{id}"/><sequenceFlow id="z" sourceRef="{id}" targetRef="e"/></process>
</definitions>""".encode()


@dataclass
class _Tree:
    """The program with the loop, and what was measured so far."""

    client: httpx.AsyncClient
    database: Connection
    path: str
    figures: dict[str, float] = field(default_factory=dict)
    phases: dict[str, tuple[float, float]] = field(default_factory=dict)

    @asynccontextmanager
    async def phase(self, name: str) -> AsyncGenerator[None]:
        before, began = await self._long_turns(), time.time()
        yield
        self.figures[f"{name}_s"] = time.time() - began
        await trio.sleep(REST_S)
        self.phases[name] = began, time.time()
        self.figures[f"{name}_long_turns"] = await self._long_turns() - before

    async def _long_turns(self) -> float:
        return await self.metric("vivero_loop_long_turns_total")

    async def metric(self, name: str) -> float:
        text = (await self.client.get("/metrics")).raise_for_status().text
        return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))

    async def ask(self, operation: str, body: object = None) -> None:
        """An operation of the loop, repeated while the tree is on its way."""
        answer = await self.client.post(f"{self.path}/{operation}", json=body or {})
        answer.raise_for_status()

    async def until(self, count: int, query: str) -> None:
        """Wait until a query counts so many rows."""
        for _ in range(int(PATIENCE_S / WATCH_S)):
            if (await self.database.execute(query)).rows[0][0] == count:
                return
            await trio.sleep(WATCH_S)
        raise RuntimeError(f"after {PATIENCE_S:.0f} s there are not {count}: {query}")


async def _measure(kind: str, dsn: str, port: int, _process: psutil.Process) -> dict[str, float]:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client:
        others = await begin_others(port)
        database = await driver.connect(dsn, name="benchmark")
        try:
            begun = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/v2", timeout=PATIENCE_S)
            items = ITEMS // 2 if kind == "waits" else ITEMS
            tree = _Tree(client, database, "/v2" + await begin_loop(begun, dsn, items))
            await trio.sleep(WARM_S)
            async with tree.phase("idle"):
                await trio.sleep(IDLE_S)
            async with tree.phase("migrate"):
                await _migrate(kind, tree)
            async with tree.phase("suspend"):
                await tree.ask("suspension")
            await _MEANWHILE[kind](tree)
            async with tree.phase("resume"):
                await tree.ask("resumption")
                await _RESUMED[kind](tree)
            tree.figures["longest_turn_ms"] = 1000 * await tree.metric("vivero_loop_longest_turn_seconds")
        finally:
            database.close()
        taken = await latencies(others)
    for name, (first, last) in tree.phases.items():
        tree.figures |= percentiles(name, sorted(took for due, took in taken if first <= due < last))
    return tree.figures


async def _migrate(kind: str, tree: _Tree) -> None:
    """To a version in which the activity has another id."""
    resource = {"resources": ("model.bpmn", model(kind, "other"))}
    answer = (await tree.client.post("/v2/deployments", files=resource)).raise_for_status().json()
    target = answer["deployments"][0]["processDefinition"]["processDefinitionKey"]
    ids = {"work": "other"} | ({"wait": "wait"} if kind in INNER else {})
    mappings = [{"sourceElementId": source, "targetElementId": goal} for source, goal in ids.items()]
    await tree.ask("migration", {"targetProcessDefinitionKey": target, "mappingInstructions": mappings})


# ---- what comes while it is suspended, and what is done after its resumption


async def _nothing(_tree: _Tree) -> None:
    pass


async def _timers_due(tree: _Tree) -> None:
    await clock.shift(tree.database, 2 * HOUR_MS)
    await tree.until(ITEMS, "SELECT count(*) FROM timers WHERE state = 'SUSPENDED'")


async def _timers_fired(tree: _Tree) -> None:
    await tree.until(ITEMS, "SELECT count(*) FROM timers WHERE state = 'TRIGGERED'")


async def _messages_come(tree: _Tree) -> None:
    """One for each item, which its subscription cannot receive now."""
    items = iter(range(ITEMS))

    async def publish() -> None:
        for item in items:
            body = {"name": "m", "correlationKey": str(item), "timeToLive": 0}
            (await tree.client.post("/v2/messages/publication", json=body)).raise_for_status()

    async with trio.open_nursery() as nursery:
        for _ in range(PUBLISHERS):
            nursery.start_soon(publish)
    await tree.until(0, "SELECT count(*) FROM channel_subscriptions")


async def _messages_awaited(tree: _Tree) -> None:
    await tree.until(ITEMS, "SELECT count(*) FROM channel_subscriptions")


_MEANWHILE: dict[str, Callable[[_Tree], Awaitable[None]]] = {
    "jobs": _nothing,
    "user_tasks": _nothing,
    "timers": _timers_due,
    "subscriptions": _messages_come,
    "waits": _nothing,
}
_RESUMED: dict[str, Callable[[_Tree], Awaitable[None]]] = {
    "jobs": _nothing,
    "user_tasks": _nothing,
    "timers": _timers_fired,
    "subscriptions": _messages_awaited,
    "waits": _nothing,
}
