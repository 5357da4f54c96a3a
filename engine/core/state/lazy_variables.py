"""Variables that are in the database, and not in memory: of what was loaded only to be ended.

Nobody who ends an element asks for them. Whoever does, because a command comes in between or work was deferred, is
undone, and runs again when they have been read: nothing is ever decided as if there were none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from vivero.engine.core.needs import Need, NeedKind, NotLoaded
from vivero.engine.core.state.instance_tree import Variable


class LazyVariables(dict[str, Variable]):
    """The variables of an element of a part. It is false, as they weigh nothing; whoever looks inside raises NotLoaded.

    What writes a variable has looked for it before, to know its key.
    """

    __slots__ = ("part",)

    def __init__(self, part: int) -> None:
        """`part`: the key of the inner instance with which they are loaded."""
        self.part = part

    def _raise(self, *_: Any) -> NoReturn:
        raise NotLoaded(Need(NeedKind.VARIABLES, self.part))

    def __iter__(self) -> Iterator[str]:
        return self._raise()

    __contains__ = __getitem__ = __setitem__ = get = keys = values = items = _raise
