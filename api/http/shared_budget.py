"""A budget that requests share: bytes of large answers that are being built, or steps of evaluations under way.

Small answers need no share. A request that waits for its share holds neither jobs nor a connection. Waiting requests
are served in their order, and later requests get nothing before them.
"""

from __future__ import annotations

from collections import deque
from typing import Self

import trio


class SharedBudget:
    """A budget of `limit` units, bytes or steps, of which `used` are taken."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._waiting: deque[tuple[int, trio.Event]] = deque()

    def share(self) -> Share:
        """One request's share for a block. It starts empty, and the end of the block returns it."""
        return Share(self)

    def take(self, limit: int) -> int:
        """Take as many units as are free, up to `limit`, and return their number."""
        taken = 0 if self._waiting else max(0, min(limit, self.limit - self.used))
        self.used += taken
        return taken

    async def wait(self, size: int) -> None:
        """Wait until `size` units are taken for the caller. `size` must not exceed `limit`."""
        entry = (size, trio.Event())
        self._waiting.append(entry)
        self._serve()
        if entry[1].is_set():
            return
        try:
            await entry[1].wait()
        except BaseException:
            if entry[1].is_set():
                self.give(entry[0])
            else:
                self._waiting.remove(entry)
                self._serve()
            raise

    def give(self, size: int) -> None:
        """Return bytes."""
        self.used -= size
        self._serve()

    def _serve(self) -> None:
        while self._waiting and self._waiting[0][0] <= self.limit - self.used:
            size, served = self._waiting.popleft()
            self.used += size
            served.set()


class Share:
    """The bytes that one answer has taken."""

    __slots__ = ("_budget", "size")

    def __init__(self, budget: SharedBudget) -> None:
        self._budget = budget
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.shrink(0)

    def take(self, limit: int) -> int:
        """Take as many units as are free, up to `limit`, and return their number."""
        taken = self._budget.take(limit)
        self.size += taken
        return taken

    def shrink(self, size: int) -> None:
        """Return the bytes beyond this size."""
        if size < self.size:
            excess, self.size = self.size - size, size
            self._budget.give(excess)

    async def wait(self, size: int) -> None:
        """Return the share, then wait until it has this size."""
        self.shrink(0)
        await self._budget.wait(size)
        self.size = size
