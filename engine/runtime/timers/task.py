"""Task: the timers of a partition (docs/timers.md).

The table is the truth. In memory is a window: the nearest due dates, complete up to a horizon and refilled from the
index behind it, so that ten million pending timers cost what two thousand do. The consumer tells of every due date that
a commit has set or taken away, which wakes the task if it is the nearest; nobody polls but for the time.

A due timer fires by TIMER:TRIGGER with the due date it was seen with. The core compares both, so that a command which
is late, or appended twice, does nothing. Overdue timers fire in due order, in batches, between what clients ask for: no
more of them are in the log at a time than are processed within `delay_s` (`engine.runtime.timers.pace`).

All memory belongs to a term of the partition's owner: with a new epoch it is dropped.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import structlog
import trio

from vivero.engine.core.records.timers import TriggerTimer
from vivero.engine.core.rules import TIMER_RULES, TimerRules
from vivero.engine.runtime.appender.admission import Draining, NotAppended
from vivero.engine.runtime.appender.task import Append, Appended
from vivero.engine.runtime.dedicated_connection import DedicatedConnection
from vivero.engine.runtime.supervision.beat import Beat
from vivero.engine.runtime.timers.pace import Pace
from vivero.engine.runtime.timers.window import Window
from vivero.storage import timers
from vivero.storage.postgres.driver import Connection
from vivero.storage.timers import Clock, PendingTimer

log = structlog.get_logger(__name__)

Changes = Mapping[int, tuple[int, str] | None]
"""What a commit did to timers: key → (due date in epoch ms, tenant), None when the timer is no longer pending."""

MAX_IN_FLIGHT = 1_000
REMEMBERED = 4_000
"""Timers whose trigger was processed, to notice one that is still pending."""
AGAIN_MS, AGAIN_MAX_MS = 10, 60_000
REFUSED_S = 0.1
CLOCK_S = 1.0
"""While timers are pending the time is asked for so often: somebody may set the database's clock on."""


@dataclass(frozen=True, slots=True)
class TimerSettings:
    """Limits of the timer task."""

    window: int = 2_000
    """Due dates in memory after a refill; new ones in front of the horizon may double it."""
    in_flight: int = 400
    """Triggers that are appended and not yet processed, at most."""
    delay_s: float = 0.1
    """So long, about, the commands of clients wait behind overdue timers; less of those are in flight if need be."""
    batch: int = 200
    """Triggers in one append."""
    check_s: float = 60.0
    """No sleep is longer, and the window is read again this often, whatever was told."""
    append_timeout_s: float = 5.0
    call_timeout_s: float = 5.0
    cron_zone: str = TIMER_RULES.cron_zone
    """Cron expressions are read in this time zone."""
    missed_limit: int = TIMER_RULES.missed_limit
    """After downtime so many missed occurrences of a cycle still fire, the latest of them; 0: none, on to the next."""

    @property
    def rules(self) -> TimerRules:
        """What the core must know of it. Raises ValueError for a zone that does not exist and for a negative limit."""
        return TimerRules(self.cron_zone, self.missed_limit)

    def __post_init__(self) -> None:
        _ = self.rules
        if not 0 < self.batch <= self.in_flight <= MAX_IN_FLIGHT:
            raise ValueError(f"timers need 0 < batch <= in_flight <= {MAX_IN_FLIGHT}")
        if self.delay_s <= 0:
            raise ValueError("timers need delay_s > 0")


@dataclass(slots=True)
class TimerStats:
    """Counters for metrics and tests; they only grow."""

    fired: int = 0
    """Triggers appended."""
    refills: int = 0
    again: int = 0
    """Timers that were still pending after their trigger was processed."""


class Appends(Protocol):
    """`engine.runtime.appender.task.Appender`, many commands at a time."""

    async def append_all(self, items: Sequence[Append], *, deadline_s: float) -> list[Appended]: ...


