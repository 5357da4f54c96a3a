"""The memory of the timer task during one term of the partition's owner."""

from __future__ import annotations

from typing import NamedTuple

import trio

from vivero.engine.timers.window import Window
from vivero.storage.work.timers import PendingTimer

REMEMBERED = 4_000
"""Processed triggers that are remembered, to notice a timer that is still pending after its trigger."""
NEVER = 1 << 63
"""Later than every due date, and behind every position."""


class Trigger(NamedTuple):
    """A trigger in flight: its timer, its position in the log, and when it was appended (Trio's clock)."""

    timer: PendingTimer
    position: int
    since: float


class TermMemory:
    """The memory of one term."""

    def __init__(self, window: int) -> None:
        self.window = Window(window)
        self.in_flight: dict[int, Trigger] = {}
        """Triggers that are appended and not yet processed, the oldest first."""
        self.still_pending: dict[int, PendingTimer] = {}
        """Timers that a commit reported as pending while their triggers were in flight. A commit may be reported before
        the append is: such a trigger came too early and did nothing."""
        self.full = False
        """Whether more timers are due than may be in flight."""
        self.done: dict[int, tuple[int, int]] = {}
        """Processed triggers by key of the timer: the due date, and how often it was triggered. Oldest first."""
        self.meanwhile: dict[int, tuple[int, str] | None] | None = None
        """Changes that were reported while the window was being read."""
        self.postponed: dict[int, tuple[float, PendingTimer]] = {}
        """Timers that are due by a pinned clock and whose triggers did nothing: when to trigger them (Trio's clock)."""
        self.check_at = float("-inf")
        self.asleep_until = NEVER
        self.clock_revision = -1
        self.clock_now = 0
        self.clock_read = 0.0
        self.pinned = False

    def is_in_flight(self, timer: PendingTimer) -> bool:
        """Whether a trigger of this timer, with this due date, is appended and not yet processed."""
        flying = self.in_flight.get(timer.key)
        return flying is not None and flying.timer.due_at == timer.due_at

    def take_still_pending(self) -> list[PendingTimer]:
        """Remove and return the timers that are still pending and no longer in flight."""
        keys = [key for key in self.still_pending if key not in self.in_flight]
        return [self.still_pending.pop(key) for key in keys]

    def now(self) -> int:
        """The engine's time: the latest reading plus the time since."""
        return self.clock_now + (0 if self.pinned else int((trio.current_time() - self.clock_read) * 1000))

    def processed(self, watermark: int) -> list[Trigger]:
        """Drop and return the triggers up to this position, the oldest first."""
        done = [flying for flying in self.in_flight.values() if flying.position <= watermark]
        for timer, _, _ in done:
            del self.in_flight[timer.key]
            times = self.times_processed(timer)
            self.done.pop(timer.key, None)
            self.done[timer.key] = timer.due_at, times + 1
            if len(self.done) > REMEMBERED:
                del self.done[next(iter(self.done))]
        return done

    def postpone(self, timer: PendingTimer, seconds: float) -> None:
        """Trigger a timer later. The time that was set first for a due date counts: the window may be read again."""
        known = self.postponed.get(timer.key)
        if known is None or known[1].due_at != timer.due_at:
            self.window.drop(timer.key)
            self.postponed[timer.key] = trio.current_time() + seconds, timer

    def take_postponed(self) -> list[PendingTimer]:
        """Remove and return the postponed timers whose time has come."""
        now = trio.current_time()
        return [self.postponed.pop(timer.key)[1] for at, timer in list(self.postponed.values()) if at <= now]

    def postponed_s(self) -> float:
        """Seconds until the first postponed timer is triggered."""
        return max(0.0, min((at for at, _ in self.postponed.values()), default=NEVER) - trio.current_time())

    def times_processed(self, timer: PendingTimer) -> int:
        """The number of processed triggers of this due date, as far as remembered."""
        due_at, times = self.done.get(timer.key, (None, 0))
        return times if due_at == timer.due_at else 0
