"""Lazy variables: an element that is loaded only to be ended has its variables in the database, and not in memory.

Ending an element does not need them. A command that does need them raises NotLoaded, and runs again once they are
loaded. It never takes them for missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.state.instance_tree import Variable


class LazyVariables(dict[str, Variable]):
    """The variables of an element in a part. It is falsy, and each access raises NotLoaded.

    Writing a variable needs an access before, to find its key.
    """

    __slots__ = ("part",)

    def __init__(self, part: int) -> None:
        """`part`: the key of the part that they are loaded with."""
        self.part = part

    def _raise(self, *_: Any, **__: Any) -> NoReturn:
        raise NotLoaded(Need(NeedKind.VARIABLES, self.part))

    def __iter__(self) -> Iterator[str]:
        return self._raise()

    __contains__ = __getitem__ = __setitem__ = __delitem__ = __reversed__ = __eq__ = __ne__ = _raise
    __or__ = __ror__ = __ior__ = copy = get = keys = values = items = _raise
    pop = popitem = setdefault = update = clear = _raise
