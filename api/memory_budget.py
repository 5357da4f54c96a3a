"""Room for large answers that are being built, of activations or of searches: one budget of bytes for all of a kind.

Small answers need none. Whoever has to wait for budget holds neither jobs nor a connection; the first come is served
first, and meanwhile nobody who comes later takes anything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import trio


class MemoryBudget:
    """At limit `limit` bytes at the same time; `used` of them are taken."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._waiting: deque[tuple[int, trio.Event]] = deque()

    @contextmanager
    def share(self) -> Iterator[Share]:
        """One answer's share, empty at first; it is given back at the end of the block."""
        share = Share(self)
        try:
            yield share
        finally:
            share.shrink(0)

    def take(self, limit: int) -> int:
        """As many bytes as there are, at limit these."""
        taken = 0 if self._waiting else max(0, min(limit, self.limit - self.used))
        self.used += taken
        return taken

    async def wait(self, size: int) -> None:
        """Until so many bytes are taken for the caller. There are never more than `limit`."""
        mine = (size, trio.Event())
        self._waiting.append(mine)
        self._serve()
        if mine[1].is_set():
            return
        try:
            await mine[1].wait()
        except BaseException:
            if mine[1].is_set():
                self.give(mine[0])
            else:
                self._waiting.remove(mine)
                self._serve()
            raise

    def give(self, size: int) -> None:
        """Give bytes back."""
        self.used -= size
        self._serve()

    def _serve(self) -> None:
        while self._waiting and self._waiting[0][0] <= self.limit - self.used:
            size, served = self._waiting.popleft()
            self.used += size
            served.set()


class Share:
    """What one answer has taken."""

    __slots__ = ("_budget", "size")

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self.size = 0

    def take(self, limit: int) -> int:
        """Take more, as much as there is, at limit so much; how much that is."""
        taken = self._budget.take(limit)
        self.size += taken
        return taken

    def shrink(self, size: int) -> None:
        """Give back what is beyond this size."""
        if size < self.size:
            beyond, self.size = self.size - size, size
            self._budget.give(beyond)

    async def wait(self, size: int) -> None:
        """Wait until this share, which is given back first, has this size."""
        self.shrink(0)
        await self._budget.wait(size)
        self.size = size
