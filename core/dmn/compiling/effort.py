"""The effort of compiling files of decisions, in counted steps.

A count is the same on every machine, in contrast to a time: files that were deployed compile wherever a partition needs
them, and there the compilation takes a bounded time and memory.
"""

from __future__ import annotations

from collections.abc import Collection

MOST_STEPS = 3_000_000
"""The steps of all files that are read together: ten seconds and 300 MB if the texts are the costliest ones."""
TEXT_STEPS = 20
"""The steps of a text, in addition to one for each character."""
NAME_CHARACTERS = 16
"""Characters of names with spaces that cost a step, in addition to one for each name."""


class TooMuchEffort(Exception):
    """The files take more steps than their compilation may."""


class Effort:
    """Counts the steps of a compilation."""

    __slots__ = ("_left", "_most")

    def __init__(self, most: int = MOST_STEPS) -> None:
        self._left = self._most = most

    def spend(self, steps: int) -> None:
        """Take steps off those that are left. Raises TooMuchEffort if there are not as many."""
        self._left -= steps
        if self._left < 0:
            raise TooMuchEffort(f"its decisions take more than {self._most} steps to compile")

    def spend_on_text(self, text: str) -> None:
        """Take the steps of a text that is parsed."""
        self.spend(TEXT_STEPS + len(text))

    def spend_on_names(self, names: Collection[str]) -> None:
        """Take the steps of a place where texts may use these names."""
        self.spend(len(names) + sum(map(len, names)) // NAME_CHARACTERS)
