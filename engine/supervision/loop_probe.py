"""A probe in the event loop: how long it computes between two looks at its sockets, and which task does.

All tasks of the program share one thread. A turn of the loop is what they do between two looks; nobody is served during
a turn. The probe measures the CPU time of the thread, to within `SAMPLE_S`: decoding, encoding and garbage collection
count, waiting does not. It costs half a microsecond a turn. Telling tasks apart costs as much for each step of a task,
so the probe does that only for a while after a long turn.

It also sees how long the loop wanted to run and could not: it woke late, or a turn took longer than its CPU time. That
feeds the given time, which supervision measures with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import NamedTuple

import structlog
import trio

from vivero.engine.counters.buckets import Buckets
from vivero.storage.postgres.given_time import GAP_S, GivenTime, measured

log = structlog.get_logger(__name__)

LONG_S = 0.05
"""The goal: no turn takes longer."""
NOTED_S = 0.001
"""Shorter turns are only compared with this, which costs less than counting them."""
SAMPLE_S = 0.005
"""Reading the thread's clock takes as long as a short turn, so the probe reads it only this often."""
NAMES_FOR_TURNS = 10_000
"""The number of turns after a long one in which the probe tells tasks apart: minutes at rest, seconds under load."""
TELL_EVERY_S = 10.0
ALARMING_S = 0.5
"""A turn of this length is logged as a warning, a shorter one as information."""


class Stretch(NamedTuple):
    """A turn: seconds of CPU, and the task that used most of them, if the probe told tasks apart."""

    seconds: float
    task: str | None


class LoopProbe(trio.abc.Instrument):
    """Watches the loop, and keeps what it has seen."""

    def __init__(self, names_always: bool = False, tell: Callable[[Stretch], object] | None = None) -> None:
        """`names_always` tells tasks apart from the beginning, for tests. `tell` is called with each long turn."""
        self.longest = Stretch(0.0, None)
        """The longest turn since the start or the last `reset`."""
        self.long = 0
        """The number of turns longer than `LONG_S`."""
        self.turn_s = Buckets()
        """Turns longer than `NOTED_S`, by the clock on the wall: for so long nobody was served."""
        self.given = GivenTime()
        """The time without the gaps in which the machine gave the loop no turn."""
        self._report = _warn if tell is None else tell
        self._tasks = _Tasks()
        self._names_always = names_always
        self._names_left = 0
        self._began = self._ended = float("inf")
        self._sampled_at = self._reported_at = float("-inf")
        self._sampled = 0.0

    @property
    def names_tasks(self) -> bool:
        """Whether the probe tells tasks apart now."""
        return self._names_always or self._names_left > 0

    def reset(self) -> None:
        self.longest, self.long = Stretch(0.0, None), 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch this thread's loop while the block runs."""
        self.given.woke(perf_counter(), 0.0)
        trio.lowlevel.add_instrument(self)
        if self._names_always:
            trio.lowlevel.add_instrument(self._tasks)
        try:
            with measured(self.given):
                yield
        finally:
            trio.lowlevel.remove_instrument(self)
            if self.names_tasks:
                trio.lowlevel.remove_instrument(self._tasks)

    # -- called by Trio

    def after_io_wait(self, timeout: float) -> None:
        self._began = now = perf_counter()
        if now - self._sampled_at > SAMPLE_S:
            self._sampled_at, self._sampled = now, thread_time()
        if self._names_left or self._names_always:
            self._tasks.began = now
        self.given.woke(now, now - self._ended - timeout)

    def before_io_wait(self, timeout: float) -> None:
        self._ended = now = perf_counter()
        if now - self._began > NOTED_S:
            self._note_turn(now - self._began)
        if self._names_left or self._names_always:
            self._end_turn_of_tasks()

    def _note_turn(self, wall: float) -> None:
        self.turn_s.note(wall)
        if wall > GAP_S or wall > self.longest.seconds:
            self._tasks.before_task_step(None)  # which ends the last step
            self._measure(wall)
            self._ended = perf_counter()

    def _end_turn_of_tasks(self) -> None:
        self._tasks.turned()
        if self._names_left:
            self._names_left -= 1
            if not self._names_left:
                trio.lowlevel.remove_instrument(self._tasks)

    # -- long turns

    def _measure(self, wall: float) -> None:
        processor = min(wall, thread_time() - self._sampled)
        self.given.turned(wall, processor)
        if wall > self.longest.seconds or wall > LONG_S:
            self._note(processor)

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
            if self._began - self._reported_at > TELL_EVERY_S:
                self._reported_at = self._began
                self._report(stretch)


class _Tasks(trio.abc.Instrument):
    """The task with the longest step of a turn. A step ends where the next one begins: one call for each is enough."""

    def __init__(self) -> None:
        self.longest_s = 0.0
        self.name = ""
        self.began = 0.0
        self._task: trio.lowlevel.Task | None = None

    def before_task_step(self, task: trio.lowlevel.Task | None) -> None:
        now = perf_counter()
        if self._task is not None and now - self.began > self.longest_s:
            self.longest_s, self.name = now - self.began, self._task.name
        self.began, self._task = now, task

    def turned(self) -> None:
        """The turn has ended."""
        self.longest_s, self._task = 0.0, None


def _warn(stretch: Stretch) -> None:
    seconds = round(stretch.seconds, 3)
    tell = log.info if stretch.seconds < ALARMING_S else log.warning
    tell("the event loop computed for a long time and served nobody meanwhile", seconds=seconds, task=stretch.task)
