"""Room for large answers that are being built, of activations or of searches: one budget of bytes for all of a kind.

Small answers need none. Whoever has to wait for room holds neither jobs nor a connection; the first come is served
first, and meanwhile nobody who comes later takes anything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import trio


class JobRoom:
    """At most `most` bytes at the same time; `used` of them are taken."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.used = 0
        self._waiting: deque[tuple[int, trio.Event]] = deque()

    @contextmanager
    def share(self) -> Iterator[Share]:
        """One answer's share, empty at first; it is given back at the end of the block."""
        share = Share(self)
        try:
            yield share
        finally:
            share.keep(0)

    def take(self, most: int) -> int:
        """As many bytes as there are, at most these."""
        taken = 0 if self._waiting else max(0, min(most, self.most - self.used))
        self.used += taken
        return taken

    async def wait(self, size: int) -> None:
        """Until so many bytes are taken for the caller. There are never more than `most`."""
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
        while self._waiting and self._waiting[0][0] <= self.most - self.used:
            size, served = self._waiting.popleft()
            self.used += size
            served.set()


class Share:
    """What one answer has taken."""

    __slots__ = ("_room", "size")

    def __init__(self, room: JobRoom) -> None:
        self._room = room
        self.size = 0

    def take(self, most: int) -> int:
        """Take more, as much as there is, at most so much; how much that is."""
        taken = self._room.take(most)
        self.size += taken
        return taken

    def keep(self, size: int) -> None:
        """Give back what is beyond this size."""
        if size < self.size:
            beyond, self.size = self.size - size, size
            self._room.give(beyond)

    async def wait(self, size: int) -> None:
        """Wait until this share, which is given back first, has this size."""
        self.keep(0)
        await self._room.wait(size)
        self.size = size
