"""How many triggers may be in the log and not yet processed, so that commands of clients hardly wait behind them.

A command waits behind what is in the log when it comes. So the flight is as large as the engine works off within
`delay_s`: measured, because nobody knows how fast this computer is while it does other things, too. When clients keep
the log busy the flight shrinks to `LEAST`: timers are late then, as the rest is, and never starve.
"""

from __future__ import annotations

LEAST = 10
FIRST = 50
"""Triggers before anything was measured."""
SHRINK, GROW = 0.5, 1.1
"""Bounds of one step: down at once, up slowly, so that on a computer whose speed varies the slow moments decide."""


class Pace:
    """The size of the flight. Knows no clock and no task."""

    def __init__(self, most: int, delay_s: float) -> None:
        self._most = most
        self._delay_s = delay_s
        self._allowed = float(min(most, FIRST))

    @property
    def allowed(self) -> int:
        """Triggers that may be in the log and not processed."""
        return int(self._allowed)

    def processed(self, waited_s: float, *, full: bool) -> None:
        """Some triggers were processed, the oldest of them so long after its append. `full`: more would have come.

        What was not full says nothing about how much could have been worked off in the time.
        """
        step = min(max(self._delay_s / max(waited_s, 0.001), SHRINK), GROW)
        if step < 1 or full:
            self._allowed = min(max(self._allowed * step, LEAST), float(self._most))
