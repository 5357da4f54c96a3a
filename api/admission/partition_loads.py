"""The choice of a partition for new work: one that this node leads, unless it has much more to do than others.

A command that is appended where it is processed needs no notification, no read of the log and no search for its
outcome. A node whose partitions do more than their share spreads new work over all partitions for a moment: its clients
may know no other node.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

PERIOD_S = 0.25
HOT = 1.5
"""A partition that processes so many times the average has more than its share …"""
HOT_PER_S = 200.0
"""… if that is more than so many commands a second."""
MAX_STEP = 100_000
"""Positions that a partition passes in a period at most. After a crash of PostgreSQL they jump by a million."""


class PartitionLoads:
    """The commands a second that each partition processes, as far as this node hears of it."""

    def __init__(self) -> None:
        self._positions: dict[int, int] = {}
        self._counted: dict[int, int] = {}
        self._per_s: dict[int, float] = {}
        self._at = float("-inf")

    def processed(self, partition: int, position: int) -> None:
        """The partition is processed up to this position."""
        self._positions[partition] = position

    def measure(self, now: float) -> None:
        """Begin a period. The last one counts as much as all before it."""
        elapsed_s, self._at = max(now - self._at, PERIOD_S), now
        for partition, position in self._positions.items():
            step = min(max(position - self._counted.get(partition, position), 0), MAX_STEP)
            self._per_s[partition] = (self._per_s.get(partition, 0.0) + step / elapsed_s) / 2
        self._counted = dict(self._positions)

    def for_new_work(self, partitions: Sequence[int], led: Collection[int]) -> Sequence[int]:
        """Those of a tenant's partitions that get the new work of a node which leads the partitions `led`."""
        own = [partition for partition in partitions if partition in led]
        if not own or len(own) == len(partitions):
            return partitions
        average = sum(self._per_s.get(partition, 0.0) for partition in partitions) / len(partitions)
        hot_per_s = max(HOT * average, HOT_PER_S)
        return [partition for partition in own if self._per_s.get(partition, 0.0) <= hot_per_s] or partitions
