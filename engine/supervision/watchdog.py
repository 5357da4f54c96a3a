"""A thread that ends the process when the event loop is blocked, because no task can do that then.

It measures what the machine gave, not the clock. In a process that is stopped, throttled or crowded out, the loop gets
no turn for seconds, and nothing is wrong. A step of the thread counts no longer than it meant to wait, and without the
time for which the loop's thread was ready and waited for a processor. The loop's CPU time always counts.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import NamedTuple, NoReturn

import trio

from vivero.engine.supervision.thread_times import ThreadTimes, times_of_this_thread

EXIT_CODE = 70
"""EX_SOFTWARE of sysexits.h."""
LAST_WORDS_S = 4.0
"""The time for which the process waits, before it ends, for a record of what blocked the loop."""
PRINT_S = 3.0
"""The time that the reason and the stacks may take to print."""
TICKS = 10
STEP_S = 0.01
"""The step of the thread while the loop is late. Short steps make the gaps of the process exact."""


class Step(NamedTuple):
    """A step of the thread: how long it meant to wait, how long it took, and what the loop's thread did meanwhile."""

    meant_s: float
    took_s: float
    computed_s: float
    """The CPU time of the loop's thread."""
    queued_s: float
    """The time in which the loop's thread was ready and waited for a processor."""

    @property
    def given_s(self) -> float:
        """The time in which the loop could have had a turn."""
        return max(self.computed_s, min(self.took_s, 1.5 * self.meant_s) - self.queued_s, 0.0)


def hard_exit(message: str) -> NoReturn:
    """End the process now, without clean-up. Print the reason and the stack of every thread.

    A standard error that nobody reads blocks the printing, in C code that lets no other thread run. The timer's signal
    ends the process all the same.
    """
    signal.setitimer(signal.ITIMER_REAL, PRINT_S)
    print(f"vivero: {message}", file=sys.stderr, flush=True)
    faulthandler.dump_traceback(all_threads=True)
    os._exit(EXIT_CODE)


class Watchdog:
    """Ends the process when `pat()` is not called for `limit_s` of given time."""

    def __init__(
        self,
        limit_s: float = 10.0,
        interval_s: float | None = None,
        die: Callable[[str], object] = hard_exit,
        last_words: Callable[[], None] | None = None,
    ) -> None:
        """`last_words()` runs before `die(message)`, in a thread of its own, and may block."""
        self.interval_s = limit_s / TICKS if interval_s is None else interval_s
        self._last_words = last_words
        self._limit_s = limit_s
        self._die = die
        self._blocked_s = 0.0
        self._patted = False
        self._stopped = threading.Event()
        self._loop: Callable[[], ThreadTimes] = ThreadTimes

    def pat(self) -> None:
        """Tell that the loop turns."""
        self._patted = True

    def tick(self, step: Step) -> None:
        """A step has passed."""
        if self._patted:
            self._patted, self._blocked_s = False, 0.0
            return
        self._blocked_s += step.given_s
        if self._blocked_s > self._limit_s:
            self._record()
            self._die(f"the event loop has been blocked for more than {self._limit_s:g} s")

    def _record(self) -> None:
        if self._last_words is None:
            return
        thread = threading.Thread(target=self._last_words, name="last words", daemon=True)
        thread.start()
        thread.join(LAST_WORDS_S)

    def watch(self) -> None:
        """Tick until stopped. The body of the thread."""
        at, before = monotonic(), self._loop()
        while not self._stopped.wait(meant_s := self._step_s):
            now, times = monotonic(), self._loop()
            self.tick(Step(meant_s, now - at, times.computed_s - before.computed_s, times.queued_s - before.queued_s))
            at, before = now, times

    @property
    def _step_s(self) -> float:
        return min(STEP_S, self.interval_s) if self._blocked_s else self.interval_s

    async def run(self) -> None:
        """Pat the dog at every interval, for ever. A task of the loop."""
        while True:
            self.pat()
            await trio.sleep(self.interval_s / 2)

    @contextmanager
    def thread(self) -> Iterator[None]:
        """Run the thread while the block runs. This is the loop's thread."""
        self._loop = times_of_this_thread()
        thread = threading.Thread(target=self.watch, name="watchdog", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            thread.join()
