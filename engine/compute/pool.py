"""The compute processes of one process of the program."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
import structlog
import trio

from vivero.engine.compute.compute_process import ComputeProcess
from vivero.engine.compute.problems import Busy, CannotWork, ProcessDied, TooCostly
from vivero.engine.compute.settings import ComputeSettings
from vivero.engine.compute.turns import Turns, WorkKind
from vivero.engine.supervision.beat import Beat

T = TypeVar("T")

log = structlog.get_logger(__name__)

TRIES = 2
"""A task whose process somebody ended is tried again. It has no effects."""
PATIENCE_S = 15.0
"""A task of a client waits as long for its turn as the client waits for an answer."""


class ComputeStats(msgspec.Struct, frozen=True, gc=False):
    """Figures. All but the first three only grow."""

    processes: int
    running: int
    waiting: int
    started: int
    done: int
    refused: int
    too_costly: int


class ComputePool:
    """Runs functions in compute processes. `run` is the child that ends idle ones."""

    def __init__(
        self,
        settings: ComputeSettings | None = None,
        program_processes: int = 1,
        start: Callable[[ComputeSettings], Awaitable[ComputeProcess]] = ComputeProcess.start,
    ) -> None:
        self._settings = settings = settings or ComputeSettings()
        self._turns = Turns(settings.places(program_processes), settings.max_waiting)
        self._start = start
        self._idle: list[ComputeProcess] = []
        self._all: set[ComputeProcess] = set()
        self._started = self._done = self._refused = self._too_costly = 0

    async def call(self, kind: WorkKind, work: Callable[..., T], *arguments: Any, patience_s: float = PATIENCE_S) -> T:
        """The result of `work(*arguments)`. Function, arguments and result must be picklable; the result is small, or
        consists of bytes, because the event loop decodes it at once. The function must not have effects.

        Raises:
            Busy: too many tasks wait, or this one has waited for `patience_s`.
            TooCostly: it takes more CPU time, memory or time than a task may.
            ProcessDied: somebody ended the processes that did it.
            CannotWork: there is no process that could do it.
            TaskFailed: it raised an exception.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        await self._take(kind, patience_s)
        try:
            return await self._attempt(work, arguments)
        except TooCostly as error:
            self._too_costly += 1
            log.warning("a task was ended, because it takes too much", kind=kind, detail=str(error))
            raise
        finally:
            self._turns.give()

    async def _take(self, kind: WorkKind, patience_s: float) -> None:
        taken = False
        try:
            with trio.move_on_after(float("inf") if kind is WorkKind.ENGINE else patience_s):
                await self._turns.take(kind)
                taken = True
            if not taken:
                raise Busy(f"other tasks had all compute processes for {patience_s:g} s")
        except Busy:
            self._refused += 1
            raise

    async def _attempt(self, work: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        for _ in range(TRIES - 1):
            try:
                return await self._once(work, arguments)
            except ProcessDied as error:
                log.warning("a task is done again, because its process died", detail=str(error))
        return await self._once(work, arguments)

    async def _once(self, work: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        process = await self._pick()
        try:
            result = await process.call(work, arguments)
            self._done += 1
            return result
        finally:
            if process.usable:
                process.idle_since = trio.current_time()
                self._idle.append(process)
            else:
                self._all.discard(process)
                await process.end()

    async def _pick(self) -> ComputeProcess:
        while self._idle:
            process = self._idle.pop()
            if process.runs:
                return process
            self._all.discard(process)
            await process.end()
        try:
            process = await self._start(self._settings)
        except OSError as error:  # too many processes or open files, no memory, no interpreter any more
            raise CannotWork(f"no compute process can be started: {error}") from error
        self._all.add(process)
        self._started += 1
        log.info("a compute process was started", pid=process.pid, processes=len(self._all))
        return process

    async def run(self, beat: Beat) -> None:
        """End processes that were idle for long, until cancelled."""
        while True:
            await self.run_once()
            await beat.sleep(self._settings.idle_s / 4)

    async def run_once(self) -> None:
        """End the processes that have been idle for long enough. The longest idle come first."""
        before = trio.current_time() - self._settings.idle_s
        while self._idle and self._idle[0].idle_since <= before:
            process = self._idle.pop(0)
            self._all.discard(process)
            await process.end()

    async def close(self) -> None:
        """End all processes. Nobody may call the pool any more."""
        while self._all:
            await self._all.pop().end()
        self._idle.clear()

    @property
    def stats(self) -> ComputeStats:
        """Figures so far."""
        return ComputeStats(
            len(self._all), self._turns.taken, self._turns.waiting,
            self._started, self._done, self._refused, self._too_costly,
        )  # fmt: skip
