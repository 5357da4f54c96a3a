"""The holds of migrations in pages: how many commands about each instance tree wait (docs/adr/0088).

They wait in the inbox, and return through the log once the tree is free. The commands that come meanwhile wait behind
them, until an `EndHold` has come through the log behind the last one that returns.
"""

from __future__ import annotations

RELEASED_AT_ONCE = 500
"""Held commands that return before the next `EndHold`. One transaction moves them."""


class Holds:
    """The held commands of a partition by the roots of their trees. This is memory of a term, and no state."""

    def __init__(self) -> None:
        self.waiting: dict[int, int] = {}
        """Root → the number of commands that the inbox holds, at least one."""
        self._returning: dict[int, int] = {}
        """Root → `EndHold` commands on their way, at least one."""

    def is_returning(self, root: int) -> bool:
        """Whether released commands of the tree may still be on their way."""
        return root in self._returning

    def note_waiting(self, root: int) -> None:
        """Note that a command waits."""
        self.waiting[root] = self.waiting.get(root, 0) + 1

    def note_returning(self, root: int, ends: int = 1) -> None:
        """Note that released commands are on their way, with so many `EndHold` commands."""
        self._returning[root] = self._returning.get(root, 0) + ends

    def note_returned(self, root: int) -> None:
        """Note that an `EndHold` has arrived. A person may send another one by resolving its incident."""
        left = self._returning.pop(root, 1) - 1
        if left:
            self._returning[root] = left

    def release(self, root: int) -> int:
        """The number of commands that return now, the first ones. The others wait for the next `EndHold`."""
        waiting = self.waiting.pop(root)
        released = min(waiting, RELEASED_AT_ONCE)
        if waiting > released:
            self.waiting[root] = waiting - released
        self.note_returning(root)
        return released
