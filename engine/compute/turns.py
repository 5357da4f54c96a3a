"""Turns at a few places: a bounded queue. Kinds of work take turns, and the engine comes first."""

from __future__ import annotations

from collections import OrderedDict
from enum import StrEnum

import trio

from vivero.engine.compute.problems import Busy


class WorkKind(StrEnum):
    """Kinds of work. One client that sends much of one kind does not keep the others waiting for long."""

    ENGINE = "engine"
    """Work of a partition. It never waits for others' work: there is a place that only the engine may take."""
    MODELS = "models"
    DEPLOYMENTS = "deployments"
    VALIDATIONS = "validations"
    """Files that somebody edits, and does not deploy yet."""
    EXPRESSIONS = "expressions"
    BODIES = "bodies"
    HISTORIES = "histories"
    DRY_RUNS = "dry runs"
    SIMULATIONS = "simulations"


class Turns:
    """`places` for all, and one more for the engine."""

    def __init__(self, places: int, max_waiting: int) -> None:
        self._places, self._max_waiting = places, max_waiting
        self._lots: OrderedDict[WorkKind, trio.lowlevel.ParkingLot] = OrderedDict()
        self.taken = 0

    @property
    def waiting(self) -> int:
        """Tasks that wait for a place."""
        return sum(map(len, self._lots.values()))

    async def take(self, kind: WorkKind) -> None:
        """Wait for a place. Raises Busy if too many wait already; the engine always may."""
        if self.taken < self._allowed(kind):  # whoever waits could not take it: places are given on as they become free
            self.taken += 1
            return
        if kind is not WorkKind.ENGINE and self.waiting >= self._max_waiting:
            raise Busy(f"{self.waiting} tasks wait for a compute process already")
        await self._lots.setdefault(kind, trio.lowlevel.ParkingLot()).park()

    def give(self) -> None:
        """Give a place back. It goes to the engine, or to the kind that has waited longest for its turn."""
        self.taken -= 1
        for kind in (WorkKind.ENGINE, *self._lots):
            lot = self._lots.get(kind)
            if lot and self.taken < self._allowed(kind):
                self.taken += 1
                lot.unpark()
                self._lots.move_to_end(kind)
                return

    def _allowed(self, kind: WorkKind) -> int:
        return self._places + (kind is WorkKind.ENGINE)
