"""The faults of a soak, one after the other: of nodes, of workers, of sessions and of PostgreSQL."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import psutil
import trio

from benchmarks.growth.database import connected
from benchmarks.soak.programs import Node, Program

FROZEN_S, AWAY_S = 20.0, 10.0
CHECKPOINTER = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"
BACKEND = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'vivero:consumer%' LIMIT 1"
LEADER = "SELECT owner_node FROM partitions ORDER BY id LIMIT 1"
END_SESSIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'vivero:%'"


@dataclass
class System:
    """Everything that a fault can meet."""

    dsn: str
    nodes: list[Node]
    workers: list[Program]

    async def first(self, query: str) -> object:
        """The first value of the first row, None without rows."""
        async with connected(self.dsn) as connection:
            rows = (await connection.execute(query)).rows
        return rows[0][0] if rows else None

    async def postmaster(self) -> psutil.Process:
        checkpointer = await self.first(CHECKPOINTER)
        found = psutil.Process(int(str(checkpointer))).parent()
        assert found is not None
        return found

    async def leader(self) -> Node:
        """The node that leads the first partition, or the first node while nobody leads."""
        owner = str(await self.first(LEADER))
        return next((node for node in self.nodes if node.name in owner), self.nodes[0])


async def kill_leader(system: System) -> None:
    """kill -9 of the leader"""
    node = await system.leader()
    node.kill()
    node.start()


async def kill_worker(system: System) -> None:
    """kill -9 of a worker with leased jobs"""
    worker = system.workers[0]
    worker.kill()
    try:
        await trio.sleep(AWAY_S)
    finally:
        worker.start()


async def kill_backend(system: System) -> None:
    """kill -9 of a backend of PostgreSQL, which restarts all of it"""
    pid = await system.first(BACKEND)
    psutil.Process(int(str(pid))).kill()


async def freeze_leader(system: System) -> None:
    """SIGSTOP of the leader for 20 s"""
    node = await system.leader()
    node.send(signal.SIGSTOP)
    try:
        await trio.sleep(FROZEN_S)
    finally:
        node.send(signal.SIGCONT)


async def restart_postgresql(system: System) -> None:
    """fast restart of PostgreSQL"""
    (await system.postmaster()).send_signal(signal.SIGINT)


async def silence_postgresql(system: System) -> None:
    """PostgreSQL frozen for 10 s: connections stay open, nothing answers"""
    postmaster = await system.postmaster()
    frozen = [postmaster, *postmaster.children()]
    for each in frozen:
        each.suspend()
    try:
        await trio.sleep(AWAY_S)
    finally:
        for each in frozen:
            each.resume()


async def end_sessions(system: System) -> None:
    """the sessions of all nodes ended"""
    await system.first(END_SESSIONS)


async def kill_all(system: System) -> None:
    """kill -9 of all nodes at once"""
    for node in system.nodes:
        node.kill()
    for node in system.nodes:
        node.start()


Fault = Callable[[System], Awaitable[None]]
FAULTS: tuple[Fault, ...] = (
    kill_leader,
    kill_worker,
    kill_backend,
    freeze_leader,
    restart_postgresql,
    silence_postgresql,
    end_sessions,
    kill_all,
)


def name_of(fault: Fault) -> str:
    return fault.__doc__ or fault.__name__
