"""The cost of an instance in two processes with two partitions over HTTP, compared with one process with one.

All programs run at the same time, each on a PostgreSQL of its own, and get bursts of load in turn. So other load of
the machine changes them alike. Two processes get twice as many clients. The CPU time of PostgreSQL is also told by the
task that owns the connection.

Busy neighbours make a core slower, whatever runs on them. So two programs that know nothing of each other get bursts at
the same time, too: `ratio_apart` is what the machine alone adds, `ratio_design` what two processes cost beyond it.
`ratio_divided` compares an engine process and another one for clients, on one partition.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from statistics import mean, median

import psutil
import trio

from benchmarks.http import cpu_s
from benchmarks.http_client import CREATORS, WORKERS
from benchmarks.model import ONE_TASK
from benchmarks.overload import clients
from benchmarks.server import fresh_database, program
from vivero.storage.postgres import driver

ROUNDS, SECONDS, WARM_S = 8, 2.0, 3.0
CONNECTIONS = 100
BACKENDS = "SELECT pid, application_name FROM pg_stat_activity WHERE pid <> pg_backend_pid()"

Figures = dict[str, float]
Round = dict[str, Figures]
"""Figures by kind of load."""


def run() -> tuple[dict[str, float], dict[str, str]]:
    """CPU µs of an instance by part, and the medians of the ratios of two processes to one."""
    return trio.run(_run)


async def _run() -> tuple[Figures, dict[str, str]]:
    async with AsyncExitStack() as stack:
        one, other = await _start(stack, 1), await _start(stack, 1)
        two = await _start(stack, 2, "--processes", "2", "--partitions", "2")
        divided = await _start(stack, 2, "--processes", "2", "--engine-processes", "1")
        kinds = {"one": (one,), "two": (two,), "divided": (divided,), "apart": (one, other)}
        for kind in kinds.values():
            await _bursts(kind, WARM_S)
        rounds: list[Round] = []
        for number in range(ROUNDS):
            order = list(kinds) if number % 2 == 0 else list(reversed(kinds))
            rounds.append({kind: await _bursts(kinds[kind], SECONDS) for kind in order})
    return summary(rounds), one.notes | {"rounds": f"{ROUNDS} of {SECONDS:.0f} s for each"}


async def _bursts(programs: Sequence[_Program], seconds: float) -> Figures:
    """The means of programs that get their bursts at the same time."""
    found: list[Figures] = []

    async def burst(one: _Program) -> None:
        found.append(await one.burst(seconds))

    async with trio.open_nursery() as nursery:
        for each in programs:
            nursery.start_soon(burst, each)
    return {part: mean(each.get(part, 0.0) for each in found) for part in {part for each in found for part in each}}


def summary(rounds: Sequence[Round]) -> Figures:
    """Medians of each kind; the medians of the ratios of the sums."""
    figures: Figures = {}
    for kind in ("one", "apart", "two", "divided"):
        found = sorted({part for each in rounds for part in each[kind]})
        figures |= {f"{kind}_{part}": median(each[kind].get(part, 0.0) for each in rounds) for part in found}
    for name, kind, base in (
        ("ratio", "two", "one"),
        ("ratio_divided", "divided", "one"),
        ("ratio_apart", "apart", "one"),
        ("ratio_design", "two", "apart"),
    ):
        for part in ("cpu_us", "program_cpu_us", "postgresql_cpu_us"):
            figures[f"{name}_{part}"] = median(each[kind][part] / each[base][part] for each in rounds)
    return figures


async def _start(stack: AsyncExitStack, count: int, *options: str) -> _Program:
    dsn, notes = await stack.enter_async_context(fresh_database(CONNECTIONS))
    started = program(dsn, {"one.bpmn": ONE_TASK}, *options, environment={"VIVERO_ADMIN_PORT": "0"})
    return _Program(dsn, *stack.enter_context(started), count, notes)


class _Program:
    """A program with its PostgreSQL."""

    def __init__(self, dsn: str, port: int, process: psutil.Process, count: int, notes: dict[str, str]) -> None:
        self._dsn, self._port, self._process, self._count = dsn, port, process, count
        self.notes = notes

    async def burst(self, seconds: float) -> Figures:
        """CPU µs of an instance by part, and instances a second."""
        before = await self._cpu_s()
        load = (CREATORS * self._count, WORKERS * self._count)
        counted = await trio.to_thread.run_sync(clients, self._port, seconds, *load)
        used = {part: used_s - before[part] for part, used_s in (await self._cpu_s()).items()}
        instances = (counted["created_per_s"] + counted["instances_per_s"]) / 2 * seconds
        figures = {f"{part}_cpu_us": 1e6 * used_s / instances for part, used_s in used.items()}
        of_postgresql = sum(used_s for part, used_s in figures.items() if part != "program_cpu_us")
        figures |= {"postgresql_cpu_us": of_postgresql, "cpu_us": of_postgresql + figures["program_cpu_us"]}
        return figures | {"instances_per_s": instances / seconds, "create_p99_ms": counted["create_p99_ms"]}

    async def _cpu_s(self) -> defaultdict[str, float]:
        """CPU seconds of the program's processes, and of PostgreSQL's by the task that they work for."""
        connection = await driver.connect(self._dsn, name="benchmark")
        try:
            backends = (await connection.execute(BACKENDS)).rows
        finally:
            connection.close()
        used: defaultdict[str, float] = defaultdict(float)
        used["program"] = sum(cpu_s(one) for one in (self._process, *self._process.children(recursive=True)))
        for pid, name in backends:
            used[_part(str(name))] += cpu_s(psutil.Process(pid))
        return used


def _part(application_name: str) -> str:
    """The task that a connection belongs to: `vivero:consumer-2` is one of the consumers."""
    found = re.fullmatch(r"vivero:([a-z-]*?)(-\d+)?", application_name)
    return f"postgresql_{found[1].replace('-', '_')}" if found else "postgresql_others"
