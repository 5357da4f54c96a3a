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
from typing import TypeVar
from uuid import uuid4

import structlog
import trio

from vivero.core.partitions.keys import partition_of
from vivero.engine.jobs.execution import Connections
from vivero.engine.retention.archive.adoption import Adoptable, look_through
from vivero.engine.retention.archive.lines import sift, write_tree
from vivero.engine.retention.archive.stores import SUFFIX, Damaged, Missing, Store, Writer
from vivero.engine.retention.archive.subjects import trees_of
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import describe
from vivero.storage.retention import archives, history
from vivero.storage.retention.archives import ArchiveFile, ArchiveProblem, Contents, Record
from vivero.storage.retention.erasure import ErasureSubject

log = structlog.get_logger(__name__)

T = TypeVar("T")

ATTEMPTS = 3
"""The attempts at one file, while others archive or delete the same trees."""
NAMES = 1_000
"""The files that are looked up at once."""
FILE_BYTES = 1 << 28
"""A file with so many uncompressed bytes gets no further tree: it is written, read back and searched in minutes."""


@dataclass(frozen=True, slots=True)
class Erased:
    """The result of an erasure from some files."""

    roots: list[int]
    missing: list[str]
    """Files that the store no longer has."""
    damaged: list[str]
    """Files that are not what was written. They may have what was to be erased."""
    next: str | None = None
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
        await self.delete_orphans(partition)
        ready: set[int] = set()
        for _ in range(ATTEMPTS):
            ready |= await self._kept(partition, [root for root in roots if root not in ready])
            if await self._write_all(partition, [root for root in roots if root not in ready], ready):
                break
        return [root for root in roots if root in ready]

    async def _kept(self, partition: int, roots: Sequence[int]) -> set[int]:
        """Those of the trees that are in a complete file. A file that the store no longer has counts for nothing.

        Raises:
            ArchiveProblem: the store is away.
        """
        if not roots:
            return set()
        async with self._connections() as connection:
            found = await archives.waiting(connection, partition, roots)
        sizes = {each.file: each.bytes for each in found}
        lost = [name for name, size in sizes.items() if not await _in_thread(partial(self._has, name, size))]
        for name in lost:
            log.warning("the archive lacks a file whose trees are not deleted yet: they get another one", file=name)
            async with self._connections() as connection:
                await archives.mark_missing(connection, name)
        return {each.root for each in found if each.file not in lost}

    def _has(self, name: str, size: int) -> bool:
        """Whether the store has a file of this size; blocks."""
        try:
            return self._store.size(name) == size
        except Missing:
            self._store.check(known=True)  # the whole store may be away
            return False

    async def _write_all(self, partition: int, roots: Sequence[int], ready: set[int]) -> bool:
        """Write files with these trees, and add their roots to `ready`. False if somebody else was faster."""
        while roots:
            seen, written = await self._write(partition, roots)
            if written is None:
                return False
            ready |= set(written)
            roots = roots[seen:]
        return True

    async def delete_orphans(self, partition: int) -> None:
        """Delete files that others have replaced or left behind. What cannot be deleted now is tried again later."""
        async with self._connections() as connection:
            await archives.settle(connection, partition)
            orphans = await archives.orphans(connection, partition)
            for name in orphans:
                await archives.give_up(connection, name)
        for name in orphans:
            try:
                await self._delete(name)
            except ArchiveProblem as problem:
                log.warning("a file that nobody needs is still in the archive", file=name, why=describe(problem))
                return

    async def _delete(self, name: str) -> None:
        await _in_thread(partial(self._store.delete, name))
        async with self._connections() as connection:
            await archives.forget(connection, name)

    async def _write(self, partition: int, roots: Sequence[int]) -> tuple[int, list[int] | None]:
        """A new file with the first of these trees, as far as they have ended.

        Returns how many it considered, and the roots of those that are in it. None instead of them if somebody else has
        archived or deleted some of them meanwhile: the file counts for nothing.
        """
        async with self._connections() as connection:
            name = file_name(partition, await archives.now_ms(connection))
            known = await archives.knows_files(connection)
            await archives.begin(connection, name, partition)
            await archives.mark_comments(connection, name, roots)
        await trio.to_thread.run_sync(self._store.prepare, known)
        writer = await trio.to_thread.run_sync(self._store.writer, name)
        try:
            async with self._connections() as connection:
                seen, written = await _write_trees(connection, writer, roots)
            if written:
                sha256, size = await writer.finish()
        finally:
            writer.close()
        if not written:
            await self._give_up(name)
            return seen, []
        async with self._connections() as connection:
            contents = Contents(sha256, size, written, written)
            if await archives.complete_new(connection, partition, name, contents):
                return seen, written
        log.info("a file of the archive was overtaken by another one and is deleted", file=name)
        await self._drop(name)
        return seen, None

    async def _drop(self, name: str) -> None:
        """The file is stored, and nobody completes it."""
        async with self._connections() as connection:
            await archives.give_up(connection, name)
        await self._delete(name)

    async def _give_up(self, name: str) -> None:
        """Nothing was written."""
        async with self._connections() as connection:
            await archives.give_up(connection, name)
            await archives.forget(connection, name)

    def show(self, file: ArchiveFile, root: int) -> Iterator[bytes]:
        """The line of a tree, in parts; nothing if the file does not have it. Blocks. Raises ArchiveProblem."""
        return sift(self._contents(file), lambda found: found == root)

    def _contents(self, file: ArchiveFile) -> Iterator[bytes]:
        return self._store.contents(file.name, file.sha256)

    async def erase_subject(
        self, subject: ErasureSubject, after: str, tenants: Tenants, record: Record | None, within_s: float
    ) -> Erased:
        """Remove the trees of a person from the files behind a name, one file at least, until the time is over.

        Each file is replaced by one without them, in one transaction with the record. Call it after the person's trees
        are deleted from the tables: what retention archives meanwhile is found, too. Without a record it only looks.
        """
        deadline, erased, missing, damaged = trio.current_time() + within_s, set[int](), list[str](), list[str]()
        while True:
            async with self._connections() as connection:
                found = await archives.files_behind(connection, after, 1)
            if not found:
                return Erased(sorted(erased), missing, damaged)
            (file,) = found
            search = partial(trees_of, partial(self._contents, file), subject, tenants)
            if roots := await self._unless_lost(file, search, missing, damaged):
                erased |= roots if record is None else await self._without(file, roots, record)
            after = file.name
            if trio.current_time() >= deadline:
                return Erased(sorted(erased), missing, damaged, after)

    async def _without(self, file: ArchiveFile, roots: set[int], record: Record) -> set[int]:
        every = await _in_thread(partial(self._roots, file))
        return await self._replace(file, every, roots, history.ERASURE, record)

    async def erase(self, roots: Sequence[int], reason: str) -> Erased:
        """Remove trees from all files that have them.

        Each file is replaced by one without them, in one transaction with the record.
        """
        erased, missing, damaged = set[int](), list[str](), list[str]()
        async with self._connections() as connection:
            found = {file.name: file for root in roots for file in await archives.files_of(connection, root)}
        for file in found.values():
            every = await self._unless_lost(file, partial(self._roots, file), missing, damaged)
            if every and (gone := set(every) & set(roots)):
                erased |= await self._replace(file, every, gone, reason)
        return Erased(sorted(erased), missing, damaged)

    async def _replace(
        self, file: ArchiveFile, every: Sequence[int], gone: set[int], reason: str, record: Record | None = None
    ) -> set[int]:
        """A new file takes the place of one, with `every` of its trees but those that are to be gone: these."""
        name, kept = name_behind(file.name), [root for root in every if root not in gone]
        async with self._connections() as connection:
            await archives.begin(connection, name, file.partition)
        written = await self._copy(file, name, gone) if kept else None
        async with self._connections() as connection:
            contents = None
            if written is not None:
                waiting = [root for root in await archives.waiting_of(connection, file.name) if root not in gone]
                contents = Contents(*written, kept, waiting)
            replaced = await archives.replace(connection, file.name, name, contents, sorted(gone), reason, record)
        if contents is None:
            await self._give_up(name)
        elif not replaced:
            await self._drop(name)
        if not replaced:
            raise ArchiveProblem(f"{file.name} was replaced meanwhile, or that took too long: try again")
        await self._delete(file.name)
        return gone

    async def _copy(self, source: ArchiveFile, name: str, without: set[int]) -> tuple[str, int]:
        """A new file with the other trees of a file. Its sum and size."""
        writer = await trio.to_thread.run_sync(self._store.writer, name)
        try:
            parts = sift(self._contents(source), lambda root: root not in without)
            while (part := await _in_thread(lambda: next(parts, None))) is not None:
                await writer.write(part)
            return await writer.finish()
        finally:
            writer.close()

    async def fault_of(self, file: ArchiveFile, quick: bool) -> Missing | Damaged | None:
        """The fault of a file: it is not there, or not what was written. `quick`: looks at its size only.

        Raises:
            ArchiveProblem: the store is away.
        """
        try:
            if await _in_thread(partial(self._store.size, file.name)) != file.bytes:
                return Damaged(f"{file.name} is damaged: it has another size")
            if not quick:
                await _in_thread(partial(self._roots, file))
        except Missing as problem:
            await _in_thread(partial(self._store.check, known=True))  # the whole store may be away
            return problem
        except Damaged as problem:
            return problem
        return None

    async def unknown(self) -> list[str]:
        """Files in the store that the database does not know, by name."""
        names = await _in_thread(lambda: sorted(self._store.names()))
        found: list[str] = []
        for begin in range(0, len(names), NAMES):
            async with self._connections() as connection:
                found += await archives.unknown(connection, names[begin : begin + NAMES])
        return [name for name in found if await _in_thread(partial(self._is_there, name))]

    async def look_through(self, name: str) -> Adoptable:
        """A file that the database does not know. Raises ArchiveProblem if it is not a whole file of an archive."""
        return await _in_thread(partial(look_through, self._store, name))

    def _is_there(self, name: str) -> bool:
        """Not if it was replaced and deleted meanwhile; blocks."""
        try:
            return self._store.size(name) >= 0
        except Missing:
            return False

    async def _unless_lost(
        self, file: ArchiveFile, read: Callable[[], T], missing: list[str], damaged: list[str]
    ) -> T | None:
        """The result of `read`. None, and the file's name in one of the lists, if it is not there or not whole.

        Raises:
            ArchiveProblem: the store is away.
        """
        try:
            return await _in_thread(read)
        except Missing:
            await _in_thread(partial(self._store.check, known=True))  # the whole store may be away
            missing.append(file.name)
        except Damaged as problem:
            log.warning("a file of the archive is damaged", file=file.name, why=describe(problem))
            damaged.append(file.name)
        return None

    def _roots(self, file: ArchiveFile) -> list[int]:
        """The roots of all trees in a file, which is compared with its sum; blocks. Raises ArchiveProblem."""
        found: list[int] = []

        def skip(root: int) -> bool:
            found.append(root)
            return False

        for _ in sift(self._contents(file), skip):
            continue
        return found


