"""Effects of dry runs on others: a client asks again and again what a change of a tree of 10,000 elements would do.

`VIVERO_BENCH_TREE` is the number of items of its loop (9,990). The others are those of the benchmark `loops`. Phases:
nothing else (`idle`), dry runs of a suspension, and dry runs of a modification that would end the whole loop.
"""

from __future__ import annotations

import os
import time
from typing import Any

import httpx
import psutil
import trio

from benchmarks.http import cpu_s
from benchmarks.loops import (
    IDLE_S,
    LOOP,
    PATIENCE_S,
    WARM_S,
    begin_loop,
    begin_others,
    latencies,
    measured,
    percentiles,
)

ITEMS = int(os.environ.get("VIVERO_BENCH_TREE", "9990"))
SECONDS = 15.0
CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "suspension": ("suspension", {}),
    "modification": (
        "modification",
        {"activateInstructions": [{"elementId": "e"}], "terminateInstructions": [{"elementId": "work"}]},
    ),
}
"""Phase → the operation, and its body."""


def run() -> tuple[dict[str, float], dict[str, str]]:
    """The duration and CPU time of a dry run, and what others' requests take meanwhile."""
    return trio.run(measured, LOOP, _measure, {"items": f"{ITEMS:,}", "seconds": f"{SECONDS:.0f} of each change"})


async def _measure(dsn: str, port: int, process: psutil.Process) -> dict[str, float]:
    figures: dict[str, float] = {}
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/v2", timeout=PATIENCE_S) as client:
        path = await begin_loop(client, dsn, ITEMS)
        others = await begin_others(port)
        await trio.sleep(WARM_S)
        phases = {"idle": (time.time(), time.time() + IDLE_S)}
        await trio.sleep(IDLE_S)
        for name, (operation, body) in CHANGES.items():
            begin, before, done = time.time(), cpu_s(process), 0
            while time.time() < begin + SECONDS:
                answer = await client.post(f"{path}/{operation}?dryRun=true", json=body)
                answer.raise_for_status()
                done += 1
            phases[name] = (begin, time.time())
            figures[f"{name}_s"] = (time.time() - begin) / done
            figures[f"{name}_program_cpu_s"] = (cpu_s(process) - before) / done
        taken = await latencies(others)
    for name, (first, last) in phases.items():
        figures |= percentiles(name, sorted(took for due, took in taken if first <= due < last))
    for name in CHANGES:
        figures[f"{name}_p99_times_idle"] = figures[f"{name}_p99_ms"] / figures["idle_p99_ms"]
    return figures
