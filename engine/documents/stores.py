"""Stores of the bytes of documents beside the database: their interface, and those that the settings name.

A store has objects, each with a random name that a row notes before the object is begun. Names never come from a
client, and not from the bytes either: an object with the same bytes may be deleted while another one is written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from vivero.engine.documents.settings import POSTGRES

Alive = Callable[[], Awaitable[None]]
"""Tells the database that an upload goes on. Raises if it was given up."""


class StoreProblem(Exception):
    """A store cannot be used now. The message says why, for operators."""


class ObjectGone(StoreProblem):
    """A store that is there does not have the object."""


class UnknownStore(Exception):
    """No setting names a store with this id."""


class ContentWriter(Protocol):
    """Writes one object."""

    async def write(self, part: bytes) -> None:
        """Add bytes. Raises StoreProblem."""

    async def finish(self, alive: Alive) -> None:
        """Store all bytes durably under the name. Raises StoreProblem, and what `alive` raises."""

    async def close(self) -> bool:
        """Give the object up unless it is finished. False if a call was interrupted: bytes may come later."""


class ObjectStore(Protocol):
    """Objects by name. Everything raises StoreProblem if the store is away."""

    async def used(self) -> bool:
        """Whether it has been written to. The first object makes a store that has not."""

    async def writer(self, name: str) -> ContentWriter:
        """Begin an object."""

    async def read(self, name: str, begin: int, end: int) -> bytes:
        """The first bytes of this range, as many as are read at once; at least one. Raises ObjectGone."""

    async def delete(self, name: str) -> None:
        """Delete an object, and what was begun of it. It may be absent."""

    @property
    def place(self) -> str:
        """The place of the store, for people."""


class DocumentStores:
    """All stores of an installation: the database, and those that the settings name."""

    def __init__(self, default: str = POSTGRES, objects: Mapping[str, ObjectStore] | None = None) -> None:
        self.default = default
        self.objects: Mapping[str, ObjectStore] = objects or {}

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all stores."""
        return (POSTGRES, *self.objects)

    def of(self, id: str) -> ObjectStore | None:
        """The store with this id; None for the database. Raises UnknownStore."""
        if id == POSTGRES:
            return None
        if id not in self.objects:
            raise UnknownStore(
                f"there is no document store with storeId '{id[:100]}'; there are: {', '.join(self.ids)}"
            )
        return self.objects[id]
