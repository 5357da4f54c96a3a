"""The cache of compiled decisions: the decisions of a file are compiled once, and found in O(1).

They are cached by the SHA-256 of their file and of those that it imports. An entry never becomes stale.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

import trio

from vivero.core.bpmn.footprint import memory_of
from vivero.core.dmn import Decisions, ReadDecisions, read_decisions
from vivero.engine.definitions.file_cache import CachedFile, FileCache
from vivero.engine.definitions.single_flight import SingleFlight
from vivero.storage.postgres.driver import Connection
from vivero.storage.state import definitions

SMALL_BYTES = 16 * 1024
"""Files up to this size are compiled at once: that takes a few milliseconds. Others are compiled in a thread."""
COMPILE_S = 60.0
"""Patience for a thread that compiles. The effort of a file is limited, to about ten seconds of CPU time, of which
other programs may leave little. A thread that takes longer is abandoned, and ends by that limit."""

Files = tuple[str, ...]
"""The SHA-256 of a file of decisions, and of the files that it imports."""
ReadDecisionFiles = Callable[[Mapping[str, bytes]], ReadDecisions]
"""Reads and compiles files that belong together, by their SHA-256."""


class UnreadableDecisions(Exception):
    """This version of the program can no longer read a deployed file of decisions, or not in time."""


class DecisionCache:
    """Finds compiled decisions in the cache of files, and puts them into it."""

    def __init__(
        self,
        files: FileCache,
        acquire: Callable[[], AbstractAsyncContextManager[Connection]],
        read: ReadDecisionFiles = read_decisions,
    ) -> None:
        self._files, self._acquire, self._read = files, acquire, read
        self._loading: SingleFlight[Files, Decisions] = SingleFlight()
        self._ahead = trio.Semaphore(1)
        """Only one file at a time is compiled before it is needed."""

    def find_nowait(self, files: Files) -> Decisions | None:
        """The compiled decisions of a file, if they are in the cache."""
        found = self._files.get(files)
        decisions: Decisions | None = None if found is None else found.content
        return decisions

    async def find(self, files: Files, connection: Connection) -> Decisions:
        """The compiled decisions of a deployed file, read and compiled if need be.

        Raises:
            UnreadableDecisions: the file can no longer be read, or takes more than `COMPILE_S`.
            StorageError: the files could not be read from the database.
        """
        found = self.find_nowait(files)
        return found if found is not None else await self._loaded(files, lambda: _contents(files, connection))

    async def load(self, files: Files) -> None:
        """Load a deployed file before it is needed. Raises the errors of `find`."""

        async def contents() -> Mapping[str, bytes]:
            async with self._acquire() as connection:
                return await _contents(files, connection)

        await self._load_ahead(files, contents)

    async def prepare(self, contents: Mapping[str, bytes]) -> None:
        """Compile a file that is about to be deployed, the first one, with those that it imports, by their SHA-256.

        The partition need not wait for that when the first command needs a decision of the file.
        """

        async def known() -> Mapping[str, bytes]:
            await trio.lowlevel.checkpoint()
            return contents

        await self._load_ahead(tuple(contents), known)

    async def _load_ahead(self, files: Files, contents: Callable[[], Awaitable[Mapping[str, bytes]]]) -> None:
        async with self._ahead:
            if files not in self._files:
                await self._loaded(files, contents)

    async def _loaded(self, files: Files, contents: Callable[[], Awaitable[Mapping[str, bytes]]]) -> Decisions:
        loaded = await self._loading.get(files, lambda: self._load(files, contents))
        assert loaded is not None, "a load has a result or an error"
        return loaded

    async def _load(self, files: Files, contents: Callable[[], Awaitable[Mapping[str, bytes]]]) -> Decisions:
        self._files[files] = compiled = await self._compiled(await contents())
        decisions: Decisions = compiled.content
        return decisions

    async def _compiled(self, named: Mapping[str, bytes]) -> CachedFile:
        if sum(map(len, named.values())) <= SMALL_BYTES:
            return self._compile(named)
        with trio.move_on_after(COMPILE_S):
            return await trio.to_thread.run_sync(self._compile, named, abandon_on_cancel=True)
        raise UnreadableDecisions(f"compiling its decisions takes more than {COMPILE_S:g} s")

    def _compile(self, contents: Mapping[str, bytes]) -> CachedFile:
        read = self._read(contents)
        if read.decisions is None:
            raise UnreadableDecisions("; ".join(map(str, read.problems)))
        return CachedFile(read.decisions, memory_of((read.decisions,)))


async def _contents(files: Sequence[str], connection: Connection) -> Mapping[str, bytes]:
    """The bytes of files that are in the database."""
    found = [(sha256, await definitions.resource(connection, sha256)) for sha256 in files]
    return {sha256: content for sha256, content in found if content is not None}
