"""The cost of an instance when little happens, and of a server that does nothing.

`idle`: nobody asks for anything. `lone`: 50 instances a second, each created, activated and completed by itself.
`waits` are the moments at which the program's thread slept: the turns of the event loop that a socket or a timer began.
A thread that slept finds cold caches, and takes a multiple of the CPU time that the same work takes under load. Waits
and transactions depend little on the machine.
"""

from __future__ import annotations

from time import perf_counter, sleep
from typing import NamedTuple

import psutil
import trio

from benchmarks.http import PACE, WARM_S, client, cpu_s
from benchmarks.model import ONE_TASK
from benchmarks.server import fresh_database, program
from vivero.storage.postgres import driver

SETTLE_S, IDLE_S, LONE_S = 5.0, 15.0, 15.0
SERVER = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"
TRANSACTIONS = "SELECT xact_commit::bigint FROM pg_stat_database WHERE datname = current_database()"


class Sample(NamedTuple):
    """The use of resources up to a moment."""

    at: float
    program_s: float
    postgresql_s: float
    waits: int
    transactions: int


class Watched:
    """The program and its PostgreSQL."""

    def __init__(self, dsn: str, process: psutil.Process) -> None:
        self._dsn, self._process = dsn, process
        server = psutil.Process(self._ask(SERVER)).parent()
        assert server is not None
        self._server = server

    def sample(self) -> Sample:
        return Sample(
            perf_counter(),
            cpu_s(self._process),
            sum(cpu_s(one) for one in (self._server, *self._server.children())),
            self._process.num_ctx_switches().voluntary,
            self._ask(TRANSACTIONS),
        )

    def _ask(self, query: str) -> int:
        return trio.from_thread.run(self._asked, query)

    async def _asked(self, query: str) -> int:
        connection = await driver.connect(self._dsn, name="benchmark")
        number: int = (await connection.execute(query)).rows[0][0]
        connection.close()
        return number


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Parts of a core and waits a second without requests, and the cost of an instance at a low rate."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with fresh_database() as (dsn, notes):
        return await trio.to_thread.run_sync(_measure, dsn), notes


def _measure(dsn: str) -> dict[str, float]:
    with program(dsn, {"one.bpmn": ONE_TASK}) as (port, process):
        client(port, "service", WARM_S, 0)
        sleep(SETTLE_S)
        watched = Watched(dsn, process)
        before = watched.sample()
        sleep(IDLE_S)
        idle = watched.sample()
        paced = client(port, "service", LONE_S, PACE)
        lone = watched.sample()
    latencies = {name: value for name, value in paced.items() if name.startswith(("activated", "completed", "create"))}
    return of_idle(before, idle) | of_lone(idle, lone, paced["instances_per_s"] * LONE_S) | latencies


def of_idle(before: Sample, after: Sample) -> dict[str, float]:
    """The figures of a time without requests, a second."""
    seconds = after.at - before.at
    return {
        "idle_program_percent": 100 * (after.program_s - before.program_s) / seconds,
        "idle_postgresql_percent": 100 * (after.postgresql_s - before.postgresql_s) / seconds,
        "idle_waits_per_s": (after.waits - before.waits) / seconds,
        "idle_transactions_per_s": (after.transactions - before.transactions) / seconds,
    }


def of_lone(before: Sample, after: Sample, instances: float) -> dict[str, float]:
    """The figures of `instances`, with what the server does beside them."""
    return {
        "lone_program_cpu_ms": 1e3 * (after.program_s - before.program_s) / instances,
        "lone_postgresql_cpu_ms": 1e3 * (after.postgresql_s - before.postgresql_s) / instances,
        "lone_waits": (after.waits - before.waits) / instances,
        "lone_transactions": (after.transactions - before.transactions) / instances,
    }
