"""Requests that keep their connection for as long as their client wishes: long polls, and awaited instances.

They are fewer than the connections, or the server could be full of clients that all wait for somebody else's work.
Awaited instances take at most half of the places: they end by the work of those who poll.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from vivero.engine.runtime.appender.admission import Overloaded


class Waits:
    """Counts them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._polls = self._instances = 0

    def __len__(self) -> int:
        return self._polls + self._instances

    @contextmanager
    def for_jobs(self) -> Iterator[None]:
        """One more, for as long as the block lasts. Raises Overloaded: there are too many already."""
        self._check(len(self), self._limit)
        self._polls += 1
        try:
            yield
        finally:
            self._polls -= 1

    @contextmanager
    def for_an_instance(self) -> Iterator[None]:
        """One more, for as long as the block lasts. Raises Overloaded: there are too many already."""
        self._check(len(self), self._limit)
        self._check(self._instances, (self._limit + 1) // 2)
        self._instances += 1
        try:
            yield
        finally:
            self._instances -= 1

    @staticmethod
    def _check(count: int, limit: int) -> None:
        if count >= limit:
            raise Overloaded(f"{count} requests wait for jobs or for the ends of instances already, the limit")
