"""How fast does the consumer work off a log that was filled beforehand: create + complete of a one-task process.

The log is filled with the keys that the jobs will have: keys are given out in order, so they are known. Completions
come `LAG` instances after their creations, so that both kinds are mixed and a batch does not see its own jobs only.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from time import perf_counter
from uuid import uuid4

import psutil
import trio

from benchmarks.model import CREATE, DEPLOY, ONE_TASK
from benchmarks.server import fresh_database
from vivero.core.bpmn.model import Process
from vivero.core.bpmn.parser import parse
from vivero.core.execution.outcomes import Ended
from vivero.core.memory import MemoryEngine
from vivero.core.records.base import DEFAULT_TENANT, Command
from vivero.core.records.codec import encode_command
from vivero.core.records.jobs import CompleteJob
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.consumer.new_job_leases import NewJobLeases, NewJobs
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.engine.definitions.decisions import DecisionCache
from vivero.engine.definitions.file_cache import FileCache
from vivero.engine.jobs.definitions import JobDefinition, JobRegistry, Runs
from vivero.engine.jobs.dispatcher import JobDispatcher
from vivero.engine.retention.chores import ChoreSettings, dispatcher_settings, of_database, of_partitions
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.program.program import tune_interpreter
from vivero.storage.log import command_log
from vivero.storage.log.command_log import CommandOutcome, LogEntry
from vivero.storage.postgres import driver
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.plans import CHORES
from vivero.storage.postgres.pool import Pool

JOBS = bool(os.environ.get("VIVERO_BENCH_JOBS"))
"""Run the chores, and a dispatcher of background jobs that finds nothing, in the same process."""
INSTANCES = int(os.environ.get("VIVERO_BENCH_INSTANCES", "50000"))
LAG = 500
CALL = 500


def _no_connection() -> AbstractAsyncContextManager[Connection]:
    raise AssertionError("no decisions are loaded ahead")


class _Models:
    hits = 0

    def __init__(self) -> None:
        self.decisions = DecisionCache(FileCache(1, 1), _no_connection)
        self._processes = {process.id: process for process in parse(ONE_TASK, "one_task.bpmn").processes}

    async def resource(self, sha256: str, _connection: Connection) -> Mapping[str, Process]:
        return self._processes

    def resource_nowait(self, sha256: str) -> Mapping[str, Process]:
        return self._processes


class _Progress:
    """Hears of commits; knows when the log is worked off."""

    def __init__(self, last: int) -> None:
        self.done = trio.Event()
        self.rejected = 0
        self._last = last

    def committed(self, partition: int, watermark: int, outcomes: list[CommandOutcome], ended: list[Ended]) -> None:
        self.rejected += sum(outcome.rejection is not None for outcome in outcomes)
        if watermark >= self._last:
            self.done.set()

    def available(self, type: str, tenant: str, count: int) -> None:
        pass

    def lease_new(self, jobs: NewJobs, now_ms: int) -> Sequence[NewJobLeases]:
        return ()

    def inbox_filled(self, partition: int) -> None:
        pass

    def timers_changed(self, partition: int, changes: Mapping[int, tuple[int, str] | None]) -> None:
        pass

    def leads(self, partition: int, epoch: int) -> None:
        pass


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Commands a second, statements a batch, CPU time and memory."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with fresh_database() as (dsn, notes):
        connection = await driver.connect(dsn, name="benchmark")
        last = await _fill(connection)
        progress = _Progress(last)
        settings = ConsumerSettings()
        consumer = Consumer(lambda name: driver.connect(dsn, name=name), "benchmark", _Models(), progress, settings)
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


async def _fill(connection: Connection) -> int:
    """Write the log; its last position."""
    commands: list[Command] = [DEPLOY]
    key, jobs = _key_after_deployment(), []
    keys_per_create, job_offset, keys_per_completion = _keys_of_an_instance()
    for number in range(INSTANCES + LAG):
        if number < INSTANCES:
            commands.append(CREATE)
            jobs.append(key + job_offset)
            key += keys_per_create
        if number >= LAG:
            commands.append(CompleteJob(jobs[number - LAG]))
            key += keys_per_completion
    session, last = await command_log.begin(connection, uuid4(), 1), 0
    for first in range(0, len(commands), CALL):
        entries = [
            LogEntry(DEFAULT_TENANT, command.intent, encode_command(command))
            for command in commands[first : first + CALL]
        ]
        last = (await command_log.append(connection, session, 1, uuid4(), None, entries))[-1].position
    return last


def _key_after_deployment() -> int:
    engine = MemoryEngine()
    engine.deploy(ONE_TASK)
    return engine.state.next_key


def _keys_of_an_instance() -> tuple[int, int, int]:
    """How many keys a creation and a completion take, and which of the creation's is the job's."""
    engine = MemoryEngine()
    engine.deploy(ONE_TASK)
    before = engine.state.next_key
    engine.run(CREATE)
    (job,) = engine.state.jobs
    between = engine.state.next_key
    engine.run(CompleteJob(job))
    return between - before, job - before, engine.state.next_key - between


async def _backend_cpu_s(connection: Connection) -> float:
    """The CPU time of the server process that commits the batches."""
    query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'vivero:consumer-writer'"
    times = psutil.Process((await connection.execute(query)).rows[0][0]).cpu_times()
    return float(times.user + times.system)


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
