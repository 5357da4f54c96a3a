"""Scopes that have yet to settle, the innermost first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush

from vivero.engine.core.state.instance_tree import Element


class SettleQueue:
    """A set of scopes by their keys; of those that are equally deep the one comes first that was touched first.

    `new` and `waiting` are empty together when it is: whoever asks in a loop looks at them, and pays for no call.
    """

    __slots__ = ("_keys", "_turn", "new", "waiting")

    def __init__(self) -> None:
        self.new: dict[int, None] = {}
        """Touched since the last one was taken out."""
        self.waiting: list[tuple[int, int, int, int]] = []
        """A heap of the others: negated depths, turn, key."""
        self._keys: set[int] = set()
        self._turn = 0

    def add(self, key: int) -> None:
        if key not in self._keys:
            self.new[key] = None

    def clear(self) -> None:
        self.new.clear()
        self.waiting.clear()
        self._keys.clear()

    def __iter__(self) -> Iterator[int]:
        """The keys, in the order in which they were touched."""
        yield from (key for *_, key in sorted(self.waiting, key=lambda one: one[2]))
        yield from self.new

    def pop(self, elements: Mapping[int, Element]) -> Element | None:
        """The innermost of those that live; None when none does."""
        if len(self.new) == 1 and not self.waiting:
            return elements.get(self.new.popitem()[0])
        for key in self.new:
            element = elements.get(key)
            if element is not None:
                self._turn += 1
                # deeper than all around it, without a walk, which takes long where a thousand processes call each other
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
