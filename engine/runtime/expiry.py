"""Task: deletion of expired messages (docs/messages.md).

The core never correlates an expired message, so the task only frees space. It deletes bounded batches and stays out of
the engine's way: it does not use the log, skips rows that a batch has locked, and does not wait for the disk. Deleting
a message late or twice does no harm.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from vivero.engine.runtime.dedicated_connection import DedicatedConnection
from vivero.engine.runtime.supervision.beat import Beat
from vivero.storage.postgres.driver import Connection
from vivero.storage.state import message_channels


@dataclass(frozen=True, slots=True)
class ExpirySettings:
    """How often the task runs, and how much it deletes at once. Seconds and messages."""

    every_s: float = 1.0
    messages: int = 500
    pause_s: float = 0.05
    """The pause between two batches while there is more to delete."""
    call_timeout_s: float = 5.0

    def __post_init__(self) -> None:
        if self.messages < 1:
            raise ValueError("expiry.messages must be at least 1")


class Expiry:
    """The handle of the task; `run` is the child."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        settings: ExpirySettings | None = None,
        partitions: Callable[[], Collection[int]] = lambda: (1,),
    ) -> None:
        """`partitions()` names the partitions whose messages this node deletes."""
        self._connection = DedicatedConnection(connect)
        self._settings = settings or ExpirySettings()
        self._partitions = partitions
        self.deleted = 0
        """The number of messages deleted so far, for metrics and tests."""

    def close(self) -> None:
        """Shut the socket, so that a call that gets no answer ends."""
        self._connection.close()

    async def run(self, beat: Beat) -> None:
        """Delete expired messages until cancelled. Raises when the connection is lost; the supervisor restarts it."""
        settings = self._settings
        beat.beat()
        async with self._connection.opened(beat) as connection:
            while True:
                busy = await self.run_once(connection, beat)
                await beat.sleep(settings.pause_s if busy else settings.every_s)

    async def run_once(self, connection: Connection, beat: Beat) -> bool:
        """Delete one batch of expired messages of each partition. True if there may be more."""
        more = False
        for partition in self._partitions():
            with beat.waiting(self._settings.call_timeout_s):
                count = await message_channels.expire(connection, partition, self._settings.messages)
            self.deleted += count
            more |= count == self._settings.messages
        return more