async def _in_thread(call: Callable[[], T]) -> T:
    """A stop does not wait for a store that does not answer."""
    return await trio.to_thread.run_sync(call, abandon_on_cancel=True)


async def _write_trees(connection: Connection, writer: Writer, roots: Sequence[int]) -> tuple[int, list[int]]:
    """Write those of the trees that have ended, as they are at one moment, until the file is large.

    Returns how many were considered, and the roots of those that were written.
    """
    seen, written, size = 0, [], 0
    async with archives.reading(connection):
        while seen < len(roots) and size < FILE_BYTES:
            if (tree := await archives.tree(connection, roots[seen])) is not None:
                size += await write_tree(connection, writer, tree)
                written.append(tree.root)
            seen += 1
    return seen, written


def file_name(partition: int, at_ms: int) -> str:
    """A new name, in a directory for each day."""
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{moment:%Y-%m-%d}/{moment:%H%M%S}-p{partition}-{uuid4().hex[:12]}{SUFFIX}"


def name_behind(name: str) -> str:
    """A new name for a file that takes the place of this one: of the same day, whose files may be deleted together.

    It sorts behind the old one, however names are compared: a search by name that comes to the old one comes to it.
    """
    stem, _, count = name.removesuffix(SUFFIX).partition("z")
    number = int(count.partition("-")[0] or 0) + 1
    return f"{stem}z{number:04}-{uuid4().hex[:8]}{SUFFIX}"
