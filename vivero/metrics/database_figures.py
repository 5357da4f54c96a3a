"""Task: reads the figures of the database for metrics, at one node at a time.

The figures tell of all partitions and nodes, so only one node shows them, and sums over nodes are right. They come from
the tables, not from the tasks that they describe: the lag grows while a consumer hangs. What a group costs limits how
often it is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import InitVar, dataclass, field
from time import monotonic

import structlog
import trio

from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.dedicated_connection import DedicatedConnection
from vivero.storage.postgres.driver import CALL_TIMEOUT_S, Connection
from vivero.storage.postgres.errors import ConnectionLost, Outage, StorageError, reason
from vivero.storage.postgres.ticks import tick_in
from vivero.storage.reads import figures
from vivero.storage.reads.figures import Rows

log = structlog.get_logger(__name__)

LAG = "partitions"
"""This group is read each time."""
MAX_SHARE = 0.02
"""The largest share of the time that reading one group may take: one that takes 1 s is read every 50 s."""
TURN_S = 1.0


@dataclass(frozen=True, slots=True)
class GroupReading:
    """The rows of a group, and when they were read, by `time.monotonic`."""

    rows: Rows
    at: float


@dataclass(slots=True)
class DatabaseFigures:
    """The handle of the task; `run` is the child. `leads()` tells whether this node reads."""

    connect: InitVar[Callable[[], Awaitable[Connection]]]
    every_s: float = 15.0
    leads: Callable[[], bool] = lambda: True
    failures: Counter[str] = field(default_factory=Counter)
    """Readings that failed, by group."""
    _readings: dict[str, GroupReading] = field(default_factory=dict)
    _next: dict[str, float] = field(default_factory=dict)
    _connection: DedicatedConnection = field(init=False)

    def __post_init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connection = DedicatedConnection(connect)

    def close(self) -> None:
        """Shut the socket, so that a call that gets no answer ends."""
        self._connection.close()

    def latest(self) -> Mapping[str, GroupReading]:
        """The latest reading of each group; empty at nodes that do not read."""
        return self._readings.copy()

    async def run(self, beat: Beat) -> None:
        """Read until cancelled. Raises when the connection is lost; the supervisor restarts it.

        The figures stay over restarts of the task: the time since their reading tells how old they are.
        """
        while True:
            if not self.leads():
                self._readings.clear()
                await beat.sleep(TURN_S)
                continue
            async with self._connection.opened(beat) as connection:
                while self.leads():
                    await self.run_once(connection, beat)
                    await beat.sleep(tick_in(TURN_S) - trio.current_time())

    async def run_once(self, connection: Connection, beat: Beat) -> None:
        """Read the groups that are due."""
        for group in figures.GROUPS:
            if trio.current_time() >= self._next.get(group, 0.0):
                with beat.waiting(CALL_TIMEOUT_S):
                    await self._read(connection, group)

    async def _read(self, connection: Connection, group: str) -> None:
        began = trio.current_time()
        try:
            rows = await figures.read(connection, group)
            self._readings[group] = GroupReading(rows, monotonic())
        except (ConnectionLost, Outage):
            raise
        except StorageError as error:  # too slow, or not permitted
            self.failures[group] += 1
            self._readings.pop(group, None)
            log.debug("figures of the database could not be read", group=group, error=reason(error))
        took = trio.current_time() - began
        self._next[group] = began + max(TURN_S if group == LAG else self.every_s, took / MAX_SHARE)
