"""The settle queue: scopes that have yet to settle, the innermost first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush

from vivero.core.state.instance_tree import Element


class SettleQueue:
    """A set of scopes by their keys. Equally deep scopes keep the order in which they were added.

    The queue is empty if `new` and `waiting` are. A scope is added to `new`. A hot loop does both without a call.
    """

    __slots__ = ("_keys", "_turn", "new", "waiting")

    def __init__(self) -> None:
        self.new: dict[int, None] = {}
        """Scopes that were added since the last `pop`. Those that wait already may be among them."""
        self.waiting: list[tuple[int, int, int, int]] = []
        """A heap of the others: negative depths, turn, key."""
        self._keys: set[int] = set()
        self._turn = 0

    def clear(self) -> None:
        self.new.clear()
        self.waiting.clear()
        self._keys.clear()

    def __iter__(self) -> Iterator[int]:
        """The keys in the order in which they were added."""
        yield from (key for *_, key in sorted(self.waiting, key=lambda one: one[2]))
        yield from (key for key in self.new if key not in self._keys)

    def pop(self, elements: Mapping[int, Element]) -> Element | None:
        """Remove and return the innermost live scope; None if there is none."""
        if len(self.new) == 1 and not self.waiting:
            return elements.get(self.new.popitem()[0])
        for key in self.new:
            element = elements.get(key)
            if element is not None and key not in self._keys:
                self._turn += 1
                # depths are stored: a walk is slow if a thousand processes call each other
                heappush(self.waiting, (-element.instance.depth, -len(element.path), self._turn, key))
                self._keys.add(key)
        self.new.clear()
        while self.waiting:
            key = heappop(self.waiting)[3]
            self._keys.discard(key)
            element = elements.get(key)
            if element is not None:
                return element
        return None
