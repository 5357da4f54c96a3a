"""How much of an inbox may be moved to its log at once.

What clients send stands behind what is in the log, and may be what ends it: processes that start each other without end
are stopped by deleting their definition. Only as many commands of ours stand there as are soon worked off; the others
wait in the inbox.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

AT_LEAST = 50
"""So many may stand in the log, however slow the owner is."""


class Consumed(NamedTuple):
    """How far a live owner of a partition is, and how many commands a second it was measured to process."""

    position: int
    per_second: float


class Forwarding:
    """What was moved from the inboxes to the logs, as far as it has not been processed yet."""

    def __init__(self, most: int, lag_s: float) -> None:
        """At most `most` commands at a time; those under way take the owner about `lag_s` seconds."""
        self._most, self._lag_s = most, lag_s
        self._moves: dict[int, deque[tuple[int, int]]] = {}
        """By partition: the last position of each move, and at most how many commands it were."""

    def room(self, partition: int, consumed: Consumed | None) -> int:
        """How many commands may be moved now. `consumed`: None without a live owner here."""
        if consumed is None:
            return self._most
        moves = self._moves.get(partition, deque())
        while moves and moves[0][0] <= consumed.position:
            moves.popleft()
        under_way = sum(count for _, count in moves)
        return min(self._most, max(AT_LEAST, int(consumed.per_second * self._lag_s)) - under_way)

    def moved(self, partition: int, position: int, count: int) -> None:
        """At most `count` commands were moved, the last one to `position`."""
        self._moves.setdefault(partition, deque()).append((position, count))
