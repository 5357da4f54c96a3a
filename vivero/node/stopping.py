"""The stop of a program: the API finishes first, because its requests need the other tasks; the partitions go last.

Its time is bounded on the clock, because a service manager kills a program that takes longer.
"""

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
_STAGES = ("api",), (JOBS, CONNECTORS, CHORES), ("appender",), ("cluster",)
"""Children that stop at the same time."""
_GRACES = {True: (1.25, 0.5, 0.5, 0.5), False: (0.0, 1.0, 0.25, 0.25)}
"""The graces for the stages, with clients and without. A stage also has the time that earlier ones left.

Without clients nothing is left for the jobs, so that they get the whole grace at once.
"""


def longest_s(grace_s: float, serves_clients: bool) -> float:
    """Seconds on the clock until all tasks of a process have been cancelled at the latest."""
    return grace_s * sum(_GRACES[serves_clients])


async def stop_in_order(supervisor: Supervisor, completions: Completions, grace_s: float) -> None:
    """Drain the API; the jobs, connectors and chores; the appender; and hand over the partitions.

    Each gets `grace_s` of given time at most, and all together `longest_s`.
    """
    log.info("stopping: finishing open requests", grace_s=grace_s)
    latest = trio.current_time()
    async with trio.open_nursery() as waiting:
        waiting.start_soon(_stop_waiting, completions)
        for names, graces in zip(_STAGES, _GRACES[supervisor.has("api")], strict=True):
            present = [name for name in names if supervisor.has(name)]
            latest += graces * grace_s if present else 0.0
            async with trio.open_nursery() as stage:
                for name in present:
                    stage.start_soon(supervisor.stop, name, grace_s, latest)
        waiting.cancel_scope.cancel()


async def _stop_waiting(completions: Completions) -> None:
    """Let requests wait a moment for the ends of instances, then answer them: jobs may take long."""
    await trio.sleep(ENDS_TIMEOUT_S)
    completions.give_up_ends()
