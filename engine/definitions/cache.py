"""The cache of process definitions: a file is parsed once, and its models are found in O(1).

Models are cached by the SHA-256 of their file. Tenants and versions with the same file share them, and an entry never
becomes stale. A running instance finds the model of its version, however many versions were deployed since. The latest
version of a process is not cached here: the consumer keeps it with the catalogue, whose number comes with each batch
(ADR 70).

The first caller that asks for a missing file loads it, and all others wait for that load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import msgspec
import trio
from cachetools import LRUCache

from vivero.core.bpmn.model import Process
from vivero.core.bpmn.parser import Parsed
from vivero.core.dmn import read_decisions
from vivero.engine.compute.models import ReadModel, UnreadableModel, read_here
from vivero.engine.compute.problems import TooCostly
from vivero.engine.counters.buckets import Buckets
from vivero.engine.definitions.decisions import DecisionCache, Files, ReadDecisionFiles, UnreadableDecisions
from vivero.engine.definitions.file_cache import CachedFile, FileCache
from vivero.engine.definitions.single_flight import SingleFlight
from vivero.storage.postgres.driver import Connection
from vivero.storage.state import definitions

Models = Mapping[str, Process]
"""The executable processes of a file by process id."""

MAX_SOURCES = 20_000
"""Definitions whose file is remembered."""


@dataclass(frozen=True, slots=True)
class DefinitionSettings:
    """Limits of the cache."""

    entries: int = 5_000
    """Parsed files in memory."""
    bytes: int = 100_000_000
    """Memory of their models and decisions (an estimate): 60 KB for 20 elements, 300 KB for 100."""
    warm_up: int = 500
    """Definitions, and files of decisions, that a node loads before they are needed, the busiest first; 0: none."""

    def __post_init__(self) -> None:
        if self.entries < 1 or self.bytes < 1:
            raise ValueError("it must be at least 1")
        if self.warm_up < 0:
            raise ValueError("it must be at least 0")


class CacheStats(msgspec.Struct, frozen=True, gc=False):
    """Metrics. Hits, misses and evictions count models, and only grow."""

    hits: int
    misses: int
    evictions: int
    size: int
    """Files in the cache."""
    bytes: int
    """The memory that their models take, as an estimate."""

    @property
    def hit_rate(self) -> float:
        """The share of look-ups that found an entry; 1.0 before the first."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 1.0


class UnreadableResource(Exception):
    """This version of the program can no longer read a deployed file."""


