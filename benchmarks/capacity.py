"""The cost of an instance in each part of the system, and the instances a second that larger machines would give.

An API node and an engine node run in processes of their own on one PostgreSQL, so that the CPU time of each part is
that of its processes. WAL and flushes are read from PostgreSQL. The projection divides the cores of a machine in
proportion to these costs. It takes for granted that cores are what limits, and therefore says how much WAL, how many
flushes and how many partitions the rate would need: those are the limits to look at next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import psutil
import trio

from benchmarks.http import client, cpu_s
from benchmarks.model import ONE_TASK
from benchmarks.server import fresh_database, program
from vivero.storage.postgres import driver

WARM_S, MEASURED_S = 4.0, 12.0
BUSY = 0.8
"""The share of a core that can be used before latencies rise."""
ENGINE_NAMES = ("vivero:consumer", "vivero:timers", "vivero:chores", "vivero:chore-runs")
"""The first part of the names of the connections that belong to engine nodes."""
WAL = """
SELECT (SELECT wal_bytes::bigint FROM pg_stat_wal),
       (SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'batches')
"""
"""PostgreSQL reports both a second late at most."""
BACKENDS = "SELECT pid, application_name FROM pg_stat_activity WHERE pid <> pg_backend_pid()"


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of one instance with one service task: creation, activation, completion. Times are microseconds of CPU."""

    api_us: float
    engine_us: float
    postgresql_us: float
    wal_bytes: float
    batches: float
    """Batches per instance, each of which is one flush."""


def run() -> tuple[dict[str, float], dict[str, str]]:
    """The costs of an instance by part, and what they would give elsewhere."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with fresh_database() as (dsn, notes):
        with (
            program(dsn, {}, "--roles", "engine,jobs") as (_, engine),
            program(dsn, {"one.bpmn": ONE_TASK}, "--roles", "api") as (port, api),
        ):
            await trio.to_thread.run_sync(client, port, "service", WARM_S, 0)
            before = await _counters(dsn, api, engine)
            found = await trio.to_thread.run_sync(client, port, "service", MEASURED_S, 0)
            after = await _counters(dsn, api, engine)
    instances = found["instances_per_s"] * MEASURED_S
    per_instance = {name: (after[name] - before[name]) / instances for name in before}
    costs = Costs(
        1e6 * per_instance["api"],
        1e6 * per_instance["engine"],
        1e6 * per_instance["postgresql"],
        per_instance["wal_bytes"],
        per_instance["batches"],
    )
    figures = {
        "measured_instances_per_s": found["instances_per_s"],
        "api_cpu_us": costs.api_us,
        "engine_cpu_us": costs.engine_us,
        "postgresql_cpu_us": costs.postgresql_us,
        "postgresql_for_engine_cpu_us": 1e6 * per_instance["postgresql_engine"],
        "wal_bytes": costs.wal_bytes,
        "instances_per_batch": 1 / costs.batches,
    }
    return figures | projection(costs), notes


def projection(costs: Costs) -> dict[str, float]:
    """The throughput of 16 cores for nodes with a PostgreSQL of its own, and the need of 86,000 instances a second."""
    nodes_us = costs.api_us + costs.engine_us
    sixteen = 16 * BUSY * 1e6 / nodes_us
    figures = {"with_16_cores_instances_per_s": sixteen} | _needs("with_16_cores", sixteen, costs)
    return figures | _needs("for_86000_per_s", 86_000, costs)


def _needs(name: str, per_s: float, costs: Costs) -> dict[str, float]:
    return {
        f"{name}_node_cores": per_s * (costs.api_us + costs.engine_us) / 1e6 / BUSY,
        f"{name}_postgresql_cores": per_s * costs.postgresql_us / 1e6 / BUSY,
        f"{name}_partitions": per_s * costs.engine_us / 1e6 / BUSY,
        f"{name}_wal_mb_per_s": per_s * costs.wal_bytes / 1e6,
        f"{name}_flushes_per_s": per_s * costs.batches,
    }


async def _counters(dsn: str, api: psutil.Process, engine: psutil.Process) -> Mapping[str, float]:
    """CPU seconds of all parts, WAL and batches so far."""
    connection = await driver.connect(dsn, name="benchmark")
    try:
        await connection.execute("SELECT pg_stat_clear_snapshot()")
        wal_bytes, batches = (await connection.execute(WAL)).rows[0]
        backends = (await connection.execute(BACKENDS)).rows
    finally:
        connection.close()
    times = {pid: cpu_s(psutil.Process(pid)) for pid, _ in backends}
    of_engine = sum(times[pid] for pid, name in backends if str(name).startswith(ENGINE_NAMES))
    return {
        "api": cpu_s(api),
        "engine": cpu_s(engine),
        "postgresql": sum(times.values()),
        "postgresql_engine": of_engine,
        "wal_bytes": float(wal_bytes),
        "batches": float(batches),
    }
