"""The executions that a node runs, and the number that it asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import trio

from vivero.storage.background.job_executions import Run

GATHER_S = 0.1
"""While at least the minimum runs, a node pulls this often at most, so that a pull takes several executions."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The number of executions of one kind that run at once on a node.

    The node asks for as many as are missing to `max_concurrent`. While at least `min_concurrent` run, it first waits
    until its last pull was `GATHER_S` ago, so that pulls are few and large. No place stays free beside work for longer.
    """

    min_concurrent: int
    max_concurrent: int
    batch_size: int | None = None
    """The most that are pulled at once."""

    def __post_init__(self) -> None:
        if not 1 <= self.min_concurrent <= self.max_concurrent:
            raise ValueError("min_concurrent must be at least 1, and at most max_concurrent")
        if self.batch_size is not None and self.batch_size < 1:
            raise ValueError("batch_size must be at least 1")

    def next_batch_size(self, running: int) -> int | None:
        """The number of executions that fit; None while all places are taken."""
        missing = self.max_concurrent - running
        if missing <= 0:
            return None
        return missing if self.batch_size is None else min(missing, self.batch_size)

    def delay_s(self, running: int, pulled_ago_s: float) -> float:
        """The time to wait for more places before the next pull."""
        return max(GATHER_S - pulled_ago_s, 0.0) if self.min_concurrent <= running < self.max_concurrent else 0.0


@dataclass(frozen=True, slots=True)
class NextBatch:
    """The pull of a node now: executions of all types together, and of each type at most."""

    most: int
    types: Mapping[str, int]
    delay_s: float = float("inf")
    """When to ask again for what is not pulled although there are places. Infinite if there is no such thing."""

    def __bool__(self) -> bool:
        return bool(self.types)


@dataclass(slots=True)
class JobTracker:
    """The executions that a node runs, by their leases, and the limits of all together and of some types."""

    limits: RunLimits
    by_type: Mapping[str, RunLimits] = field(default_factory=dict)
    _running: dict[str, tuple[Run, trio.CancelScope]] = field(default_factory=dict)
    _pulled_at: dict[str, float] = field(default_factory=dict)
    """By type the time of the last pull that asked for it."""
    _last_pull_at: float = float("-inf")

    @property
    def running(self) -> int:
        """The number of executions that run."""
        return len(self._running)

    def __contains__(self, lease: str) -> bool:
        return lease in self._running

    def __iter__(self) -> Iterator[str]:
        """The leases."""
        return iter(self._running)

    def next_batch(self, types: Collection[str], now_s: float) -> NextBatch:
        """The executions to pull now. The caller pulls them, or nothing if there are none."""
        most = self.limits.next_batch_size(self.running)
        if most is None:
            return NextBatch(0, {})
        if delay_s := self.limits.delay_s(self.running, now_s - self._last_pull_at):
            return NextBatch(0, {}, delay_s)
        sizes, delay_s = self._sizes(types, most, now_s)
        if sizes:
            self._last_pull_at = now_s
            self._pulled_at |= dict.fromkeys(sizes.keys() & self.by_type.keys(), now_s)
        return NextBatch(most if sizes else 0, sizes, delay_s)

    def _sizes(self, types: Collection[str], most: int, now_s: float) -> tuple[dict[str, int], float]:
        """By type the executions to pull at most, and when to ask for those that wait for more places."""
        if not self.by_type:
            return dict.fromkeys(types, most), float("inf")
        running = Counter(run.type for run, _ in self._running.values())
        sizes, soonest_s = dict[str, int](), float("inf")
        for type in types:
            limits = self.by_type.get(type)
            size = most if limits is None else limits.next_batch_size(running[type]) or 0
            delay_s = 0.0 if limits is None else limits.delay_s(running[type], now_s - self._pulled(type))
            if delay_s:
                soonest_s = min(soonest_s, delay_s)
            elif size:
                sizes[type] = min(most, size)
        return sizes, soonest_s

    def _pulled(self, type: str) -> float:
        return self._pulled_at.get(type, float("-inf"))

    def dispatched(self, run: Run) -> trio.CancelScope:
        """An execution begins. Its cancel scope."""
        scope = trio.CancelScope()
        self._running[run.lease] = (run, scope)
        return scope

    def completed(self, run: Run) -> None:
        """An execution has ended, one way or the other."""
        self._running.pop(run.lease, None)

    def cancel(self, lease: str) -> Run | None:
        """Cancel the execution with this lease. None if it has ended, or is cancelled already."""
        found = self._running.get(lease)
        if found is None or found[1].cancel_called:
            return None
        found[1].cancel()
        return found[0]

    def is_cancelled(self, lease: str) -> bool:
        """Whether the execution with this lease runs and is cancelled. Its end does not count any more."""
        found = self._running.get(lease)
        return found is not None and found[1].cancel_called

    def forget(self) -> None:
        """Nothing runs any more."""
        self._running.clear()
