"""Commands that the hold of a migration keeps in the inbox, and their return (docs/adr/0088).

Those that this term has held are in memory, too. Once their tree is free, they are handled in the batch that has freed
it, so that no command can come between them: steady traffic does not prolong a hold. Those of earlier terms, those of a
batch in which each command comes alone, and those that are too many for memory return through the log, with an
`EndHold` behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from vivero.core.commands.migration_hold import is_held
from vivero.core.execution.outcomes import Handled, InboxCommand, Notices
from vivero.core.needs import Need, NotLoaded
from vivero.core.records.base import Command
from vivero.core.records.instances import ContinueWork, EndHold
from vivero.core.state.holds import RELEASED_AT_ONCE, Holds
from vivero.core.view import View

NOT_FORWARDED = 0
"""The partition of a held command in the inbox. There is no such partition, so that nobody moves it to a log."""

FREEING = (ContinueWork, EndHold)
"""Commands that may free a tree."""


class HeldBefore(NamedTuple):
    """Commands of a tree that an earlier term has held: their tenant, number and characters."""

    tenant: str
    commands: int
    characters: int


class HeldCommands:
    """Keeps the held commands of a partition, and lets them return."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._holds: Holds[InboxCommand] = view.holds
        self._free: dict[int, list[InboxCommand]] = {}
        """Root of a tree whose commands return in this batch → those that have been handled."""
        self.lacks: list[Need] = []
        """The rows that commands which return have lacked, beyond those that they declare."""

    def adopt(self, waiting: Mapping[int, HeldBefore], returning: Mapping[int, int], notices: Notices) -> None:
        """Know those of earlier terms by their roots, and root → `EndHold` commands on their way.

        An older version may have ended a hold, and releases nothing. An `EndHold` too many does no harm.
        """
        for root, ends in returning.items():
            self._holds.note_returning(root, ends)
        for root, (tenant, commands, characters) in waiting.items():
            self._holds.note_before(root, commands, characters)
            if root not in returning:
                self._send_end(root, tenant, notices)

    def keep(self, command: Command, root: int, context: str | None, notices: Notices) -> None:
        """Keep a command until its tree is free."""
        view = self._view
        kept = InboxCommand(command, view.tenant, view.request, NOT_FORWARDED, None, context, again=True, held_by=root)
        self._holds.keep(root, kept, len(kept.encode()))
        notices.to_inbox.append(kept)

    def note_handled(self, command: ContinueWork | EndHold, notices: Notices, inline: bool) -> None:
        """Let held commands return once a page, or a bug in it, or the return of others has freed their tree.

        `command`: of a type in `FREEING`.
        """
        if isinstance(command, EndHold):
            self._holds.note_returned(command.key)
        root = command.key
        if root not in self._holds.waiting or self._holds.is_returning(root) or self._is_held(root):
            return
        if inline and not self._holds.waiting[root].before and root not in notices.released:
            self._free.setdefault(root, [])
        else:
            self._release(root, notices)

    def _is_held(self, root: int) -> bool:
        tree = self._view.state.trees.get(root)
        return tree is not None and is_held(tree)

    # ---- the return in the batch that frees the tree

    @property
    def return_now(self) -> bool:
        """Whether commands wait for nothing but their turn in this batch."""
        return any(root in self._holds.waiting and not self._is_held(root) for root in self._free)

    def next_ones(self) -> Iterator[InboxCommand]:
        """The commands that return next. Their needs must be loaded."""
        for root in self._free:
            if (waiting := self._holds.waiting.get(root)) is not None:
                yield from (one.command for one in islice(waiting.kept, RELEASED_AT_ONCE))

    def take_back(
        self, run: Callable[[InboxCommand], list[Handled]], fits: Callable[[InboxCommand], bool]
    ) -> Iterator[tuple[InboxCommand, list[Handled]]]:
        """Handle commands whose trees are free, in their order, one at a time. A tree has its turn up to a command
        that does not fit now."""
        for root, handled in tuple(self._free.items()):
            waiting = self._holds.waiting.get(root)
            for one in [] if waiting is None else list(islice(waiting.kept, RELEASED_AT_ONCE)):
                if self._is_held(root) or not fits(one.command):
                    break
                try:
                    rows = self._take_back(root, run)
                except NotLoaded as missing:
                    self.lacks.append(missing.need)
                    break
                handled.append(one.command)
                yield one.command, rows

    def _take_back(self, root: int, run: Callable[[InboxCommand], list[Handled]]) -> list[Handled]:
        """Handle the first command of a tree. It does not wait behind itself."""
        first = self._holds.take(root)
        try:
            return run(first.command)
        except BaseException:
            self._holds.put_back(root, first)
            raise

    def end_returns(self, notices: Notices) -> None:
        """End the returns of a batch: handled commands leave the inbox, and an `EndHold` comes for the rest.

        Clients are refused when too many wait, but the engine's own commands are not, and they can be large. Those that
        the batch saves, or an earlier one, then return as those of an earlier term do.
        """
        if self._free:
            self._end_returns(notices)
        if self._holds.are_too_many():
            self._holds.leave_to_inbox()

    def _end_returns(self, notices: Notices) -> None:
        """A tree of which no command could be handled goes the way through the log, where each command has as many
        loads as it needs.
        """
        free, self._free = self._free, {}
        self.lacks = []
        gone = {id(one) for handled in free.values() for one in handled}
        of_batch = {id(one) for one in notices.to_inbox} & gone
        notices.to_inbox[:] = [one for one in notices.to_inbox if id(one) not in gone]
        for root, handled in free.items():
            if earlier := sum(id(one) not in of_batch for one in handled):
                notices.returned[root] = notices.returned.get(root, 0) + earlier
            if root not in self._holds.waiting or self._is_held(root):
                continue
            if handled:
                self._send_end(root, self._holds.waiting[root].kept[0].command.tenant, notices)
            else:
                self._release(root, notices)

    # ---- the return through the log

    def _release(self, root: int, notices: Notices) -> None:
        """Let the first commands return through the log, and an `EndHold` behind them.

        Those of earlier batches are in the inbox. If they are few, those of this batch, which are not, return as well.
        """
        view, waiting = self._view, self._holds.waiting[root]
        tenant = waiting.kept[0].command.tenant if waiting.kept else view.tenant  # else a page or `EndHold` is handled
        of_batch = {id(one) for one in notices.to_inbox if one.held_by == root}
        in_inbox = before = self._holds.take_before(root, RELEASED_AT_ONCE)
        for _ in range(min(RELEASED_AT_ONCE - before, len(waiting.kept))):
            one = self._holds.take(root).command
            if id(one) in of_batch:
                one.partition, one.held_by = view.state.partition, None
            else:
                in_inbox += 1
        if in_inbox:
            notices.released[root] = notices.released.get(root, 0) + in_inbox
        self._send_end(root, tenant, notices)

    def _send_end(self, root: int, tenant: str, notices: Notices) -> None:
        self._holds.note_returning(root)
        notices.to_inbox.append(InboxCommand(EndHold(root), tenant, None, self._view.state.partition))
