"""Stores of the archive's files: their interface, and the store that a setting names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from vivero.storage.retention.archives import ArchiveProblem

SUFFIX = ".jsonl.gz"
"""The end of the names of all files of an archive."""
S3 = "s3://"
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}")


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


def bucket_and_prefix(location: str) -> tuple[str, str] | None:
    """The bucket and the prefix of the keys, which is empty or ends with a slash; None for a directory.

    Raises:
        ValueError: it begins like the address of a bucket, and is none.
    """
    if not location.startswith(S3):
        return None
    bucket, _, prefix = location.removeprefix(S3).partition("/")
    if not _BUCKET.fullmatch(bucket):
        raise ValueError(f"'{location}' does not name a bucket: write s3://bucket or s3://bucket/prefix")
    prefix = prefix.strip("/")
    return bucket, f"{prefix}/" if prefix else ""
