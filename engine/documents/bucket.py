"""Documents in a bucket of an S3-compatible store: one object for each content, with a random name.

A file is written to a temporary file without a name while it arrives, and uploaded when it is complete: a client that
is slow or leaves costs the store nothing, and a killed program leaves no file. Imported only if there is a bucket.
Calls run in threads of their own number, and are abandoned when nobody waits for them any more.
"""

from __future__ import annotations

import base64
import hashlib
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO, TypeVar, cast

import structlog
import trio
from botocore.exceptions import ClientError

from vivero.engine.buckets.client import Bucket, Failures, connect
from vivero.engine.documents.stores import Alive, ObjectGone, StoreProblem
from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)

T = TypeVar("T")

THREADS = 8
"""The calls of a node at once: as many parts are in memory."""
PART_BYTES = 8 * 1024 * 1024
"""The bytes of a request of an upload. Stores take 10,000 parts of at least 5 MiB."""
READ_BYTES = 512 * 1024
"""The bytes of a request of a download, and what each one has in memory."""
OK, PARTIAL = 200, 206
ABORT_S = 10.0

_FAILURES = Failures(StoreProblem, ObjectGone, "documents.s3_access_key")


class BucketObjects:
    """Objects of a bucket."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._lock, self._client = threading.Lock(), cast(Any, None)
        self._threads = trio.CapacityLimiter(THREADS)

    @property
    def place(self) -> str:
        return self._bucket.url

    async def used(self) -> bool:
        """True: the bucket exists before its first use."""
        return True

    async def writer(self, name: str) -> SpooledWriter:
        """Begin an object. Raises StoreProblem if there is no place for a temporary file."""
        return SpooledWriter(self, name)

    async def read(self, name: str, begin: int, end: int) -> bytes:
        return await self.call(f"read {name} from", partial(self._read, name, begin, min(end, begin + READ_BYTES)))

    async def delete(self, name: str) -> None:
        await self.call(f"delete {name} from", partial(self._delete, name))

    async def call(self, what: str, call: Callable[[Any, dict[str, str]], T]) -> T:
        """The result of a call with the client and the place of an object."""

        def work() -> T:
            with _FAILURES.raised(f"cannot {what} the bucket {self.place}"):
                return call(self._connected(), {"Bucket": self._bucket.name})

        return await trio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)

    def key(self, name: str) -> str:
        return self._bucket.prefix + name

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = connect(self._bucket)
            return self._client

    def _read(self, name: str, begin: int, end: int, client: Any, where: dict[str, str]) -> bytes:
        answer = client.get_object(**where, Key=self.key(name), Range=f"bytes={begin}-{end - 1}")
        body = answer["Body"]
        try:
            _check_range(answer, begin)
            found = cast(bytes, body.read(end - begin))
        finally:
            body.close()
        if len(found) != end - begin:
            raise ObjectGone(f"{self.place}{name} has {len(found)} bytes from byte {begin}, not {end - begin}")
        return found

    def _delete(self, name: str, client: Any, where: dict[str, str]) -> None:
        """Uploads in parts that were not aborted are found by their key."""
        key = self.key(name)
        for page in client.get_paginator("list_multipart_uploads").paginate(**where, Prefix=key):
            for each in page.get("Uploads", ()):
                if each["Key"] == key:
                    client.abort_multipart_upload(**where, Key=key, UploadId=each["UploadId"])
        client.delete_object(**where, Key=key)


class SpooledWriter:
    """Writes a temporary file, and uploads it at the end."""

    def __init__(self, store: BucketObjects, name: str) -> None:
        self._store, self._name = store, name
        self._certain = True
        try:
            self._file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - `close` closes it
        except OSError as error:
            raise _no_space(error) from error

    async def write(self, part: bytes) -> None:
        try:
            await trio.to_thread.run_sync(self._file.write, part)
        except OSError as error:
            raise _no_space(error) from error

    async def finish(self, alive: Alive) -> None:
        size = await trio.to_thread.run_sync(self._file.tell)
        self._certain = False
        try:
            if size <= PART_BYTES:
                await self._call(partial(self._put, await self._part(0)))
            else:
                await self._upload(size, alive)
        except StoreProblem as problem:
            self._certain = isinstance(problem.__cause__, ClientError)  # the store has answered
            raise
        self._certain = True

    async def close(self) -> bool:
        with trio.CancelScope(shield=True):
            try:
                await trio.to_thread.run_sync(self._file.close)
            except OSError as error:  # it writes what is buffered, and is closed nevertheless
                log.debug("a temporary file that is given up has no space", why=describe(_no_space(error)))
        return self._certain

    async def _upload(self, size: int, alive: Alive) -> None:
        upload = await self._call(self._begin)
        try:
            tags: list[dict[str, Any]] = []
            for begin in range(0, size, PART_BYTES):
                number = len(tags) + 1
                tags.append(await self._call(partial(self._put_part, upload, number, await self._part(begin))))
                await alive()
            await self._call(partial(self._complete, upload, tags))
        except BaseException:
            with trio.move_on_after(ABORT_S, shield=True):
                await self._abort(upload)
            raise

    async def _abort(self, upload: str) -> None:
        """End an upload in parts. A chore aborts later one that cannot be aborted now."""
        try:
            await self._call(partial(self._give_up, upload))
        except StoreProblem as problem:
            log.warning("an upload to a bucket is aborted later", why=describe(problem))

    async def _call(self, call: Callable[[Any, dict[str, str]], T]) -> T:
        return await self._store.call(f"write {self._name} to", call)

    async def _part(self, begin: int) -> bytes:
        def read() -> bytes:
            self._file.seek(begin)
            return self._file.read(PART_BYTES)

        try:
            return await trio.to_thread.run_sync(read)
        except OSError as error:
            raise StoreProblem(f"cannot read a temporary file: {error.strerror}. See TMPDIR") from error

    def _put(self, content: bytes, client: Any, where: dict[str, str]) -> None:
        client.put_object(**where, Key=self._store.key(self._name), Body=content, ContentMD5=_md5(content))

    def _begin(self, client: Any, where: dict[str, str]) -> str:
        return str(client.create_multipart_upload(**where, Key=self._store.key(self._name))["UploadId"])

    def _put_part(self, upload: str, number: int, content: bytes, client: Any, where: dict[str, str]) -> dict[str, Any]:
        place = {**where, "Key": self._store.key(self._name), "UploadId": upload}
        answer = client.upload_part(**place, PartNumber=number, Body=content, ContentMD5=_md5(content))
        return {"PartNumber": number, "ETag": answer["ETag"]}

    def _complete(self, upload: str, tags: list[dict[str, Any]], client: Any, where: dict[str, str]) -> None:
        place = {**where, "Key": self._store.key(self._name), "UploadId": upload}
        client.complete_multipart_upload(**place, MultipartUpload={"Parts": tags})

    def _give_up(self, upload: str, client: Any, where: dict[str, str]) -> None:
        client.abort_multipart_upload(**where, Key=self._store.key(self._name), UploadId=upload)


def _check_range(answer: dict[str, Any], begin: int) -> None:
    """Raise StoreProblem if an answer does not begin where it was asked to.

    A store, or a proxy before it, may answer 200 with the whole object: only its first part is right.
    """
    status, range_ = answer["ResponseMetadata"]["HTTPStatusCode"], answer.get("ContentRange")
    if status == OK and begin == 0:
        return
    if status != PARTIAL or range_ is None or not range_.startswith(f"bytes {begin}-"):
        given = f"the status {status} and the range '{range_}'" if range_ else f"the status {status} without a range"
        raise StoreProblem(f"the store answers a request for the bytes from {begin} with {given}: it must serve ranges")


def _md5(content: bytes) -> str:
    """The sum that the store compares: bytes that a network changed are refused."""
    return base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()


def _no_space(error: OSError) -> StoreProblem:
    return StoreProblem(f"cannot write a temporary file: {error.strerror}. See TMPDIR")
