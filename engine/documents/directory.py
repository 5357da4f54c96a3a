"""Documents in a directory, which all nodes share: one file for each content, with a random name.

A file is written under another name, flushed, and renamed; then the folder is flushed. A mark tells the directory from
one that is in its place, such as a mount point without its file system. Calls run in threads of their own number, so
that a file system that hangs stops documents and nothing else.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import trio

from vivero.engine.documents.stores import Alive, ObjectGone, StoreProblem
from vivero.engine.flushed_directories import flush_directory

T = TypeVar("T")

THREADS = 8
READ_BYTES = 256 * 1024
UNFINISHED = ".part"
MARK = "vivero-documents"
"""A file of the directory that has been written to."""
MARKED = """This directory has the documents of a Vivero installation. Do not delete this file: without it, the
directory is taken for another one, and no document is written, read or deleted.
"""


class DirectoryObjects:
    """Objects as files."""

    def __init__(self, directory: Path, known: Callable[[], Awaitable[bool]]) -> None:
        """`known`: whether documents are in this store. Then the directory is never made anew."""
        self._directory, self._known = directory.absolute(), known
        self._threads = trio.CapacityLimiter(THREADS)

    @property
    def place(self) -> str:
        return str(self._directory)

    async def used(self) -> bool:
        """Whether the directory is there. Raises StoreProblem if another one is in its place."""
        if await self._run(self._marked):
            return True
        if await self._known():
            raise self._away()
        return False

    async def writer(self, name: str) -> ContentFile:
        """Begin a file. The directory is made at its first use."""
        if not await self.used():
            await self._run(self._make)
        writer = ContentFile(self._path(name), self._run)
        try:
            await writer.begin()
        except BaseException:
            writer.give_up_nowait()  # the thread may still be making the file
            raise
        return writer

    async def read(self, name: str, begin: int, end: int) -> bytes:
        return await self._run(lambda: self._read(name, begin, end))

    async def delete(self, name: str) -> None:
        await self._run(lambda: self._delete(name))

    async def _run(self, call: Callable[[], T]) -> T:
        """A stop does not wait for a file system that hangs."""
        return await trio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=self._threads)

    def _path(self, name: str) -> Path:
        return self._directory / name[:2] / name

    def _marked(self) -> bool:
        with _failing("read", self._directory):
            return (self._directory / MARK).exists()

    def _away(self) -> StoreProblem:
        return StoreProblem(
            f"{self._directory} is not the directory of the documents: it lacks the file {MARK}. Mount the directory,"
            f" or copy the files there. If they are gone for good, create {self._directory / MARK}"
        )

    def _make(self) -> None:
        with _failing("make", self._directory):
            made = [each for each in (self._directory, *self._directory.parents) if not each.exists()]
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self._directory / MARK).write_text(MARKED)
            for directory in dict.fromkeys((self._directory, *(each.parent for each in made))):
                flush_directory(directory)

    def _read(self, name: str, begin: int, end: int) -> bytes:
        path = self._path(name)
        try:
            with path.open("rb", buffering=0) as file:
                found = os.pread(file.fileno(), min(end - begin, READ_BYTES), begin)
        except FileNotFoundError as error:
            if not self._marked():
                raise self._away() from error
            raise ObjectGone(f"{path} is not there") from error
        except OSError as error:
            raise StoreProblem(f"cannot read {path}: {error.strerror}") from error
        if not found:
            raise ObjectGone(f"{path} ends before byte {begin}")
        return found

    def _delete(self, name: str) -> None:
        path = self._path(name)
        if not self._marked():
            raise self._away()
        with _failing("delete", path):
            Path(f"{path}{UNFINISHED}").unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            if path.parent.exists():
                flush_directory(path.parent)  # a power failure must not bring the file back when nothing leads to it


class ContentFile:
    """Writes a file, which has its name when all of it is on disk. One thread works on it at a time."""

    def __init__(self, path: Path, run: Callable[[Callable[[], None]], Awaitable[None]]) -> None:
        self._path, self._run = path, run
        self._turn, self._file, self._closed = threading.Lock(), -1, False
        self._opening = threading.Lock()
        """Held for a moment, without a call of the file system."""

    async def begin(self) -> None:
        """Make the file, without its name. Raises StoreProblem."""
        await self._run(self._begin)

    def give_up_nowait(self) -> None:
        """Close a file that nobody gets, or let the thread close it that is making it."""
        with self._opening:
            self._closed, file, self._file = True, self._file, -1
        if file >= 0:
            os.close(file)

    async def write(self, part: bytes) -> None:
        await self._run(lambda: self._write(part))

    async def finish(self, alive: Alive) -> None:
        await self._run(self._finish)

    async def close(self) -> bool:
        await self._run(self._close)
        return True

    @contextmanager
    def _working(self) -> Iterator[None]:
        with self._turn, _failing("write", self._path):
            if self._closed:
                raise StoreProblem(f"{self._path} was given up")
            yield

    def _begin(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with self._working():
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            file = os.open(f"{self._path}{UNFINISHED}", flags, 0o600)
            with self._opening:
                is_given_up = self._closed
                self._file = -1 if is_given_up else file
            if is_given_up:
                os.close(file)

    def _write(self, part: bytes) -> None:
        rest = memoryview(part)
        with self._working():
            while rest:
                rest = rest[os.write(self._file, rest) :]

    def _finish(self) -> None:
        with self._working():
            os.fsync(self._file)
            os.rename(f"{self._path}{UNFINISHED}", self._path)
            # The name of the file is in its folder, and that of the folder, which may be new, in the directory.
            for directory in self._path.parents[:2]:
                flush_directory(directory)

    def _close(self) -> None:
        """After the call that was interrupted, if there is one."""
        with self._turn, _failing("close", self._path):
            self._closed = True
            if self._file >= 0:
                file, self._file = self._file, -1
                os.close(file)


@contextmanager
def _failing(what: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreProblem(f"cannot {what} {path}: {error.strerror}") from error
