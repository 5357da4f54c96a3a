"""The holds of migrations in pages: how many commands about each instance tree wait (docs/adr/0088).

They wait in the inbox until the tree is free, and so do the commands that come before all of them have returned.
"""

from __future__ import annotations

RELEASED_AT_ONCE = 500
"""Held commands that return before the next `EndHold`."""
MOST_HELD = 2_000
"""Held commands of a tree. Clients are refused beyond them until all of them have returned, so that they do return."""
MOST_CHARACTERS_HELD = 8_000_000
"""Characters of the held commands of a tree, with the same consequence."""
MOST_HELD_IN_ALL = 10_000
"""Held commands of a partition."""
MOST_CHARACTERS_HELD_IN_ALL = 32_000_000
"""Characters of the held commands of a partition, which are in memory."""


class Holds:
    """The held commands of a partition by the roots of their trees. This is memory of a term, and no state."""

    def __init__(self) -> None:
        self.waiting: dict[int, int] = {}
        """Root → the number of commands that wait, at least one."""
        self._characters: dict[int, int] = {}
        """Root → their characters."""
        self._returning: dict[int, int] = {}
        """Root → `EndHold` commands on their way, at least one."""
        self._full: set[int] = set()
        """Roots that had the most commands, and whose commands have not all returned."""
        self._in_all = self._characters_in_all = 0

    def is_behind_others(self, root: int) -> bool:
        """Whether a new command about the tree comes behind held ones that have not all returned."""
        return root in self.waiting or root in self._returning

    def is_returning(self, root: int) -> bool:
        """Whether released commands of the tree may still be on their way."""
        return root in self._returning

    def is_full(self, root: int) -> bool:
        """Whether no further command of a client may wait for the tree."""
        return self.are_too_many() or root in self._full

    def are_too_many(self) -> bool:
        """Whether the partition has more held commands than may be in memory."""
        return self._in_all >= MOST_HELD_IN_ALL or self._characters_in_all >= MOST_CHARACTERS_HELD_IN_ALL

    def note_waiting(self, root: int, commands: int, characters: int) -> None:
        """Note that further commands wait."""
        self.waiting[root] = self.waiting.get(root, 0) + commands
        self._characters[root] = self._characters.get(root, 0) + characters
        self._in_all += commands
        self._characters_in_all += characters
        if self.waiting[root] >= MOST_HELD or self._characters[root] >= MOST_CHARACTERS_HELD:
            self._full.add(root)

    def note_taken(self, root: int, commands: int, characters: int) -> None:
        """Note that the first commands do not wait any more."""
        self._in_all -= commands
        self._characters_in_all -= characters
        self._characters[root] -= characters
        self.waiting[root] -= commands
        if not self.waiting[root]:
            del self.waiting[root], self._characters[root]
            self._full.discard(root)

    def note_returning(self, root: int, ends: int = 1) -> None:
        """Note that released commands are on their way, with so many `EndHold` commands."""
        self._returning[root] = self._returning.get(root, 0) + ends

    def note_returned(self, root: int) -> None:
        """Note that an `EndHold` has arrived. A person may send another one by resolving its incident."""
        left = self._returning.pop(root, 1) - 1
        if left:
            self._returning[root] = left
