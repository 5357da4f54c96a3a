"""Trees with deferred work, and the commands on their way that continue it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Continuations:
    """The `ContinueWork` commands of a tree that are in the inbox or in the log, with their tenant and request."""

    commands: int
    tenant: str
    request: int


class DeferredTrees:
    """The trees whose work this processor has deferred, by their roots."""

    def __init__(self) -> None:
        self._continuations: dict[int, Continuations] = {}
        self._ready: dict[int, None] = {}
        """Trees whose work can continue between commands, in the order of their turns."""

    def next_root(self) -> int | None:
        return next(iter(self._ready), None)

    def is_ready(self, root: int) -> bool:
        return root in self._ready

    def note_sent(self, root: int, tenant: str, request: int, between_commands: bool) -> bool:
        """Note that work of a tree was deferred. Returns whether a command must be sent.

        A quantum between commands sends none: one is on its way already.
        """
        known = self._continuations.get(root)
        if known is None:
            self._continuations[root] = Continuations(1, tenant, request)
        elif between_commands:
            return False
        else:
            known.commands += 1
        self._ready[root] = None
        return True

    def note_arrived(self, root: int) -> Continuations | None:
        """Note that a command has arrived. Returns the continuations for `restore`."""
        known = self._continuations.get(root)
        if known is not None:
            known.commands -= 1
            if not known.commands:
                del self._continuations[root]
        return known

    def restore(self, root: int, known: Continuations | None) -> None:
        """Take `note_arrived` back: the command has been undone."""
        if known is not None:
            known.commands += 1
            self._continuations[root] = known

    def take(self, root: int) -> Continuations | None:
        """Begin the turn of a tree."""
        del self._ready[root]
        return self._continuations.get(root)

    def requeue(self, root: int) -> None:
        """Give a tree another turn, after the others."""
        self._ready[root] = None
