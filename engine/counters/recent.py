"""The number of times that something happened in the last seconds: one counter for each second."""

from __future__ import annotations

WINDOW_S = 10
"""The full seconds that a rate is taken over, beside the one that has begun."""


class Recent:
    """Counts of the last `WINDOW_S` seconds. Counting costs about half a microsecond."""

    __slots__ = ("_counts", "_second")

    def __init__(self) -> None:
        self._counts = [0] * (WINDOW_S + 1)
        """By second, as a ring."""
        self._second = 0
        """The second that was counted last."""

    def note(self, count: int, now_s: float) -> None:
        """Count `count` events. `now_s` never goes back."""
        self._move_to(int(now_s))
        self._counts[self._second % len(self._counts)] += count

    def per_second(self, now_s: float) -> float:
        """The rate over the window; 0 if nothing happened in it."""
        self._move_to(int(now_s))
        return sum(self._counts) / (WINDOW_S + now_s % 1)

    def _move_to(self, second: int) -> None:
        """Forget what lies before the window."""
        for passed in range(min(second - self._second, len(self._counts))):
            self._counts[(second - passed) % len(self._counts)] = 0
        self._second = max(second, self._second)
