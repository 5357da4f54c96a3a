"""Reading the log while a batch is computed: what stands behind that batch is wanted next."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from vivero.storage.state.load import Batch


class ReadAhead:
    """A read that is under way. Nobody else uses its connection until it is done."""

    def __init__(self) -> None:
        self._read: Batch | None = None
        self._done = trio.Event()

    async def run(self, read: Callable[[], Awaitable[Batch]]) -> None:
        """A task: if it fails there is no answer, and whoever started it ends."""
        self._read = await read()
        self._done.set()

    async def wait(self) -> Batch | None:
        """What was read, when it is there."""
        await self._done.wait()
        return self._read
