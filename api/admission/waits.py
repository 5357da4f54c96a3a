"""The limit of requests that keep their connection for as long as their client wishes: long polls, awaited instances.

The limit is below that of connections, so that waiting clients cannot take all connections. Awaited instances take at
most half of the places, because only the work of polling workers ends them. If there are no free places, the address
that has the most loses one to an address that has fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from vivero.engine.outcomes.admission import Overloaded


class Wait:
    """A place, which a request has for the duration of a block, and its owner."""

    __slots__ = ("_places", "leave", "owner")

    def __init__(self, places: _Places, owner: str) -> None:
        self._places = places
        self.owner = owner
        self.leave: Callable[[], object] | None = None
        """Ends the wait early; None while that is not possible."""

    def __enter__(self) -> Self:
        self._places.add(self)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._places.remove(self)


class _Places:
    """Waits of one kind by owner, the longest first."""

    def __init__(self) -> None:
        self._by_owner: dict[str, dict[Wait, None]] = {}
        self.count = 0

    def add(self, wait: Wait) -> None:
        self._by_owner.setdefault(wait.owner, {})[wait] = None
        self.count += 1

    def remove(self, wait: Wait) -> None:
        """Remove a wait, unless it is removed already."""
        waits = self._by_owner.get(wait.owner, {})
        if wait in waits:
            del waits[wait]
            self.count -= 1
            if not waits:
                del self._by_owner[wait.owner]

    def displace(self, owner: str) -> bool:
        """Take a place for `owner` from the owner that has the most.

        False if that owner would then have fewer places than `owner`, or if none of its waits can end early.
        """
        most = max(self._by_owner, key=lambda one: len(self._by_owner[one]), default=owner)
        if len(self._by_owner.get(most, ())) <= len(self._by_owner.get(owner, ())) + 1:
            return False
        for wait in self._by_owner[most]:
            if wait.leave is not None:
                self.remove(wait)
                wait.leave()
                return True
        return False


class Waits:
    """The places of waiting requests."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._polls, self._instances = _Places(), _Places()

    def __len__(self) -> int:
        return self._polls.count + self._instances.count

    def for_jobs(self, owner: str = "") -> Wait:
        """A place of `owner`, an address, for the duration of the block. It sets `Wait.leave` once it can end early.

        Raises:
            Overloaded: there are too many waits.
        """
        if len(self) >= self._limit and not self._polls.displace(owner):
            raise _overloaded(len(self))
        return Wait(self._polls, owner)

    def for_an_instance(self, owner: str = "") -> Wait:
        """A place for a request that awaits an instance. The block sets `Wait.leave` once it can end early."""
        if self._instances.count >= (self._limit + 1) // 2 and not self._instances.displace(owner):
            raise _overloaded(self._instances.count)
        if len(self) >= self._limit and not (self._polls.displace(owner) or self._instances.displace(owner)):
            raise _overloaded(len(self))
        return Wait(self._instances, owner)


def _overloaded(count: int) -> Overloaded:
    return Overloaded(f"{count} requests wait for jobs or for the ends of instances, which is the limit")
