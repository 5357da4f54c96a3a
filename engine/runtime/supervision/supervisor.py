"""How the children of the program are kept running (docs/supervision.md).

The children are siblings in one nursery, each under a small supervisor: one that raises, returns, is cancelled or hangs
is started again by itself, with a backoff; the others do not notice. Its memory is gone with it; the truth is in
PostgreSQL. Outages of PostgreSQL and step-downs are nobody's failure and never count. More than `max_failures` in
`window_s` escalate: everything is cancelled and `Supervisor.run` raises `Escalated`, with which the process ends
non-zero.

A child proves that it lives by its `Beat`. One that is silent for `hang_after_s` has its sockets closed and is
cancelled. All times are seconds of Trio's monotonic clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

import structlog
import trio

from vivero.engine.runtime.supervision.freezing import freezable
from vivero.engine.runtime.supervision.watchdog import hard_exit
from vivero.storage.postgres.errors import Outage, Retry, SteppedDown

T = TypeVar("T")
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SupervisionSettings:
    """When a child is started again, and when the program gives up. Seconds."""

    max_failures: int = 20
    window_s: float = 10.0
    first_delay_s: float = 0.05
    """Before the second restart in a row; the first is at once, each further one waits twice as long."""
    max_delay_s: float = 1.0
    healthy_after_s: float = 10.0
    """A child that lived this long starts its backoff anew."""
    hang_after_s: float = 1.0
    idle_beat_s: float = 0.25
    stalled_after_s: float = 1.5
    """A child that waits for PostgreSQL this long is not hung, but the program is not healthy."""
    stuck_after_s: float = 5.0
    """A cancelled child that has not ended by then never will: the process ends."""
    check_every_s: float = 0.1
    blocked_after_s: float = 10.0
    """When the event loop has been blocked this long, the process ends itself (`watchdog` beside this file)."""


class Escalated(Exception):
    """Too many failures: the program cannot help itself and ends non-zero."""


class ChaosError(Exception):
    """Raised in a child on request, to see it recover."""


class Silent(Exception):
    """A child gave no beat for too long."""


class Returned(Exception):
    """A child came to its end, which a child never should."""


class Beat:
    """A child's sign of life: `beat()` at every turn, and at least each `idle_beat_s` while idle.

    No beat by a helper task: it would keep a hung child alive.
    """

    __slots__ = ("_deadlines", "_last", "_progress", "_settings", "alive", "given_up", "muted")

    def __init__(self, settings: SupervisionSettings) -> None:
        self._settings = settings
        self._last = trio.current_time()
        self._deadlines: list[float] = []
        self.muted = False
        """Made to look hung, on purpose."""
        self.given_up = False
        """The child is ended because it was silent for too long. It may tell why it was."""
        self._progress: Callable[[], bool] = lambda: True
        self.alive = False
        """Whether the child has beaten at all."""

    def beat(self) -> None:
        """The child's loop turns."""
        if not self.muted:
            self._last = trio.current_time()
            self.alive = True

    def _end_wait(self, deadline: float) -> None:
        self._deadlines.remove(deadline)
        if not self.muted:
            self._last = trio.current_time()

    def mute(self) -> None:
        """Hear nothing more: the child is made to look hung, whichever of its tasks beats."""
        self.muted = True

    def report_progress(self, progress: Callable[[], bool]) -> None:
        """Have `progress()` asked for the health view: False means alive, but getting nowhere."""
        self._progress = progress

    @contextmanager
    def waiting(self, deadline_s: float) -> Iterator[None]:
        """Waiting for PostgreSQL, which has its own deadline: silence until then is no hang."""
        deadline = trio.current_time() + deadline_s
        self._deadlines.append(deadline)
        try:
            yield
        finally:
            self._end_wait(deadline)

    async def idle(self, wait: Callable[[], Awaitable[T]]) -> T:
        """The result of `wait()`, begun again after each beat; for waits that lose nothing when cancelled."""
        while True:
            self.beat()
            with trio.move_on_after(self._settings.idle_beat_s):
                return await wait()

    async def sleep(self, seconds: float) -> None:
        """Sleep, beating."""
        with trio.move_on_after(seconds):
            await self.idle(trio.sleep_forever)
        self.beat()

    @property
    def limit_s(self) -> float:
        """How long a child may be silent."""
        return self._settings.hang_after_s

    @property
    def age_s(self) -> float:
        """Seconds since the last beat."""
        return trio.current_time() - self._last

    @property
    def excused(self) -> bool:
        """Whether the child waits for PostgreSQL, and its deadline has not passed."""
        return trio.current_time() < max(self._deadlines, default=float("-inf"))

    @property
    def silent(self) -> bool:
        """Whether the child is overdue: neither beating nor waiting within a deadline."""
        heard = max(self._last, *self._deadlines) if self._deadlines else self._last
        return trio.current_time() - heard > self._settings.hang_after_s

    @property
    def stalled(self) -> bool:
        """Whether the last beat is too long ago to call the child healthy, with or without an excuse."""
        return self.silent or self.age_s > self._settings.stalled_after_s

    @property
    def progressing(self) -> bool:
        return self._progress()


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Child:
    """One of the tasks the program consists of.

    `close` frees whatever the child may be waiting for in a shielded place (its sockets): called before a hung one is
    cancelled. `drain` asks it to finish what it has and return (`Supervisor.stop`).
    """

    name: str
    run: Callable[[Beat], Awaitable[None]]
    close: Callable[[], None] = _nothing
    drain: Callable[[], None] = _nothing


