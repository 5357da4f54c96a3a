"""Deadlines that one task watches for all requests. A cancel scope for each would cost more than a short wait."""

from __future__ import annotations

from collections import deque
from typing import TypeVar

import trio

from vivero.engine.outcomes.replies import tell
from vivero.engine.supervision.wake_up import WakeUp

GRAIN_S = 0.02
"""While many wait, their deadlines are looked at this often."""

V = TypeVar("V")


class _Deadline:
    """The end of a wait. `send` is None when the wait has ended."""

    __slots__ = ("send", "until")

    def __init__(self, until: float, send: trio.MemorySendChannel[None]) -> None:
        self.until = until
        self.send: trio.MemorySendChannel[None] | None = send


class Deadlines:
    """Sends None to waits that take too long. `run` must run as long as somebody may wait."""

    def __init__(self) -> None:
        self._waits: deque[_Deadline] = deque()
        self._last = float("-inf")
        self._added = WakeUp()
        self._running = False

    async def receive(
        self, send: trio.MemorySendChannel[None], receive: trio.MemoryReceiveChannel[V | None], until: float
    ) -> V | None:
        """Receive a message up to a time of Trio's clock. None: the time is up.

        `send` is an end of the same channel, which needs a place for None.
        """
        if not self._running or until < self._last:  # an unusual deadline: the others are as long as each other
            with trio.move_on_at(until):
                return await receive.receive()
            return None
        if not self._waits:
            self._added.set()
        deadline = _Deadline(until, send)
        self._waits.append(deadline)
        self._last = until
        try:
            message = await receive.receive()
        finally:
            is_up, deadline.send = deadline.send is None, None
        if is_up and message is not None:
            receive.receive_nowait()  # None has come, too, before this task ran
        return message

    async def run(self) -> None:
        """Watch until cancelled."""
        self._running = True
        try:
            while True:
                await self._added.wait()
                while self._waits:
                    await trio.sleep_until(max(self._waits[0].until, trio.current_time() + GRAIN_S))
                    self._end(trio.current_time())
        finally:
            self._running = False
            self._end(float("inf"))

    def _end(self, now: float) -> None:
        """End the waits whose time is over, and drop those that have ended."""
        waits = self._waits
        while waits and (waits[0].until <= now or waits[0].send is None):
            deadline = waits.popleft()
            if deadline.send is not None:
                tell(deadline.send, None)
                deadline.send = None
