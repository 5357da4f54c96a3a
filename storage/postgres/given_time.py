"""The time that the machine gives to the event loop.

A process that is stopped, throttled or crowded out gets seconds on the wall's clock in which it can do nothing. Limits
that judge this program measure given time: the seconds without such gaps. Limits that others rely on, such as leases
and the patience of clients, stay on the clock.

An instrument measures the gaps (`engine/supervision/loop_probe.py`). Without one, all time is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

import trio

GAP_S = 0.01
"""Shorter gaps are ordinary: a thread waits so long for its turn on a machine that is not too slow."""


class GivenTime:
    """The given time of one event loop. It is fed with measured times, and reads no clock."""

    __slots__ = ("_patient", "now_s", "withheld_s")

    def __init__(self) -> None:
        self.now_s = 0.0
        """The given time at the beginning of the loop's current turn. A gap within the turn is not in it."""
        self.withheld_s = 0.0
        """The sum of all gaps."""
        self._patient: set[trio.CancelScope] = set()

    def woke(self, now_s: float, late_s: float) -> None:
        """The loop begins a turn at `now_s`, `late_s` after the time at which it wanted to wake."""
        if late_s > GAP_S:
            self._withhold(late_s)
        self.now_s = now_s - self.withheld_s

    def turned(self, wall_s: float, processor_s: float) -> None:
        """A turn took `wall_s` on the clock, and `processor_s` of CPU time."""
        if wall_s - processor_s > GAP_S:
            self._withhold(wall_s - processor_s)

    def _withhold(self, seconds: float) -> None:
        self.withheld_s += seconds
        for scope in self._patient:
            scope.deadline += seconds

    def hold(self, scope: trio.CancelScope) -> None:
        """Move the deadline of `scope` by each gap from now on."""
        self._patient.add(scope)

    def release(self, scope: trio.CancelScope) -> None:
        """Let the deadline stay."""
        self._patient.discard(scope)


_GIVEN: trio.lowlevel.RunVar[GivenTime | None] = trio.lowlevel.RunVar("given time", None)


def given_time() -> float:
    """Seconds of given time. Only differences mean something."""
    given = _GIVEN.get()
    return trio.current_time() if given is None else given.now_s


def withheld_s() -> float:
    """The seconds that the machine has not given since the loop began."""
    given = _GIVEN.get()
    return 0.0 if given is None else given.withheld_s


@contextmanager
def measured(given: GivenTime) -> Iterator[None]:
    """Within the block, `given` is the time of this event loop."""
    token = _GIVEN.set(given)
    try:
        yield
    finally:
        _GIVEN.reset(token)


class patient:  # noqa: N801 (it is used like a function)
    """A block in which the deadline of a cancel scope moves by the time that the machine does not give."""

    __slots__ = ("_given", "_scope")

    def __init__(self, scope: trio.CancelScope) -> None:
        self._scope = scope
        self._given = _GIVEN.get()

    def __enter__(self) -> None:
        if self._given is not None:
            self._given.hold(self._scope)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._given is not None:
            self._given.release(self._scope)