class State(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    HUNG = "hung"
    RESTARTING = "restarting"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ChildHealth:
    """What the status resource shows of a child."""

    name: str
    state: State
    healthy: bool
    beat_age_s: float
    restarts: int
    progressing: bool
    last_error: str | None


@dataclass(slots=True)
class _Life:
    """One run of a child, from its start to its end."""

    beat: Beat
    started_at: float
    scope: trio.CancelScope
    nursery: trio.Nursery | None = None
    thaw: trio.Event | None = None
    """Set up when the child is to hang; set when it is ended."""
    cancelled_at: float | None = None
    silent: bool = False

    def frozen_until(self) -> trio.Event | None:
        """Whether the child is not to go on now. Waiting for PostgreSQL ends by its own deadline and is no hang."""
        return None if self.beat.excused else self.thaw


@dataclass(slots=True)
class _Kept:
    """What the supervisor remembers of a child between its lives."""

    child: Child
    life: _Life | None = None
    attempts: int = 0
    restarts: int = 0
    last_error: str | None = None
    retired: bool = False
    stopped: trio.Event = field(default_factory=trio.Event)

    @property
    def state(self) -> State:
        if self.stopped.is_set():
            return State.STOPPED
        if self.life is None:
            return State.RESTARTING
        if self.life.cancelled_at is not None:
            return State.HUNG if self.life.silent else State.RESTARTING
        return State.RUNNING if self.life.beat.alive else State.STARTING


class Supervisor:
    """Runs the children and starts again what ends."""

    def __init__(
        self,
        children: Iterable[Child],
        settings: SupervisionSettings | None = None,
        die: Callable[[str], None] = hard_exit,
    ) -> None:
        """`die(message)` ends the process at once; replaced in tests."""
        self._settings = settings or SupervisionSettings()
        self._kept = {child.name: _Kept(child) for child in children}
        self._failures: deque[float] = deque()
        self._die = die

    async def run(self) -> None:
        """Run until cancelled, or until every child was stopped.

        Raises:
            Escalated: more than `max_failures` within `window_s`; all children were cancelled.
        """
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._watch)
                async with trio.open_nursery() as children:
                    for kept in self._kept.values():
                        children.start_soon(self._keep, kept)
                nursery.cancel_scope.cancel()
        except* Escalated as group:
            raise next(leaves(group)) from None

    async def stop(self, name: str, grace_s: float) -> None:
        """Ask a child to drain, wait for its end, cancel it after `grace_s`; it is not started again.

        Raises:
            KeyError: there is no such child.
        """
        kept = self._kept[name]
        kept.retired = True
        kept.child.drain()
        with trio.move_on_after(grace_s):
            await kept.stopped.wait()
        if not kept.stopped.is_set() and kept.life is not None:
            self._cancel(kept.life)
        await kept.stopped.wait()

    def chaos(self, name: str, kind: str) -> bool:
        """Make a child raise, be cancelled or hang; whether it was running, so that there was something to hurt.

        Raises:
            KeyError: there is no such child.
            ValueError: there is no such kind.
        """
        life = self._kept[name].life
        if kind not in ("raise", "cancel", "hang"):
            raise ValueError(f"chaos is one of raise, cancel, hang; not {kind!r}")
        if life is None or life.nursery is None or life.cancelled_at is not None:
            return False
        if kind == "cancel":
            self._cancel(life)
            return True
        thaw = trio.Event()
        try:
            if kind == "raise":
                life.nursery.start_soon(_raise_chaos, name)
            else:
                life.nursery.start_soon(_set_when_cancelled, thaw)
        except RuntimeError:  # the child has just ended, and its nursery takes nobody any more
            return False
        if kind == "hang":
            life.beat.mute()
            life.thaw = thaw
        return True

    def health(self) -> tuple[ChildHealth, ...]:
        """The state of each child, in the order in which they were given."""
        return tuple(self._health(kept) for kept in self._kept.values())

    @property
    def healthy(self) -> bool:
        """Whether every child is running, has beaten lately and makes progress."""
        return all(child.healthy for child in self.health())

    def watch_once(self) -> None:
        """One look at every child: cancel what is silent, end the process when something cannot be ended."""
        now = trio.current_time()
        for kept in self._kept.values():
            life = kept.life
            if life is None:
                continue
            if life.cancelled_at is None:
                if life.beat.silent:
                    self._end_hung(kept, life)
            elif now - life.cancelled_at > self._settings.stuck_after_s:
                self._die(f"{kept.child.name} does not end, {now - life.cancelled_at:.1f} s after it was cancelled")

    async def _watch(self) -> None:
        """Look again and again. After a pause of the whole process (SIGSTOP, a frozen container) everybody is silent,
        and nobody hangs: they get the chance to beat first.
        """
        paused = False
        while True:
            if not paused:
                self.watch_once()
            began = trio.current_time()
            await trio.sleep(self._settings.check_every_s)
            paused = trio.current_time() - began > self._settings.check_every_s + self._settings.hang_after_s / 2

    async def _keep(self, kept: _Kept) -> None:
        try:
            while not kept.retired:
                started_at = trio.current_time()
                error = await self._live_once(kept)
                if kept.retired:
                    return
                await trio.sleep(self._note_end(kept, error, trio.current_time() - started_at))
                kept.restarts += 1
        finally:
            kept.stopped.set()

    async def _live_once(self, kept: _Kept) -> Exception:
        """One life of a child; the reason why it ended."""
        life = kept.life = _Life(Beat(self._settings), trio.current_time(), trio.CancelScope())
        try:
            with life.scope:
                async with trio.open_nursery() as life.nursery:
                    await freezable(_coroutine(kept.child.run(life.beat)), life.frozen_until)
                    life.nursery.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            failed, rest = group.split(Exception)
            if rest is not None:  # our own cancellation, or somebody's ^C
                if failed is not None:
                    log.warning("child failed while it was ended", child=kept.child.name, error=describe(failed))
                raise rest from None
            # What a hung child raises is the closing of its sockets: that excuses nothing.
            return self._silent(life) or (group if isinstance(group, Exception) else RuntimeError(describe(group)))
        finally:
            kept.life = None
        if silent := self._silent(life):
            return silent
        return ChaosError("cancelled") if life.scope.cancelled_caught else Returned("returned")

    def _silent(self, life: _Life) -> Silent | None:
        return Silent(f"no beat for {self._settings.hang_after_s} s") if life.silent else None

    def _note_end(self, kept: _Kept, error: Exception, lived_s: float) -> float:
        """Remember why a child ended; how long to wait before it is started again.

        Raises:
            Escalated: this was one failure too many, or the child itself raised it: no restart will help.
        """
        for leaf in leaves(error):
            if isinstance(leaf, Escalated):
                raise leaf
        kept.last_error = describe(error)
        counts = not excused(error)
        if lived_s >= self._settings.healthy_after_s:
            kept.attempts = 0
        delay_s = self._delay_s(kept.attempts)
        kept.attempts += 1
        log.warning("child ended", child=kept.child.name, error=kept.last_error, counts=counts, delay_s=delay_s)
        if counts:
            self._count_failure(kept)
        return delay_s

    def _delay_s(self, attempts: int) -> float:
        if attempts == 0:
            return 0.0
        return min(self._settings.max_delay_s, self._settings.first_delay_s * 2.0 ** min(attempts - 1, 30))

    def _count_failure(self, kept: _Kept) -> None:
        now = trio.current_time()
        self._failures.append(now)
        while self._failures[0] < now - self._settings.window_s:
            self._failures.popleft()
        if len(self._failures) > self._settings.max_failures:
            raise Escalated(
                f"{len(self._failures)} failures in {self._settings.window_s:g} s, the last in "
                f"{kept.child.name}: {kept.last_error}"
            )

    def _end_hung(self, kept: _Kept, life: _Life) -> None:
        life.silent = life.beat.given_up = True
        log.error("child gives no sign of life", child=kept.child.name, silent_s=round(life.beat.age_s, 3))
        try:
            kept.child.close()
        except Exception as error:
            log.error("closing a hung child's sockets failed", child=kept.child.name, error=describe(error))
        self._cancel(life)

    def _cancel(self, life: _Life) -> None:
        life.cancelled_at = trio.current_time()
        life.scope.cancel()

    def _health(self, kept: _Kept) -> ChildHealth:
        life, state = kept.life, kept.state
        running = life is not None and state is State.RUNNING
        progressing = running and life is not None and life.beat.progressing
        return ChildHealth(
            name=kept.child.name,
            state=state,
            healthy=progressing and life is not None and not life.beat.stalled,
            beat_age_s=life.beat.age_s if life is not None else float("inf"),
            restarts=kept.restarts,
            progressing=progressing,
            last_error=kept.last_error,
        )


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group, however nested; of any other exception itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def excused(error: BaseException) -> bool:
    """Whether nothing but PostgreSQL's absence or another owner ended the child."""
    return all(isinstance(leaf, Outage | Retry | SteppedDown) for leaf in leaves(error))


def describe(error: BaseException | None) -> str:
    """One line for logs and the status resource."""
    if error is None:
        return ""
    return "; ".join(f"{type(leaf).__name__}: {leaf}" for leaf in leaves(error))


async def _raise_chaos(name: str) -> None:
    raise ChaosError(f"{name} was made to raise")


async def _coroutine(awaitable: Awaitable[None]) -> None:
    await awaitable


async def _set_when_cancelled(event: trio.Event) -> None:
    try:
        await trio.sleep_forever()
    finally:
        event.set()
