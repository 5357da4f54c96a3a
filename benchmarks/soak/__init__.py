"""Two nodes under a steady load for hours, with a fault each few minutes: nothing lost or twice, everything level.

Ended instances are deleted soon, so that deletion is a part of the load. All creations are repeated until they are
answered. Each instance is compared with the model when it has ended, and the sums in the end.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path

import httpx
import trio

from benchmarks.growth.database import server
from benchmarks.soak.audit import Audit
from benchmarks.soak.faults import FAULTS, System, name_of
from benchmarks.soak.load import Load, client
from benchmarks.soak.model import MODEL
from benchmarks.soak.programs import Node, worker
from benchmarks.soak.samples import Samples, memory_slopes, slope_per_hour
from vivero.storage.postgres.errors import StorageError

SETTLES_S = 300.0
WORST = 5
"""So many tables and indexes that grow most are in the figures."""


@dataclass(frozen=True)
class Options:
    """The length in hours, instances a second, minutes between faults and until the deletion of ended instances."""

    directory: Path
    hours: float = 1.0
    rate: float = 100.0
    fault_minutes: float = 10.0
    retention_minutes: int = 5


def run() -> tuple[dict[str, float], dict[str, str]]:
    """An hour at 100 instances a second. Logs and samples stay, the data go."""
    directory = Path("/tmp") / f"vivero-soak-{os.getpid()}"
    try:
        return trio.run(soak, Options(directory))
    finally:
        shutil.rmtree(directory / "root", ignore_errors=True)


async def soak(options: Options) -> tuple[dict[str, float], dict[str, str]]:
    """Figures and notes of a run, whose logs, samples and data stay in the directory."""
    options.directory.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {
        "VIVERO_RETENTION_INSTANCES": f"PT{options.retention_minutes}M",
        "VIVERO_RETENTION_EVERY_S": "10",
    }
    async with server(options.directory, {"max_wal_size": "1GB"}) as dsn:
        with ExitStack() as stack:
            nodes = []
            for name in ("node-a", "node-b"):
                nodes.append(Node(name, dsn, environment | {"VIVERO_API_NODE_NAME": name}, options.directory))
                stack.callback(nodes[-1].kill)
                await nodes[-1].ready()
            workers = [worker(f"worker-{node.name[-1]}", node, environment, options.directory) for node in nodes]
            for each in workers:
                stack.callback(each.kill)
            return await _measure(System(dsn, nodes, workers), options)


async def _measure(system: System, options: Options) -> tuple[dict[str, float], dict[str, str]]:
    load = Load([client(node.port) for node in system.nodes])
    audit = Audit(load)
    samples = Samples(system, audit, options.directory / "samples.jsonl")
    definition = _deploy(system.nodes[0])
    done: Counter[str] = Counter()
    async with trio.open_nursery() as nursery:
        for task in (load.complete_user_tasks, load.mend_incidents, samples.run, partial(audit.run, system.dsn)):
            nursery.start_soon(task)
        async with trio.open_nursery() as faults:
            faults.start_soon(_inject, system, options.fault_minutes * 60, done)
            with trio.move_on_after(options.hours * 3600 + SETTLES_S):
                await load.create(options.rate, options.hours * 3600)
            faults.cancel_scope.cancel()
        with trio.move_on_after(SETTLES_S):
            await audit.finish(system.dsn)
        with trio.move_on_after(SETTLES_S):
            await audit.totals(definition)
        nursery.cancel_scope.cancel()
    for each in system.nodes:
        if code := each.stop():
            audit.find(f"{each.name} ended with code {code}")
    return _figures(samples, audit), _notes(load, audit, done)


def _deploy(node: Node) -> str:
    """The key of the deployed definition."""
    url, files = f"http://127.0.0.1:{node.port}/v2/deployments", {"resources": ("soak.bpmn", MODEL)}
    answer = httpx.post(url, files=files, timeout=30).raise_for_status()
    key: str = answer.json()["deployments"][0]["processDefinition"]["processDefinitionKey"]
    return key


async def _inject(system: System, every_s: float, done: Counter[str]) -> None:
    """One fault after the other, until cancelled. All programs run again before the next one."""
    for fault in cycle(FAULTS):
        await trio.sleep(every_s)
        _say(f"fault: {name_of(fault)}")
        try:
            await fault(system)
            done[name_of(fault)] += 1
            for node in system.nodes:
                await node.ready()
        except StorageError as error:
            _say(f"{name_of(fault)} did not bite: {error}")


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _figures(samples: Samples, audit: Audit) -> dict[str, float]:
    """Counts, and slopes. Those of tables begin when deletion has begun; logs grow until their own time has passed."""
    taken, load = samples.taken, audit.load
    figures = {
        "acknowledged": float(load.created),
        "ended": float(audit.ended),
        "unanswered": float(load.begun - load.created),
        "not_ended": float(len(load.acknowledged)),
        "deleted_before_audit": float(audit.deleted_early),
        "late_creations": float(load.late),
        "unexpected": float(len(load.unexpected)),
        "findings": float(len(audit.findings)),
    }
    names = [program.name for program in (*samples.system.nodes, *samples.system.workers)]
    figures |= memory_slopes(taken, names)
    level = [one for one in taken if one["at_s"] > taken[-1]["at_s"] / 4]
    grown = {name: slope_per_hour(level, name) or 0.0 for name in taken[-1] if name.endswith(" mb")}
    for name in sorted(grown, key=lambda name: -grown[name])[:WORST]:
        figures[f"{name}_per_h"] = grown[name]
    for name in ("postgresql memory_mb", "wal_mb", "kept", "work_p50_ms", "work_p99_ms", "create_p99_ms"):
        figures[f"{name}_per_h"] = slope_per_hour(level, name) or 0.0
    for name in ("work_p50_ms", "work_p99_ms", "create_p50_ms", "create_p99_ms", "chores_late_s", "vivero_log_lag"):
        found = sorted(one[name] for one in level if name in one)
        figures |= {f"{name}_median": found[len(found) // 2], f"{name}_max": found[-1]} if found else {}
    return figures


def _notes(load: Load, audit: Audit, done: Counter[str]) -> dict[str, str]:
    verdict = "; ".join(audit.findings[:20]) or "nothing lost, nothing twice"
    return {
        "verdict": verdict,
        "faults": "; ".join(f"{count} × {name}" for name, count in done.items()),
        "answers": ", ".join(f"{count} × {what}" for what, count in sorted(load.statuses.items())),
        "unexpected": "; ".join(load.unexpected[:20]) or "none",
    }
