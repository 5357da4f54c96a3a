"""The engine's time as a partition's term goes by it: that of the database, as it came with what was read last.

Readings overtake each other by milliseconds, and time must not seem to go back for that. But where somebody has set
the database's clock back, what is set from then on must go by the new time. So the highest reading counts only as long
as the clock can have reached it since the latest one.
"""

from __future__ import annotations

from vivero.storage.state.load import Batch


class EngineTime:
    """Knows no clock: `now_s`, like `Batch.asked_at`, is a clock that nobody sets, in seconds."""

    def __init__(self) -> None:
        self.ms = 0
        """Epoch milliseconds."""
        self._revision = -1
        self._asked_at = float("-inf")

    def note(self, read: Batch, now_s: float) -> None:
        """A reading has come. One that was asked for before the latest is out of date."""
        if read.clock_revision < self._revision or read.asked_at < self._asked_at:
            return
        at_most = read.now + (now_s - read.asked_at) * 1000 + ROUNDED_MS
        if read.clock_revision > self._revision or self.ms > at_most:
            self.ms = read.now
        self.ms = max(self.ms, read.now)
        self._revision, self._asked_at = read.clock_revision, read.asked_at


ROUNDED_MS = 1
"""Readings are whole milliseconds."""
