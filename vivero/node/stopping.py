"""The stop of a program: the API finishes first, because its requests need the other tasks; the partitions go last."""

from __future__ import annotations

import structlog
import trio

from vivero.engine.outcomes.completions import Completions
from vivero.engine.supervision.supervisor import Supervisor
from vivero.node.background import NAME as JOBS
from vivero.node.chores import NAME as CHORES
from vivero.node.connector_tasks import NAME as CONNECTORS

log = structlog.get_logger(__name__)

ENDS_TIMEOUT_S = 1.0
"""Seconds for which requests wait for the ends of process instances while the program stops."""


async def stop_in_order(supervisor: Supervisor, completions: Completions, grace_s: float) -> None:
    """Drain the API, the jobs, the connectors and the appender, and hand over the partitions. Each gets `grace_s`."""
    log.info("stopping: finishing open requests", grace_s=grace_s)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stop_waiting, completions)
        if supervisor.has("api"):
            await supervisor.stop("api", grace_s)
        nursery.cancel_scope.cancel()
    for name in (JOBS, CONNECTORS, CHORES, "appender", "cluster"):
        if supervisor.has(name):
            await supervisor.stop(name, grace_s)


async def _stop_waiting(completions: Completions) -> None:
    """Let requests wait a moment for the ends of instances, then answer them: jobs may take long."""
    await trio.sleep(ENDS_TIMEOUT_S)
    completions.give_up_ends()
