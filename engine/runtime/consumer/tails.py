"""What this node has appended to a log, kept for its consumer, which so need not read it back.

An optimisation of reading, never a second source: a tail is used only if it goes on exactly where what is known of the
log ends. Whatever others have appended in between shows as a gap, and then the log is read.
"""

from __future__ import annotations

from collections import deque

from vivero.storage.log import Tail
from vivero.storage.state.load import Batch, LogRow

MAX_COMMANDS = 2_000
MAX_BYTES = 4_000_000


class Tails:
    """Tails in the order of the log, up to a number of commands and bytes."""

    def __init__(self) -> None:
        self._tails: deque[Tail] = deque()
        self._commands = self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._tails)

    def add(self, tail: Tail) -> bool:
        """Keep a tail. False when there is no room: then none is kept, for those behind a gap are of no use."""
        if self._commands >= MAX_COMMANDS or self._bytes >= MAX_BYTES:
            self._tails.clear()
            self._commands = self._bytes = 0
            return False
        self._tails.append(tail)
        self._count(tail, 1)
        return True

    def behind(self, position: int, limit: int) -> Batch | None:
        """The commands behind a position, up to `limit`, as far as they are here without a gap; None: not here.

        Tails are taken whole, but for what of the first one was read from the log meanwhile.
        """
        rows: list[LogRow] = []
        last: Batch | None = None
        while self._tails:
            tail = self._tails[0]
            fresh = [row for row in tail.batch.rows if row.position > position]
            if fresh:
                if tail.behind > position or len(rows) + len(fresh) > limit:
                    break
                rows, position, last = rows + fresh, fresh[-1].position, tail.batch
            self._count(self._tails.popleft(), -1)
        if last is None:
            return None
        return Batch(rows, last.now, last.clock_revision, last.definitions_seq, last.asked_at)

    def _count(self, tail: Tail, sign: int) -> None:
        self._commands += sign * len(tail.batch.rows)
        self._bytes += sign * sum(len(row.payload) for row in tail.batch.rows)
