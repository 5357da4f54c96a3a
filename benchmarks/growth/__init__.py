"""Measures the program after very many instances. A database is filled with copies of real ones.

`python -m benchmarks growth` does it with 100,000 and removes the data (VIVERO_BENCH_GROWTH: another number). The steps
run one by one on data that stay with `python -m benchmarks.growth`.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import trio

from benchmarks.growth import database, fill, load, real, searches, sizes, varieties
from benchmarks.growth.check import check
from benchmarks.server import program

INSTANCES = int(os.environ.get("VIVERO_BENCH_GROWTH", "100000"))
SEED = 1


class Options(NamedTuple):
    """The resources of the steps."""

    directory: Path
    instances: int
    real: int = 10_000
    rounds: int = 100
    shared_buffers: str = "128MB"
    only: str = ""


class Databases(NamedTuple):
    """The DSNs of the databases: one is filled, the other one has nothing but a program's own load."""

    filled: str
    empty: str


Figures = dict[str, float]
Step = Callable[[Options, Databases], Awaitable[Figures]]


async def _real(options: Options, databases: Databases) -> Figures:
    """Real instances, if there are none: what one costs, when all tables are vacuumed."""
    async with database.connected(databases.filled) as connection:
        before, wal = await sizes.sizes(connection), await sizes.wal_bytes(connection)
        began = perf_counter()
        with program(databases.filled, varieties.MODELS, environment=varieties.KEEPING) as (port, _):
            await trio.to_thread.run_sync(real.make, port, range(options.real))
        seconds = perf_counter() - began
        wal = await sizes.wal_bytes(connection) - wal
        await sizes.settle(connection)
        after = await sizes.sizes(connection)
    figures = {"seconds": seconds, "wal": wal / options.real}
    return figures | sizes.per_instance(before, after, options.real)


async def _fill(options: Options, databases: Databases) -> Figures:
    """Copies: what one takes."""
    began = perf_counter()

    def progress(done: int, total: int) -> None:
        if done % 100_000 == 0 or done == total:
            print(f"{done:,} of {total:,} after {perf_counter() - began:.0f} s", file=sys.stderr, flush=True)

    async with database.connected(databases.filled) as connection:
        before = await sizes.sizes(connection)
        await fill.fill(connection, options.real, options.instances, options.directory, progress)
        seconds = perf_counter() - began
        await sizes.settle(connection)
        after = await sizes.sizes(connection)
    return {"seconds": seconds} | sizes.per_instance(before, after, options.instances)


async def _check(options: Options, databases: Databases) -> Figures:
    generated = range(options.real, options.real + min(options.instances, options.real))
    async with database.connected(databases.filled) as connection:
        found = await check(connection, range(options.real), generated)
    for difference in found.differences:
        print(difference, file=sys.stderr)
    return {"compared": found.compared, "unlike": found.unlike, "counted_exactly": float(found.counted)}


async def _sizes(options: Options, databases: Databases) -> Figures:
    async with database.connected(databases.filled) as connection:
        found = await sizes.sizes(connection)
    return sizes.per_instance({}, found, options.instances + options.real)


async def _start(_: Options, databases: Databases) -> Figures:
    return await trio.to_thread.run_sync(load.starts, databases.empty, databases.filled)


async def _load(_: Options, databases: Databases) -> Figures:
    return await load.compare(databases.empty, databases.filled)


async def _searches(options: Options, databases: Databases) -> Figures:
    async with database.connected(databases.filled) as connection:
        state = await fill.read_state(connection)
    if state is None:
        raise ValueError("the database is not filled yet")
    filled = searches.Filled(state.real + state.done, state.began, fill.SPAN, random.Random(SEED))
    with program(databases.filled, {}, environment=varieties.KEEPING) as (port, process):

        def used_s() -> float:
            return sum(trio.from_thread.run(load.used_s, databases.filled, process))

        return await trio.to_thread.run_sync(searches.measure, port, filled, options.rounds, used_s, options.only)


STEPS: Mapping[str, Step] = {
    "real": _real,
    "fill": _fill,
    "check": _check,
    "sizes": _sizes,
    "start": _start,
    "load": _load,
    "searches": _searches,
}


async def steps(names: Sequence[str], options: Options) -> list[tuple[str, Figures, dict[str, str]]]:
    """Run steps on the databases in the directory; the figures and notes of each."""
    found = []
    settings = {"shared_buffers": options.shared_buffers}
    async with database.server(options.directory, settings) as dsn:
        databases = Databases(await database.make(dsn, "filled"), await database.make(dsn, "empty"))
        for name in names:
            began = perf_counter()
            figures = await STEPS[name](options, databases)
            notes = {"instances": f"{options.instances:,}", "shared_buffers": options.shared_buffers}
            found.append((name, figures, notes | {"took": f"{perf_counter() - began:.0f} s"}))
    return found


def run() -> tuple[dict[str, float], dict[str, str]]:
    """All steps with fewer instances: bytes of an instance, and milliseconds of requests."""
    directory = database.default_directory()
    try:
        found = trio.run(steps, list(STEPS), Options(directory, INSTANCES, 2_000, 30))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    figures = {f"{step} {name}": value for step, values, _ in found for name, value in values.items()}
    return figures, {"instances": f"{INSTANCES:,}"}
