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


State = Callable[[Execution], object]
"""The state that a chore depends on, as a value to compare; None: it is not known."""


def _unknown(_execution: Execution) -> None:
    return None


def chore(
    name: str,
    every_s: float,
    connections: Connections,
    work: Work,
    pause_s: float = 0,
    by_partition: bool = False,
    state: State = _unknown,
) -> JobDefinition:
    """A chore that runs every so often, and then goes on until nothing is left.

    It rests, and sends PostgreSQL nothing, while the `state` is the one before a run that left nothing.
    """
    settled: dict[int | None, object] = {}

    async def run(execution: Execution) -> None:
        before = state(execution)
        if before is not None and settled.get(execution.partition) == before:
            return
        while True:
            async with connections() as connection:
                more = await work(connection, execution)
            if not more:
                if before is not None:
                    settled[execution.partition] = before
                return
            await trio.sleep(pause_s)

    schedule = schedules.every(f"PT{every_s:g}S")
    return JobDefinition(f"{CHORES}{name}", run, Runs.TRIO, schedule=schedule, by_partition=by_partition)
