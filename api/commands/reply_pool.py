"""A pool of memory channels for the replies to commands (`engine.outcomes.replies`)."""

from __future__ import annotations

import trio

from vivero.engine.outcomes.replies import Reply

MESSAGES = 3
"""The most messages: the place in the log, the outcome, and the end of the time to wait for them."""
Ends = tuple[trio.MemorySendChannel[Reply | None], trio.MemoryReceiveChannel[Reply | None]]


class ReplyPool:
    """Channels that are used up, for the next requests: to open one costs as much as the rest of a short wait.

    A channel comes back only after the last reply to its command. Nobody sends any more then, and nothing is in it.
    """

    __slots__ = ("_free", "_most")

    def __init__(self, most: int = 256) -> None:
        self._free: list[Ends] = []
        self._most = most

    def __len__(self) -> int:
        return len(self._free)

    def take(self) -> Ends:
        """A channel for one command."""
        return self._free.pop() if self._free else trio.open_memory_channel[Reply | None](MESSAGES)

    def give_back(self, ends: Ends) -> None:
        if len(self._free) < self._most:
            self._free.append(ends)
