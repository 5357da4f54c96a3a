"""The trial of one command on a copy of an instance tree: the command, and then the tree's own deferred work.

The trial does not follow what the command sends to message channels and other aggregates: the copy has none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from vivero.core.execution.outcomes import CommandRecord, Handled, InboxCommand
from vivero.core.execution.step import Processor
from vivero.core.feel import EvaluationError, decode_large
from vivero.core.needs import NeedKind, NotLoaded
from vivero.core.records.base import Command, Event
from vivero.core.records.effects import Rejection
from vivero.core.records.instances import ContinueWork
from vivero.core.records.migrations import CHECK_PAGE
from vivero.core.shared.deferred_work import next_page
from vivero.core.state.instance_tree import MISSING

MOST_EVENTS = 200_000
"""Deferred work is followed until the trial has so many events."""


FIRST = 1
"""The position of the command."""


class _Continued(NamedTuple):
    command: ContinueWork
    tenant: str


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
        if not self.is_put_off:
            self._follow(to_end)

    def _follow(self, to_end: bool) -> None:
        """Run the deferred work, or only the pages that decide about the command."""
        while len(self.events) < MOST_EVENTS and (work := self._deferred()) is not None:
            if not (to_end or self._is_undecided(work.command)):
                return
            self._handle(work.command, work.tenant)

    def _is_undecided(self, work: ContinueWork) -> bool:
        page = next_page(self._processor.state.trees[work.key])
        return page is not None and page[1] == CHECK_PAGE

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
        refused = (row.rejection for row in rows[1:] if row.rejection is not None and row.request == FIRST)
        self.rejection = next(refused, self.rejection)
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

    def _deferred(self) -> _Continued | None:
        sent = ((one.command, one.tenant) for one in self._sent())
        return next((_Continued(one, tenant) for one, tenant in sent if isinstance(one, ContinueWork)), None)

    def _sent(self) -> Iterator[InboxCommand]:
        return iter(self._processor.notices.to_inbox)
