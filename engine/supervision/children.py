"""Children of the supervisor: what they are, and what it remembers of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum

import trio

from vivero.engine.supervision.beat import OVERTAKEN, Beat
from vivero.storage.postgres.given_time import given_time
from vivero.storage.postgres.outage_log import OutageLog


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Child:
    """One of the tasks of the program.

    `close` shuts the sockets that the child may be waiting for in a shielded place. The supervisor calls it before it
    cancels a hung child. `drain` asks the child to finish what it has and to return (`Supervisor.stop`).
    """

    name: str
    run: Callable[[Beat], Awaitable[None]]
    close: Callable[[], None] = _nothing
    drain: Callable[[], None] = _nothing


class ChildState(StrEnum):
    """The state of a child in the status resource."""

    STARTING = "starting"
    RUNNING = "running"
    HUNG = "hung"
    RESTARTING = "restarting"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ChildHealth:
    """The state of a child, as the status resource shows it."""

    name: str
    state: ChildState
    healthy: bool
    beat_age_s: float | None
    """None while it does not run. (Not infinity: JSON has none, and processes send each other this record.)"""
    restarts: int
    progressing: bool
    last_error: str | None


@dataclass(slots=True)
class Life:
    """One run of a child, from its start to its end."""

    beat: Beat
    started_at: float
    scope: trio.CancelScope
    nursery: trio.Nursery | None = None
    thaw: trio.Event | None = None
    """Present while chaos freezes the child; set when the child is ended."""
    cancelled_at: float | None = None
    """In given time."""
    silent: bool = False
    overtaken: int = 0
    """The number of turns of the supervisor since the child was cancelled."""

    def frozen_until(self) -> trio.Event | None:
        """The event that a frozen child waits for. A wait for PostgreSQL is not frozen: it has its own deadline."""
        return None if self.thaw is None or self.beat.excused else self.thaw

    def cancel(self) -> None:
        self.cancelled_at = given_time()
        self.scope.cancel()

    def looked_at(self) -> None:
        """The supervisor had a turn."""
        self.beat.looked_at()
        self.overtaken = 0 if self.cancelled_at is None else self.overtaken + 1

    @property
    def ending_s(self) -> float:
        """Given seconds since the child was cancelled, if others have had turns meanwhile; else 0."""
        if self.cancelled_at is None or self.overtaken < OVERTAKEN:
            return 0.0
        return given_time() - self.cancelled_at


@dataclass(slots=True)
class Supervised:
    """A child, and what the supervisor remembers of it between its lives."""

    child: Child
    life: Life | None = None
    attempts: int = 0
    """Restarts in a row, none of which lived for long."""
    restarts: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Restarts by the reason for the end before (`failures.kind`)."""
    last_error: str | None = None
    retired: bool = False
    """It is not restarted any more."""
    stopped: trio.Event = field(default_factory=trio.Event)
    outage: OutageLog = field(default_factory=OutageLog)

    @property
    def state(self) -> ChildState:
        if self.stopped.is_set():
            return ChildState.STOPPED
        if self.life is None:
            return ChildState.RESTARTING
        if self.life.cancelled_at is not None:
            return ChildState.HUNG if self.life.silent else ChildState.RESTARTING
        return ChildState.RUNNING if self.life.beat.alive else ChildState.STARTING

    @property
    def health(self) -> ChildHealth:
        life, state = self.life, self.state
        running = life is not None and state is ChildState.RUNNING
        progressing = running and life is not None and life.beat.progressing
        return ChildHealth(
            name=self.child.name,
            state=state,
            healthy=progressing and life is not None and not life.beat.stalled,
            beat_age_s=life.beat.age_s if life is not None else None,
            restarts=self.restarts,
            progressing=progressing,
            last_error=self.last_error,
        )


def task_name(name: str, partition: int) -> str:
    """The name of a child or connection of a partition: alone for the first one, which every database has, and with
    the partition for the others."""
    return name if partition == 1 else f"{name}-{partition}"
