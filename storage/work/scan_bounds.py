"""The bounds where the scans of an activation begin: behind the jobs that are gone.

While an old snapshot is open (`pg_dump`, a report), PostgreSQL keeps the index entries of all jobs that were ready or
leased since. A scan from the beginning reads each of them. The bounds of a job type let its scans begin behind them.
Each process keeps its own bounds, and may lose them.

A bound never hides a job, by three rules (docs/adr/0024):

- Jobs of a partition that were never ready before become visible in the order of their keys. The least key of a
  partition that a snapshot has, locked or not, is a bound for all later ones. Each priority has its own.
- Other ready jobs are `returned`, and scanned without a bound: failed ones, those given back, those whose priority or
  retries changed.
- A lease or a backoff ends after it begins. Leases that begin after a look end after the time of that look. A margin in
  the statement covers transactions in progress.

About once a second a look has no bounds. It finds jobs that a longer transaction or a failover has hidden.

Usually no scan is slow and all jobs are small. Looks are plain then: their statement (`activate_small`) has neither
bounds nor sizes. After three slow answers in a row, looks have bounds until one without them is fast again. After an
answer that jobs are not small, looks measure the jobs for a minute.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from vivero.core.partitions.keys import keys_of, partition_of

Subject = tuple[str, str]
"""A job type and a tenant."""

MAX_SUBJECTS = 10_000
"""The most job types with bounds. Beyond it, the type that was looked for longest ago has none."""
MAX_PRIORITIES = 8
"""The most priorities of a job type that have a bound, in each partition."""
WHOLE_EVERY_S = 1.0
"""The shortest time between two looks without bounds, and the usual one."""
MAX_WHOLE_EVERY_S = 60.0
"""The longest time between two looks without bounds."""
WHOLE_SHARE = 0.02
"""The share of the time that looks without bounds may take. If they become slow, they become rare."""
SLOW_S = 0.003
"""A look without bounds that took this long is slow."""
SLOW_LOOKS = 3
"""Slow plain looks in a row after which the next looks have bounds. One or two may have waited for a processor."""
MEASURE_S = 60.0
"""After a plain look found jobs that are not small, looks measure jobs for this time."""

_LOWEST, _HIGHEST = -(2**31), 2**31 - 1
_LAST_KEY = 2**63 - 1


class ScanStart(NamedTuple):
    """The parameters of one look's statement. `version` and `began` tell whether its results still count."""

    due_ms: int = 0
    """The engine's time in ms since 1970: no lease and no backoff ends before it."""
    highest: tuple[int, ...] = (_HIGHEST,)
    """Ranges of priorities, from high to low: their highest, their lowest, the least key in them, and the last one."""
    lowest: tuple[int, ...] = (_LOWEST,)
    keys: tuple[int, ...] = (0,)
    last_keys: tuple[int, ...] = (_LAST_KEY,)
    version: int = 0
    whole: bool = True
    """It has no bounds."""
    began: float = 0.0


EVERYTHING = ScanStart()


class ObservedBounds(NamedTuple):
    """The bounds that a look found.

    `due_ms`: the end of the first lease or backoff that is over, otherwise the engine's time. `first_keys`: a priority
    and its first key in a partition, among the jobs that never returned. `took_s`: the time that PostgreSQL took.
    """

    due_ms: int
    first_keys: Collection[tuple[int, int]]
    took_s: float = 0.0


