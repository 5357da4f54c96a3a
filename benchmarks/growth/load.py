"""Measures the cost of a full database: load and starts in turn on an empty and on a filled database of one server."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median
from typing import NamedTuple

import psutil
import trio

from benchmarks.growth import database, varieties
from benchmarks.http import client, cpu_s
from benchmarks.server import program

ROUNDS, WARM_S, FAST_S, PACED_S = 6, 3.0, 6.0, 6.0
PACE = 50.0
STARTS = 5
BACKENDS = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND application_name LIKE 'vivero%' AND backend_type = 'client backend'
"""

Figures = dict[str, float]


async def compare(empty: str, filled: str, rounds: int = ROUNDS) -> Figures:
    """Medians of both, and the medians of the ratios of the rounds: throughput, CPU time, latencies at a quiet pace."""
    found: list[tuple[Figures, Figures]] = []
    with ExitStack() as stack:
        started = [
            _Program(dsn, *stack.enter_context(program(dsn, varieties.MODELS, environment=varieties.KEEPING)))
            for dsn in (empty, filled)
        ]
        for one in started:
            await one.load(WARM_S)
        for number in range(rounds):
            order = (0, 1) if number % 2 == 0 else (1, 0)
            of_round = {which: await started[which].burst() for which in order}
            found.append((of_round[0], of_round[1]))
    return summary(found)


def summary(rounds: Sequence[tuple[Figures, Figures]]) -> Figures:
    """Medians of the empty and of the filled database, and of the ratios filled to empty."""
    figures: Figures = {}
    for name in rounds[0][0]:
        figures[f"empty_{name}"] = median(empty[name] for empty, _ in rounds)
        figures[f"filled_{name}"] = median(filled[name] for _, filled in rounds)
        figures[f"ratio_{name}"] = median(filled[name] / empty[name] for empty, filled in rounds)
    return figures


class _Program(NamedTuple):
    """A program with its database."""

    dsn: str
    port: int
    process: psutil.Process

    async def load(self, seconds: float, pace: float = 0) -> Figures:
        return await trio.to_thread.run_sync(client, self.port, "service", seconds, pace)

    async def burst(self) -> Figures:
        """As fast as answers come, and at a quiet pace."""
        before = await used_s(self.dsn, self.process)
        fast = await self.load(FAST_S)
        after = await used_s(self.dsn, self.process)
        paced = await self.load(PACED_S, PACE)
        instances = max((fast["instances_per_s"] + fast["created_per_s"]) / 2 * FAST_S, 1)
        names = ("paced_create_p50_ms", "paced_create_p99_ms", "paced_completed_p50_ms", "paced_completed_p99_ms")
        return {
            "instances_per_s": fast["instances_per_s"],
            "program_cpu_us_per_instance": 1e6 * (after[0] - before[0]) / instances,
            "postgresql_cpu_us_per_instance": 1e6 * (after[1] - before[1]) / instances,
            "fast_create_p99_ms": fast["create_p99_ms"],
        } | {name: paced[name.removeprefix("paced_")] for name in names}


async def used_s(dsn: str, process: psutil.Process) -> tuple[float, float]:
    """The CPU seconds of the program, and of PostgreSQL's processes that work for it."""
    async with database.connected(dsn) as connection:
        pids = [pid for (pid,) in (await connection.execute(BACKENDS)).rows]
    return cpu_s(process), sum(cpu_s(psutil.Process(pid)) for pid in pids)


def starts(empty: str, filled: str) -> Figures:
    """Seconds from the beginning of the process until the program answers: medians, and that of the difference."""
    found = [(_start_s(empty), _start_s(filled)) for _ in range(STARTS)]
    return {
        "start_empty_s": median(one for one, _ in found),
        "start_filled_s": median(two for _, two in found),
        "start_added_s": median(two - one for one, two in found),
    }


def _start_s(dsn: str) -> float:
    began = time.perf_counter()
    with program(dsn, {}, environment=varieties.KEEPING):
        return time.perf_counter() - began
