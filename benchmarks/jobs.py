"""The background jobs that are dispatched in a second, and the delays of those that come at a steady rate."""

from __future__ import annotations

import resource
from time import perf_counter, time

import trio

from benchmarks.server import fresh_database
from vivero.engine.jobs.definitions import JobRegistry, job
from vivero.engine.jobs.dispatcher import JobDispatcher
from vivero.engine.jobs.execution import Execution
from vivero.engine.jobs.settings import JobSettings
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.postgres import driver
from vivero.storage.postgres.pool import Pool

JOBS = 5_000
PER_S = 100
LATE_JOBS = 500
BEGIN_IN_S = 1.0
FILL = """
INSERT INTO job_executions (job_type, payload, execute_at)
SELECT $1, to_jsonb(n), clock_now() + $3::float8 * interval '1 s' + n * $4::float8 * interval '1 s'
FROM generate_series(1, $2::int) AS n
"""


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Jobs a second without and with a transaction of their own; lateness at a hundred a second."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    figures: dict[str, float] = {}
    async with fresh_database() as (dsn, notes):
        for transactional in (False, True):
            name = "_with_sql" if transactional else ""
            cpu, seconds, _ = await _measure(dsn, JOBS, 0.0, 0.0, transactional)
            figures |= {f"jobs_per_s{name}": JOBS / seconds, f"cpu_us_per_job{name}": 1e6 * cpu / JOBS}
        _, _, late = await _measure(dsn, LATE_JOBS, BEGIN_IN_S, 1 / PER_S, False)
        late.sort()
        figures |= {"late_p50_ms": 1000 * late[len(late) // 2], "late_p99_ms": 1000 * late[len(late) * 99 // 100]}
    return figures, notes


async def _measure(
    dsn: str, count: int, begin_s: float, every_s: float, transactional: bool
) -> tuple[float, float, list[float]]:
    """The CPU and the time for `count` executions in seconds, and how late each began."""
    late: list[float] = []
    done = trio.Event()
    due = time() + begin_s

    @job("measured")
    async def measured(execution: Execution) -> None:
        if transactional:
            await execution.execute("SELECT 1")  # type: ignore[attr-defined]
        late.append(time() - due - execution.payload * every_s)
        if len(late) == count:
            done.set()

    connection = await driver.connect(dsn, name="fill")
    await connection.execute(FILL, ("measured", count, begin_s, every_s))
    pool = Pool(lambda deadline: driver.connect(dsn, name="runs", deadline=deadline), JobSettings().max_concurrent)
    registry = JobRegistry.of([measured])
    dispatcher = JobDispatcher(lambda: driver.connect(dsn, name="jobs"), pool.connection, "bench", registry)
    cpu, began = _cpu_s(), perf_counter()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(dispatcher.run, Beat(SupervisionSettings()))
        await done.wait()
        cpu, seconds = _cpu_s() - cpu, perf_counter() - began
        dispatcher.drain()
    pool.close()
    connection.close()
    return cpu, seconds, late


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
