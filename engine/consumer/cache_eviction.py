"""Eviction from the cache of a term, and its effect on the garbage collector.

Python's collector runs when many more objects were created than freed. A full cache evicts as much as it loads, so this
difference hardly grows, and the young generation comes to hold the whole cache. Collecting it then takes a tenth of a
second, in which nobody is served. Therefore `gc.collect(0)` runs after each megabyte of evictions.
"""

from __future__ import annotations

import gc

from vivero.core.state import eviction
from vivero.core.state.state import State

COLLECT_AFTER_BYTES = 1_000_000
"""A few thousand objects, which take the collector a millisecond or two. A smaller value costs no more in total."""


class CacheEviction:
    """Keeps the memory of a state below a limit."""

    def __init__(self, state: State, most_bytes: int) -> None:
        self._state = state
        self._most_bytes = most_bytes
        self._evicted_bytes = 0

    def run(self) -> int:
        """Evict what exceeds the limit. Returns the number of trees, parts of trees and message channels."""
        held = self._held
        count = eviction.evict(self._state, self._most_bytes)
        self._evicted_bytes += held - self._held
        if self._evicted_bytes >= COLLECT_AFTER_BYTES:
            self._evicted_bytes = 0
            gc.collect(0)
        return count

    @property
    def _held(self) -> int:
        return self._state.weight + self._state.channels_weight
