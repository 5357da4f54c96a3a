"""What is not tried any more, remembered beyond the term that it ended (docs/design/log.md §5).

Two things are not: what the database refuses to load for or to save, and what has been tried alone three times and was
too slow each time, over restarts, too (docs/adr/0014).

A command that is refused is answered with a rejection. A trigger of a timer is tried once more, to mark the timer as
failed and to raise an incident; when that is refused, too, there is nothing left to write: then it is rejected like any
other, and so is each later trigger of the same due date, at once. Otherwise every term would end at one of them, and
every new term's timer task would append another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import structlog

from vivero.engine.core.records.base import Command
from vivero.engine.core.records.effects import Rejection, RejectionCode
from vivero.engine.core.records.timers import TriggerTimer
from vivero.storage.attempts import Known, Suspicion
from vivero.storage.postgres.errors import DataPoison
from vivero.storage.timers import StuckTimer

log = structlog.get_logger(__name__)

MAX_TIMERS = 1_000
BIGINT = 1 << 63
"""Beyond every number of PostgreSQL's type."""
MOST_ATTEMPTS = 3
"""Attempts that count, after which a command is rejected; the next one only says so where it belongs."""
CONTINUATION_DISTANCE = 100
"""Positions within which deferred work normally returns as a command."""


@dataclass(slots=True)
class Refusals:
    """Of one consumer, by position of the log and by timer. The memory is bounded; what falls out is tried again."""

    positions: dict[int, Rejection] = field(default_factory=dict)
    """What to answer. Until the position is committed."""
    hopeless: set[int] = field(default_factory=set)
    """Positions among them that were refused a second time."""
    slow: set[int] = field(default_factory=set)
    """Positions among them that were tried too often. What they name can be loaded, or so it seems."""
    timers: dict[tuple[int, int], Rejection] = field(default_factory=dict)
    """(key, due date) of timers that can neither fire nor be marked as failed. The oldest is forgotten first."""
    unrecorded: list[StuckTimer] = field(default_factory=list)
    """Those that the next batch records, for later terms and programs."""
    careful_until: int = 0
    """Up to this position commands are committed one by one: one of them cannot be saved, or is too slow."""
    piggybacked_until: int = 0
    """Up to this position commands were sent with statements of others; what is sent again goes without."""

    def suspect(self, suspected: Suspected) -> None:
        """A batch could not be loaded for or saved: find the culprit one by one; reject it when it was alone."""
        last = suspected.last
        log.error("the database refuses a batch", first=suspected.first, last=last, error=str(suspected.poison))
        if self.careful_until >= last and suspected.commands == 1:
            reason = f"the database refuses what the command names or would write: {suspected.poison.message}"
            self.add(last, Rejection(RejectionCode.PROCESSING_ERROR, reason))
        self.careful_until = max(last, self.careful_until)

    def doubt(self, suspicion: Suspicion) -> None:
        """A term ended as one does whose work takes too long: find the culprit one by one."""
        self.careful_until = max(self.careful_until, suspicion.last)

    def learn(self, position: int, known: Iterable[Known]) -> None:
        """A term begins behind `position`: what all terms, of whatever node, have recorded of what comes next."""
        self.committed(position)
        for one in known:
            self.careful_until = max(self.careful_until, one.until)
            if len(one.causes) >= MOST_ATTEMPTS and one.position > position:
                self.slow.add(one.position)
                self.positions[one.position] = tried_too_often(one.causes)
                if len(one.causes) > MOST_ATTEMPTS:
                    self.hopeless.add(one.position)

    def add(self, position: int, rejection: Rejection) -> None:
        if position in self.positions:
            self.hopeless.add(position)
        self.positions[position] = rejection

    def final(self, position: int, command: Command) -> Rejection | None:
        """What to answer without trying anything more; None: try it, or, if it was refused, say so where it belongs."""
        timer = (command.key, command.due_at) if isinstance(command, TriggerTimer) else None
        if position not in self.hopeless:
            return None if timer is None else self.timers.get(timer)
        if timer is not None:
            stuck = StuckTimer(*timer, self.positions[position].reason)
            log.error("a timer can neither fire nor be marked as failed, and stays pending", key=stuck.key)
            if all(-BIGINT <= number < BIGINT for number in timer):  # others are no timers, but rows of the log
                self.unrecorded = [*(one for one in self.unrecorded if one.key != stuck.key), stuck]
            self._remember(stuck)
        return self.positions[position]

    def know(self, stuck: Iterable[StuckTimer]) -> None:
        """What earlier terms, of whatever node, have recorded of timers."""
        for timer in stuck:
            if (timer.key, timer.due_at) not in self.timers:
                log.warning("a timer is stuck: move or cancel it", key=timer.key, reason=timer.reason)
                self._remember(timer)

    def _remember(self, timer: StuckTimer) -> None:
        self.timers[timer.key, timer.due_at] = Rejection(RejectionCode.PROCESSING_ERROR, timer.reason)
        while len(self.timers) > MAX_TIMERS:
            del self.timers[next(iter(self.timers))]

    def committed(self, last: int) -> None:
        """Everything up to this position is processed."""
        self.unrecorded = []
        for position in [position for position in self.positions if position <= last]:
            del self.positions[position]
            self.hopeless.discard(position)
            self.slow.discard(position)


def tried_too_often(causes: Sequence[str]) -> Rejection:
    """What to answer to a command whose attempts ended so."""
    reason = (
        f"{MOST_ATTEMPTS} attempts to process the command alone have failed ({', '.join(causes[:MOST_ATTEMPTS])}): "
        "it takes too long or too much, and is not tried again"
    )
    return Rejection(RejectionCode.PROCESSING_ERROR, reason)


class Suspected(Exception):
    """The database refuses something of the commands at positions `first` … `last`, `commands` in number."""

    def __init__(self, first: int, last: int, commands: int, poison: DataPoison) -> None:
        super().__init__(str(poison))
        self.first, self.last, self.commands = first, last, commands
        self.poison = poison
