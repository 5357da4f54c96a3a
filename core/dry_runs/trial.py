"""The trial of one command on a copy of an instance tree: the command, and then the tree's own deferred work.

The trial does not follow what the command sends to message channels and other aggregates: the copy has none of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.execution.outcomes import CommandRecord, Handled, InboxCommand
from vivero.core.execution.step import Processor
from vivero.core.feel import EvaluationError, decode_large
from vivero.core.needs import NeedKind, NotLoaded
from vivero.core.records.base import Command, Event
from vivero.core.records.effects import Rejection
from vivero.core.records.instances import ContinueWork
from vivero.core.state.instance_tree import MISSING

MOST_EVENTS = 200_000
"""Deferred work is followed until the trial has so many events."""


class Trial:
    """Runs a command. `processor` must not run follow-ups inline, and its state must not be used afterwards."""

    def __init__(self, processor: Processor, now: int) -> None:
        """`now`: epoch milliseconds."""
        self._processor, self._now, self._position = processor, now, 0
        self.events: list[Event] = []
        """All events, the command's first."""
        self.rejection: Rejection | None = None
        self.is_put_off = False
        """Whether the command waits for deferred work of the tree, and has not done anything yet."""

    def run(self, command: Command, tenant: str, *, to_end: bool = True) -> None:
        """Run the command and, `to_end`, the deferred work that it leaves.

        Raises:
            NotLoaded: a row is missing. Add it to another copy, and try again.
        """
        first = self._handle(command, tenant)
        self.rejection = first.rejection
        self.is_put_off = first.rejection is None and any(one.again for one in self._sent())
        if to_end and not self.is_put_off:
            self._follow()

    def _follow(self) -> None:
        while len(self.events) < MOST_EVENTS and (work := self._deferred()) is not None:
            self._handle(work.command, work.tenant)

    def _handle(self, command: Command, tenant: str) -> Handled:
        self._processor.notices.to_inbox.clear()
        self._position += 1
        record = CommandRecord(self._position, tenant, command)
        while True:
            try:
                rows = self._processor.process(record, self._now)
                break
            except NotLoaded as missing:
                self._supply(missing)
        self.events += (event for row in rows for event in row.events)
        return rows[0]

    def _supply(self, missing: NotLoaded) -> None:
        """Supply what follows from the copy alone. Raises it again for what does not."""
        state, need = self._processor.state, missing.need
        if need.kind is NeedKind.WORK:
            state.trees[need.key].loaded_work = None  # all of the tree is in memory
        elif need.kind is NeedKind.SUSPENDED:
            state.loaded_pages[need.key] = None
        elif need.kind is NeedKind.REGISTRATION:
            state.registrations.gone.add(need.key)
        elif need.kind is NeedKind.VALUE:
            try:
                state.values[need.key] = decode_large(need.key)
            except EvaluationError:  # the stage that reads the variable says so
                state.values[need.key] = MISSING, None
        else:
            raise missing

    def _deferred(self) -> InboxCommand | None:
        return next((one for one in self._sent() if isinstance(one.command, ContinueWork)), None)

    def _sent(self) -> Iterator[InboxCommand]:
        return iter(self._processor.notices.to_inbox)