class DefinitionCache:
    """See the module."""

    def __init__(
        self,
        acquire: Callable[[], AbstractAsyncContextManager[Connection]],
        settings: DefinitionSettings | None = None,
        read: ReadModel = read_here,
        read_decisions: ReadDecisionFiles = read_decisions,
        evaluates: bool = True,
    ) -> None:
        """`acquire()` lends a connection to read with. `read` parses a file (`compute.models.model_reader`).

        `evaluates`: this node evaluates decisions, so that those of a new deployment are compiled beforehand.
        """
        self._acquire, self._read, self._evaluates = acquire, read, evaluates
        self._settings = settings = settings or DefinitionSettings()
        self._files = files = FileCache(settings.entries, settings.bytes)
        self._sources: LRUCache[tuple[str, int], tuple[str, str]] = LRUCache(MAX_SOURCES)
        """The file and the process id of definitions. They never change."""
        self.decisions = DecisionCache(files, acquire, read_decisions)
        self._loading: SingleFlight[str, Models | None] = SingleFlight()
        self._loading_for_consumers: SingleFlight[str, Models | None] = SingleFlight()
        self.hits = self.misses = 0
        self.load_s = Buckets()
        """The time to parse a file, from its bytes to its models."""

    def put(self, sha256: str, parsed: Parsed) -> None:
        """Keep a parsed file. Files with problems are not deployed, and not kept."""
        if not parsed.problems:
            models = {process.id: process for process in parsed.processes}
            self._files[sha256] = CachedFile(models, parsed.memory)

    async def prepare_decisions(self, contents: Mapping[str, bytes]) -> None:
        """Compile a file of decisions that is about to be deployed: see `DecisionCache.prepare`.

        Raises:
            TooCostly: it takes too long here, although it was read before.
        """
        if self._evaluates:
            try:
                await self.decisions.prepare(contents)
            except UnreadableDecisions as error:
                raise TooCostly(str(error)) from error

    def resource_nowait(self, sha256: str) -> Models | None:
        """The models of a deployed file, if they are in the cache."""
        models = self._find(sha256)
        if models is None:
            self.misses += 1
            return None
        self.hits += 1
        return models

    def _find(self, sha256: str) -> Models | None:
        cached = self._files.get(sha256)
        return None if cached is None else cached.content

    async def resource(self, sha256: str, connection: Connection | None = None) -> Models | None:
        """The models of a deployed file, read and parsed if need be; None if there is no such file.

        A caller that brings a `connection` reads on that one, its file is parsed before others, and it waits only for
        others that brought one. The consumer does, because it must not stop while the connections of the API are all in
        use.

        Raises:
            UnreadableResource: the file can no longer be parsed.
            StorageError: the file could not be read.
        """
        models = self._find(sha256)
        if models is not None:
            return models
        if connection is not None:
            return await self._loading_for_consumers.get(sha256, lambda: self._load(sha256, connection))
        return await self._loading.get(sha256, lambda: self._load_for_api(sha256))

    async def process(self, tenant: str, key: int) -> Process | None:
        """The model of a tenant's definition in any state; None if there is none. Raises the errors of `resource`."""
        source = self._sources.get((tenant, key))
        if source is None:
            async with self._acquire() as connection:
                source = await definitions.source(connection, tenant, key)
            if source is None:
                return None
            self._sources[tenant, key] = source
        sha256, process_id = source
        models = self.resource_nowait(sha256) or await self.resource(sha256)
        return None if models is None else models[process_id]

    async def _load_for_api(self, sha256: str) -> Models | None:
        async with self._acquire() as connection:
            content = await definitions.resource(connection, sha256)
        return await self._parse(sha256, content, urgent=False)

    async def _load(self, sha256: str, connection: Connection) -> Models | None:
        return await self._parse(sha256, await definitions.resource(connection, sha256), urgent=True)

    async def _parse(self, sha256: str, content: bytes | None, *, urgent: bool) -> Models | None:
        if content is None:
            return None
        began = trio.current_time()
        try:
            parsed = await self._read(content, sha256, urgent)
        except UnreadableModel as error:
            raise UnreadableResource(str(error)) from error
        self.load_s.note(trio.current_time() - began)
        if parsed.problems:
            raise UnreadableResource("; ".join(str(problem) for problem in parsed.problems))
        self.put(sha256, parsed)
        return {process.id: process for process in parsed.processes}

    # -- warm-up ------------------------------------------------------------------------------------------------

    async def files_to_load(self) -> list[str | Files]:
        """Files that are not cached: those of definitions that run or were deployed last, the busiest first, and the
        newest ones of decisions.
        """
        limit = self._settings.warm_up
        if limit == 0:
            return []
        async with self._acquire() as connection:
            models = await definitions.in_use(connection, limit)
            decisions = await definitions.decisions_in_use(connection, limit)
        found: Iterable[str | Files] = dict.fromkeys([*models, *decisions])
        return [file for file in found if file not in self._files]

    async def load(self, file: str | Files) -> None:
        """Load a file ahead. Raises the errors of `resource`, and `UnreadableDecisions`."""
        if isinstance(file, str):
            await self.resource(file)
        else:
            await self.decisions.load(file)

    @property
    def fits_another(self) -> bool:
        """Whether the cache takes one more file, as large as the others, without an eviction."""
        files = self._files
        return files.fits(int(files.currsize) // max(1, len(files)))

    @property
    def stats(self) -> CacheStats:
        """Counters so far."""
        files = self._files
        return CacheStats(self.hits, self.misses, files.evictions, len(files), int(files.currsize))
