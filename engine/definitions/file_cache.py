"""Files in memory, read and compiled, by their SHA-256: models, and decisions with the files that they import."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import msgspec
from cachetools import LRUCache


class CachedFile(msgspec.Struct, frozen=True, gc=False):
    """The models or the decisions of a file, and the bytes of memory that they take."""

    content: Any
    memory: int


class FileCache(LRUCache[Hashable, CachedFile]):
    """The least recently used files go when there are more than `entries`, or when they take more than `size` bytes.

    A file that takes more than that is kept alone.
    """

    def __init__(self, entries: int, size: int) -> None:
        super().__init__(size, getsizeof=lambda cached: min(cached.memory, size))
        self._entries = entries
        self.evictions = 0

    def __setitem__(self, file: Hashable, cached: CachedFile) -> None:
        if file not in self and len(self) >= self._entries:
            self.popitem()
        super().__setitem__(file, cached)

    def popitem(self) -> tuple[Hashable, CachedFile]:
        self.evictions += 1
        return super().popitem()

    def fits(self, memory: int) -> bool:
        """Whether a file of this size fits without an eviction."""
        return len(self) < self._entries and self.currsize + memory <= self.maxsize
