"""The cache of process definitions: a file is parsed once, found in O(1), and never served stale.

It has three parts. Models are cached by the SHA-256 of their file, and never become stale. Rows of definitions, whose
state can change, are cached by tenant and key. The latest version of a process is cached by tenant and process id for a
short time. Deployments and deletions invalidate the last two. A running instance never needs anything invalid: the
model of an old version stays while it is used, and is read again otherwise.

The first caller that asks for a missing entry loads it, and all others wait for that load.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import msgspec
import trio
from cachetools import LRUCache, TTLCache

from vivero.engine.bpmn.model import Process
from vivero.engine.bpmn.parser import Parsed, parse
from vivero.engine.runtime.buckets import Buckets
from vivero.engine.runtime.single_flight import SingleFlight
from vivero.storage.postgres.driver import Connection
from vivero.storage.state import definitions
from vivero.storage.state.definitions import DefinitionRow

K = TypeVar("K")
V = TypeVar("V")
Models = Mapping[str, Process]
"""The executable processes of a file by process id."""


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """Limits of the cache, in entries. A parsed file takes about 100 KB."""

    models: int = 1_000
    definitions: int = 10_000
    latest: int = 10_000
    latest_ttl_s: float = 60.0
    prewarm: int = 500
    """Fewer than there is space for: what is loaded ahead must not displace what is used."""


class Definition(msgspec.Struct, frozen=True, gc=False):
    """A process definition: its row and its model."""

    row: DefinitionRow
    process: Process


class Changed(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The payload of a notification: a process was deployed, or a definition was deleted."""

    tenant: str
    process_id: str
    key: int


