"""The archive of ended instance trees: JSON Lines in compressed files, one tree a line (docs/operations/archive.md).

A tree is deleted from the tables only when a complete file has it: written, on disk, read back, and noted in the
database. Whatever is killed in between, a tree is in one complete file, or in none and still in the tables.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import msgspec
import structlog
import trio

from vivero.engine.jobs.execution import Connections
from vivero.storage import archives
from vivero.storage.archives import ArchiveFile, Contents, Tree
from vivero.storage.postgres.driver import Connection

log = structlog.get_logger(__name__)

FORMAT = 1
PARTITION_SHIFT = 51
CHUNK = 1 << 18
"""Bytes that are compressed at once, in a thread."""
LEVEL = 6
UNFINISHED = ".part"
_HEAD = re.compile(rb'\{"format":(\d+),"rootKey":"(\d+)",')
_LONGEST_HEAD = 100


class ArchiveProblem(Exception):
    """The archive cannot be written or read. The message says why, and what to do."""


class FileWriter:
    """Writes a compressed file, which has its name when it is on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._buffer = bytearray()
        self._compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, zlib.MAX_WBITS | 16)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.file = os.fdopen(os.open(f"{path}{UNFINISHED}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
        except OSError as error:
            raise ArchiveProblem(f"cannot write to the archive: {path.parent}: {error.strerror}") from error

    async def write(self, data: bytes) -> None:
        """Add bytes."""
        self._buffer += data
        if len(self._buffer) >= CHUNK:
            await self._flush()

    async def _flush(self) -> None:
        data, self._buffer = bytes(self._buffer), bytearray()
        await trio.to_thread.run_sync(self.put, data)

    def put(self, data: bytes) -> None:
        """Compress bytes and write them; blocks."""
        self.file.write(self._compressor.compress(data))

    async def finish(self) -> tuple[str, int]:
        """Flush everything to disk and give the file its name. Its sum and size, as they are read back."""
        await self._flush()
        return await trio.to_thread.run_sync(self._finish)

    def _finish(self) -> tuple[str, int]:
        self.file.write(self._compressor.flush())
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        written = checksum(Path(f"{self._path}{UNFINISHED}"))
        os.rename(f"{self._path}{UNFINISHED}", self._path)
        directory = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
        return written

    def close(self) -> None:
        """Give it up, if it is not finished."""
        if not self.file.closed:
            self.file.close()
            Path(f"{self._path}{UNFINISHED}").unlink(missing_ok=True)


def checksum(path: Path) -> tuple[str, int]:
    """SHA-256 and size of a file. Decompresses it, too: raises ArchiveProblem if it is damaged."""
    summed, size = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                summed.update(chunk)
                size += len(chunk)
        for _ in chunks(path):
            pass
    except OSError as error:
        raise ArchiveProblem(f"cannot read {path} back: {error.strerror or error}") from error
    return summed.hexdigest(), size


def chunks(path: Path) -> Iterator[bytes]:
    """The contents of a compressed file."""
    try:
        with gzip.open(path) as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ArchiveProblem(f"{path} is damaged: {error}") from error
    except OSError as error:
        raise ArchiveProblem(f"cannot read {path}: {error.strerror or error}") from error


def sift(contents: Iterable[bytes], keep: Callable[[int], bool]) -> Iterator[bytes]:
    """The lines of those trees that are to be kept, in parts: a line may be larger than the memory."""
    head, keeping = b"", None
    for chunk in contents:
        for chunk_line in chunk.splitlines(keepends=True):
            part = chunk_line
            if keeping is None:
                head += chunk_line
                if not (found := _HEAD.match(head)):
                    if len(head) > _LONGEST_HEAD:
                        raise ArchiveProblem(f"a line of the file is not of an archive: it begins with {head[:40]!r}")
                    continue
                if int(found[1]) > FORMAT:
                    raise ArchiveProblem(f"the archive has format {int(found[1])}, and this program knows {FORMAT}")
                keeping, part, head = keep(int(found[2])), head, b""
            if keeping:
                yield part
            if part.endswith(b"\n"):
                keeping = None


class Archive:
    """The archive in a directory."""

    def __init__(self, directory: Path, connections: Connections) -> None:
        self._directory = directory
        self._connections = connections

    async def before_deletion(self, roots: Sequence[int]) -> list[int]:
        """Archive trees of one partition that are to be deleted. Those that are in a complete file by now.

        Raises:
            ArchiveProblem: the directory cannot be written. Nothing may be deleted.
        """
        if not roots:
            return []
        partition = roots[0] >> PARTITION_SHIFT
        async with self._connections() as connection:
            await self._tidy(connection, partition)
            ready = await archives.waiting(connection, partition, roots)
            todo = [root for root in roots if root not in ready]
            if todo:
                ready |= set(await self._write(connection, partition, todo))
        return [root for root in roots if root in ready]

    async def _tidy(self, connection: Connection, partition: int) -> None:
        """Delete files that others have replaced or left behind."""
        await archives.settle(connection, partition)
        for name in await archives.left_over(connection, partition):
            await archives.give_up(connection, name)
            await self._delete(connection, name)

    async def _delete(self, connection: Connection, name: str) -> None:
        for path in (self._directory / name, self._directory / f"{name}{UNFINISHED}"):
            await trio.to_thread.run_sync(_unlink, path)
        await archives.forget(connection, name)

    async def _write(self, connection: Connection, partition: int, roots: Sequence[int]) -> list[int]:
        """A new file with these trees, as far as they have ended. The roots of those that are in it."""
        name = file_name(partition, await archives.now_ms(connection))
        await archives.begin(connection, name, partition)
        writer = await trio.to_thread.run_sync(FileWriter, self._directory / name)
        written = []
        try:
            async with archives.reading(connection):
                for root in roots:
                    if (tree := await archives.tree(connection, root)) is not None:
                        await write_tree(connection, writer, tree)
                        written.append(root)
            if written:
                sha256, size = await writer.finish()
        finally:
            writer.close()
        if not written:
            await archives.give_up(connection, name)
            await archives.forget(connection, name)
            return []
        contents = Contents(sha256, size, written, written)
        if not await archives.complete(connection, name, contents):
            log.warning("a file of the archive took too long and was given up", file=name)
            return []
        return written

    def show(self, file: ArchiveFile, root: int) -> Iterator[bytes]:
        """The line of a tree, in parts; nothing if the file does not have it."""
        return sift(chunks(self._directory / file.name), lambda found: found == root)

    async def erase(self, roots: Sequence[int], reason: str) -> list[int]:
        """Remove trees from all files that have them. Those that were in one.

        Each file is replaced by one without them, in one transaction with the record.
        """
        erased: set[int] = set()
        async with self._connections() as connection:
            found = {file.name: file for root in roots for file in await archives.files_of(connection, root)}
            for file in found.values():
                erased |= await self._replace(connection, file, set(roots), reason)
        return sorted(erased)

    async def _replace(self, connection: Connection, file: ArchiveFile, roots: set[int], reason: str) -> set[int]:
        kept: list[int] = []
        gone: set[int] = set()

        def keep(root: int) -> bool:
            (gone.add if root in roots else kept.append)(root)
            return root not in roots

        await trio.to_thread.run_sync(_visit, self._directory / file.name, keep)
        if not gone:
            return set()
        name = file_name(file.partition, await archives.now_ms(connection))
        await archives.begin(connection, name, file.partition)
        contents = None
        if kept:
            writer = await trio.to_thread.run_sync(FileWriter, self._directory / name)
            try:
                for part in sift(chunks(self._directory / file.name), lambda root: root not in roots):
                    await writer.write(part)
                sha256, size = await writer.finish()
            finally:
                writer.close()
            waiting = [root for root in await archives.waiting_of(connection, file.name) if root not in roots]
            contents = Contents(sha256, size, kept, waiting)
        if not await archives.replace(connection, file.name, name, contents, sorted(gone), reason):
            raise ArchiveProblem(f"{file.name} was replaced meanwhile: try again")
        if contents is None:
            await archives.give_up(connection, name)
            await archives.forget(connection, name)
        await self._delete(connection, file.name)
        return gone


def _visit(path: Path, keep: Callable[[int], bool]) -> None:
    """Call `keep` with the root of each line."""
    for _ in sift(chunks(path), keep):
        continue


def file_name(partition: int, at_ms: int) -> str:
    """A new name, in a directory for each day."""
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{moment:%Y-%m-%d}/{moment:%H%M%S}-p{partition}-{uuid4().hex[:12]}.jsonl.gz"


def _unlink(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise ArchiveProblem(f"cannot delete {path}: {error.strerror}") from error


async def write_tree(connection: Connection, writer: FileWriter, tree: Tree) -> None:
    """Write a tree as one line of JSON: a few fields, then a list for each table, then the events."""
    head = {"format": FORMAT, "rootKey": str(tree.root), "tenantId": tree.tenant, "processId": tree.process_id}
    head |= {"endedAtMs": tree.ended_ms}
    await writer.write(msgspec.json.encode(head)[:-1])
    table = ""

    async def each(rows: Sequence[tuple[str, str]]) -> None:
        nonlocal table
        parts = []
        for kind, text in rows:
            if kind == table:
                parts.append(",")
            else:
                parts.append(f'{"]" if table else ""},"{kind}":[')
                table = kind
            # Line ends in JSON stand between values: clients may have sent them. In texts they are escaped.
            parts.append(text.replace("\n", " ").replace("\r", " "))
        await writer.write("".join(parts).encode())

    await archives.read(connection, tree, each)
    await writer.write(b"]}\n" if table else b"}\n")
