"""The archive of ended instance trees: JSON Lines in compressed files, one tree a line (docs/operations/archive.md).

A tree is deleted from the tables only when a complete file has it: written, stored, read back, and noted in the
database. Whatever is killed in between, a tree is in one complete file, or in none and still in the tables. No
connection is held while the store works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

import structlog
import trio

from vivero.engine.core.records.base import partition_of
from vivero.engine.jobs.archive.lines import sift, write_tree
from vivero.engine.jobs.archive.stores import Missing, Store, Writer
from vivero.engine.jobs.archive.subjects import trees_of
from vivero.engine.jobs.execution import Connections
from vivero.storage import archives, history
from vivero.storage.archives import ArchiveFile, ArchiveProblem, Contents, Record
from vivero.storage.erasure import Subject
from vivero.storage.postgres.driver import Connection
from vivero.storage.tenants import Tenants

log = structlog.get_logger(__name__)

ATTEMPTS = 3
"""Of one file, while others archive or delete the same trees."""


@dataclass(frozen=True, slots=True)
class Erased:
    """The result of an erasure from some files."""

    roots: list[int]
    missing: list[str]
    """Files that the store no longer has."""
    next: str | None
    """The last file that was searched; None if there are no more."""


class Archive:
    """The archive in a store."""

    def __init__(self, store: Store, connections: Connections) -> None:
        self._store = store
        self._connections = connections

    async def before_deletion(self, roots: Sequence[int]) -> list[int]:
        """Archive trees that are to be deleted. Those that are in a complete file by now.

        Raises:
            ArchiveProblem: the store is away. Nothing may be deleted.
        """
        ready: list[int] = []
        for partition in sorted(set(map(partition_of, roots))):
            ready += await self._before(partition, [root for root in roots if partition_of(root) == partition])
        return ready

    async def _before(self, partition: int, roots: Sequence[int]) -> list[int]:
        await self._tidy(partition)
        for _ in range(ATTEMPTS):
            async with self._connections() as connection:
                ready = await archives.waiting(connection, partition, roots)
            todo = [root for root in roots if root not in ready]
            written = await self._write(partition, todo) if todo else []
            if written is not None:
                ready |= set(written)
                break
        return [root for root in roots if root in ready]

    async def _tidy(self, partition: int) -> None:
        """Delete files that others have replaced or left behind."""
        async with self._connections() as connection:
            await archives.settle(connection, partition)
            left_over = await archives.left_over(connection, partition)
            for name in left_over:
                await archives.give_up(connection, name)
        for name in left_over:
            await self._delete(name)

    async def _delete(self, name: str) -> None:
        await trio.to_thread.run_sync(self._store.delete, name, abandon_on_cancel=True)
        async with self._connections() as connection:
            await archives.forget(connection, name)

    async def _write(self, partition: int, roots: Sequence[int]) -> list[int] | None:
        """A new file with these trees, as far as they have ended. The roots of those that are in it.

        None if somebody else has archived or deleted some of them meanwhile: the file counts for nothing.
        """
        async with self._connections() as connection:
            name = await _begin(connection, partition)
        writer = await trio.to_thread.run_sync(self._store.writer, name)
        try:
            async with self._connections() as connection:
                written = await _write_trees(connection, writer, roots)
            if written:
                sha256, size = await writer.finish()
        finally:
            writer.close()
        if not written:
            await self._give_up(name)
            return []
        async with self._connections() as connection:
            contents = Contents(sha256, size, written, written)
            if await archives.complete_new(connection, partition, name, contents):
                return written
            await archives.give_up(connection, name)
        log.info("a file of the archive was overtaken by another one and is deleted", file=name)
        await self._delete(name)
        return None

    async def _give_up(self, name: str) -> None:
        """Nothing was written."""
        async with self._connections() as connection:
            await archives.give_up(connection, name)
            await archives.forget(connection, name)

    def show(self, file: ArchiveFile, root: int) -> Iterator[bytes]:
        """The line of a tree, in parts; nothing if the file does not have it. Blocks."""
        return sift(self._store.contents(file.name), lambda found: found == root)

    async def erase_subject(
        self, subject: Subject, after: str, tenants: Tenants, record: Record, within_s: float
    ) -> Erased:
        """Remove the trees of a person from the files behind a name, one file at least, until the time is over.

        Each file is replaced by one without them, in one transaction with the record. Call it after the person's trees
        are deleted from the tables: what retention archives meanwhile is found, too.
        """
        deadline, erased, missing = trio.current_time() + within_s, set[int](), list[str]()
        while True:
            async with self._connections() as connection:
                found = await archives.files_behind(connection, after, 1)
            if not found:
                return Erased(sorted(erased), missing, None)
            (file,) = found
            try:
                erased |= await self._erase_from(file, subject, tenants, record)
            except Missing:
                missing.append(file.name)
            after = file.name
            if trio.current_time() >= deadline:
                return Erased(sorted(erased), missing, after)

    async def _erase_from(self, file: ArchiveFile, subject: Subject, tenants: Tenants, record: Record) -> set[int]:
        search = partial(trees_of, partial(self._store.contents, file.name), subject, tenants)
        roots = await trio.to_thread.run_sync(search, abandon_on_cancel=True)
        return await self._replace(file, roots, history.ERASURE, record) if roots else set()

    async def erase(self, roots: Sequence[int], reason: str) -> list[int]:
        """Remove trees from all files that have them. Those that were in one.

        Each file is replaced by one without them, in one transaction with the record.
        """
        erased: set[int] = set()
        async with self._connections() as connection:
            found = {file.name: file for root in roots for file in await archives.files_of(connection, root)}
        for file in found.values():
            erased |= await self._replace(file, set(roots), reason)
        return sorted(erased)

    async def _replace(self, file: ArchiveFile, roots: set[int], reason: str, record: Record | None = None) -> set[int]:
        kept: list[int] = []
        gone: set[int] = set()

        def keep(root: int) -> bool:
            (gone.add if root in roots else kept.append)(root)
            return False

        await trio.to_thread.run_sync(self._visit, file.name, keep, abandon_on_cancel=True)
        if not gone:
            return set()
        async with self._connections() as connection:
            name = await _begin(connection, file.partition)
        written = await self._copy(file.name, name, roots) if kept else None
        async with self._connections() as connection:
            contents = None
            if written is not None:
                waiting = [root for root in await archives.waiting_of(connection, file.name) if root not in roots]
                contents = Contents(*written, kept, waiting)
            if not await archives.replace(connection, file.name, name, contents, sorted(gone), reason, record):
                raise ArchiveProblem(f"{file.name} was replaced meanwhile: try again")
        if contents is None:
            await self._give_up(name)
        await self._delete(file.name)
        return gone

    async def _copy(self, source: str, name: str, without: set[int]) -> tuple[str, int]:
        """A new file with the other trees of a file. Its sum and size."""
        writer = await trio.to_thread.run_sync(self._store.writer, name)
        try:
            parts = sift(self._store.contents(source), lambda root: root not in without)
            while (part := await trio.to_thread.run_sync(next, parts, None, abandon_on_cancel=True)) is not None:
                await writer.write(part)
            return await writer.finish()
        finally:
            writer.close()

    def _visit(self, name: str, seen: Callable[[int], bool]) -> None:
        """Call `seen` with the root of each line of a file; blocks."""
        for _ in sift(self._store.contents(name), seen):
            continue


async def _begin(connection: Connection, partition: int) -> str:
    name = file_name(partition, await archives.now_ms(connection))
    await archives.begin(connection, name, partition)
    return name


async def _write_trees(connection: Connection, writer: Writer, roots: Sequence[int]) -> list[int]:
    """Write those of the trees that have ended, as they are at one moment. Their roots."""
    written = []
    async with archives.reading(connection):
        for root in roots:
            if (tree := await archives.tree(connection, root)) is not None:
                await write_tree(connection, writer, tree)
                written.append(root)
    return written


def file_name(partition: int, at_ms: int) -> str:
    """A new name, in a directory for each day."""
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{moment:%Y-%m-%d}/{moment:%H%M%S}-p{partition}-{uuid4().hex[:12]}.jsonl.gz"
