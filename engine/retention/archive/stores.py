"""Stores of the archive's files: their interface."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from vivero.storage.retention.archives import ArchiveProblem

SUFFIX = ".jsonl.gz"
"""The end of the names of all files of an archive."""


class Missing(ArchiveProblem):
    """The store does not have a file."""


class Damaged(ArchiveProblem):
    """A file is not what was written."""


class Writer(Protocol):
    """Writes a compressed file, which counts when it is finished."""

    async def write(self, data: bytes) -> None:
        """Add bytes."""

    async def finish(self) -> tuple[str, int]:
        """Store the file durably under its name. Its SHA-256 and size in bytes, as they are read back."""

    def close(self) -> None:
        """Give it up, if it is not finished; blocks."""


class Store(Protocol):
    """Files by name. Everything blocks, and raises ArchiveProblem if the store is away."""

    def writer(self, name: str) -> Writer:
        """Begin a file. A file of that name that was begun before is written anew."""

    def contents(self, name: str, sha256: str | None = None) -> Iterator[bytes]:
        """The uncompressed contents of a file, in parts. Raises Missing.

        Raises Damaged, at the end at the latest, if it is not a compressed file or has another sum.
        """

    def parts(self, name: str) -> Iterator[bytes]:
        """The bytes of a file as it is stored, in parts. Raises Missing."""

    def size(self, name: str) -> int:
        """The bytes of a file as it is stored. Raises Missing."""

    def names(self) -> Iterator[str]:
        """The names of all files of an archive that are there, in no order."""

    def delete(self, name: str) -> None:
        """Delete a file, and what was begun of it. It may be absent."""

    def prepare(self, known: bool) -> None:
        """Make ready for writing. A store may be made only at its first use.

        `known`: the database knows files of it. A store that is empty then is not the one that they were written to.
        """

    def check(self, known: bool) -> str:
        """Look whether the store is there, as `prepare` does, and change nothing; says where it is."""
