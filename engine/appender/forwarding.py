"""The number of commands that may be moved from an inbox to its log at once.

Commands of clients wait behind those in the log, and one of them may be the cure: deleting the definition stops
processes that start each other without end. Therefore the log gets only as many internal commands as the engine soon
processes. The others wait in the inbox.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

AT_LEAST = 50
"""The log may hold this many, however slow the owner is."""


class LogProgress(NamedTuple):
    """The position of a partition's owner, and the commands a second that it processes while there are any."""

    position: int
    per_second: float


class Forwarding:
    """Commands that were moved from the inboxes to the logs and are not yet processed."""

    def __init__(self, most: int, lag_s: float) -> None:
        """At most `most` commands at a time, and no more than the owner processes in about `lag_s` seconds."""
        self._most, self._lag_s = most, lag_s
        self._moves: dict[int, deque[tuple[int, int]]] = {}
        """By partition: the last position of each move, and the number of its commands at most."""

    def capacity(self, partition: int, progress: LogProgress | None) -> int:
        """The number of commands to move at most. `progress` is None if no owner of the partition is known here."""
        if progress is None:
            return self._most
        moves = self._moves.get(partition, deque())
        while moves and moves[0][0] <= progress.position:
            moves.popleft()
        under_way = sum(count for _, count in moves)
        return min(self._most, max(AT_LEAST, int(progress.per_second * self._lag_s)) - under_way)

    def moved(self, partition: int, position: int, count: int) -> None:
        """Record that at most `count` commands were moved, the last one to `position`."""
        self._moves.setdefault(partition, deque()).append((position, count))
