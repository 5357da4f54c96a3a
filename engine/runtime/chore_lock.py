"""Task: holds the lock of the chores, which one node at a time does (expiry, maintenance, retention).

Every node with the role `jobs` tries to take the lock. Its holder does the chores of all partitions, whoever leads
them. The lock belongs to a connection: if its node dies, PostgreSQL releases it, and another node takes over. If its
node freezes, another node ends the session after ten seconds. For a moment two nodes may both do the chores. That
costs time and does no harm.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from vivero.engine.runtime.dedicated_connection import DedicatedConnection
from vivero.engine.runtime.supervision.beat import Beat
from vivero.storage import chore_lock
from vivero.storage.postgres.driver import CALL_TIMEOUT_S, Connection

log = structlog.get_logger(__name__)

EVERY_S = 2.0
"""How often a node tries to take the lock, and how often its holder reads which partitions there are."""


class ChoreLock:
    """The handle of the task; `run` is the child."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        every_s: float = EVERY_S,
        silent_s: float = chore_lock.SILENT_S,
    ) -> None:
        self._connection = DedicatedConnection(connect)
        self._every_s, self._silent_s = every_s, silent_s
        self._held = False
        self._partitions: tuple[int, ...] = ()

    def partitions(self) -> tuple[int, ...]:
        """The partitions whose chores this node does: all or none."""
        return self._partitions

    def close(self) -> None:
        """Shut the socket, so that a call that gets no answer ends."""
        self._connection.close()

    async def run(self, beat: Beat) -> None:
        """Take the lock and hold it until cancelled. Raises when the connection is lost; the supervisor restarts it."""
        try:
            async with self._connection.opened(beat) as connection:
                while True:
                    with beat.waiting(CALL_TIMEOUT_S):
                        await self.run_once(connection)
                    await beat.sleep(self._every_s)
        finally:
            self._held, self._partitions = False, ()

    async def run_once(self, connection: Connection) -> None:
        """Take the lock if it is free, or end a frozen holder. Read the partitions if this node has the lock."""
        self._held = self._held or await chore_lock.attempt(connection)
        if not self._held and await chore_lock.end_silent_holder(connection, self._silent_s):
            log.warning("the node that did the chores has been silent for too long: its session was ended")
            self._held = await chore_lock.attempt(connection)
        if self._held:
            self._partitions = await chore_lock.partitions(connection)
