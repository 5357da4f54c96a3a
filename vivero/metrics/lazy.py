"""Parts of the program that are made at their first use, because the import of their libraries takes long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import trio

T = TypeVar("T")


class Lazy(Generic[T]):
    """A part that a thread makes at its first use. The program starts sooner, and serves others meanwhile."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: tuple[T] | None = None
        self._making = trio.Lock()

    async def get(self) -> T:
        """The part. Raises what making it raises; then the next call tries again."""
        if self._made is None:
            async with self._making:
                if self._made is None:
                    self._made = (await trio.to_thread.run_sync(self._make),)
        return self._made[0]
