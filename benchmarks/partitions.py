"""The cost of a command in two engine processes on two partitions, compared with one process on one partition.

The same number of creations of a one-task process is appended directly to the logs, in equal parts. CPU times are those
of the engine processes and of PostgreSQL's backends. A ratio near 1 means that the number of cores is what limits.
"""

from __future__ import annotations

from contextlib import ExitStack
from time import perf_counter
from uuid import uuid4

import psutil
import trio

from benchmarks.http import cpu_s
from benchmarks.model import CREATE, ONE_TASK
from benchmarks.server import fresh_database, program
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.codec import encode_command
from vivero.storage.cluster import nodes
from vivero.storage.log import command_log
from vivero.storage.log.command_log import LogEntry
from vivero.storage.postgres import driver
from vivero.storage.postgres.driver import Connection

WARM, MEASURED = 4_000, 24_000
"""Commands, of all partitions together."""
CALL = 500
IDLE_S = 3.0
"""Seconds for which the use of idle processes is measured. It counts for more the slower the machine is."""
LOOK_S = 0.01


def run() -> tuple[dict[str, float], dict[str, str]]:
    """CPU time a command with one and with two engine processes, and their ratio."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    one, notes = await _measure(1)
    two, _ = await _measure(2)
    figures = {f"one_engine_{name}": value for name, value in one.items()}
    figures |= {f"two_engines_{name}": value for name, value in two.items()}
    figures["engine_cpu_ratio"] = two["cpu_us"] / one["cpu_us"]
    figures["engine_cpu_ratio_without_idle"] = two["cpu_us_without_idle"] / one["cpu_us_without_idle"]
    return figures, notes | {"commands": f"{MEASURED:,}"}


async def _measure(count: int) -> tuple[dict[str, float], dict[str, str]]:
    """The costs with so many engines and partitions."""
    async with fresh_database() as (dsn, notes):
        with ExitStack() as running:
            first = running.enter_context(program(dsn, {"one.bpmn": ONE_TASK}, "--partitions", str(count)))
            others = [running.enter_context(program(dsn, {}, "--roles", "engine")) for _ in range(count - 1)]
            engines = [process for _, process in (first, *others)]
            connection = await driver.connect(dsn, name="benchmark")
            await _balanced(connection, count)
            await _process(dsn, count, WARM)
            idle = await _times(connection, engines)
            await trio.sleep(IDLE_S)
            before, began = await _times(connection, engines), perf_counter()
            await _process(dsn, count, MEASURED)
            seconds, after = perf_counter() - began, await _times(connection, engines)
            connection.close()
    idle_share = (before[0] - idle[0]) / IDLE_S
    return {
        "cpu_us": 1e6 * (after[0] - before[0]) / MEASURED,
        "cpu_us_without_idle": 1e6 * (after[0] - before[0] - seconds * idle_share) / MEASURED,
        "idle_cpu_percent": 100 * idle_share,
        "postgresql_cpu_us": 1e6 * (after[1] - before[1]) / MEASURED,
        "commands_per_s": MEASURED / seconds,
    }, notes


async def _balanced(connection: Connection, count: int) -> None:
    """Wait until each engine leads one partition."""
    while True:
        leaders = [partition.leader for partition in (await nodes.view(connection)).partitions]
        if None not in leaders and len(set(leaders)) == count:
            return
        await trio.sleep(LOOK_S)


async def _process(dsn: str, partitions: int, commands: int) -> None:
    """Append the commands, and wait until they are processed."""
    async with trio.open_nursery() as nursery:
        for partition in range(1, partitions + 1):
            nursery.start_soon(_process_one, dsn, partition, commands // partitions)


async def _process_one(dsn: str, partition: int, commands: int) -> None:
    connection = await driver.connect(dsn, name="benchmark")
    session = await command_log.begin(connection, uuid4(), 1)
    entry = LogEntry(DEFAULT_TENANT, CREATE.intent, encode_command(CREATE))
    last = 0
    for _ in range(commands // CALL):
        last = (await command_log.append(connection, session, partition, uuid4(), None, [entry] * CALL))[-1].position
    while True:
        if await command_log.cursor(connection, partition) >= last:
            break
        await trio.sleep(LOOK_S)
    connection.close()


async def _times(connection: Connection, engines: list[psutil.Process]) -> tuple[float, float]:
    """CPU seconds of the engine processes, and of the backends of their consumers."""
    query = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'vivero:consumer%'"
    backends = (await connection.execute(query)).rows
    return sum(map(cpu_s, engines)), sum(cpu_s(psutil.Process(pid)) for (pid,) in backends)
