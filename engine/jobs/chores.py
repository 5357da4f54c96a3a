"""Definitions of chores: scheduled jobs of the program itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from vivero.engine.jobs import schedules
from vivero.engine.jobs.definitions import CHORES, JobDefinition, Runs
from vivero.engine.jobs.execution import Connections, Execution
from vivero.storage.postgres.driver import Connection

Work = Callable[[Connection, Execution], Awaitable[bool]]
"""Does a bounded part of a chore. True if there may be more."""


def chore(
    name: str, every_s: float, connections: Connections, work: Work, pause_s: float = 0, by_partition: bool = False
) -> JobDefinition:
    """A chore that runs every so often, and then goes on until nothing is left."""

    async def run(execution: Execution) -> None:
        while True:
            async with connections() as connection:
                more = await work(connection, execution)
            if not more:
                return
            await trio.sleep(pause_s)

    schedule = schedules.every(f"PT{every_s:g}S")
    return JobDefinition(f"{CHORES}{name}", run, Runs.TRIO, schedule=schedule, by_partition=by_partition)
