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
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar, cast

import boto3
import trio
from boto3.exceptions import S3UploadFailedError
from boto3.s3.transfer import TransferConfig
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError, NoCredentialsError
from urllib3.exceptions import HTTPError

from vivero.engine.retention.archive.compression import CHUNK, Compressor, decompressed, parts_of, summed
from vivero.engine.retention.archive.stores import SUFFIX, Damaged, Missing
from vivero.storage.retention.archives import ArchiveProblem

CONNECT_S, READ_S = 5.0, 30.0
MAX_ANSWER_BYTES = 16 * 1024 * 1024
"""The limit of an answer without the content of an object: a page of a list has 1,000 names."""
ATTEMPTS = 3
"""The attempts of one call. The caller repeats the whole later."""
ABSENT = ("NoSuchKey", "404")
"""Answers of a store for an object that it does not have; without a body, to HEAD, it is only the status."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket, and how to reach it. Without an endpoint it is Amazon's."""

    name: str
    prefix: str
    """The beginning of all keys: empty, or with a slash at the end."""
    endpoint: str | None
    region: str | None
    access_key: str | None
    """None: credentials are where Amazon's tools look for them."""
    secret_key: str | None = field(repr=False)

    @property
    def url(self) -> str:
        """For people."""
        return f"s3://{self.name}/{self.prefix}"


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
                self._client = _connect(self.bucket)
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
        begin = f"cannot {what} the archive {self.bucket.url}"
        try:
            yield
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "Unknown")
            kind = Missing if code in ABSENT else ArchiveProblem
            raise kind(f"{begin}: the store answers {code}") from error
        except NoCredentialsError as error:
            raise ArchiveProblem(f"{begin}: there are no credentials. Set retention.archive_access_key") from error
        except (ConnectionError, HTTPClientError, HTTPError, OSError) as error:
            raise ArchiveProblem(f"{begin}: the store does not answer ({type(error).__name__})") from error
        except (BotoCoreError, ValueError) as error:
            raise ArchiveProblem(f"{begin}: {type(error).__name__}") from error


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


def _connect(bucket: Bucket) -> Any:
    options: dict[str, Any] = {
        "connect_timeout": CONNECT_S,
        "read_timeout": READ_S,
        "retries": {"total_max_attempts": ATTEMPTS, "mode": "standard"},
        # Other stores than Amazon's do not know the newer checksums. What was written is read back.
        "request_checksum_calculation": "when_required",
        "response_checksum_validation": "when_required",
    }
    if bucket.endpoint is not None:
        options["s3"] = {"addressing_style": "path"}
    client = boto3.session.Session().client(
        "s3",
        endpoint_url=bucket.endpoint,
        region_name=bucket.region,
        aws_access_key_id=bucket.access_key,
        aws_secret_access_key=bucket.secret_key,
        config=Config(**options),
    )
    endpoint = client._endpoint  # botocore has no public way to its session
    endpoint.http_session = _BoundedSession(endpoint.http_session)
    return client


class _BoundedSession:
    """botocore's session. It reads each answer that is no object's content whole into memory: here up to a limit."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def send(self, request: Any) -> AWSResponse:
        """Send a request. Raises botocore's errors, and ArchiveProblem for an answer that is too long."""
        streams, request.stream_output = request.stream_output, True
        found = self._session.send(request)
        response = _BoundedAnswer(found.url, found.status_code, found.headers, found.raw)
        if not streams:
            _ = response.content
        return response

    def close(self) -> None:
        self._session.close()


class _BoundedAnswer(AWSResponse):  # type: ignore[misc]  # botocore has no types
    _content: bytes | None

    @property
    def content(self) -> bytes:
        """The whole content. Raises ArchiveProblem, HTTPClientError."""
        if self._content is None:
            content = bytearray()
            try:
                for part in self.raw.stream():
                    content += part
                    if len(content) > MAX_ANSWER_BYTES:
                        self.raw.close()
                        raise ArchiveProblem(f"an answer of the store has more than {MAX_ANSWER_BYTES} bytes")
            except HTTPError as error:
                raise HTTPClientError(error=error) from error
            self._content = bytes(content)
        return self._content
