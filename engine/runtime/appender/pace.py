"""How many new commands may stand in the log and wait: what runs comes before what is new.

The log is done strictly in order, so a completion waits for every creation that was appended before it. Therefore new
commands wait outside of the log until there is room. The room is a window that follows the lag: it gets smaller when
commands of running work waited longer than they should, larger when new commands filled it and running work did not
wait. It is counted in commands, not in time, because one command may cost a thousand times as much as another. It never
gets smaller than the number of commands that running work has in the log: both get on equally then, however slow the
machine is, and what is created is also completed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

SHRINKS_TO = 0.8
FADES_TO = 0.99
"""How much of the most work that stood in the log is left after each append."""
GROWS_BY = 4.0
"""Commands that a window grows by when it was filled and worked off once."""
FORGOTTEN_S = 5.0
"""What was appended this long ago no longer counts: a crash of PostgreSQL may have taken it."""


@dataclass(frozen=True, slots=True)
class PaceSettings:
    """`work_lag_s`: what running work may wait, in the appender's queue and in the log. `lag_s`: what anything may."""

    least: int = 32
    most: int = 1_000
    work_lag_s: float = 0.025
    lag_s: float = 0.5


class _Appended(NamedTuple):
    position: int
    new: int
    work: int
    since: float
    """When the first of them was handed over."""
    at: float
    filled: bool


class Pace:
    """Of one partition. Times are those of a clock that only goes forward, in seconds."""

    def __init__(self, settings: PaceSettings) -> None:
        self._settings = settings
        self._waiting: deque[_Appended] = deque()
        self._new = self._work = 0
        self._most_work = 0.0
        """In the log at the same time, lately."""
        self._shrunk_at = float("-inf")
        self.window = float(min(settings.most, 2 * settings.least))
        self.filled = False
        """More that is new waits than there was room for."""

    def room(self) -> int:
        """How many new commands may be appended now."""
        return max(0, int(self.window) - self._new)

    def appended(self, position: int, new: int, work: int, since: float, now: float) -> None:
        """Commands up to this position: so many new ones, and so many of running work."""
        self._waiting.append(_Appended(position, new, work, since, now, self.filled))
        self._new, self._work = self._new + new, self._work + work
        self._most_work = max(float(self._work), self._most_work * FADES_TO)

    def processed(self, position: int, now: float) -> None:
        """The engine is done with the log up to this position."""
        while self._waiting and self._waiting[0].position <= position:
            self._learn(self._pop(), now)
        while self._waiting and now - self._waiting[0].at > FORGOTTEN_S:
            self._pop()

    def forget(self) -> None:
        """Nobody can tell any more what is processed."""
        self._waiting.clear()
        self._new = self._work = 0

    def _pop(self) -> _Appended:
        first = self._waiting.popleft()
        self._new, self._work = self._new - first.new, self._work - first.work
        return first

    def _learn(self, done: _Appended, now: float) -> None:
        waited = now - done.since
        if waited > (self._settings.work_lag_s if done.work else self._settings.lag_s):
            if done.at >= self._shrunk_at:  # what was appended before has not felt it yet
                self._shrunk_at = now
                least = max(float(self._settings.least), self._most_work)
                self.window = min(float(self._settings.most), max(least, self.window * SHRINKS_TO))
        elif done.filled:
            self.window = min(float(self._settings.most), self.window + GROWS_BY * done.new / self.window)
