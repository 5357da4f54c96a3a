"""The number of unprocessed new commands that the log may hold: running work comes before new work.

The log is processed strictly in order, so a completion waits for every creation before it. Therefore new commands wait
outside the log for capacity. The capacity is a window that follows the lag: it shrinks when commands of running work
waited too long, and grows when new commands filled it while running work did not wait. It counts commands, not time,
because one command may cost a thousand times as much as another. It never shrinks below the number of commands of
running work in the log. So both progress equally on a machine of any speed, and created instances get completed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

SHRINKS_TO = 0.8
FADES_TO = 0.99
"""The factor by which the remembered maximum of running work fades with each append."""
GROWS_BY = 4.0
"""The number of commands by which the window grows when it was filled and processed once."""
FORGOTTEN_S = 5.0
"""Older appends no longer count: a crash of PostgreSQL may have lost them."""


@dataclass(frozen=True, slots=True)
class PaceSettings:
    """`work_lag_s` is how long running work may wait, in the queue and in the log; `lag_s` how long anything may."""

    least: int = 32
    most: int = 1_000
    work_lag_s: float = 0.025
    lag_s: float = 0.5


class _Appended(NamedTuple):
    position: int
    new: int
    work: int
    since: float
    """The time at which the first of them was handed over."""
    at: float
    filled: bool


class AppendPace:
    """The window of one partition. Times are seconds of a monotonic clock."""

    def __init__(self, settings: PaceSettings) -> None:
        self._settings = settings
        self._waiting: deque[_Appended] = deque()
        self._new = self._work = 0
        self._most_work = 0.0
        """The recent maximum of unprocessed commands of running work."""
        self._shrunk_at = float("-inf")
        self.window = float(min(settings.most, 2 * settings.least))
        self.filled = False
        """Whether new commands wait for capacity."""

    @property
    def unprocessed(self) -> int:
        """The number of commands that were appended here lately and are not yet processed."""
        return self._new + self._work

    def capacity(self) -> int:
        """The number of new commands that may be appended now."""
        return max(0, int(self.window) - self._new)

    def appended(self, position: int, new: int, work: int, since: float, now: float) -> None:
        """Record an append that ends at this position, with the numbers of new commands and of running work."""
        self._waiting.append(_Appended(position, new, work, since, now, self.filled))
        self._new, self._work = self._new + new, self._work + work
        self._most_work = max(float(self._work), self._most_work * FADES_TO)

    def processed(self, position: int, now: float) -> None:
        """The log is processed up to this position."""
        while self._waiting and self._waiting[0].position <= position:
            self._learn(self._pop(), now)
        while self._waiting and now - self._waiting[0].at > FORGOTTEN_S:
            self._pop()

    def forget(self) -> None:
        """Drop everything, because it is unknown what is processed."""
        self._waiting.clear()
        self._new = self._work = 0

    def _pop(self) -> _Appended:
        first = self._waiting.popleft()
        self._new, self._work = self._new - first.new, self._work - first.work
        return first

    def _learn(self, done: _Appended, now: float) -> None:
        waited = now - done.since
        if waited > (self._settings.work_lag_s if done.work else self._settings.lag_s):
            if done.at >= self._shrunk_at:  # earlier appends were made before the window shrank
                self._shrunk_at = now
                least = max(float(self._settings.least), self._most_work)
                self.window = min(float(self._settings.most), max(least, self.window * SHRINKS_TO))
        elif done.filled:
            self.window = min(float(self._settings.most), self.window + GROWS_BY * done.new / self.window)
