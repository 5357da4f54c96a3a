"""Deadlines that one task watches for all requests. A cancel scope for each would cost more than a short wait."""

from __future__ import annotations

from collections import deque

import trio

GRAIN_S = 0.02
"""While many wait, their deadlines are looked at this often."""


class Deadlines:
    """Sets the events of waits that take too long. `run` must run as long as somebody may wait."""

    def __init__(self) -> None:
        self._waits: deque[tuple[float, trio.Event]] = deque()
        self._last = float("-inf")
        self._added = trio.Event()
        self._running = False

    async def wait(self, event: trio.Event, until: float) -> None:
        """Wait for the event up to a time of Trio's clock. The event may be set by the end of the time."""
        if not self._running or until < self._last:  # an unusual deadline: the others are as long as each other
            with trio.move_on_at(until):
                await event.wait()
            return
        if not self._waits:
            self._added.set()
        self._waits.append((until, event))
        self._last = until
        await event.wait()

    async def run(self) -> None:
        """Watch until cancelled."""
        self._running = True
        try:
            while True:
                await self._added.wait()
                self._added = trio.Event()
                while self._waits:
                    await trio.sleep_until(max(self._waits[0][0], trio.current_time() + GRAIN_S))
                    self._end(trio.current_time())
        finally:
            self._running = False
            self._end(float("inf"))

    def _end(self, now: float) -> None:
        """End the waits whose time is over, and drop those that have ended."""
        waits = self._waits
        while waits and (waits[0][0] <= now or waits[0][1].is_set()):
            waits.popleft()[1].set()
