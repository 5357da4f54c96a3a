"""The memory of an element that compensates a completed activity. BPMN 2.0.2 §10.7, §13.5.5."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec


class Compensation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The place of a handler in a compensation: what it undoes, and what follows.

    `key`: the registration. `thrower`: the element that waits for all handlers, if one does. Handlers of what is
    registered in `scopes` (keys of live scopes, and of registrations of completed ones) `before` a key follow, the
    latest first. With `only`, those of one activity. `inside`: the registrations of the completed scopes that are on
    their way, the outermost first. `seen`: completed scopes whose variables the handler sees, the innermost first.
    """

    key: int
    thrower: int | None
    scopes: tuple[int, ...]
    inside: tuple[int, ...]
    before: int
    only: str | None = None
    seen: tuple[int, ...] = ()


class PastScope:
    """The variables of a completed scope, as a handler sees them. `outer` is the next scope that it sees."""

    __slots__ = ("key", "outer", "variables")

    loop = None

    def __init__(self, key: int, variables: dict[str, Any], outer: Any) -> None:
        self.key = key
        self.variables = variables
        self.outer = outer

    def seen_next(self) -> Any:
        """As `Element.seen_next`."""
        return self.outer


def past_scopes(scopes: Iterable[tuple[int, dict[str, Any]]], live: Any) -> PastScope | None:
    """A chain of completed scopes (key and variables, the innermost first) that ends at a live scope."""
    chain = None
    for key, variables in reversed(list(scopes)):
        chain = PastScope(key, variables, live if chain is None else chain)
    return chain
