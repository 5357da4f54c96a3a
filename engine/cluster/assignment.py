"""Orders of the cluster task to the consumer of a partition."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import trio

from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.wake_up import WakeUp

UNDECIDED_S = 1.0


class Duty(Enum):
    """The order to the consumer of a partition."""

    UNDECIDED = "undecided"
    """This node has not looked at the cluster yet."""
    ELSEWHERE = "elsewhere"
    """Another node leads, or should lead. A consumer without connections waits; one that leads hands over."""
    NEXT = "next"
    """This node should lead, and another one still does: connect, and wait until it hands over."""
    OURS = "ours"
    """Claim the partition at once, or go on leading it."""


def _nothing() -> None:
    return None


class Assignment:
    """The duty of one partition's consumer. The cluster task sets it; the consumer obeys."""

    def __init__(self, duty: Duty = Duty.OURS, changed: Callable[[], None] = _nothing) -> None:
        """`changed()` is called when the consumer got ready to lead, or handed over."""
        self.duty = duty
        self.ready = False
        """Whether the consumer waits for its turn with open connections."""
        self._notify = changed
        self._changed = WakeUp()

    def set(self, duty: Duty) -> bool:
        """Change the duty. False if it is the present one."""
        if duty is self.duty:
            return False
        self.duty = duty
        self._changed.set()
        return True

    # -- for the consumer

    async def near(self, beat: Beat) -> None:
        """Wait until this node leads or soon leads. A node that does not know its duty gives no beat."""
        while self.duty is Duty.UNDECIDED:
            with beat.waiting(UNDECIDED_S), trio.move_on_after(UNDECIDED_S / 2):
                await self._changed.wait()
        while self.duty is Duty.ELSEWHERE:
            await self._changed.idle(beat)

    async def turn(self, beat: Beat) -> bool:
        """Wait, ready to lead, while another node leads. False if this node should not lead any more."""
        while self.duty is Duty.NEXT:
            if not self.ready:
                self.ready = True
                self._notify()
            await self._changed.idle(beat)
        self.ready = False
        return self.duty is Duty.OURS

    def handed_over(self) -> None:
        """The partition is free, because this node handed it over."""
        self._notify()
