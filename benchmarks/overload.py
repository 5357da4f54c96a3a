"""The cost of an overload: the peak and two kinds of overload in turn, on one program.

`clients`: ten times as many clients of every kind as at the peak. `creators`: 900 clients that only create, beside the
usual workers; more than the engine finishes in time, so that creations are refused. Each client asks again at once. The
clients run in a process of lower priority, so that the server does not lose the processor to them. They still take
their share of the machine: compare the CPU time of program and PostgreSQL for a command.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import psutil
import trio

from benchmarks.http import cpu_s
from benchmarks.http_client import CREATORS, WORKERS
from benchmarks.model import ONE_TASK
from benchmarks.server import fresh_database, program
from vivero.storage.postgres import driver

ROUNDS, SECONDS, WARM_S = 3, 8.0, 5.0
SAMPLE_S = 0.25
KINDS = {
    "peak": (CREATORS, WORKERS),
    "clients": (10 * CREATORS, 10 * WORKERS),
    "creators": (900, WORKERS),
}
"""Creators and workers."""
SERVER = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"

Figures = dict[str, float]


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Medians of all rounds, and the ratios of the overloads to the peak of their round."""
    return trio.run(_run)


async def _run() -> tuple[Figures, dict[str, str]]:
    rounds: list[Mapping[str, Figures]] = []
    async with fresh_database() as (dsn, notes):
        with program(dsn, {"one.bpmn": ONE_TASK}) as (port, process):
            connection = await driver.connect(dsn, name="benchmark")
            postgresql = psutil.Process((await connection.execute(SERVER)).rows[0][0]).parent()
            connection.close()
            assert postgresql is not None
            measured = _Measured(port, process, postgresql)
            await measured.burst(KINDS["peak"], WARM_S)
            for number in range(ROUNDS):
                kinds = list(KINDS) if number % 2 == 0 else list(reversed(KINDS))
                rounds.append({kind: await measured.burst(KINDS[kind], SECONDS) for kind in kinds})
    return summary(rounds), notes | {"rounds": f"{ROUNDS} of {SECONDS:.0f} s for each kind"}


def summary(rounds: Sequence[Mapping[str, Figures]]) -> Figures:
    """Medians by kind; for the overloads also the medians of their ratios to the peak of the same round."""
    figures: Figures = {}
    for kind in KINDS:
        for name in rounds[0][kind]:
            figures[f"{kind}_{name}"] = median(one[kind][name] for one in rounds)
    for kind in list(KINDS)[1:]:
        for name in ("commands_per_s", "completed_per_s", "cpu_us", "memory_mb"):
            figures[f"{kind}_{name}_ratio"] = median(one[kind][name] / one["peak"][name] for one in rounds)
    return figures


class _Measured:
    """A program with its PostgreSQL, under the load of clients."""

    def __init__(self, port: int, process: psutil.Process, postgresql: psutil.Process) -> None:
        self._port, self._process, self._postgresql = port, process, postgresql
        self._memory: list[int] = []

    async def burst(self, load: tuple[int, int], seconds: float) -> Figures:
        """The counts of the clients, the CPU µs of a command, and the largest resident set."""
        self._memory = [self._process.memory_info().rss]
        before = self._cpu_s()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._sample)
            counted = await trio.to_thread.run_sync(clients, self._port, seconds, *load)
            nursery.cancel_scope.cancel()
        after = self._cpu_s()
        commands = (counted["created_per_s"] + counted["instances_per_s"]) * seconds
        return {
            "commands_per_s": commands / seconds,
            "completed_per_s": counted["instances_per_s"],
            "created_per_s": counted["created_per_s"],
            "refused_per_s": counted["refused"] / seconds,
            "not_completed": counted["not_completed"],
            "accepted_p99_ms": counted["create_p99_ms"],
            "cpu_us": 1e6 * sum(after[i] - before[i] for i in (0, 1)) / commands,
            "program_cpu_us": 1e6 * (after[0] - before[0]) / commands,
            "postgresql_cpu_us": 1e6 * (after[1] - before[1]) / commands,
            "memory_mb": max(self._memory) / 1e6,
        }

    def _cpu_s(self) -> tuple[float, float]:
        """CPU seconds of the program and of PostgreSQL with all its processes, those that ended included."""
        times = self._postgresql.cpu_times()
        ended = float(times.children_user + times.children_system)
        running = sum(map(_cpu_s_of_running, self._postgresql.children()))
        return cpu_s(self._process), cpu_s(self._postgresql) + ended + running

    async def _sample(self) -> None:
        while True:
            await trio.sleep(SAMPLE_S)
            self._memory.append(self._process.memory_info().rss)


def _cpu_s_of_running(process: psutil.Process) -> float:
    try:
        return cpu_s(process)
    except psutil.NoSuchProcess:  # it ends now and counts among the ended
        return 0.0


def clients(port: int, seconds: float, creators: int, workers: int) -> Figures:
    """The figures of `benchmarks.http_client`, which runs with a lower priority."""
    options = map(str, (port, "service", seconds, 0, creators, workers))
    command = ["nice", sys.executable, "-m", "benchmarks.http_client", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parents[1])
    figures: Figures = json.loads(done.stdout)
    return figures
