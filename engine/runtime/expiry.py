"""Task: the end of messages whose time has passed (docs/messages.md).

The core gives nobody an expired message, so this only frees room, a bounded piece at a time and never in the engine's
way: not through the log, waiting for no row that a batch holds, and without waiting for the disk. What is deleted
twice, or not before the next time, is no harm.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from vivero.engine.runtime.dedicated_connection import DedicatedConnection
from vivero.engine.runtime.supervision.beat import Beat
from vivero.storage.postgres.driver import Connection
from vivero.storage.state import channels


@dataclass(frozen=True, slots=True)
class ExpirySettings:
    """How often is looked, and how much is deleted at once. Seconds and messages."""

    every_s: float = 1.0
    messages: int = 500
    pause_s: float = 0.05
    """Between two pieces, while there is more."""
    call_timeout_s: float = 5.0

    def __post_init__(self) -> None:
        if self.messages < 1:
            raise ValueError("expiry needs messages >= 1")


class Expiry:
    """The handle of the task; `run` is the child."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        settings: ExpirySettings | None = None,
        partition: int = 1,
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        """`leads`: whether the partition is this node's to look after."""
        self._connection = DedicatedConnection(connect)
        self._settings = settings or ExpirySettings()
        self._partition = partition
        self._leads = leads
        self.deleted = 0
        """Messages so far, for metrics and tests."""

    def close(self) -> None:
        """Shut the socket, so that a call behind a black hole ends."""
        self._connection.close()

    async def run(self, beat: Beat) -> None:
        """Look every second, until cancelled. Raises when the connection is lost, to be started again."""
        settings = self._settings
        beat.beat()
        async with self._connection.opened(beat) as connection:
            while True:
                busy = await self.run_once(connection, beat) if self._leads() else False
                await beat.sleep(settings.pause_s if busy else settings.every_s)

    async def run_once(self, connection: Connection, beat: Beat) -> bool:
        """Delete a piece of what has expired; whether there may be more."""
        with beat.waiting(self._settings.call_timeout_s):
            count = await channels.expire(connection, self._partition, self._settings.messages)
        self.deleted += count
        return count == self._settings.messages
