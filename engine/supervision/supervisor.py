"""The supervisor of the program's children (docs/supervision.md).

The children are siblings in one nursery. A child that raises, returns, is cancelled or hangs is restarted with a
backoff, and the others do not notice. Its memory is lost; PostgreSQL holds the truth. Outages of PostgreSQL and
step-downs do not count as failures. More than `max_failures` failures within `window_s` escalate: all children are
cancelled, `Supervisor.run` raises `Escalated`, and the process exits with an error.

A child proves by its `Beat` that it lives. The supervisor closes the sockets of a silent child and cancels it. Silence,
and the time that a cancelled child may take to end, are measured in given time (docs/adr/0063): a slow machine makes
the program slow, and hangs nobody. Pauses and backoffs are seconds of Trio's monotonic clock.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from time import process_time

import structlog
import trio

from vivero.engine.supervision import chaos
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.children import Child, ChildHealth, Life, Supervised
from vivero.engine.supervision.failures import (
    ChaosError,
    Escalated,
    FailureWindow,
    Returned,
    Silent,
    describe_failure,
    excused,
    kind,
    leaves,
    restart_delay_s,
)
from vivero.engine.supervision.freezing import freezable
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.supervision.slowness import Slowness
from vivero.engine.supervision.watchdog import hard_exit
from vivero.storage.postgres.given_time import patient, withheld_s
from vivero.storage.postgres.ticks import next_tick

log = structlog.get_logger(__name__)

RECOVERED_AFTER_S = 2.0
"""A child that is healthy after this time has recovered from an outage. This is longer than the longest delay."""
SHORT_CHECK_S = 0.02
"""The pause between checks after one that came late. Shorter waits of the loop make its gaps more exact."""


class Supervisor:
    """Runs the children, and restarts those that end."""

    def __init__(
        self,
        children: Iterable[Child],
        settings: SupervisionSettings | None = None,
        die: Callable[[str], None] = hard_exit,
    ) -> None:
        """`die(message)` ends the process at once; tests replace it."""
        self._settings = settings or SupervisionSettings()
        self._supervised = {child.name: Supervised(child) for child in children}
        self._failures = FailureWindow(self._settings)
        self._die = die
        self._nursery: trio.Nursery | None = None
        self.slowness = Slowness()
        """Whether the machine gives the program too little time."""

    def add(self, *children: Child) -> None:
        """Run further children. They start at once if the others run."""
        for child in children:
            supervised = self._supervised[child.name] = Supervised(child)
            if self._nursery is not None:
                self._nursery.start_soon(self._supervise, supervised)

    async def run(self) -> None:
        """Run until cancelled, or until every child was stopped.

        Raises:
            Escalated: more than `max_failures` within `window_s`; all children were cancelled.
        """
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._watch)
                async with trio.open_nursery() as children:
                    self._nursery = children
                    for supervised in self._supervised.values():
                        children.start_soon(self._supervise, supervised)
                nursery.cancel_scope.cancel()
        except* Escalated as group:
            raise next(leaves(group)) from None

    def has(self, name: str) -> bool:
        """Whether there is such a child."""
        return name in self._supervised

    async def stop(self, name: str, grace_s: float, latest: float = math.inf) -> None:
        """Ask a child to drain, wait for its end, and cancel it after `grace_s`. It is not restarted.

        `grace_s` is given time. `latest` is on the clock of Trio: it holds on a machine that gives little time, too.

        Raises:
            KeyError: there is no such child.
        """
        supervised = self._supervised[name]
        supervised.retired = True
        supervised.child.drain()
        with trio.move_on_at(latest), trio.move_on_after(grace_s) as grace, patient(grace):
            await supervised.stopped.wait()
        if not supervised.stopped.is_set() and supervised.life is not None:
            supervised.life.cancel()
        await supervised.stopped.wait()

    def chaos(self, name: str, kind: str) -> bool:
        """Make a child raise, be cancelled or hang. False if it was not running.

        Raises:
            KeyError: there is no such child.
            ValueError: there is no such kind.
        """
        return chaos.inflict(self._supervised[name].life, name, kind)

    def health(self) -> tuple[ChildHealth, ...]:
        """The health of each child, in the order of the constructor's argument."""
        return tuple(supervised.health for supervised in self._supervised.values())

    def restarts(self) -> Mapping[str, Mapping[str, int]]:
        """Ends of children that were restarted, by child and reason (`failures.kind`)."""
        return {name: dict(supervised.reasons) for name, supervised in self._supervised.items()}

    @property
    def healthy(self) -> bool:
        """Whether every child runs, has beaten lately and makes progress."""
        return all(child.healthy for child in self.health())

    def watch_once(self) -> None:
        """Check every child once: cancel a silent one, and end the process when a cancelled one does not end."""
        now = trio.current_time()
        for supervised in self._supervised.values():
            life = supervised.life
            if life is None:
                continue
            if supervised.outage.lasts and now - life.started_at > RECOVERED_AFTER_S:
                self._note_recovery(supervised)
            life.looked_at()
            if life.cancelled_at is None:
                if life.beat.silent:
                    self._end_hung(supervised, life)
            elif (stuck_s := life.ending_s) > self._settings.stuck_after_s:
                self._die(f"{supervised.child.name} has not ended {stuck_s:.1f} s after it was cancelled")

    async def _watch(self) -> None:
        """Check the children repeatedly."""
        every_s, before_s = self._settings.check_every_s, withheld_s()
        while True:
            self.watch_once()
            withheld = withheld_s()
            self.slowness.note(trio.current_time(), withheld, process_time())
            await trio.sleep_until(next_tick(min(SHORT_CHECK_S, every_s) if withheld > before_s else every_s))
            before_s = withheld

    async def _supervise(self, supervised: Supervised) -> None:
        try:
            while not supervised.retired:
                started_at = trio.current_time()
                error = await self._live_once(supervised)
                if supervised.retired:
                    return
                await trio.sleep(self._note_end(supervised, error, trio.current_time() - started_at))
                supervised.restarts += 1
        finally:
            supervised.stopped.set()

    async def _live_once(self, supervised: Supervised) -> Exception:
        """One life of a child; the reason for its end."""
        life = supervised.life = Life(Beat(self._settings), trio.current_time(), trio.CancelScope())
        try:
            with life.scope:
                async with trio.open_nursery() as life.nursery:
                    await freezable(_coroutine(supervised.child.run(life.beat)), life.frozen_until)
                    life.nursery.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            failed, rest = group.split(Exception)
            if rest is not None:  # our own cancellation, or a ^C
                if failed is not None:
                    log.warning(
                        "child failed while it was ended", child=supervised.child.name, error=describe_failure(failed)
                    )
                raise rest from None
            # A hung child may raise because its sockets were closed. That is no excuse for the hang.
            return self._silent(life) or (
                group if isinstance(group, Exception) else RuntimeError(describe_failure(group))
            )
        finally:
            supervised.life = None
        if silent := self._silent(life):
            return silent
        return ChaosError("cancelled") if life.scope.cancelled_caught else Returned("returned")

    def _silent(self, life: Life) -> Silent | None:
        return Silent(f"no beat for {self._settings.hang_after_s} s") if life.silent else None

    def _note_end(self, supervised: Supervised, error: Exception, lived_s: float) -> float:
        """Record why a child ended; the delay before its restart.

        Raises:
            Escalated: this was one failure too many, or the child raised it because no restart can help.
        """
        for leaf in leaves(error):
            if isinstance(leaf, Escalated):
                raise leaf
        name, reason = supervised.child.name, describe_failure(error)
        supervised.last_error = reason
        counts = not excused(error)
        supervised.reasons[kind(error)] += 1
        if lived_s >= self._settings.healthy_after_s:
            supervised.attempts = 0
        delay_s = restart_delay_s(supervised.attempts, self._settings)
        supervised.attempts += 1
        if counts:
            log.warning(
                "child ended",
                child=name,
                error=describe_failure(error),
                counts=True,
                delay_s=delay_s,
                exc_info=_bug(error),
            )
            self._failures.add(name, reason)
        else:
            supervised.outage.failed("child ended", describe_failure(error), child=name, counts=False, delay_s=delay_s)
        return delay_s

    def _note_recovery(self, supervised: Supervised) -> None:
        if supervised.health.healthy:
            supervised.outage.works("child works again", child=supervised.child.name)

    def _end_hung(self, supervised: Supervised, life: Life) -> None:
        name = supervised.child.name
        life.silent = life.beat.given_up = True
        log.error("child gives no sign of life", child=name, silent_s=round(life.beat.age_s, 3))
        try:
            supervised.child.close()
        except Exception as error:
            log.error("closing the sockets of a hung child failed", child=name, error=describe_failure(error))
        life.cancel()


def _bug(error: Exception) -> BaseException | None:
    """The error that nobody expected, so that the log tells where it came from; None: the kind of the end says all."""
    return next(leaves(error)) if kind(error) == "failed" else None


async def _coroutine(awaitable: Awaitable[None]) -> None:
    await awaitable
