"""The speed at which retention deletes, and the level of tables while instances come and go.

Filled with copies of ended instances as for `growth`, 50,000 (VIVERO_BENCH_INSTANCES), which are then deleted. After
that a program creates and completes instances at a steady pace, and deletes them a minute after their end, for
VIVERO_BENCH_STEADY_S seconds (180; 0: not at all; 1200 for the figures of benchmarks/results), compared with one that
deletes nothing. VIVERO_BENCH_HOURS: so many hours pass meanwhile on the engine's clock, which is moved each second.
Instances then stay for two hours, and logs for two days: 24 shows that the state is level, 96 that the logs are, too.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil
import trio

from benchmarks.growth import database, fill, real, sizes, varieties
from benchmarks.http import client
from benchmarks.server import program
from vivero.engine.jobs.execution import Execution
from vivero.engine.retention.chore_settings import RetentionSettings
from vivero.engine.retention.history import EndedInstances
from vivero.node.chores import SESSION
from vivero.storage.background.job_executions import Run
from vivero.storage.cluster import clock
from vivero.storage.postgres import driver
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.pool import Pool

INSTANCES = int(os.environ.get("VIVERO_BENCH_INSTANCES", "50000"))
REAL = 1_000
STEADY_S = float(os.environ.get("VIVERO_BENCH_STEADY_S", "180"))
PACE = float(os.environ.get("VIVERO_BENCH_PACE", "300"))
HOURS = float(os.environ.get("VIVERO_BENCH_HOURS", "0"))
LEASE_MS = int(60_000 * max(1, HOURS * 3600 / max(STEADY_S, 1)))
"""A minute, however fast the engine's clock is moved."""
PERIODS = 6
DELETING = {"VIVERO_RETENTION_INSTANCES": "PT1M", "VIVERO_RETENTION_EVERY_S": "2"}
SCALED = {
    "VIVERO_RETENTION_INSTANCES": "PT2H",
    "VIVERO_RETENTION_LOG": "P2D",
    "VIVERO_RETENTION_EVERY_S": "2",
    "VIVERO_RETENTION_CATCH_UP": "1000000",
}
KEEPING = {"VIVERO_RETENTION_INSTANCES": "never"}

Figures = dict[str, float]


async def _deletion(dsn: str, directory: Path) -> Figures:
    """Fill a database and delete everything that has ended in it, alone."""
    with program(
        dsn,
        varieties.MODELS,
    ) as (port, _):
        await trio.to_thread.run_sync(real.make, port, range(REAL))
    async with database.connected(dsn) as connection:
        await fill.fill(connection, REAL, INSTANCES, directory, lambda _done, _total: None)
        await sizes.settle(connection)
        before = await _roots(connection)
        epoch = (await connection.execute("SELECT epoch FROM partitions WHERE id = 1")).rows[0][0]
    pool = Pool(lambda deadline: driver.connect(dsn, name="benchmark", deadline=deadline, settings=SESSION), 1)
    now = 0.0
    chore = EndedInstances(RetentionSettings(instances="PT1M", catch_up=1e6), pool.connection, None, lambda: now)
    run = Run("id", "vivero.ended-instances", 0, None, None, 1, "lease", 0, 0, 0, epoch)
    await chore(Execution(run))  # the first run of a term only sets the clock of retention
    now, began = 600.0, time.perf_counter()
    await chore(Execution(run))
    seconds = time.perf_counter() - began
    pool.close()
    async with database.connected(dsn) as connection:
        left = await _roots(connection)
    return {"deleted": float(before - left), "seconds": seconds, "trees_per_s": (before - left) / seconds}


async def _roots(connection: Connection) -> int:
    query = "SELECT count(*) FROM process_instances WHERE parent_process_instance_key IS NULL"
    result: int = (await connection.execute(query)).rows[0][0]
    return result


async def _steady(dsn: str, environment: Mapping[str, str], periods: int) -> Figures:
    """Load at a steady pace; at the end of each period sizes, ended instances and the memory of the program."""
    figures: Figures = {}
    created, completed, done = [], [], []
    with program(dsn, varieties.MODELS, environment=environment) as (port, process):
        async with trio.open_nursery() as nursery:
            if HOURS:
                nursery.start_soon(_move_clock, dsn)
            for number in range(1, periods + 1):
                found = await trio.to_thread.run_sync(client, port, "service", STEADY_S / PERIODS, PACE, "", LEASE_MS)
                created.append(found["create_p99_ms"])
                completed.append(found["completed_p99_ms"])
                done.append(found["instances_per_s"])
                async with database.connected(dsn) as connection:
                    at_end = await _sizes(connection)
                at_end["program_mb"] = process.memory_info().rss / 1e6
                print(f"{number}: {at_end} {found}", file=sys.stderr, flush=True)
                figures |= {f"{name}_{number}": each for name, each in at_end.items()}
            nursery.cancel_scope.cancel()
    middle = len(created) // 2
    figures["instances_per_s"] = sorted(done)[middle]
    figures["create_p99_ms"] = sorted(created)[middle]
    figures["completed_p99_ms"] = sorted(completed)[middle]
    return figures


async def _move_clock(dsn: str) -> None:
    """Let the hours pass while the load lasts."""
    began = trio.current_time()
    async with database.connected(dsn) as connection:
        while True:
            await trio.sleep(1)
            elapsed_s = trio.current_time() - began
            await clock.shift(connection, int(elapsed_s * 1000 * (HOURS * 3600 / STEADY_S - 1)))


async def _sizes(connection: Connection) -> Figures:
    """Megabytes of tables and indexes of the state, and of both logs; and ended instances."""
    found = {"tables_mb": 0.0, "indexes_mb": 0.0, "logs_mb": 0.0, "records_mb": 0.0}
    for name, size in (await sizes.sizes(connection)).items():
        of_log, record = name.startswith(("command_log", "event_log")), name.startswith("deleted_trees")
        kind = "logs" if of_log else "records" if record else "indexes" if ": " in name else "tables"
        found[f"{kind}_mb"] += size / 1e6
    ended = (await connection.execute("SELECT count(*) FROM process_instances WHERE ended_at IS NOT NULL")).rows
    return found | {"ended": float(ended[0][0])}


async def _measure(directory: Path) -> Figures:
    async with database.server(directory, {}) as dsn:
        figures = await _deletion(await database.make(dsn, "filled"), directory)
        print(figures, file=sys.stderr, flush=True)
        if not STEADY_S:
            return figures
        kept = await _steady(await database.make(dsn, "kept"), KEEPING, 2)
        steady = await _steady(await database.make(dsn, "steady"), SCALED if HOURS else DELETING, PERIODS)
    return (
        figures
        | {f"kept_{name}": each for name, each in kept.items()}
        | {f"steady_{name}": each for name, each in steady.items()}
    )


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Trees deleted in a second, the size of the state after each sixth of the steady load, and latencies."""
    directory = database.default_directory()
    try:
        figures = trio.run(_measure, directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return figures, {
        "instances": f"{INSTANCES:,}",
        "steady": f"{STEADY_S:g} s at {PACE:g}/s",
        "cores": str(psutil.cpu_count()),
    }
