"""Commands that are not tried again, remembered beyond the term that they ended (docs/design/log.md §5).

There are two kinds: commands whose rows the database does not load or save, and commands that were tried alone
three times, over restarts too, and were too slow each time (docs/adr/0014).

Such a command is rejected. The trigger of a timer gets one more try, which marks the timer as failed and raises an
incident. If that is rejected, too, nothing is left to write: the trigger is rejected, and so is each later trigger of
the same due date. Otherwise one of them would end every term, and each new timer task would append one more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import structlog

from vivero.core.records.base import Command
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.timers import TriggerTimer
from vivero.storage.log.attempts import Known, Suspicion
from vivero.storage.postgres.errors import DataPoison, LeaseTaken, describe
from vivero.storage.work.timers import StuckTimer

log = structlog.get_logger(__name__)

MAX_TIMERS = 1_000
BIGINT = 1 << 63
"""Greater than every value of PostgreSQL's bigint."""
MOST_ATTEMPTS = 3
"""The number of counted attempts after which a command is rejected."""
CONTINUATION_DISTANCE = 100
"""Positions within which deferred work normally returns as a command."""


@dataclass(slots=True)
class RejectedCommands:
    """Commands and timers that one consumer does not try again. It forgets the oldest beyond a limit."""

    positions: dict[int, Rejection] = field(default_factory=dict)
    """The rejections, until their positions are committed."""
    hopeless: set[int] = field(default_factory=set)
    """The positions that were rejected a second time."""
    slow: set[int] = field(default_factory=set)
    """The positions that were tried too often. Their rows can probably be loaded."""
    timers: dict[tuple[int, int], Rejection] = field(default_factory=dict)
    """(key, due date) of timers that can neither fire nor be marked as failed. The oldest are dropped first."""
    unrecorded: list[StuckTimer] = field(default_factory=list)
    """The timers that the next batch records, for later terms."""
    careful_until: int = 0
    """Commands up to this position run one by one, because one of them cannot be saved or is too slow."""

    def suspect(self, suspected: Suspected) -> None:
        """A batch could not be loaded or saved. Try its commands one by one, and reject one that was alone."""
        last = suspected.last
        poison = suspected.poison
        raced = isinstance(poison, LeaseTaken)  # it is nobody's fault
        tell = log.info if raced else log.error
        tell("the database rejects a batch", first=suspected.first, last=last, error=describe(poison))
        if self.careful_until >= last and suspected.commands == 1:
            code = RejectionCode.INVALID_STATE if raced else RejectionCode.PROCESSING_ERROR
            reason = f"the database rejects what the command names or would write: {poison.message}"
            self.add(last, Rejection(code, reason))
        self.careful_until = max(last, self.careful_until)

    def doubt(self, suspicion: Suspicion) -> None:
        """A term ended because its work took too long. Try its commands one by one."""
        self.careful_until = max(self.careful_until, suspicion.last)

    def learn(self, position: int, known: Iterable[Known]) -> None:
        """A term begins after `position`. Take over what terms of all nodes have recorded of the next commands."""
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
        """The rejection of a command that is not tried again. None: try it, or let the core reject it."""
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
        """Take over what terms of all nodes have recorded of timers."""
        for timer in stuck:
            if (timer.key, timer.due_at) not in self.timers:
                log.warning("a timer is stuck: move or cancel it", key=timer.key)
                self._remember(timer)

    def _remember(self, timer: StuckTimer) -> None:
        self.timers[timer.key, timer.due_at] = Rejection(RejectionCode.PROCESSING_ERROR, timer.reason)
        while len(self.timers) > MAX_TIMERS:
            del self.timers[next(iter(self.timers))]

    def committed(self, last: int) -> None:
        """The log is processed up to this position."""
        self.unrecorded = []
        for position in [position for position in self.positions if position <= last]:
            del self.positions[position]
            self.hopeless.discard(position)
            self.slow.discard(position)


def tried_too_often(causes: Sequence[str]) -> Rejection:
    """The rejection of a command whose attempts had these causes."""
    reason = (
        f"{MOST_ATTEMPTS} attempts to process the command alone have failed ({', '.join(causes[:MOST_ATTEMPTS])}): "
        "it takes too long or too much memory, and is not tried again"
    )
    return Rejection(RejectionCode.PROCESSING_ERROR, reason)


class Suspected(Exception):
    """The database does not load or save rows of the `commands` commands at positions `first` to `last`."""

    def __init__(self, first: int, last: int, commands: int, poison: DataPoison) -> None:
        super().__init__(str(poison))
        self.first, self.last, self.commands = first, last, commands
        self.poison = poison
