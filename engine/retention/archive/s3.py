"""The archive in an S3-compatible store. Needs boto3: `pip install 'vivero[s3]'`. Imported only if there is a bucket.

A file is compressed into a temporary file without a name, uploaded when it is complete, and read back. Calls run in
threads, and are abandoned when the program stops: what they leave behind is deleted an hour later.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, TypeVar, cast

import trio
from boto3.exceptions import S3UploadFailedError
from boto3.s3.transfer import TransferConfig

from vivero.engine.buckets.client import Bucket, Failures, connect
from vivero.engine.retention.archive.compression import CHUNK, Compressor, decompressed, parts_of, summed
from vivero.engine.retention.archive.stores import SUFFIX, Damaged, Missing
from vivero.storage.retention.archives import ArchiveProblem

T = TypeVar("T")

_FAILURES = Failures(ArchiveProblem, Missing, "retention.archive_access_key")


class S3Store:
    """Files as objects of a bucket."""

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        self._lock = threading.Lock()
        self._client: Any = None

    @property
    def client(self) -> Any:
        """Made at the first use; blocks. Threads share it."""
        with self._lock:
            if self._client is None:
                self._client = connect(self.bucket)
            return self._client

    def writer(self, name: str) -> ObjectWriter:
        """Begin a file. Raises ArchiveProblem if there is no place for temporary files."""
        return ObjectWriter(self, name)

    def contents(self, name: str, sha256: str | None = None) -> Iterator[bytes]:
        """The uncompressed contents of a file, in parts; blocks. Raises ArchiveProblem."""
        return decompressed(self.parts(name), f"{self.bucket.url}{name}", sha256)

    def size(self, name: str) -> int:
        """The bytes of an object; blocks. Raises ArchiveProblem."""
        with self.calling(f"read {name} from"):
            found = self.client.head_object(Bucket=self.bucket.name, Key=self.bucket.prefix + name)
            return int(found["ContentLength"])

    def parts(self, name: str) -> Iterator[bytes]:
        """An object as it is stored, in parts; blocks. Raises ArchiveProblem."""
        with self.calling(f"read {name} from"):
            body = self.client.get_object(Bucket=self.bucket.name, Key=self.bucket.prefix + name)["Body"]
            try:
                yield from body.iter_chunks(CHUNK)
            finally:
                body.close()

    def names(self) -> Iterator[str]:
        """The names of all files; blocks. Raises ArchiveProblem."""
        with self.calling("list"):
            pages = self.client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.bucket.name, Prefix=self.bucket.prefix):
                for each in page.get("Contents", ()):
                    if each["Key"].endswith(SUFFIX):
                        yield each["Key"].removeprefix(self.bucket.prefix)

    def delete(self, name: str) -> None:
        """Delete a file; blocks. Raises ArchiveProblem. Some stores answer that it is absent: then it is deleted."""
        with suppress(Missing), self.calling(f"delete {name} from"):
            self.client.delete_object(Bucket=self.bucket.name, Key=self.bucket.prefix + name)

    def prepare(self, known: bool) -> None:
        """Nothing: the bucket must exist, and a call to one that does not raises ArchiveProblem."""

    def check(self, known: bool) -> str:
        """The place of the bucket, if it exists; blocks. Raises ArchiveProblem."""
        with self.calling("reach"):
            self.client.head_bucket(Bucket=self.bucket.name)
        return self.bucket.url

    @contextmanager
    def calling(self, what: str) -> Iterator[None]:
        """Errors of the store become ArchiveProblems."""
        with _FAILURES.raised(f"cannot {what} the archive {self.bucket.url}"):
            yield


class ObjectWriter:
    """Writes an object, which is there when all of it was uploaded."""

    def __init__(self, store: S3Store, name: str) -> None:
        self._store, self._name = store, name
        with _temporary():
            self.compressor = Compressor(cast(BinaryIO, tempfile.TemporaryFile()))  # noqa: SIM115 - `close` closes it

    async def write(self, data: bytes) -> None:
        """Add bytes. Raises ArchiveProblem when the disk of temporary files is full."""
        with _temporary():
            await self.compressor.write(data)

    async def finish(self) -> tuple[str, int]:
        """Upload the file and read it back: its sum and size."""
        with _temporary():
            await self.compressor.end()
            meant = await _in_thread(self._sum)
        await _in_thread(lambda: self._upload(meant))
        return meant

    def _sum(self) -> tuple[str, int]:
        self.compressor.file.seek(0)
        return summed(parts_of(self.compressor.file))

    def _upload(self, meant: tuple[str, int]) -> None:
        store, file = self._store, self.compressor.file
        file.seek(0)
        key = store.bucket.prefix + self._name
        with store.calling("write to"):
            try:
                config = TransferConfig(use_threads=False)
                store.client.upload_fileobj(file, store.bucket.name, key, Config=config)
            except S3UploadFailedError as error:
                raise (error.__cause__ or error.__context__ or error) from error
        found = hashlib.sha256()
        size = 0

        def noted() -> Iterator[bytes]:
            nonlocal size
            for part in store.parts(self._name):
                found.update(part)
                size += len(part)
                if size > meant[1]:
                    raise Damaged(f"{store.bucket.url}{self._name} is damaged: it is longer than what was written")
                yield part

        for _ in decompressed(noted(), f"{store.bucket.url}{self._name}"):
            continue
        if (found.hexdigest(), size) != meant:
            raise Damaged(f"{store.bucket.url}{self._name} is damaged: it is not what was written")

    def close(self) -> None:
        """Give it up, if it is not finished: the file has no name."""
        self.compressor.file.close()


@contextmanager
def _temporary() -> Iterator[None]:
    """A full disk of temporary files is a problem of the archive, too."""
    try:
        yield
    except OSError as error:
        raise ArchiveProblem(f"cannot write a temporary file: {error.strerror}. See TMPDIR") from error


async def _in_thread(call: Callable[[], T]) -> T:
    """A stop does not wait for a store that does not answer."""
    return await trio.to_thread.run_sync(call, abandon_on_cancel=True)
