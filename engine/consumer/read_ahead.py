"""Reading the log while a batch is computed: the rows behind that batch are needed next."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from vivero.storage.log.log_batches import Batch


class ReadAhead:
    """A read that is under way. Nothing else uses its connection until it is done."""

    def __init__(self) -> None:
        self._read: Batch | None = None
        self._done = trio.Event()

    async def run(self, read: Callable[[], Awaitable[Batch]]) -> None:
        """A task. If it fails there is no result, and the nursery that started it ends."""
        self._read = await read()
        self._done.set()

    async def wait(self) -> Batch | None:
        """The rows, once they are read."""
        await self._done.wait()
        return self._read
