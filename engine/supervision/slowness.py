"""Whether the machine is too slow for the program: it gives the event loop less than half of the time.

A slow program is not a hung one. It serves, and nothing is restarted. The log, the metrics and the status say it.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import structlog

log = structlog.get_logger(__name__)

WINDOW_S = 10.0
SAMPLE_S = 0.5
ENOUGH_S = 2.0
"""Nothing is said about a shorter time."""
SLOW, FAST = 0.5, 0.25
"""The shares of the time that is withheld: above the one the program is slow, below the other it is not any more."""
TELL_EVERY_S = 60.0


class Sample(NamedTuple):
    """Seconds on the clock, the seconds of them that were withheld, and the CPU time of the process."""

    now_s: float
    withheld_s: float
    processor_s: float


class Slowness:
    """The share of the last seconds that the machine withheld. It is fed with samples, and reads no clock."""

    def __init__(self) -> None:
        self.slow = False
        self._samples: deque[Sample] = deque()
        self._reported_at = float("-inf")

    def note(self, now_s: float, withheld_s: float, processor_s: float) -> None:
        """Take a sample. Log when the program gets slow, every minute while it is, and when it is not any more."""
        samples = self._samples
        if samples and now_s - samples[-1].now_s < SAMPLE_S:
            return
        samples.append(Sample(now_s, withheld_s, processor_s))
        while len(samples) > 2 and samples[1].now_s <= now_s - WINDOW_S:
            samples.popleft()
        if now_s - samples[0].now_s < ENOUGH_S:
            return
        was_slow, share = self.slow, self.share
        self.slow = share > (FAST if was_slow else SLOW)
        if self.slow and now_s - self._reported_at >= TELL_EVERY_S:
            self._reported_at = now_s
            log.warning(
                "the machine gives the program too little time: it is slow, and nothing is restarted for that",
                withheld=round(share, 2), processor=round(self._processor, 2),
            )  # fmt: skip
        elif was_slow and not self.slow:
            self._reported_at = float("-inf")
            log.info("the machine gives the program enough time again", withheld=round(share, 2))

    @property
    def share(self) -> float:
        """The share of the last seconds that was withheld, between 0 and 1."""
        first, last = self._ends
        seconds = last.now_s - first.now_s
        return min(1.0, (last.withheld_s - first.withheld_s) / seconds) if seconds > 0 else 0.0

    @property
    def _processor(self) -> float:
        """The CPU time of the process in a second. Much of it tells that threads of its own are in the way."""
        first, last = self._ends
        return (last.processor_s - first.processor_s) / (last.now_s - first.now_s)

    @property
    def _ends(self) -> tuple[Sample, Sample]:
        if not self._samples:
            return Sample(0.0, 0.0, 0.0), Sample(0.0, 0.0, 0.0)
        return self._samples[0], self._samples[-1]
