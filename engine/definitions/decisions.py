"""The cache of compiled decisions: the decisions of a file are compiled once, and found in O(1).

They are cached by the SHA-256 of their file and of those that it imports. An entry never becomes stale.
"""

from __future__ import annotations

from collections.abc import Sequence

import trio
from cachetools import LRUCache

from vivero.core.bpmn.footprint import memory_of
from vivero.core.dmn import Decisions, read_decisions
from vivero.engine.definitions.single_flight import SingleFlight
from vivero.storage.postgres.driver import Connection
from vivero.storage.state import definitions

SMALL_BYTES = 16 * 1024
"""Files up to this size are compiled at once: that takes a few milliseconds."""

Files = tuple[str, ...]
"""The SHA-256 of a file of decisions, and of the files that it imports."""


class UnreadableDecisions(Exception):
    """This version of the program can no longer read a deployed file of decisions."""


class DecisionCache:
    """The least recently used decisions go when all take more than `size` bytes (an estimate)."""

    def __init__(self, size: int) -> None:
        self._found: LRUCache[Files, tuple[Decisions, int]] = LRUCache(size, getsizeof=lambda one: min(one[1], size))
        self._loading: SingleFlight[Files, Decisions] = SingleFlight()

    def find_nowait(self, files: Files) -> Decisions | None:
        """The compiled decisions of a file, if they are in the cache."""
        found = self._found.get(files)
        return None if found is None else found[0]

    async def find(self, files: Files, connection: Connection) -> Decisions:
        """The compiled decisions of a deployed file, read and compiled if need be.

        Raises:
            UnreadableDecisions: the file can no longer be read.
            StorageError: the files could not be read from the database.
        """
        found = self._found.get(files)
        if found is not None:
            return found[0]
        loaded = await self._loading.get(files, lambda: self._load(files, connection))
        assert loaded is not None, "a load has a result or an error"
        return loaded

    async def _load(self, files: Files, connection: Connection) -> Decisions:
        contents = [await definitions.resource(connection, sha256) for sha256 in files]
        found, memory = await _compiled(files, contents)
        self._found[files] = found, memory
        return found


async def _compiled(files: Files, contents: Sequence[bytes | None]) -> tuple[Decisions, int]:
    named = {sha256: content for sha256, content in zip(files, contents, strict=True) if content is not None}
    if sum(map(len, named.values())) <= SMALL_BYTES:
        return _compile(named)
    return await trio.to_thread.run_sync(_compile, named)


def _compile(contents: dict[str, bytes]) -> tuple[Decisions, int]:
    read = read_decisions(contents)
    if read.decisions is None:
        raise UnreadableDecisions("; ".join(map(str, read.problems)))
    return read.decisions, memory_of((read.decisions,))
