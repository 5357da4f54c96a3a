"""The rests of batch operations: beside others they work for a part of the time.

Whatever a batch does takes time from others: its statements, appends and commits, and its commands in the log. All of
it counts as work, by the clock: on a busy machine the same work takes longer, and so does the rest after it.
Nothing here reads a clock.
"""

from __future__ import annotations

SHARE = 0.25
"""The part of the time for which batches work beside others."""
MOST_REST_S = 0.5
"""The longest rest: however slow everything is, the next commands follow."""
MOST_WORK_S = 1.0
"""The longest work before a rest. Commands whose log nobody processes do not keep the others from it."""


class Rests:
    """The time of the work since the last rest."""

    def __init__(self) -> None:
        self._since = 0.0
        self._worked = False
        self._rested = False

    def begin(self, now: float) -> None:
        """A turn begins. Turns that find nothing to do are no work."""
        if not self._worked:
            self._since = now

    def note_work(self, anything: bool) -> None:
        """A turn has changed something, or nothing."""
        self._worked |= anything

    def rest_s(self, now: float, beside: bool, waiting: bool) -> float:
        """Seconds to rest before anything else is begun; 0: go on. The work ends when none of its commands waits.

        The turn after a rest always goes on: otherwise a long scan, which ends no turn without work, would keep other
        batches from sending.
        """
        worked_s, rested = now - self._since, self._rested
        self._rested = False
        if rested or not self._worked or (waiting and worked_s < MOST_WORK_S):
            return 0.0
        self._worked = False
        self._since = now
        self._rested = beside
        return min(worked_s * (1 - SHARE) / SHARE, MOST_REST_S) if beside else 0.0
