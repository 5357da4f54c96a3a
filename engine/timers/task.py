"""Task: the timers of a partition (docs/timers.md).

The table holds the truth. Memory holds a window: the nearest due dates, complete up to a horizon, and refilled from the
index when used up. So ten million pending timers cost no more than two thousand. The consumer reports every due date
that a commit sets or removes, and that wakes the task if it is the nearest. The task polls only for the time.

A due timer fires by the command TIMER:TRIGGER, which carries the due date that the task saw. The core compares it with
the timer, so that a late or repeated command does nothing. Overdue timers fire in due order, in batches, between the
commands of clients. The log never holds more triggers than are processed within `delay_s` (`timers.pace`).

All memory belongs to one term of the partition's owner. A new epoch drops it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import structlog
import trio

from vivero.core.records.timers import TriggerTimer
from vivero.engine.appender.calls import Append, BulkAppender
from vivero.engine.outcomes.admission import Draining, NotAppended
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.dedicated_connection import DedicatedConnection
from vivero.engine.supervision.wake_up import WakeUp
from vivero.engine.timers.pace import TriggerPace
from vivero.engine.timers.settings import TimerSettings, TimerStats
from vivero.engine.timers.term_memory import NEVER, TermMemory, Trigger
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import describe
from vivero.storage.work import timers
from vivero.storage.work.timers import Clock, PendingTimer

log = structlog.get_logger(__name__)

Changes = Mapping[int, tuple[int, str] | None]
"""Timers that a commit changed: key → (due date in epoch ms, tenant), or None if the timer is no longer pending."""

AGAIN_MS, AGAIN_MAX_MS = 10, 60_000
REFUSED_S = 0.1
ROUNDED_S = 0.001
"""Milliseconds are truncated: a sleep that ends within the due millisecond would be too short."""
CLOCK_S = 1.0
"""While timers are pending, the task reads the time this often: somebody may set the database's clock forward."""


