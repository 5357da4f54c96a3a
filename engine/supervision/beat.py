"""The sign of life of a child. Its times are given time: seconds without those in which the machine let nobody run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import trio

from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.postgres.given_time import given_time
from vivero.storage.postgres.ticks import next_tick

T = TypeVar("T")

OVERTAKEN = 5
"""A child hangs only if the supervisor had this many turns since its last beat. One long turn silences all children."""


class Beat:
    """A child calls `beat()` in each turn of its loop, and at least each `idle_beat_s` while idle.

    Only the child's own loop may beat. A helper task that beats would keep a hung child alive.
    """

    __slots__ = ("_deadlines", "_last", "_progress", "_settings", "alive", "given_up", "muted", "overtaken")

    def __init__(self, settings: SupervisionSettings) -> None:
        self._settings = settings
        self._last = given_time()
        self._deadlines: list[float] = []
        self.muted = False
        """Chaos made the child look hung."""
        self.given_up = False
        """The supervisor ends the child because of its silence. The child may record what caused it."""
        self._progress: Callable[[], bool] = lambda: True
        self.alive = False
        """Whether the child has beaten at all."""
        self.overtaken = 0
        """The number of turns of the supervisor since the last beat in which this child could have run, too."""

    def beat(self) -> None:
        """Tell that the child's loop turns."""
        if not self.muted:
            self._heard()
            self.alive = True

    def mute(self) -> None:
        """Ignore all further beats, so that the child looks hung whichever of its tasks beats."""
        self.muted = True

    def report_progress(self, progress: Callable[[], bool]) -> None:
        """Let the health check call `progress()`. False means that the child lives, but gets nowhere."""
        self._progress = progress

    @contextmanager
    def waiting(self, deadline_s: float) -> Iterator[None]:
        """A block that waits for PostgreSQL with a deadline of its own. Silence until then is not a hang."""
        deadline = given_time() + deadline_s
        self._deadlines.append(deadline)
        try:
            yield
        finally:
            self._end_wait(deadline)

    def _end_wait(self, deadline: float) -> None:
        self._deadlines.remove(deadline)
        if not self.muted:
            self._heard()

    def _heard(self) -> None:
        self._last, self.overtaken = given_time(), 0

    def looked_at(self) -> None:
        """The supervisor had a turn. Every child that was ready to run had one, too."""
        self.overtaken = 0 if self.excused else self.overtaken + 1

    @property
    def next_at(self) -> float:
        """The time of the next beat of an idle child, on Trio's clock."""
        return next_tick(self._settings.idle_beat_s)

    async def idle(self, wait: Callable[[], Awaitable[T]]) -> T:
        """The result of `wait()`, which is cancelled and called again after each beat. It must lose nothing by that."""
        while True:
            self.beat()
            with trio.move_on_at(self.next_at):
                return await wait()

    async def during(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of `call()`, with beats meanwhile: it waits for another system, with limits of its own."""
        results: list[T] = []
        errors: list[Exception] = []
        done = trio.Event()

        async def run() -> None:
            try:
                results.append(await call())
            except Exception as error:
                errors.append(error)
            done.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await self.idle(done.wait)
        if errors:
            raise errors[0]
        return results[0]

    async def sleep(self, seconds: float) -> None:
        """Sleep, and beat meanwhile."""
        with trio.move_on_after(seconds):
            await self.idle(trio.sleep_forever)
        self.beat()

    @property
    def limit_s(self) -> float:
        """The time for which a child may be silent."""
        return self._settings.hang_after_s

    @property
    def age_s(self) -> float:
        """Given seconds since the last beat."""
        return given_time() - self._last

    @property
    def excused(self) -> bool:
        """Whether the child waits for PostgreSQL, within its deadline."""
        return bool(self._deadlines) and given_time() < max(self._deadlines)

    @property
    def silent(self) -> bool:
        """Whether the child hangs: it is overdue, and others have had turns meanwhile."""
        return self.overtaken >= OVERTAKEN and self.overdue

    @property
    def overdue(self) -> bool:
        """Whether the child has neither beaten nor waited within a deadline for too long."""
        latest = max(self._last, *self._deadlines) if self._deadlines else self._last
        return given_time() - latest > self._settings.hang_after_s

    @property
    def stalled(self) -> bool:
        """Whether the last beat is too old to call the child healthy, with or without an excuse."""
        return self.overdue or self.age_s > self._settings.stalled_after_s

    @property
    def progressing(self) -> bool:
        return self._progress()
