"""Requests that keep their connection for as long as their client wishes: long polls, and awaited instances.

They are fewer than the connections, or the server could be full of clients that all wait for somebody else's work.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from engine.admission import Overloaded


class Waits:
    """Counts them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @contextmanager
    def entered(self) -> Iterator[None]:
        """One more, for as long as the block lasts. Raises Overloaded: there are too many already."""
        if self._count >= self._limit:
            raise Overloaded(f"{self._count} requests wait for jobs or for the ends of instances already, the limit")
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1
