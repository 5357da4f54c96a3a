"""A thread that ends the process when the event loop is blocked, because no task can do that then.

It counts its own ticks instead of reading a clock. After a pause of the whole process (SIGSTOP, a suspended machine)
the loop and the thread wake together, and nothing is wrong.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import trio

EXIT_CODE = 70
"""EX_SOFTWARE of sysexits.h."""
LAST_WORDS_S = 4.0
"""How long the process waits, before it ends, for a record of what blocked the loop."""
PRINT_S = 3.0
"""How long the reason and the stacks may take to print."""
TICKS = 10


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
    """Ends the process when `pat()` is not called for `limit_s`."""

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
        self._missed = 0
        self._stopped = threading.Event()

    def pat(self) -> None:
        """Tell that the loop turns."""
        self._missed = 0

    def tick(self) -> None:
        """An interval has passed."""
        self._missed += 1
        if self._missed * self.interval_s > self._limit_s:
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
        while not self._stopped.wait(self.interval_s):
            self.tick()

    async def run(self) -> None:
        """Pat the dog at every interval, for ever. A task of the loop."""
        while True:
            self.pat()
            await trio.sleep(self.interval_s / 2)

    @contextmanager
    def thread(self) -> Iterator[None]:
        """Run the thread while the block runs."""
        thread = threading.Thread(target=self.watch, name="watchdog", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            thread.join()
