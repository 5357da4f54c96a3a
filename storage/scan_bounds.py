"""Where the scans of an activation begin: behind the jobs that are gone.

While an old snapshot is open (`pg_dump`, a report), PostgreSQL keeps the index entries of all jobs that were ready or
leased since. A scan from the beginning reads each of them. The bounds of a job type let its scans begin behind them.
Each process keeps its own bounds, and may lose them.

A bound never hides a job, by three rules (docs/adr/0024):

- Jobs that were never ready before become visible in the order of their keys. The least key that a snapshot has, locked
  or not, is a bound for all later ones. Each priority has its own.
- Other ready jobs are `returned`, and scanned without a bound: failed ones, those given back, those whose priority or
  retries changed.
- A lease or a backoff ends after it begins. Leases that begin after a look end after the time of that look. A margin in
  the statement covers transactions in progress.

About once a second a look has no bounds. It finds jobs that a longer transaction or a failover has hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Subject = tuple[str, str]
"""A job type and a tenant."""

MAX_SUBJECTS = 10_000
"""The most job types with bounds. Beyond it, the type that was looked for longest ago has none."""
MAX_PRIORITIES = 8
"""The most priorities of a job type that have a bound."""
WHOLE_EVERY_S = 1.0
"""The shortest time between two looks without bounds, and the usual one."""
MAX_WHOLE_EVERY_S = 60.0
"""The longest time between two looks without bounds."""
WHOLE_SHARE = 0.02
"""The share of the time that looks without bounds may take. If they become slow, they become rare."""
SLOW_S = 0.003
"""After a look without bounds that took this long, the next looks have key bounds, too: two index scans for each."""
OVERDUE_S = 5.0
"""If a look without bounds is so late, no statement is piggybacked on a batch: those all have bounds."""

_LOWEST, _HIGHEST = -(2**31), 2**31 - 1


class ScanStart(NamedTuple):
    """Where one look begins: the parameters of the statement, and what tells whether its results are still of use."""

    due_ms: int = 0
    """The engine's time in ms since 1970: no lease and no backoff ends before it."""
    highest: tuple[int, ...] = (_HIGHEST,)
    """Ranges of priorities, from high to low: their highest, their lowest, and the least key in them."""
    lowest: tuple[int, ...] = (_LOWEST,)
    keys: tuple[int, ...] = (0,)
    version: int = 0
    whole: bool = True
    """It has no bounds."""
    began: float = 0.0


EVERYTHING = ScanStart()


class Seen(NamedTuple):
    """What a look tells about bounds.

    `due_ms`: the end of the first lease or backoff that is over, otherwise the engine's time. `first_keys`: the first
    key of each priority, among the jobs that never returned.
    """

    due_ms: int
    first_keys: Mapping[int, int]


class Bounds:
    """The bounds of one job type and tenant."""

    __slots__ = ("_due_ms", "_keys", "_slow", "_version", "_whole_at")

    def __init__(self, now: float) -> None:
        self._due_ms = 0
        self._keys: dict[int, int] = {}
        self._version = 0
        self._slow = True
        self._whole_at = now

    def start(self, now: float) -> ScanStart:
        """For a look that begins now; without bounds if it is time for that. Times are seconds of one clock."""
        if now < self._whole_at:
            return self.bounded()
        self._whole_at = now + WHOLE_EVERY_S
        return EVERYTHING._replace(version=self._version, began=now)

    def bounded(self) -> ScanStart:
        """The bounds of a piggybacked statement, which must be short. Key bounds are left out if they gain nothing."""
        keys = self._keys if self._slow else {}
        return ScanStart(self._due_ms, *_ranges(keys), self._version, False)

    def ended(self, start: ScanStart, now: float) -> None:
        """The look is over, however it ended."""
        if start.whole:
            took_s = now - start.began
            self._slow = took_s >= SLOW_S
            self._whole_at = now + min(max(took_s / WHOLE_SHARE, WHOLE_EVERY_S), MAX_WHOLE_EVERY_S)

    def overdue(self, now: float) -> bool:
        """Whether a look without bounds should have been long ago."""
        return now >= self._whole_at + OVERDUE_S

    def learn(self, start: ScanStart, seen: Seen) -> None:
        """Keep what a look saw, unless it began before the last look without bounds ended: that one may know better."""
        if start.version != self._version:
            return
        self._version += start.whole
        self._due_ms = seen.due_ms
        for priority, key in seen.first_keys.items():
            known = self._keys.pop(priority, 0)
            self._keys[priority] = key if start.whole else max(known, key)
        while len(self._keys) > MAX_PRIORITIES:
            del self._keys[next(iter(self._keys))]


class ScanBounds:
    """The bounds of all job types that are looked for."""

    def __init__(self) -> None:
        self._bounds: dict[Subject, Bounds] = {}

    def of(self, subject: Subject, now: float) -> Bounds:
        """The bounds of a type, which may be new."""
        bounds = self._bounds.pop(subject, None) or Bounds(now)
        self._bounds[subject] = bounds
        if len(self._bounds) > MAX_SUBJECTS:
            del self._bounds[next(iter(self._bounds))]
        return bounds

    def forget(self) -> None:
        """Drop all bounds: the clock was set, or commits may be lost. Looks that run now teach nothing any more."""
        self._bounds.clear()


def _ranges(keys: Mapping[int, int]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """All priorities as ranges from high to low: each known one by itself, and those between without a bound."""
    ranges, above = [], _HIGHEST
    for priority in sorted(keys, reverse=True):
        ranges += [(above, priority + 1, 0), (priority, priority, keys[priority])]
        above = priority - 1
    ranges.append((above, _LOWEST, 0))
    highest, lowest, least = zip(*((high, low, key) for high, low, key in ranges if high >= low), strict=True)
    return highest, lowest, least