class CacheStats(msgspec.Struct, frozen=True, gc=False):
    """Metrics. Hits, misses and evictions count models, and only grow."""

    hits: int
    misses: int
    evictions: int
    size: int
    """Files in the cache."""
    bytes: int
    """The size of these files. A parsed file takes several times as much."""

    @property
    def hit_rate(self) -> float:
        """The share of look-ups that found an entry; 1.0 before the first."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 1.0


class _Cached(NamedTuple):
    models: Models
    size: int


class UnreadableResource(Exception):
    """This version of the program can no longer read a deployed file."""


class _Counted(LRUCache[K, V]):
    """An LRU cache that counts what it evicts."""

    evictions = 0

    def popitem(self) -> tuple[K, V]:
        self.evictions += 1
        return super().popitem()


class DefinitionCache:
    """See the module."""

    def __init__(
        self,
        acquire: Callable[[], AbstractAsyncContextManager[Connection]],
        settings: CacheSettings | None = None,
        read: Callable[[bytes, str], Parsed] = parse,
        consumers: int = 1,
    ) -> None:
        """`acquire()` lends a connection to read with. `read(content, name)` parses a file, in a thread. As many
        `consumers` parse with a connection of their own."""
        self._acquire = acquire
        self._read = read
        self._settings = settings = settings or CacheSettings()
        self._models: _Counted[str, _Cached] = _Counted(settings.models)
        self._rows: LRUCache[tuple[str, int], DefinitionRow] = LRUCache(settings.definitions)
        self._latest: TTLCache[tuple[str, str], int] = TTLCache(
            settings.latest, settings.latest_ttl_s, timer=trio.current_time
        )
        self._loading_models: SingleFlight[str, Models | None] = SingleFlight()
        self._loading_rows: SingleFlight[tuple[str, int], DefinitionRow | None] = SingleFlight()
        self._loading_latest: SingleFlight[tuple[str, str], DefinitionRow | None] = SingleFlight()
        self._own_threads = trio.CapacityLimiter(consumers)
        self._changes = 0
        self._hits = self._misses = 0
        self.load_s = Buckets()
        """The time to parse a file, from its bytes to its models."""

    # -- models by content ----------------------------------------------------------------------------------------

    def put(self, sha256: str, parsed: Parsed, size: int) -> None:
        """Keep a parsed file of `size` bytes. Files with problems are not deployed, and not kept."""
        if not parsed.problems:
            self._models[sha256] = _Cached({process.id: process for process in parsed.processes}, size)

    def resource_nowait(self, sha256: str) -> Models | None:
        """The models of a deployed file, if they are in the cache."""
        cached = self._models.get(sha256)
        if cached is None:
            self._misses += 1
            return None
        self._hits += 1
        return cached.models

    async def resource(self, sha256: str, connection: Connection | None = None) -> Models | None:
        """The models of a deployed file, read and parsed if need be; None if there is no such file.

        A caller that brings a `connection` reads on that one, parses in a thread of its own, and waits for nobody. The
        consumer does, because it must not stop while the connections of the API are all in use.

        Raises:
            UnreadableResource: the file can no longer be parsed.
            StorageError: the file could not be read.
        """
        models = self.resource_nowait(sha256)
        if models is not None:
            return models
        if connection is not None:
            return await self._parse(sha256, await definitions.resource(connection, sha256), self._own_threads)
        return await self._loading_models.get(sha256, lambda: self._load_models(sha256))

    async def _load_models(self, sha256: str) -> Models | None:
        async with self._acquire() as connection:
            content = await definitions.resource(connection, sha256)
        return await self._parse(sha256, content)

    async def _parse(
        self, sha256: str, content: bytes | None, limiter: trio.CapacityLimiter | None = None
    ) -> Models | None:
        if content is None:
            return None
        began = trio.current_time()
        parsed = await trio.to_thread.run_sync(self._read, content, sha256, limiter=limiter)
        self.load_s.note(trio.current_time() - began)
        if parsed.problems:
            raise UnreadableResource("; ".join(str(problem) for problem in parsed.problems))
        self.put(sha256, parsed, len(content))
        return {process.id: process for process in parsed.processes}

    # -- definitions ------------------------------------------------------------------------------------------------

    async def get(self, tenant: str, key: int) -> Definition | None:
        """A definition of a tenant in any state; None if there is none. Raises the errors of `resource`."""
        row = self._rows.get((tenant, key))
        if row is None:
            row = await self._loading_rows.get((tenant, key), lambda: self._load_row(tenant, key))
        return None if row is None else await self._with_model(row)

    async def latest(self, tenant: str, process_id: str) -> Definition | None:
        """The highest active version of a process; None if there is none. Raises the errors of `resource`."""
        key = self._latest.get((tenant, process_id))
        if key is not None:
            return await self.get(tenant, key)
        load = self._loading_latest.get((tenant, process_id), lambda: self._load_latest(tenant, process_id))
        row = await load
        return None if row is None else await self._with_model(row)

    async def _with_model(self, row: DefinitionRow) -> Definition | None:
        models = await self.resource(row.sha256)
        return None if models is None else Definition(row, models[row.process_id])

    async def _load_row(self, tenant: str, key: int) -> DefinitionRow | None:
        changes = self._changes
        async with self._acquire() as connection:
            row = await definitions.definition(connection, tenant, key)
        if row is not None and changes == self._changes:  # otherwise it may be older than an invalidation
            self._rows[tenant, key] = row
        return row

    async def _load_latest(self, tenant: str, process_id: str) -> DefinitionRow | None:
        changes = self._changes
        async with self._acquire() as connection:
            row = await definitions.latest(connection, tenant, process_id)
        if row is not None and changes == self._changes:
            self._rows[tenant, row.key] = row
            self._latest[tenant, process_id] = row.key
        return row

    # -- changes -----------------------------------------------------------------------------------------------

    def invalidate(self, tenant: str, key: int) -> None:
        """A definition was deleted or drains. Its model stays for the instances that still use it."""
        self._changes += 1
        row = self._rows.pop((tenant, key), None)
        if row is not None:
            self._latest.pop((tenant, row.process_id), None)

    def invalidate_latest(self, tenant: str, process_id: str) -> None:
        """A process has another latest version, because one was deployed or deleted."""
        self._changes += 1
        self._latest.pop((tenant, process_id), None)

    def changed(self, payload: str) -> None:
        """A notification has come. An unreadable or an empty one, which follows a reconnect, drops everything."""
        try:
            change = msgspec.json.decode(payload, type=Changed)
        except msgspec.DecodeError:
            self.forget()
            return
        self.invalidate(change.tenant, change.key)
        self.invalidate_latest(change.tenant, change.process_id)

    def forget(self) -> None:
        """Drop everything that can change, because notifications may have been missed."""
        self._changes += 1
        self._rows.clear()
        self._latest.clear()

    async def files_to_load(self) -> list[str]:
        """The files of definitions that run or were deployed last, as far as they are not cached; the busiest first."""
        async with self._acquire() as connection:
            rows = await definitions.in_use(connection, self._settings.prewarm)
        return list(dict.fromkeys(row.sha256 for row in rows if row.sha256 not in self._models))

    @property
    def stats(self) -> CacheStats:
        """Counters so far."""
        size = sum(cached.size for cached in self._models.values())
        return CacheStats(self._hits, self._misses, self._models.evictions, len(self._models), size)
