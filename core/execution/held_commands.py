"""Commands that the hold of a migration keeps in the inbox, and their return (docs/adr/0088).

Each of them leaves the log once, and returns to it once, however many pages the migration has.
"""

from __future__ import annotations

from collections.abc import Mapping

from vivero.core.commands.migration_hold import is_held
from vivero.core.execution.outcomes import InboxCommand, Notices
from vivero.core.records.base import Command
from vivero.core.records.instances import ContinueWork, EndHold
from vivero.core.view import View

NOT_FORWARDED = 0
"""The partition of a held command in the inbox. There is no such partition, so that nobody moves it to a log."""


class HeldCommands:
    """Keeps and releases the held commands of a partition."""

    def __init__(self, view: View) -> None:
        self._view = view

    def adopt(self, waiting: Mapping[int, tuple[str, int]], returning: Mapping[int, int], notices: Notices) -> None:
        """Know those of earlier terms: root → tenant and number, and root → `EndHold` commands on their way.

        An older version may have ended a hold, and releases nothing. An `EndHold` too many does no harm.
        """
        holds = self._view.holds
        for root, ends in returning.items():
            holds.note_returning(root, ends)
        for root, (tenant, commands) in waiting.items():
            holds.waiting[root] = commands
            if root not in returning:
                holds.note_returning(root)
                notices.to_inbox.append(InboxCommand(EndHold(root), tenant, None, self._view.state.partition))

    def keep(self, command: Command, root: int, context: str | None, notices: Notices) -> None:
        """Keep a command until its tree is free."""
        view = self._view
        view.holds.note_waiting(root)
        kept = InboxCommand(command, view.tenant, view.request, NOT_FORWARDED, None, context, again=True, held_by=root)
        notices.to_inbox.append(kept)

    def note_handled(self, command: Command, notices: Notices) -> None:
        """Let held commands return once a page, or a bug in it, or the return of others has freed their tree."""
        if isinstance(command, EndHold):
            self._view.holds.note_returned(command.key)
            self._release(command.key, notices)
        elif isinstance(command, ContinueWork):
            self._release(command.key, notices)

    def _release(self, root: int, notices: Notices) -> None:
        """Let the first commands return, and an `EndHold` behind them.

        Those of earlier batches are in the inbox. If they are few, those of this batch, which are not, return as well.
        """
        view, holds = self._view, self._view.holds
        if root not in holds.waiting or holds.is_returning(root):
            return
        tree, here = view.state.trees.get(root), view.state.partition
        if tree is not None and is_held(tree):
            return
        of_batch = [one for one in notices.to_inbox if one.held_by == root]
        earlier = holds.waiting[root] - len(of_batch)
        released = holds.release(root)
        if earlier:
            notices.released[root] = notices.released.get(root, 0) + min(released, earlier)
        for one in of_batch[: max(released - earlier, 0)]:
            one.partition, one.held_by = here, None
        notices.to_inbox.append(InboxCommand(EndHold(root), view.tenant, view.request, here))
