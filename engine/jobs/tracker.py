"""Which executions a node runs, and how many more it asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import trio

from vivero.storage.job_executions import Run


@dataclass(frozen=True, slots=True)
class Limits:
    """How many executions of one kind run at once on a node.

    The node asks for none while at least `min_concurrent` run, and then for as many as are missing to `max_concurrent`.
    The gap between the two makes pulls few and large.
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
        """How many executions to pull; None while enough run."""
        if running >= self.min_concurrent:
            return None
        missing = self.max_concurrent - running
        return missing if self.batch_size is None else min(missing, self.batch_size)


@dataclass(slots=True)
class JobTracker:
    """The executions that a node runs, by their leases, and the limits of all together and of some types."""

    limits: Limits
    by_type: Mapping[str, Limits] = field(default_factory=dict)
    _running: dict[str, tuple[Run, trio.CancelScope]] = field(default_factory=dict)

    @property
    def running(self) -> int:
        """How many executions run."""
        return len(self._running)

    def __contains__(self, lease: str) -> bool:
        return lease in self._running

    def __iter__(self) -> Iterator[str]:
        """The leases."""
        return iter(self._running)

    def next_batch_size(self) -> int | None:
        """How many executions to pull, of whatever types; None while enough run."""
        return self.limits.next_batch_size(self.running)

    def next_batch(self, types: Collection[str]) -> dict[str, int]:
        """How many executions to pull of each of these types at most; empty while enough run."""
        most = self.next_batch_size()
        if most is None:
            return {}
        if not self.by_type:
            return dict.fromkeys(types, most)
        running = Counter(run.type for run, _ in self._running.values())
        sizes = {type: self._size(type, running[type], most) for type in types}
        return {type: size for type, size in sizes.items() if size}

    def _size(self, type: str, running: int, most: int) -> int:
        limits = self.by_type.get(type)
        return most if limits is None else min(most, limits.next_batch_size(running) or 0)

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

    def forget(self) -> None:
        """Nothing runs any more."""
        self._running.clear()
