"""The speed of the consumer on a log that was filled beforehand: create + complete of a one-task process."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from time import perf_counter

import psutil
import trio

from benchmarks.filled_log import Models, Progress, append, commands
from benchmarks.server import fresh_database
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.engine.jobs.definitions import JobDefinition, JobRegistry, Runs
from vivero.engine.jobs.dispatcher import JobDispatcher
from vivero.engine.retention.chores import ChoreSettings, dispatcher_settings, of_database, of_partitions
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.program.program import tune_interpreter
from vivero.storage.postgres import driver
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.plans import CHORES
from vivero.storage.postgres.pool import Pool

JOBS = bool(os.environ.get("VIVERO_BENCH_JOBS"))
"""Run the chores, and a dispatcher of background jobs that finds nothing, in the same process."""
INSTANCES = int(os.environ.get("VIVERO_BENCH_INSTANCES", "50000"))
LAG = 500
CALL = 500


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Commands a second, statements a batch, CPU time and memory."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with fresh_database() as (dsn, notes):
        connection = await driver.connect(dsn, name="benchmark")
        last = await append(connection, commands(INSTANCES, LAG), CALL)
        progress = Progress(last)
        settings = ConsumerSettings()
        consumer = Consumer(lambda name: driver.connect(dsn, name=name), "benchmark", Models(), progress, settings)
        tune_interpreter()
        cpu, began = _cpu_s(), perf_counter()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(consumer.run, Beat(SupervisionSettings()))
            for dispatcher in _dispatchers(dsn) if JOBS else ():
                nursery.start_soon(dispatcher.run, Beat(SupervisionSettings()))
            await progress.done.wait()
            seconds, cpu = perf_counter() - began, _cpu_s() - cpu
            writer = await _backend_cpu_s(connection)
            nursery.cancel_scope.cancel()
        ended = (await connection.execute("SELECT count(ended_at) FROM process_instances")).rows[0][0]
        connection.close()
    if ended != INSTANCES or progress.rejected:
        raise RuntimeError(f"{ended} of {INSTANCES} instances ended, {progress.rejected} commands were rejected")
    stats = consumer.stats
    return {
        "commands_per_s": stats.commands / seconds,
        "statements_per_batch": stats.statements / stats.batches,
        "commands_per_batch": stats.commands / stats.batches,
        "cpu_us_per_command": 1e6 * cpu / stats.commands,
        "writer_backend_cpu_us_per_command": 1e6 * writer / stats.commands,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }, notes | {"instances": f"{INSTANCES:,}"}


def _dispatchers(dsn: str) -> Iterator[JobDispatcher]:
    """The dispatcher of the chores, and that of jobs of the user, of which none is due."""
    pool = Pool(lambda deadline: driver.connect(dsn, name="runs", deadline=deadline), 2)

    async def connect() -> Connection:
        return await driver.connect(dsn, name="jobs", settings=CHORES)

    ours = [of(ChoreSettings(), pool.connection) for of in (of_partitions, of_database)]
    chores = JobRegistry.of(job for registry in ours for job in registry.definitions.values())
    yield JobDispatcher(connect, pool.connection, "benchmark", chores, dispatcher_settings({}), chores=True)
    idle = JobRegistry.of([JobDefinition("idle", trio.sleep_forever, Runs.TRIO)])
    yield JobDispatcher(connect, pool.connection, "benchmark", idle)


async def _backend_cpu_s(connection: Connection) -> float:
    """The CPU time of the server process that commits the batches."""
    query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'vivero:consumer-writer'"
    times = psutil.Process((await connection.execute(query)).rows[0][0]).cpu_times()
    return float(times.user + times.system)


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