class SubjectBounds:
    """Knowledge of one job type and tenant: whether looks may be plain, and the bounds of those that are not."""

    __slots__ = (
        "_due_ms",
        "_keys",
        "_looks",
        "_measure_until",
        "_slow",
        "_slow_looks",
        "_version",
        "_whole_at",
        "backlog",
    )

    def __init__(self, now: float) -> None:
        self._due_ms = 0
        self._keys: dict[int, dict[int, int]] = {}
        """By priority and partition."""
        self._version = 0
        self._slow = False
        self._slow_looks = 0
        self._measure_until = 0.0
        self._whole_at = now
        self.backlog = False
        """Whether the last plain look found as many jobs as it could lease."""
        self._looks = 0

    def plain(self, now: float) -> bool:
        """Whether the next look needs neither bounds nor sizes. Times are seconds of one clock."""
        return not self._slow and now >= self._measure_until

    def count_look(self) -> int:
        """The number of this look, from 0."""
        self._looks += 1
        return self._looks - 1

    def note_plain(self, now: float, large: bool, slow: bool, full: bool = False) -> None:
        """A plain look is over. `large`: it leased nothing, because not all jobs are small. `full`: there may be more
        jobs."""
        self.backlog = full
        if large:
            self._measure_until = now + MEASURE_S
        self._slow_looks = self._slow_looks + 1 if slow else 0
        if self._slow_looks >= SLOW_LOOKS:
            self._slow, self._slow_looks, self._whole_at = True, 0, now

    def start(self, now: float, partitions: Sequence[int] = (1,)) -> ScanStart:
        """For a look that begins now; without bounds if it is time for that. See `bounded`."""
        if now < self._whole_at:
            return self.bounded(partitions)
        self._whole_at = now + WHOLE_EVERY_S
        return EVERYTHING._replace(version=self._version, began=now)

    @property
    def due_ms(self) -> int:
        """The `due_ms` of a look with bounds; 0 while looks are plain or fast."""
        return self._due_ms if self._slow else 0

    def bounded(self, partitions: Sequence[int] = (1,)) -> ScanStart:
        """The bounds of a look. They are left out if they gain nothing.

        `partitions`: all of the database, in the order in which their jobs are taken.
        """
        keys = self._keys if self._slow else {}
        return ScanStart(self.due_ms, *_ranges(keys, partitions), self._version, False)

    def ended(self, start: ScanStart, now: float) -> None:
        """The look is over, however it ended. Call this before `learn`."""
        if start.whole:
            took_s = now - start.began
            self._slow = took_s >= SLOW_S
            self._whole_at = now + min(max(took_s / WHOLE_SHARE, WHOLE_EVERY_S), MAX_WHOLE_EVERY_S)

    def learn(self, start: ScanStart, seen: ObservedBounds) -> None:
        """Keep what a look saw, unless it began before the last look without bounds ended: that one may know better."""
        if start.version != self._version:
            return
        self._version += start.whole
        if start.whole:
            self._slow = seen.took_s >= SLOW_S  # more precise than the time until its answer arrived
        self._due_ms = seen.due_ms
        for priority, key in seen.first_keys:
            known = self._keys[priority] = self._keys.pop(priority, {})
            partition = partition_of(key)
            known[partition] = key if start.whole else max(known.get(partition, 0), key)
        while len(self._keys) > MAX_PRIORITIES:
            del self._keys[next(iter(self._keys))]


class ScanBounds:
    """The bounds of all job types that are looked for."""

    def __init__(self) -> None:
        self._bounds: dict[Subject, SubjectBounds] = {}

    def of(self, subject: Subject, now: float) -> SubjectBounds:
        """The bounds of a type, which may be new."""
        bounds = self._bounds.pop(subject, None) or SubjectBounds(now)
        self._bounds[subject] = bounds
        if len(self._bounds) > MAX_SUBJECTS:
            del self._bounds[next(iter(self._bounds))]
        return bounds

    def forget(self) -> None:
        """Drop all bounds: the clock was set, or commits may be lost. Looks that run now teach nothing any more."""
        self._bounds.clear()


def _ranges(
    keys: Mapping[int, Mapping[int, int]], partitions: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """All priorities as ranges from high to low: each known one by itself, and those between without a bound."""
    ranges, above = [], _HIGHEST
    for priority in sorted(keys, reverse=True):
        ranges.append((above, priority + 1, 0, _LAST_KEY))
        ranges += [(priority, priority, *bounds) for bounds in _key_ranges(keys[priority], partitions)]
        above = priority - 1
    ranges.append((above, _LOWEST, 0, _LAST_KEY))
    highest, lowest, least, last = zip(*(each for each in ranges if each[0] >= each[1]), strict=True)
    return highest, lowest, least, last


def _key_ranges(keys: Mapping[int, int], partitions: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The least and the last key of each partition. A single partition has all keys."""
    if len(partitions) == 1:
        yield min(keys.values()), _LAST_KEY
        return
    for partition in partitions:
        behind, end = keys_of(partition)
        yield keys.get(partition, behind), end - 1