class Timers:
    """The handle of a partition's timer task; `run` is the child. It survives the child's restarts."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        appender: Appends,
        settings: TimerSettings | None = None,
        partition: int = 1,
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        """`leads()`: whether this node owns the partition now; nobody else fires its timers."""
        self.settings = settings or TimerSettings()
        self.stats = TimerStats()
        self._connection = DedicatedConnection(connect)
        self._appender = appender
        self._partition = partition
        self._leads = leads
        self._wake = trio.Event()
        self._watermark = 0
        self._memory = _Memory(self.settings.window)
        self._pace = Pace(self.settings.in_flight, self.settings.delay_s)

    # ---- others say; none of these waits

    def term(self, epoch: int) -> None:
        """A term of this node has begun: what was known belongs to another."""
        log.debug("timers of a new term", partition=self._partition, epoch=epoch)
        self._forget()
        self._wake.set()

    def changed(self, changes: Changes) -> None:
        """A batch was committed that scheduled, moved or ended timers."""
        memory = self._memory
        if memory.meanwhile is not None:
            memory.meanwhile.update(changes)
        for key, change in changes.items():
            if change is None:
                memory.window.drop(key)
            elif self._note_pending(PendingTimer(key, *change)) and change[0] < memory.asleep_until:
                self._wake.set()

    def committed(self, watermark: int) -> None:
        """Everything up to this position of the log is processed."""
        self._watermark = watermark
        if self._note_processed(self._memory):
            self._wake.set()

    def clock_changed(self) -> None:
        """Somebody has set the engine's clock."""
        self._wake.set()

    def close(self) -> None:
        """Shut the connection's socket, so that a call behind a black hole ends."""
        self._connection.close()

    # ---- the child

    async def run(self, beat: Beat) -> None:
        """Fire what is due, until cancelled. Raises when the connection is lost, to be started again."""
        self._forget()
        beat.beat()
        async with self._connection.opened(beat) as connection:
            while True:
                await self._sleep(beat, await self.run_once(connection, beat))

    async def run_once(self, connection: Connection, beat: Beat) -> float:
        """Fire one batch of what is due; for how long there is nothing to do then, in seconds."""
        memory, settings = self._memory, self.settings
        if not self._leads():
            memory.asleep_until = NEVER
            return settings.check_s
        with beat.waiting(settings.call_timeout_s):
            clock = await self._look(connection, memory)
        if memory is not self._memory:
            return 0.0
        room = min(settings.batch, self._pace.allowed - len(memory.in_flight))
        due = memory.window.take(clock.now, room)
        memory.full = len(due) >= room
        if due:
            with beat.waiting(settings.append_timeout_s):
                return await self._fire(due, memory)
        return self._idle_s(clock, room, memory)

    async def _look(self, connection: Connection, memory: _Memory) -> Clock:
        """The time, and a window that is complete up to its horizon and reaches beyond what is due."""
        clock = await timers.clock(connection)
        stale = clock.revision != memory.clock_revision or trio.current_time() >= memory.check_at
        if stale or memory.window.is_used_up():
            await self._refill(connection, memory)
        memory.clock_revision, memory.clock_now, memory.clock_read = clock.revision, clock.now, trio.current_time()
        memory.pinned = clock.pinned
        return clock

    async def _refill(self, connection: Connection, memory: _Memory) -> None:
        """Read the window. What commits while it is read is told again afterwards."""
        meanwhile: dict[int, tuple[int, str] | None] = {}
        memory.meanwhile = meanwhile
        limit = self.settings.window + len(memory.in_flight)
        rows = await timers.nearest(connection, self._partition, limit)
        memory.meanwhile = None
        if memory is not self._memory:
            return
        memory.window.fill([], None if len(rows) < limit else rows[-1].due_at)
        for row in rows:
            self._note_pending(row)
        self.changed(meanwhile)
        memory.check_at = trio.current_time() + self.settings.check_s
        self.stats.refills += 1

    async def _fire(self, due: list[PendingTimer], memory: _Memory) -> float:
        """Append the triggers. When that fails, all is forgotten and read again: a second trigger does nothing."""
        items = [
            Append(TriggerTimer(timer.key, timer.due_at), timer.tenant, timer.key, None, self._partition)
            for timer in due
        ]
        since = trio.current_time()
        memory.in_flight.update((timer.key, _Flying(timer, NEVER, since)) for timer in due)
        try:
            appended = await self._appender.append_all(items, deadline_s=self.settings.append_timeout_s)
        except NotAppended as error:
            self._forget()
            if isinstance(error, Draining):
                return self.settings.check_s
            log.warning("timers were not fired, they will be", timers=len(due), reason=str(error))
            return REFUSED_S
        self.stats.fired += len(due)
        memory.in_flight.update(
            (timer.key, _Flying(timer, one.position, since)) for timer, one in zip(due, appended, strict=True)
        )
        self._note_processed(memory)
        return 0.0

    def _idle_s(self, clock: Clock, room: int, memory: _Memory) -> float:
        """Until the nearest due date; with a full flight, and when the clock stands, until somebody wakes us."""
        nearest = memory.window.nearest()
        memory.asleep_until = NEVER if nearest is None else nearest
        if room <= 0 or nearest is None or clock.pinned:
            return self.settings.check_s
        return min((nearest - clock.now) / 1000 + ROUNDED_S, self.settings.check_s, CLOCK_S)

    async def _sleep(self, beat: Beat, seconds: float) -> None:
        beat.beat()
        with trio.move_on_after(seconds):
            await beat.idle(self._wake.wait)
        self._wake = trio.Event()

    # ---- memory

    def _forget(self) -> None:
        self._memory = _Memory(self.settings.window)

    def _note_processed(self, memory: _Memory) -> bool:
        """What the watermark has passed flies no more; whether there was any."""
        waited_s = memory.processed(self._watermark)
        if waited_s is not None:
            self._pace.processed(waited_s, full=memory.full)
        return waited_s is not None

    def _note_pending(self, timer: PendingTimer) -> bool:
        """Into the window, unless its trigger is on its way; later, if a trigger was processed and did nothing."""
        memory = self._memory
        flying = memory.in_flight.get(timer.key)
        if flying is not None and flying.timer.due_at == timer.due_at:
            return False
        at, times = timer.due_at, memory.times_processed(timer)
        if times:
            self.stats.again += 1
            at = max(at, memory.now() + min(AGAIN_MS << min(times, 20), AGAIN_MAX_MS))
        return memory.window.put(timer, at)


