"""At most one load of each key at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import trio

K = TypeVar("K")
V = TypeVar("V")


class _Flight(Generic[V]):
    """A load under way, with its result once `done`. An abandoned load was cancelled and has no result."""

    def __init__(self) -> None:
        self.done = trio.Event()
        self.abandoned = True
        self.value: V | None = None
        self.error: Exception | None = None


class SingleFlight(Generic[K, V]):
    """Shares a load among all callers that ask for the same key meanwhile."""

    def __init__(self) -> None:
        self._flights: dict[K, _Flight[V]] = {}

    async def get(self, key: K, load: Callable[[], Awaitable[V]]) -> V | None:
        """The result of `load()`, or of a load of this key that is under way. Its error is raised to all callers."""
        while (flight := self._flights.get(key)) is not None:
            await flight.done.wait()
            if flight.error is not None:
                raise flight.error
            if not flight.abandoned:
                return flight.value
        return await self._load(key, load)

    async def _load(self, key: K, load: Callable[[], Awaitable[V]]) -> V:
        self._flights[key] = flight = _Flight[V]()
        try:
            flight.value = value = await load()
            flight.abandoned = False
            return value
        except Exception as error:
            flight.error = error
            raise
        finally:
            del self._flights[key]
            flight.done.set()