class Timers:
    """The handle of a partition's timer task; `run` is the child. It survives the child's restarts."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        appender: BulkAppender,
        settings: TimerSettings | None = None,
        partition: int = 1,
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        """`leads()` tells whether this node leads the partition. Only its leader fires its timers."""
        self.settings = settings or TimerSettings()
        self.stats = TimerStats()
        self._connection = DedicatedConnection(connect)
        self._appender = appender
        self.partition = partition
        self._leads = leads
        self._wake = WakeUp()
        self._watermark = 0
        self._memory = TermMemory(self.settings.window)
        self._pace = TriggerPace(self.settings.in_flight, self.settings.delay_s)

    # -- reports of other tasks; none of these waits

    def term(self, epoch: int) -> None:
        """A term of this node has begun. The memory belongs to an earlier one."""
        log.debug("timers of a new term", partition=self.partition, epoch=epoch)
        self._forget()
        self._wake.set()

    def changed(self, changes: Changes) -> None:
        """A committed batch scheduled, moved or ended timers."""
        memory = self._memory
        if memory.meanwhile is not None:
            memory.meanwhile.update(changes)
        for key, change in changes.items():
            if change is None:
                memory.window.drop(key)
                memory.postponed.pop(key, None)
                memory.still_pending.pop(key, None)
            elif self._note_pending(timer := PendingTimer(key, *change)):
                if change[0] < memory.asleep_until:
                    self._wake.set()
            elif memory.is_in_flight(timer):
                memory.still_pending[key] = timer

    def committed(self, watermark: int) -> None:
        """The log is processed up to this position."""
        self._watermark = watermark
        if self._note_processed(self._memory):
            self._wake.set()

    def clock_changed(self) -> None:
        """The engine's clock was set."""
        self._wake.set()

    def close(self) -> None:
        """Shut the socket, so that a call that gets no answer ends."""
        self._connection.close()

    # -- the child

    async def run(self, beat: Beat) -> None:
        """Fire due timers until cancelled. Raises when the connection is lost; the supervisor restarts it.

        There is a connection only while this node leads the partition.
        """
        self._forget()
        while True:
            await self._sleep(beat, 0 if self._leads() else self.settings.check_s)
            if self._leads():
                async with self._connection.opened(beat) as connection:
                    while self._leads():
                        await self._sleep(beat, await self.run_once(connection, beat))

    async def run_once(self, connection: Connection, beat: Beat) -> float:
        """Fire one batch of due timers. Returns for how long there is nothing to do, in seconds."""
        memory, settings = self._memory, self.settings
        if not self._leads():
            memory.asleep_until = NEVER
            return settings.check_s
        with beat.waiting(settings.call_timeout_s):
            clock = await self._look(connection, memory)
        if memory is not self._memory:
            return 0.0
        for timer in memory.take_postponed():
            memory.window.put(timer, timer.due_at)
        capacity = min(settings.batch, self._pace.allowed - len(memory.in_flight))
        due = memory.window.take(clock.now, capacity)
        memory.full = len(due) >= capacity
        if due:
            with beat.waiting(settings.append_timeout_s):
                return await self._fire(due, memory)
        return self._idle_s(clock, capacity, memory)

    async def _look(self, connection: Connection, memory: TermMemory) -> Clock:
        """Read the time, and refill the window if it is stale or used up."""
        clock = await timers.clock(connection)
        stale = clock.revision != memory.clock_revision or trio.current_time() >= memory.check_at
        memory.clock_revision, memory.clock_now, memory.clock_read = clock.revision, clock.now, trio.current_time()
        memory.pinned = clock.pinned
        if not clock.pinned:
            memory.postponed.clear()  # the clock was released: its new revision has them read again
        if stale or memory.window.is_used_up():
            await self._refill(connection, memory)
        return clock

    async def _refill(self, connection: Connection, memory: TermMemory) -> None:
        """Read the window. Changes that commit meanwhile are applied again afterwards."""
        meanwhile: dict[int, tuple[int, str] | None] = {}
        memory.meanwhile = meanwhile
        limit = self.settings.window + len(memory.in_flight)
        rows = await timers.nearest(connection, self.partition, limit)
        memory.meanwhile = None
        if memory is not self._memory:
            return
        memory.window.fill([], None if len(rows) < limit else rows[-1].due_at)
        for row in rows:
            self._note_pending(row)
        self.changed(meanwhile)
        memory.check_at = trio.current_time() + self.settings.check_s
        self.stats.refills += 1

    async def _fire(self, due: list[PendingTimer], memory: TermMemory) -> float:
        """Append the triggers. If that fails, drop the memory and read it again: a second trigger does nothing."""
        items = [
            Append(TriggerTimer(timer.key, timer.due_at), timer.tenant, timer.key, None, self.partition)
            for timer in due
        ]
        since = trio.current_time()
        memory.in_flight.update((timer.key, Trigger(timer, NEVER, since)) for timer in due)
        try:
            appended = await self._appender.append_all(items, deadline_s=self.settings.append_timeout_s)
        except NotAppended as error:
            self._forget()
            if isinstance(error, Draining):
                return self.settings.check_s
            log.warning("timers could not be fired and will be tried again", timers=len(due), reason=describe(error))
            return REFUSED_S
        self.stats.fired += len(due)
        memory.in_flight.update(
            (timer.key, Trigger(timer, one.position, since)) for timer, one in zip(due, appended, strict=True)
        )
        self._note_processed(memory)
        return 0.0

    def _idle_s(self, clock: Clock, capacity: int, memory: TermMemory) -> float:
        """Seconds until the nearest due date. With a full flight or a pinned clock, a wake-up comes earlier."""
        nearest = memory.window.nearest()
        memory.asleep_until = NEVER if nearest is None else nearest
        if capacity <= 0 or nearest is None or clock.pinned:
            return min(self.settings.check_s, memory.postponed_s())
        return min((nearest - clock.now) / 1000 + ROUNDED_S, self.settings.check_s, CLOCK_S)

    async def _sleep(self, beat: Beat, seconds: float) -> None:
        beat.beat()
        await self._wake.idle(beat, trio.current_time() + seconds)

    # -- memory

    def _forget(self) -> None:
        self._memory = TermMemory(self.settings.window)

    def _note_processed(self, memory: TermMemory) -> bool:
        """Drop triggers that are processed. True if there were any."""
        done, now = memory.processed(self._watermark), memory.now()
        if not done:
            return False
        for trigger in done:
            self.stats.late_s.note(max(0, now - trigger.timer.due_at) / 1000)
        self._pace.processed(trio.current_time() - done[0].since, full=memory.full)
        for timer in memory.take_still_pending():
            self._note_pending(timer)
        return True

    def _note_pending(self, timer: PendingTimer) -> bool:
        """Put a timer into the window, unless its trigger is in flight. Delay it if a trigger did nothing.

        While the clock is pinned, its time never comes to the end of a delay. The delay is real time then.
        """
        memory = self._memory
        if memory.is_in_flight(timer):
            return False
        times = memory.times_processed(timer)
        if not times:
            memory.postponed.pop(timer.key, None)
            return memory.window.put(timer, timer.due_at)
        self.stats.again += 1
        delay_ms = min(AGAIN_MS << min(times, 20), AGAIN_MAX_MS)
        if memory.pinned and timer.due_at <= memory.now():
            memory.postpone(timer, delay_ms / 1000)
            return True
        return memory.window.put(timer, max(timer.due_at, memory.now() + delay_ms))
