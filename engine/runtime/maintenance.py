"""Task: maintenance of the tables of all partitions, on one node at a time (docs/supervision.md).

It creates partitions of the log tables ahead of need, trims the cursor, and adds up the counts that batches write as
differences. Nothing of this is urgent. A chore that fails is logged, counted in `failures`, and tried again in the next
turn. A failure ends no term, and the engine never waits for maintenance.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

import structlog

from vivero.engine.runtime.dedicated_connection import DedicatedConnection
from vivero.engine.runtime.supervision.beat import Beat
from vivero.storage import maintenance
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import ConnectionLost, StorageError

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MaintenanceSettings:
    """How often the chores run, and how much each does at once. Seconds and rows."""

    every_s: float = 2.0
    changes: int = 20_000
    """The number of differences of element counts that are added up at once."""
    call_timeout_s: float = 5.0

    def __post_init__(self) -> None:
        if self.changes < 1:
            raise ValueError("maintenance.changes must be at least 1")


class Maintenance:
    """The handle of the task; `run` is the child."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        settings: MaintenanceSettings | None = None,
        partitions: Callable[[], Collection[int]] = lambda: (1,),
    ) -> None:
        """`partitions()` names the partitions that this node maintains."""
        self._connection = DedicatedConnection(connect)
        self._settings = settings or MaintenanceSettings()
        self._partitions = partitions
        self._trimmed_until: dict[int, int] = {}
        """By partition."""
        self._chores: dict[str, Callable[[Connection, int], Awaitable[bool]]] = {
            "create log partitions": self._make_log_partitions,
            "add up element counts": self._total_element_counts,
            "trim the cursor": self._trim_cursor,
        }
        self.failures = dict.fromkeys(self._chores, 0)
        """The number of failures by chore, for metrics and tests."""

    def close(self) -> None:
        """Shut the socket, so that a call that gets no answer ends."""
        self._connection.close()

    async def run(self, beat: Beat) -> None:
        """Run the chores until cancelled. Raises when the connection is lost; the supervisor restarts it."""
        beat.beat()
        async with self._connection.opened(beat) as connection:
            with beat.waiting(self._settings.call_timeout_s):
                await maintenance.prepare(connection)
            while True:
                busy = await self.run_once(connection, beat)
                await beat.sleep(0 if busy else self._settings.every_s)

    async def run_once(self, connection: Connection, beat: Beat) -> bool:
        """Run each chore once for each partition. True if one of them has more to do. Raises ConnectionLost."""
        more = False
        for partition in self._partitions():
            for name in self._chores:
                with beat.waiting(self._settings.call_timeout_s):
                    more |= await self._run_chore(connection, name, partition)
        return more

    async def _run_chore(self, connection: Connection, name: str, partition: int) -> bool:
        try:
            return await self._chores[name](connection, partition)
        except ConnectionLost:
            raise
        except StorageError as error:
            self.failures[name] += 1
            log.error(
                "a maintenance chore failed and will be tried again", chore=name, partition=partition, error=str(error)
            )
            return False

    async def _make_log_partitions(self, connection: Connection, partition: int) -> bool:
        made = await maintenance.make_log_partitions(connection, partition)
        if made:
            log.info("created log partitions", partition=partition, count=made)
        return False

    async def _total_element_counts(self, connection: Connection, partition: int) -> bool:
        most = self._settings.changes
        return await maintenance.total_element_counts(connection, partition, most) == most

    async def _trim_cursor(self, connection: Connection, partition: int) -> bool:
        trimmed_until = self._trimmed_until.get(partition)
        self._trimmed_until[partition] = await maintenance.trim_cursor(connection, partition, trimmed_until)
        return False
