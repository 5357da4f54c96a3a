"""Segments of the log that this node appended, kept so that its consumer need not read them back.

This is an optimisation of reading, never a second source. The consumer uses a segment only if it begins exactly where
the known log ends. Entries that other nodes appended in between show as a gap, and then the consumer reads the log.
"""

from __future__ import annotations

from collections import deque

from vivero.storage.log.command_log import AppendedSegment
from vivero.storage.log.log_batches import CommandRow, LogPage

MAX_COMMANDS = 2_000
MAX_BYTES = 4_000_000


class AppendedSegments:
    """Segments in the order of the log, limited in commands and bytes."""

    def __init__(self) -> None:
        self._segments: deque[AppendedSegment] = deque()
        self._commands = self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._segments)

    def add(self, segment: AppendedSegment) -> bool:
        """Keep a segment. False when the limit is reached: then it drops all, as those behind a gap are useless."""
        if self._commands >= MAX_COMMANDS or self._bytes >= MAX_BYTES:
            self._segments.clear()
            self._commands = self._bytes = 0
            return False
        self._segments.append(segment)
        self._count(segment, 1)
        return True

    def behind(self, position: int, limit: int) -> LogPage | None:
        """Take the commands behind `position`, at most `limit`, as long as there is no gap. None: there are none.

        Segments are taken whole, except for those commands of the first one that were read from the log meanwhile.
        """
        rows: list[CommandRow] = []
        last: LogPage | None = None
        while self._segments:
            segment = self._segments[0]
            fresh = [row for row in segment.batch.rows if row.position > position]
            if fresh:
                if segment.behind > position or len(rows) + len(fresh) > limit:
                    break
                rows, position, last = rows + fresh, fresh[-1].position, segment.batch
            self._count(self._segments.popleft(), -1)
        if last is None:
            return None
        return LogPage(rows, last.now, last.clock_revision, last.definitions_seq, last.asked_at)

    def _count(self, segment: AppendedSegment, sign: int) -> None:
        self._commands += sign * len(segment.batch.rows)
        self._bytes += sign * sum(len(row.payload) for row in segment.batch.rows)
