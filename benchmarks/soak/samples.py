"""Samples of a soak: memory, threads and files of each process, tables and indexes, WAL, backlogs and latencies."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from statistics import linear_regression

import psutil
import trio

from benchmarks.growth.database import connected
from benchmarks.growth.sizes import SIZES
from benchmarks.http_client import quantiles
from benchmarks.soak.audit import Audit
from benchmarks.soak.faults import System
from benchmarks.soak.programs import Node
from vivero.storage.postgres.errors import StorageError

EVERY_S = 15.0
YOUNG_S = 300.0
"""The memory of a process grows while it warms up; samples of that time have no part in slopes."""
GAUGES = (
    "vivero_log_lag",
    "vivero_log_lag_time_seconds",
    "vivero_jobs_oldest_ready_seconds",
    "vivero_timers_overdue_seconds",
    "vivero_retention_behind_seconds",
    "vivero_retention_overdue_seconds",
    "vivero_retention_idle_seconds",
    "vivero_engine_cache_size_bytes",
    "vivero_background_failed_total",
    "vivero_pool_exhausted_total",
)
"""The greatest value of all nodes and labels."""
SERVER = """
SELECT (pg_current_wal_lsn() - '0/0')::float8,
       (SELECT count(*) FROM process_instances WHERE ended_at IS NULL),
       (SELECT count(*) FROM process_instances WHERE ended_at IS NOT NULL),
       (SELECT coalesce(max(extract(epoch FROM clock_now() - execute_at)), 0)::float8
        FROM job_executions WHERE schedule IS NOT NULL AND state = 'pending')
"""
DEAD = "SELECT relname::text, n_live_tup, n_dead_tup FROM pg_stat_user_tables WHERE n_dead_tup > 0"

Sample = dict[str, float]


class Samples:
    """Takes samples of a system, and writes each as a line of JSON."""

    def __init__(self, system: System, audit: Audit, file: Path) -> None:
        self.system, self._audit, self._file = system, audit, file
        self._began = time.monotonic()
        self.taken: list[Sample] = []

    async def run(self) -> None:
        """Take a sample each 15 seconds, until cancelled."""
        while True:
            await trio.sleep(EVERY_S)
            self.taken.append(await self._take())
            with self._file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(self.taken[-1]) + "\n")

    async def _take(self) -> Sample:
        """Everything that answers now; during a fault some of it is missing."""
        load, audit = self._audit.load, self._audit
        sample = {"at_s": time.monotonic() - self._began, "created": float(load.created), "ended": float(audit.ended)}
        sample |= {
            "late": float(load.late),
            "unanswered": float(load.begun - load.created),
            "findings": float(len(audit.findings)),
        }
        for name, times in (("create", load.answered_s), ("work", [each / 1000 for each in audit.milliseconds])):
            sample |= quantiles(name, times) if times else {}
        load.answered_s, audit.milliseconds = [], []
        for program in [*self.system.nodes, *self.system.workers]:
            try:
                figures = program.figures()
            except psutil.NoSuchProcess:
                continue
            sample |= {f"{program.name} {name}": value for name, value in figures.items()}
            sample[f"{program.name} pid"] = float(program.pid)
        for node in self.system.nodes:
            for name, value in (await _gauges(node)).items():
                sample[name] = max(value, sample.get(name, 0.0))
        try:
            return sample | await self._database()
        except (StorageError, psutil.NoSuchProcess):
            return sample

    async def _database(self) -> Sample:
        async with connected(self.system.dsn) as connection:
            wal, running, ended, late_s = (await connection.execute(SERVER)).rows[0]
            sizes = (await connection.execute(SIZES)).rows
            dead = (await connection.execute(DEAD)).rows
        found = {"wal_mb": wal / 1e6, "running": float(running), "kept": float(ended), "chores_late_s": late_s}
        for table, index, size in sizes:
            name = f"table {table}" if index is None else f"index {index}"
            found[f"{name} mb"] = found.get(f"{name} mb", 0.0) + size / 1e6
        found |= {f"dead {table}": float(number) for table, _, number in dead}
        processes = (await self.system.postmaster()).children()
        return found | {"postgresql memory_mb": sum(map(_own_mb, processes)), "postgresql processes": len(processes)}


def _own_mb(process: psutil.Process) -> float:
    """The memory that the process shares with no other one; 0 for one that has ended."""
    try:
        return float(process.memory_full_info().uss) / 1e6
    except psutil.NoSuchProcess:
        return 0.0


async def _gauges(node: Node) -> Sample:
    text = await node.get("/metrics") or ""
    found: Sample = {}
    for name, value in re.findall(r"^(\w+)(?:\{[^}]*\})? ([\d.e+-]+)$", text, re.MULTILINE):
        if name in GAUGES:
            found[name] = max(float(value), found.get(name, 0.0))
    return found


def slope_per_hour(samples: list[Sample], name: str, counts: Callable[[Sample], bool] = lambda _: True) -> float | None:
    """The growth of a figure in an hour, by least squares; None for fewer than ten samples."""
    points = [(one["at_s"] / 3600, one[name]) for one in samples if name in one and counts(one)]
    if len(points) < 10:
        return None
    return linear_regression(*zip(*points, strict=True)).slope


def memory_slopes(samples: list[Sample], names: list[str]) -> Sample:
    """MB an hour of the process of each name that was sampled longest, after it had warmed up."""
    found: Sample = {}
    for name in names:
        pids = [one[f"{name} pid"] for one in samples if f"{name} pid" in one]
        if not pids:
            continue
        longest = max(set(pids), key=pids.count)
        warm_s = next(one["at_s"] for one in samples if one.get(f"{name} pid") == longest) + YOUNG_S
        slope = slope_per_hour(
            samples,
            f"{name} memory_mb",
            lambda one, pid=longest, since=warm_s, key=f"{name} pid": one.get(key) == pid and one["at_s"] >= since,  # type: ignore[misc]
        )
        if slope is not None:
            found[f"{name}_memory_mb_per_h"] = slope
    return found