NEVER = 1 << 63
"""Later than every due date and behind every position."""
ROUNDED_S = 0.001
"""Milliseconds are cut: a sleep that ends within the due millisecond would be one too early."""


class _Flying(NamedTuple):
    """A trigger that is on its way: its timer, its position in the log, when it was appended (trio's time)."""

    timer: PendingTimer
    position: int
    since: float


class _Memory:
    """What is known in a term."""

    def __init__(self, window: int) -> None:
        self.window = Window(window)
        self.in_flight: dict[int, _Flying] = {}
        """Triggers that are appended and not processed, the oldest first."""
        self.full = False
        """Whether more would be in flight if they might."""
        self.done: dict[int, tuple[int, int]] = {}
        """Of the last timers whose triggers were processed: the due date, and how often it was. Oldest first."""
        self.meanwhile: dict[int, tuple[int, str] | None] | None = None
        """What was told while the window was being read."""
        self.check_at = float("-inf")
        self.asleep_until = NEVER
        self.clock_revision = -1
        self.clock_now = 0
        self.clock_read = 0.0
        self.pinned = False

    def now(self) -> int:
        """The engine's time, about: as read last, and gone on since."""
        return self.clock_now + (0 if self.pinned else int((trio.current_time() - self.clock_read) * 1000))

    def processed(self, watermark: int) -> float | None:
        """Triggers up to this position are processed; how long it took the oldest, None if there was none."""
        done = [flying for flying in self.in_flight.values() if flying.position <= watermark]
        for timer, _, _ in done:
            del self.in_flight[timer.key]
            times = self.times_processed(timer)
            self.done.pop(timer.key, None)
            self.done[timer.key] = timer.due_at, times + 1
            if len(self.done) > REMEMBERED:
                del self.done[next(iter(self.done))]
        return trio.current_time() - done[0].since if done else None

    def times_processed(self, timer: PendingTimer) -> int:
        """How often a trigger of this due date was processed, as far as we remember."""
        due_at, times = self.done.get(timer.key, (None, 0))
        return times if due_at == timer.due_at else 0
