"""The meeting point of a partition's consumer and the other tasks of its node, which exist before the consumer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import trio

from vivero.engine.appender.forwarding import LogProgress
from vivero.engine.cluster.assignment import Assignment
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.wake_up import WakeUp
from vivero.storage.log.attempts import Suspicion
from vivero.storage.log.command_log import AppendedSegment
from vivero.storage.postgres.ticks import tick_in

EXPECT_S = 0.005
"""The time for which deferred work waits for commands that are being appended, so that they need not wait for it."""


class CachedState(NamedTuple):
    """The state that a term has in memory: instance trees, and bytes, message channels included (estimated)."""

    instances: int
    bytes: int


class RunningTerm(Protocol):
    """`engine.consumer.term.Term`."""

    leading: bool
    per_second: float

    @property
    def last(self) -> int: ...

    @property
    def suspicion(self) -> Suspicion | None: ...

    @property
    def computes(self) -> bool: ...

    @property
    def cached(self) -> CachedState: ...

    def take(self, segment: AppendedSegment) -> None: ...


class PartitionDuty:
    """Other tasks wake the consumer and hand it what they append; they learn here whether and how far it leads."""

    def __init__(self, assignment: Assignment | None = None) -> None:
        self.assignment = Assignment() if assignment is None else assignment
        """Whether this node should lead the partition."""
        self.must_read_log = True
        """Whether the log may have rows that were not handed over in memory."""
        self.term: RunningTerm | None = None
        """The current term of this node, or the last one."""
        self._wake_up = WakeUp()

    # -- for the other tasks

    def wake(self) -> None:
        """The log may have new rows."""
        self.must_read_log = True
        self._wake_up.set()

    def take(self, segment: AppendedSegment) -> bool:
        """Take over a segment that this node appended, so that it need not be read. False if it cannot be used."""
        if self.term is None or not self.term.leading:
            return False
        self.term.take(segment)
        self._wake_up.set()
        return True

    @property
    def leads(self) -> bool:
        """Whether this node leads the partition."""
        return self.term is not None and self.term.leading

    def progress(self) -> LogProgress | None:
        """The progress of the term; None if this node does not lead the partition."""
        term = self.term
        return LogProgress(term.last, term.per_second) if term is not None and term.leading else None

    def cached(self) -> CachedState:
        """The counts of what the term has in memory; zeros if this node does not lead the partition."""
        term = self.term
        return term.cached if term is not None and term.leading else CachedState(0, 0)

    def accuse(self, note: Callable[[Suspicion], None]) -> None:
        """Tell what blocked the event loop. The watchdog's thread calls this before it ends the process.

        An attempt is accused only if it computes now. A batch only makes the next term try its commands one by one.
        """
        term = self.term
        suspicion = term.suspicion if term is not None and term.leading else None
        if term is not None and suspicion is not None and (term.computes or not suspicion.attempt):
            note(suspicion)

    # -- for the consumer

    async def expect(self, beat: Beat) -> None:
        """Wait for a moment for commands that are being appended."""
        self._wake_up.clear()
        if await self._wake_up.idle(beat, trio.current_time() + EXPECT_S):
            self._wake_up.set()  # `wait` hears of it, too

    async def wait(self, beat: Beat, seconds: float) -> None:
        """Wait until somebody calls `wake` or `take`, or until it is time to poll."""
        woken = await self._wake_up.idle(beat, tick_in(seconds))
        self.must_read_log |= not woken
        beat.beat()
