"""The partition whose jobs an activation takes first, while there are more jobs than workers take.

The own partitions come first, because their commands need no detour. Every fourth look begins at the next partition of
all, so that the oldest job of each partition is activated within a bounded number of looks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vivero.storage.work.scan_bounds import SubjectBounds

FAIR_EVERY = 4


class JobTurns:
    """The turns of this node. `partitions()` are all partitions, `led()` those that this node leads."""

    def __init__(
        self, partitions: Callable[[], Sequence[int]] = lambda: (1,), led: Callable[[], Sequence[int]] = tuple
    ) -> None:
        self._partitions, self._led = partitions, led

    def first(self, bounds: SubjectBounds) -> int | None:
        """The partition where the next look begins. None: at the beginning, as no look leaves jobs to others."""
        partitions = self._partitions()
        return None if len(partitions) == 1 or not bounds.backlog else self._next(partitions, bounds)

    def order(self, bounds: SubjectBounds) -> Sequence[int]:
        """All partitions, in the order in which the next look with bounds takes their jobs."""
        partitions = self._partitions()
        if len(partitions) == 1:
            return partitions
        first = self._next(partitions, bounds)
        return [first, *(partition for partition in partitions if partition != first)]

    def _next(self, partitions: Sequence[int], bounds: SubjectBounds) -> int:
        fair, left = divmod(bounds.count_look(), FAIR_EVERY)
        own = self._led()
        if not own or not left:
            return partitions[fair % len(partitions)]
        return own[(fair * (FAIR_EVERY - 1) + left - 1) % len(own)]
