"""Reading the log while a batch is computed: the rows behind that batch are needed next."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from vivero.storage.log.log_batches import LogPage


class ReadAhead:
    """A read that is under way. Nothing else uses its connection until it is done."""

    def __init__(self) -> None:
        self._read: LogPage | None = None
        self._done = trio.Event()

    async def run(self, read: Callable[[], Awaitable[LogPage]]) -> None:
        """A task. If it fails there is no result, and the nursery that started it ends."""
        self._read = await read()
        self._done.set()

    async def wait(self) -> LogPage | None:
        """The rows, once they are read."""
        await self._done.wait()
        return self._read
