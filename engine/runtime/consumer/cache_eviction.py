"""CacheEviction in the cache, and what forgetting does to the garbage collector.

Python's collector looks through what is new when so many more objects were made than freed. A full cache forgets as
much as it takes up: the difference hardly grows, until all that the cache holds is new, and one look through it takes a
tenth of a second in which nobody is served. So whoever forgets much lets it look at once, at little.
"""

from __future__ import annotations

import gc

from vivero.engine.core.state.state import State

FORGOTTEN_BYTES = 1_000_000
"""A few thousand objects: a millisecond or two. To look more often costs nothing: what was seen is new no more."""


class CacheEviction:
    """Keeps what a state holds below a limit."""

    def __init__(self, state: State, most_bytes: int) -> None:
        self._state = state
        self._most_bytes = most_bytes
        self._forgotten = 0

    def run(self) -> int:
        """Forget what is too much; how many trees, parts and channels that were."""
        held = self._held
        count = self._state.evict(self._most_bytes)
        self._forgotten += held - self._held
        if self._forgotten >= FORGOTTEN_BYTES:
            self._forgotten = 0
            gc.collect(0)
        return count

    @property
    def _held(self) -> int:
        return self._state.weight + self._state.channels_weight
