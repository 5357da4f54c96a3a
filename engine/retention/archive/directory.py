"""The archive in a directory, which all nodes of the engine share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import trio

from vivero.engine.flushed_directories import flush_directory
from vivero.engine.retention.archive.compression import Compressor, decompressed, parts_of, summed
from vivero.engine.retention.archive.stores import SUFFIX, Missing
from vivero.storage.retention.archives import ArchiveProblem

UNFINISHED = ".part"
MARK = "vivero-archive"
"""A file that tells the archive's directory from one that is in its place: a mount point without its file system."""
MARKED = """This directory is the archive of a Vivero installation. Do not delete this file: without it, and
without archived files, the directory is taken for another one, and nothing is archived or deleted.
"""


class DirectoryStore:
    """Files in a directory of the file system."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def writer(self, name: str) -> FileWriter:
        """Begin a file; blocks. Raises ArchiveProblem if the directory cannot be written."""
        return FileWriter(self._directory / name)

    def contents(self, name: str, sha256: str | None = None) -> Iterator[bytes]:
        """The uncompressed contents of a file, in parts; blocks. Raises ArchiveProblem."""
        return contents(self._directory / name, sha256)

    def parts(self, name: str) -> Iterator[bytes]:
        """A file as it is stored, in parts; blocks. Raises ArchiveProblem."""
        return _stored(self._directory / name)

    def size(self, name: str) -> int:
        """The bytes of a file; blocks. Raises ArchiveProblem."""
        path = self._directory / name
        try:
            return path.stat().st_size
        except FileNotFoundError as error:
            raise Missing(f"cannot read {path}: it is not there") from error
        except OSError as error:
            raise ArchiveProblem(f"cannot read {path}: {error.strerror}") from error

    def names(self) -> Iterator[str]:
        """The names of all files; blocks. Raises ArchiveProblem."""
        try:
            for path in self._directory.rglob(f"*{SUFFIX}"):
                yield path.relative_to(self._directory).as_posix()
        except OSError as error:
            raise ArchiveProblem(f"cannot list {self._directory}: {error.strerror}") from error

    def delete(self, name: str) -> None:
        """Delete a file, and what was begun of it; blocks. Raises ArchiveProblem, also if the directory is away."""
        paths = (self._directory / name, self._directory / f"{name}{UNFINISHED}")
        if not any(path.exists() for path in paths):
            self._find()
        for path in paths:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise ArchiveProblem(f"cannot delete {path}: {error.strerror}") from error

    def prepare(self, known: bool) -> None:
        """Find the directory, or make it at its first use; blocks. Raises ArchiveProblem."""
        mark = self._directory / MARK
        if mark.exists():
            return
        if known:
            self._find()
        try:
            made = [each for each in (self._directory, *self._directory.parents) if not each.exists()]
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            mark.write_text(MARKED)
            for directory in dict.fromkeys((self._directory, *(each.parent for each in made))):
                flush_directory(directory)
        except OSError as error:
            raise ArchiveProblem(f"cannot write to the archive: {self._directory}: {error.strerror}") from error

    def _find(self) -> None:
        """Raise ArchiveProblem unless this is the directory that has been written to. Older archives have no mark."""
        if (self._directory / MARK).exists() or any(self.names()):
            return
        what = "is empty" if self._directory.is_dir() else "is not there"
        raise ArchiveProblem(
            f"the archive's directory {what}, but the database knows files in it: {self._directory}. Mount it, or copy"
            f" the files there. If they are gone for good, create the file {self._directory / MARK}, and forget them"
        )

    def check(self, known: bool) -> str:
        """The directory, if it can be written, or made at its first use; blocks. Raises ArchiveProblem."""
        if known:
            self._find()
        there = next(each for each in (self._directory, *self._directory.absolute().parents) if each.exists())
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            raise ArchiveProblem(f"the archive's directory cannot be written from here: {self._directory}")
        return str(self._directory)


class FileWriter:
    """Writes a file, which has its name when it is on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)  # its parent is there since `prepare`, or the archive is away
            file = os.fdopen(os.open(f"{path}{UNFINISHED}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
        except OSError as error:
            raise ArchiveProblem(f"cannot write to the archive: {path.parent}: {error.strerror}") from error
        self.compressor = Compressor(file)

    async def write(self, data: bytes) -> None:
        """Add bytes. Raises ArchiveProblem, for example on a full disk."""
        try:
            await self.compressor.write(data)
        except OSError as error:
            raise ArchiveProblem(f"cannot write {self._path}: {error.strerror}") from error

    async def finish(self) -> tuple[str, int]:
        """Flush everything to disk and give the file its name. Its sum and size, as they are read back."""
        try:
            await self.compressor.end()
            return await trio.to_thread.run_sync(self._finish)
        except OSError as error:
            raise ArchiveProblem(f"cannot write {self._path}: {error.strerror}") from error

    def _finish(self) -> tuple[str, int]:
        file = self.compressor.file
        os.fsync(file.fileno())
        file.close()
        written = checksum(Path(f"{self._path}{UNFINISHED}"))
        os.rename(f"{self._path}{UNFINISHED}", self._path)
        # The name of the file is in its directory, and that of the directory, which may be new, in the one above it.
        for directory in self._path.parents[:2]:
            flush_directory(directory)
        return written

    def close(self) -> None:
        """Give it up, if it is not finished."""
        if not self.compressor.file.closed:
            self.compressor.file.close()
            Path(f"{self._path}{UNFINISHED}").unlink(missing_ok=True)


def checksum(path: Path) -> tuple[str, int]:
    """SHA-256 and size of a file. Decompresses it, too: raises ArchiveProblem if it is damaged."""
    try:
        with path.open("rb") as file:
            found = summed(parts_of(file))
    except OSError as error:
        raise ArchiveProblem(f"cannot read {path} back: {error.strerror}") from error
    for _ in contents(path):
        pass
    return found


def contents(path: Path, sha256: str | None = None) -> Iterator[bytes]:
    """The contents of a compressed file. Raises ArchiveProblem."""
    return decompressed(_stored(path), str(path), sha256)


def _stored(path: Path) -> Iterator[bytes]:
    """The bytes of a file. Raises ArchiveProblem."""
    try:
        with path.open("rb") as file:
            yield from parts_of(file)
    except FileNotFoundError as error:
        raise Missing(f"cannot read {path}: it is not there") from error
    except OSError as error:
        raise ArchiveProblem(f"cannot read {path}: {error.strerror}") from error
