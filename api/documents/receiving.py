"""The body of an upload: files that stream into the store, and the metadata beside them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import structlog
import trio

from vivero.api.documents.metadata import MetadataBody, decoded
from vivero.api.documents.upload import Upload
from vivero.api.http.multipart import FormEvent, FormParser, PartEnd, PartHead
from vivero.api.http.problems import Problem, bad_request, invalid_argument
from vivero.api.http.request import Request
from vivero.api.services import Services
from vivero.engine.documents.stores import StoreProblem
from vivero.engine.documents.uploads import ContentUpload
from vivero.storage.documents.documents import DocumentPlace
from vivero.storage.postgres.errors import StorageError, describe

log = structlog.get_logger(__name__)

MAX_METADATA_BYTES = 64 * 1024
FRAME_BYTES = 16 * 1024
"""The most bytes of a body around one file, beside its metadata."""
DISCARD_S = 5.0
"""Time limit of the deletion of an upload that failed. After it, a chore deletes it."""


@dataclass(frozen=True, slots=True)
class FormNames:
    """The names of the parts of a form, and how many files it may have. `tolerant`: a wrong file is passed over."""

    file: str
    metadata: str
    most: int
    tolerant: bool


@dataclass(slots=True)
class Received:
    """The files of a request, and as many metadata."""

    uploads: list[Upload] = field(default_factory=list)
    metadata: list[MetadataBody] = field(default_factory=list)


@asynccontextmanager
async def receive(
    request: Request, services: Services, place: DocumentPlace, names: FormNames
) -> AsyncGenerator[Received]:
    """Read the body of a request. At the end of the block, what has no document is deleted.

    Raises:
        Problem: 400, 413, 415, 503, 507.
        ClientLeft: the body ends too early.
    """
    received = Received()
    try:
        await _Form(request, services, place, names, received).read()
        yield received
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + DISCARD_S):
            for upload in received.uploads:
                await discard(upload.content)


async def discard(upload: ContentUpload) -> None:
    """Delete what was not kept of an upload. An outage leaves it to a chore."""
    try:
        await upload.discard()
    except (StorageError, StoreProblem) as error:
        log.warning("an upload that failed is deleted later", why=describe(error))


class _Form:
    """The reader of one form."""

    def __init__(
        self, request: Request, services: Services, place: DocumentPlace, names: FormNames, received: Received
    ) -> None:
        self._request, self._services, self._place, self._names = request, services, place, names
        self._received = received
        self._upload: Upload | None = None
        self._metadata: bytearray | None = None

    async def read(self) -> None:
        names, most = self._names, self._services.documents.settings.max_bytes
        parser = FormParser(self._request, 2 * names.most)
        limit = names.most * (most + MAX_METADATA_BYTES + FRAME_BYTES)
        files = f"{names.most} files" if names.most > 1 else "one file"
        of = f" of a request with {files} of {most} bytes (documents.max_bytes), and {MAX_METADATA_BYTES} of metadata"
        async with aclosing(self._request.chunks(limit, of)) as chunks:
            async for chunk in chunks:
                for event in parser.feed(chunk):
                    await self._take(event)
                if self._upload is None or self._upload.problem is not None:
                    await self._request.release_body()  # nothing of it is kept
        for event in parser.end():
            await self._take(event)
        self._check()

    async def _take(self, event: FormEvent) -> None:
        if isinstance(event, PartHead):
            self._begin(event)
        elif isinstance(event, PartEnd):
            await self._end()
        elif self._metadata is not None:
            self._metadata += event
            if len(self._metadata) > MAX_METADATA_BYTES:
                raise invalid_argument(f"Part [{self._names.metadata}] is larger than {MAX_METADATA_BYTES} bytes")
        elif self._upload is not None and self._upload.problem is None:
            await self._tolerating(self._upload, event)

    def _begin(self, head: PartHead) -> None:
        names, received = self._names, self._received
        if head.name == names.file:
            if len(received.uploads) >= names.most:
                raise invalid_argument(f"The request has more than {names.most} parts [{names.file}]")
            place = self._place
            self._upload = Upload(self._request, self._services, place.tenant, place.store, head)
            received.uploads.append(self._upload)
        elif head.name == names.metadata:
            self._metadata = bytearray()
        else:
            expected = f"a document has the parts {names.file} and {names.metadata}"
            raise bad_request(f"Request property [{head.name[:100]}] cannot be parsed: {expected}")

    async def _end(self) -> None:
        if self._metadata is not None:
            body = decoded(self._names.metadata, bytes(self._metadata), self._services.settings)
            self._received.metadata.append(body)
        elif self._upload is not None and self._upload.problem is None:
            await self._tolerating(self._upload, None)
        self._upload = self._metadata = None

    async def _tolerating(self, upload: Upload, data: bytes | None) -> None:
        """Add bytes to a file, or its end (None). A tolerant form notes what is wrong with it."""
        try:
            await (upload.finish() if data is None else upload.write(data))
        except Problem as problem:
            if not self._names.tolerant:
                raise
            upload.problem = problem

    def _check(self) -> None:
        names, received = self._names, self._received
        if not received.uploads:
            raise invalid_argument(f"No {names.file} provided")
        if not received.metadata:
            received.metadata = [MetadataBody()] * len(received.uploads)
        if len(received.metadata) != len(received.uploads):
            raise invalid_argument(
                f"The request has {len(received.uploads)} parts [{names.file}], but {len(received.metadata)} parts"
                f" [{names.metadata}]: each file needs one, or none has one"
            )
