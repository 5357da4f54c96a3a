"""The engine's time in a term: the database's clock, as read together with the latest rows of the log.

Readings may arrive out of order by some milliseconds, and that must not make time go back. But when somebody sets the
database's clock back, timers set afterwards must use the new time. Therefore the highest reading counts only as long as
the clock can have reached it since the latest reading.
"""

from __future__ import annotations

from vivero.storage.log.log_batches import LogPage


class EngineTime:
    """Reads no clock itself. `now_s` and `Batch.asked_at` are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self.ms = 0
        """Epoch milliseconds."""
        self._revision = -1
        self._asked_at = float("-inf")

    def note(self, read: LogPage, now_s: float) -> None:
        """Take over a reading, unless it was requested before the latest one."""
        if read.clock_revision < self._revision or read.asked_at < self._asked_at:
            return
        at_most = read.now + (now_s - read.asked_at) * 1000 + ROUNDED_MS
        if read.clock_revision > self._revision or self.ms > at_most:
            self.ms = read.now
        self.ms = max(self.ms, read.now)
        self._revision, self._asked_at = read.clock_revision, read.asked_at


ROUNDED_MS = 1
"""Readings are rounded to milliseconds."""
