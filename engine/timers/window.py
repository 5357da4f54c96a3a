"""The nearest due dates of a partition's timers, in memory."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from vivero.storage.work.timers import PendingTimer


class Window:
    """The pending timers up to a horizon, nearest first. Times are epoch milliseconds."""

    def __init__(self, size: int) -> None:
        """`size` is the number of timers that are kept when there are more than twice as many."""
        self._size = size
        self._heap: list[tuple[int, int]] = []
        """(when to fire, key). Entries that contradict `_known` are outdated, and skipped."""
        self._known: dict[int, tuple[int, PendingTimer]] = {}
        self.horizon: int | None = -1
        """Every pending timer that is due before this time is in the window; None: every pending timer."""

    def __len__(self) -> int:
        return len(self._known)

    def fill(self, timers: Sequence[PendingTimer], horizon: int | None) -> None:
        """Replace the content by these timers, which are all that are due before `horizon`."""
        self._known = {timer.key: (timer.due_at, timer) for timer in timers}
        self._heap = [(timer.due_at, timer.key) for timer in timers]
        heapq.heapify(self._heap)
        self.horizon = horizon

    def put(self, timer: PendingTimer, at: int) -> bool:
        """Add a pending timer that fires `at` its due date or later. False if it is due after the horizon."""
        self._known.pop(timer.key, None)
        if self.horizon is not None and timer.due_at > self.horizon:
            return False
        self._known[timer.key] = at, timer
        heapq.heappush(self._heap, (at, timer.key))
        if len(self._heap) > 2 * self._size:
            self._tidy()
        return True

    def drop(self, key: int) -> None:
        """A timer is no longer pending."""
        self._known.pop(key, None)

    def nearest(self) -> int | None:
        """The time at which the next timer fires; None if there is none before the horizon."""
        heap = self._heap
        while heap and not self._is_current(heap[0]):
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def is_used_up(self) -> bool:
        """Whether the table may have nearer timers: the window has none left before the horizon but delayed ones."""
        nearest = self.nearest()
        return self.horizon is not None and (nearest is None or nearest > self.horizon)

    def take(self, now: int, limit: int) -> list[PendingTimer]:
        """Remove and return up to `limit` timers that are due at `now`, in order."""
        taken: list[PendingTimer] = []
        while len(taken) < limit:
            at = self.nearest()
            if at is None or at > now:
                break
            taken.append(self._known.pop(heapq.heappop(self._heap)[1])[1])
        return taken

    def _is_current(self, entry: tuple[int, int]) -> bool:
        known = self._known.get(entry[1])
        return known is not None and known[0] == entry[0]

    def _tidy(self) -> None:
        """Remove outdated entries, and then the farthest timers, which are read again in time."""
        kept = sorted((at, key) for key, (at, _) in self._known.items())
        if len(kept) > self._size:
            self.horizon = min(self._known[key][1].due_at for _, key in kept[self._size :])
            for _, key in kept[self._size :]:
                del self._known[key]
        self._heap = kept[: self._size]
