"""The pace of uploads. Parts of documents share the disk with the log, whose commits everybody waits for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

T = TypeVar("T")

PART_BYTES = 256 * 1024
"""The bytes that one transaction writes. Commits beside it flush as many bytes more, at most."""
MAX_REST_S = 0.5


class Pace:
    """All uploads of a node: one part is written at a time, and then the disk rests for as long as that took.

    A small part makes a short rest. Uploads take turns in the order in which they ask.
    """

    def __init__(self) -> None:
        self._turn = trio.Lock()

    async def write(self, size: int, write: Callable[[], Awaitable[T]]) -> T:
        """The result of `write`, which stores so many bytes."""
        async with self._turn:
            began = trio.current_time()
            written = await write()
            took_s = trio.current_time() - began
            await trio.sleep(min(took_s * size / PART_BYTES, MAX_REST_S))
        return written
