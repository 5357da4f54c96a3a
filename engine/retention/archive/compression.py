"""Compressed files: gzip, written and read in parts."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import trio

from vivero.engine.retention.archive.stores import Damaged

CHUNK = 1 << 18
"""Bytes that are compressed or read at once."""
LEVEL = 6
GZIP = zlib.MAX_WBITS | 16
"""For zlib: with the head and the end of a gzip file."""


class Compressor:
    """Compresses into an open file, in a thread."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self._buffer = bytearray()
        self._compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP)

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

    async def end(self) -> None:
        """Write the rest. Nothing can be added any more."""
        await self._flush()
        self.file.write(self._compressor.flush())
        self.file.flush()


def parts_of(file: BinaryIO) -> Iterator[bytes]:
    """The uncompressed content of a file, in parts; blocks."""
    while part := file.read(CHUNK):
        yield part


def summed(parts: Iterable[bytes]) -> tuple[str, int]:
    """SHA-256 and size."""
    digest, size = hashlib.sha256(), 0
    for part in parts:
        digest.update(part)
        size += len(part)
    return digest.hexdigest(), size


def decompressed(parts: Iterable[bytes], name: str, sha256: str | None = None) -> Iterator[bytes]:
    """The contents of a compressed file, in parts. Raises Damaged, with the file's name.

    `sha256`: of the compressed file, as it was written; it is compared at the end.
    """
    digest = hashlib.sha256()

    def noted() -> Iterator[bytes]:
        for part in parts:
            digest.update(part)
            yield part

    try:
        with gzip.open(io.BufferedReader(_Joined(parts if sha256 is None else noted()))) as file:
            while found := file.read(CHUNK):
                yield found
    except EOFError as error:
        raise Damaged(f"{name} is damaged: its end is missing") from error
    except (zlib.error, gzip.BadGzipFile) as error:
        raise Damaged(f"{name} is damaged: {error}") from error
    if sha256 is not None and digest.hexdigest() != sha256:
        raise Damaged(f"{name} is damaged: it is not what was written")


class _Joined(io.RawIOBase):
    """Parts as a file."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = iter(parts)
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._left:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._left = part
        target = memoryview(buffer)
        count = min(len(target), len(self._left))
        target[:count], self._left = self._left[:count], self._left[count:]
        return count
