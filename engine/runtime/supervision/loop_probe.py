"""A probe in the event loop: for how long it computes between two looks at its sockets, and which task that was.

All tasks of the program share one thread. A turn of the loop is what they do between two looks; nobody else is served
meanwhile. Decoding, encoding and the garbage collector count, waiting does not: time is that of the thread's processor,
to within `SAMPLE_S`. A probe that does nothing else costs half a microsecond a turn. Which task it was is looked at
only for a while after a long turn, as that costs as much for each step of a task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import NamedTuple

import structlog
import trio

log = structlog.get_logger(__name__)

LONG_S = 0.05
"""No turn should take longer."""
SAMPLE_S = 0.005
"""To read the thread's clock takes as long as a short turn: it is read once in so much time."""
NAMES_FOR_TURNS = 100_000
"""So many turns after a long one tasks are told apart."""
TELL_EVERY_S = 10.0
ALARMING_S = 0.5
"""A turn so long is a warning in the log; a shorter one is told, too."""


class Stretch(NamedTuple):
    """A turn: seconds of the thread's processor, and the task that had most of them, if that was looked at."""

    seconds: float
    task: str | None


class LoopProbe(trio.abc.Instrument):
    """What watches the loop, and what it has seen."""

    def __init__(self, names_always: bool = False, tell: Callable[[Stretch], object] | None = None) -> None:
        """`names_always`: tell tasks apart from the beginning, for tests; `tell`: what a long turn is told to."""
        self.longest = Stretch(0.0, None)
        """Since the probe was made, or `reset`."""
        self.long = 0
        """How many turns were longer than `LONG_S`."""
        self._tell = _warn if tell is None else tell
        self._tasks = _Tasks()
        self._names_always = names_always
        self._names_left = 0
        self._began = float("inf")
        self._sampled_at = self._told_at = float("-inf")
        self._sampled = 0.0

    @property
    def names_tasks(self) -> bool:
        """Whether it tells tasks apart now."""
        return self._names_always or self._names_left > 0

    def reset(self) -> None:
        self.longest, self.long = Stretch(0.0, None), 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch this thread's loop while the block runs."""
        trio.lowlevel.add_instrument(self)
        if self._names_always:
            trio.lowlevel.add_instrument(self._tasks)
        try:
            yield
        finally:
            trio.lowlevel.remove_instrument(self)
            if self.names_tasks:
                trio.lowlevel.remove_instrument(self._tasks)

    # ---- what Trio calls

    def after_io_wait(self, timeout: float) -> None:
        self._began = now = perf_counter()
        if now - self._sampled_at > SAMPLE_S:
            self._sampled_at, self._sampled = now, thread_time()

    def before_io_wait(self, timeout: float) -> None:
        wall = perf_counter() - self._began
        if wall > self.longest.seconds or wall > LONG_S:
            self._note(min(wall, thread_time() - self._sampled))
        if self._names_left:
            self._names_left -= 1
            if not self._names_left:
                trio.lowlevel.remove_instrument(self._tasks)
        self._tasks.longest_s = 0.0

    # ---- a turn that was longer than those before, or too long

    def _note(self, seconds: float) -> None:
        known = self.names_tasks
        stretch = Stretch(seconds, self._tasks.name if known and self._tasks.longest_s else None)
        if seconds > self.longest.seconds:
            self.longest = stretch
        if seconds > LONG_S:
            self.long += 1
            if not known:
                trio.lowlevel.add_instrument(self._tasks)
            if not self._names_always:
                self._names_left = NAMES_FOR_TURNS
            if self._began - self._told_at > TELL_EVERY_S:
                self._told_at = self._began
                self._tell(stretch)


class _Tasks(trio.abc.Instrument):
    """The task with the longest step of a turn."""

    def __init__(self) -> None:
        self.longest_s = 0.0
        self.name = ""
        self._began = 0.0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._began = perf_counter()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        took = perf_counter() - self._began
        if took > self.longest_s:
            self.longest_s, self.name = took, task.name


def _warn(stretch: Stretch) -> None:
    seconds = round(stretch.seconds, 3)
    tell = log.info if stretch.seconds < ALARMING_S else log.warning
    tell("the event loop computed for long, and served nobody meanwhile", seconds=seconds, task=stretch.task)
