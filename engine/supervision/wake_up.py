"""Wakes one task: others set the wake-up without waiting, and many calls before the task runs wake it once."""

from __future__ import annotations

import trio

from vivero.engine.supervision.beat import Beat


class WakeUp:
    """At most one task waits. A call of `set` before it waits is not lost: the wait then ends at once."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event = trio.Event()

    def set(self) -> None:
        """Wake the task, or let its next wait end at once."""
        self._event.set()

    def clear(self) -> None:
        """Forget earlier calls of `set`. The task calls this before it does what they asked for."""
        if self._event.is_set():
            self._event = trio.Event()

    async def wait(self) -> None:
        """Wait for a call of `set`, and forget it. A cancelled wait forgets nothing."""
        await self._event.wait()
        self.clear()

    async def idle(self, beat: Beat, until: float = float("inf")) -> bool:
        """Wait with beats for a call of `set`, and forget it. False: there was none up to a time of Trio's clock.

        An earlier call of `set` costs no turn of the loop.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        beat.beat()
        while not self._event.is_set():
            with trio.move_on_at(min(until, beat.next_at)):
                await self._event.wait()
            if trio.current_time() >= until:
                break
            beat.beat()
        woken = self._event.is_set()
        self.clear()
        return woken
