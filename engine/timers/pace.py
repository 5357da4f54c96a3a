"""The number of unprocessed triggers that the log may hold, so that commands of clients hardly wait.

A command waits behind all that is in the log when it is appended. Therefore the log holds no more triggers than the
engine processes within `delay_s`. This number is measured, because the speed of the machine depends on its other work.
When clients keep the log busy, the number shrinks to `LEAST`: timers are late then, like everything else, but they do
not starve.
"""

from __future__ import annotations

LEAST = 10
FIRST = 50
"""The number of triggers before the first measurement."""
SHRINK, GROW = 0.5, 1.1
"""Bounds of one step: down quickly, up slowly, so that the slow moments of a machine decide."""


class TriggerPace:
    """The number of triggers in flight."""

    def __init__(self, most: int, delay_s: float, first: int = FIRST) -> None:
        self._most = most
        self._delay_s = delay_s
        self._allowed = float(min(most, first))

    @property
    def allowed(self) -> int:
        """The number of unprocessed triggers that the log may hold."""
        return int(self._allowed)

    def processed(self, waited_s: float, *, full: bool) -> None:
        """Triggers were processed, the oldest `waited_s` after its append. `full` tells that more timers were due.

        Without a full flight the time says nothing about how many triggers the engine could have processed.
        """
        step = min(max(self._delay_s / max(waited_s, 0.001), SHRINK), GROW)
        if step < 1 or full:
            self._allowed = min(max(self._allowed * step, LEAST), float(self._most))
