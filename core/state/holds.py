"""The holds of migrations in pages: how many commands about each instance tree wait (docs/adr/0088).

They wait in the inbox until the tree is free, and so do the commands that come before all of them have returned.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

C = TypeVar("C")

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


class Kept(NamedTuple, Generic[C]):
    """A held command that is in memory, and its characters."""

    command: C
    characters: int


@dataclass(slots=True)
class Waiting(Generic[C]):
    """The commands that wait for a tree, at least one: first those that only the inbox has, then those in memory."""

    before: int = 0
    characters_before: int = 0
    kept: deque[Kept[C]] = field(default_factory=deque)
    characters: int = 0
    """The sum over all of them."""

    @property
    def commands(self) -> int:
        return self.before + len(self.kept)


class Holds(Generic[C]):
    """The held commands of a partition by the roots of their trees. This is memory of a term, and no state."""

    def __init__(self) -> None:
        self.waiting: dict[int, Waiting[C]] = {}
        self.returning: dict[int, int] = {}
        """Root → `EndHold` commands on their way, at least one."""
        self._full: set[int] = set()
        """Roots that had the most commands, and whose commands have not all returned."""
        self._in_all = self._characters_in_all = 0

    def is_behind_others(self, root: int) -> bool:
        """Whether a new command about the tree comes behind held ones that have not all returned."""
        return root in self.waiting or root in self.returning

    def is_returning(self, root: int) -> bool:
        """Whether released commands of the tree may still be on their way."""
        return root in self.returning

    def is_full(self, root: int) -> bool:
        """Whether no further command of a client may wait for the tree."""
        return self.are_too_many() or root in self._full

    def are_too_many(self) -> bool:
        """Whether the partition has more held commands than may be in memory."""
        return self._in_all >= MOST_HELD_IN_ALL or self._characters_in_all >= MOST_CHARACTERS_HELD_IN_ALL

    def note_before(self, root: int, commands: int, characters: int) -> None:
        """Note that commands of an earlier term wait, which only the inbox has."""
        waiting = self.waiting.setdefault(root, Waiting())
        waiting.before += commands
        waiting.characters_before += characters
        self._count(root, waiting, commands, characters)

    def keep(self, root: int, command: C, characters: int) -> None:
        """Keep a further command in memory, behind the others."""
        waiting = self.waiting.setdefault(root, Waiting())
        waiting.kept.append(Kept(command, characters))
        self._count(root, waiting, 1, characters)

    def put_back(self, root: int, kept: Kept[C]) -> None:
        """Keep a command that was taken, before the others in memory."""
        waiting = self.waiting.setdefault(root, Waiting())
        waiting.kept.appendleft(kept)
        self._count(root, waiting, 1, kept.characters)

    def take_before(self, root: int, most: int) -> int:
        """Let at most so many of those that only the inbox has wait no more. Returns their number."""
        waiting = self.waiting[root]
        taken = min(waiting.before, most)
        characters = waiting.characters_before * taken // max(waiting.before, 1)
        waiting.before -= taken
        waiting.characters_before -= characters
        self._count(root, waiting, -taken, -characters)
        return taken

    def take(self, root: int) -> Kept[C]:
        """Let the first command in memory wait no more."""
        waiting = self.waiting[root]
        kept = waiting.kept.popleft()
        self._count(root, waiting, -1, -kept.characters)
        return kept

    def leave_to_inbox(self) -> None:
        """Forget the commands in memory: only the inbox has them from now on."""
        for waiting in self.waiting.values():
            waiting.before, waiting.characters_before = waiting.commands, waiting.characters
            waiting.kept.clear()

    def _count(self, root: int, waiting: Waiting[C], commands: int, characters: int) -> None:
        self._in_all += commands
        self._characters_in_all += characters
        waiting.characters += characters
        if not waiting.commands:
            del self.waiting[root]
            self._full.discard(root)
        elif waiting.commands >= MOST_HELD or waiting.characters >= MOST_CHARACTERS_HELD:
            self._full.add(root)

    def note_returning(self, root: int, ends: int = 1) -> None:
        """Note that released commands are on their way, with so many `EndHold` commands."""
        self.returning[root] = self.returning.get(root, 0) + ends

    def note_returned(self, root: int) -> None:
        """Note that an `EndHold` has arrived. A person may send another one by resolving its incident."""
        left = self.returning.pop(root, 1) - 1
        if left:
            self.returning[root] = left
