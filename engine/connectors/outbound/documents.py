"""Documents in calls: references in a body are sent as their files, and a response is stored as a document.

A file is in memory while its call is made. Few calls of a node have files at once, and the others wait their turn.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from typing import Any, NamedTuple, ParamSpec, TypeVar
from uuid import uuid4

import httpx
import structlog
import trio

from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http.requests import CONTENT_TYPE, WITH_BODY, read_url, text_of
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.documents.references import Reference, read_reference, reference_of
from vivero.engine.documents.stores import ObjectGone, StoreProblem, UnknownStore
from vivero.engine.documents.uploads import ContentUpload, DocumentStorage, QuotaReached, UploadRefused
from vivero.storage.documents import contents, documents
from vivero.storage.documents.documents import Document, DocumentOwner, DocumentPlace, NewDocument
from vivero.storage.postgres.errors import StorageError, describe

log = structlog.get_logger(__name__)

AT_ONCE = 4
"""The calls of a node that have files in memory: each up to `documents.max_bytes`."""
DISCARD_S = 5.0
OCTETS, MAX_TYPE = "application/octet-stream", 255
MULTIPART = "multipart/form-data"
MOST_FILES = 100
"""The files of one answer that become documents."""

P = ParamSpec("P")
T = TypeVar("T")


class SentFile(NamedTuple):
    """A document in memory that goes out with a call."""

    name: str
    content_type: str
    content: bytes


class CallDocuments:
    """The documents of the calls of a node."""

    def __init__(self, storage: DocumentStorage) -> None:
        self._storage = storage
        self._turns = trio.CapacityLimiter(AT_ONCE)

    @property
    def max_bytes(self) -> int:
        """The limit of all files of a request, and of a stored response."""
        return self._storage.settings.max_bytes

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """The turn of a call that has files. Raises ConnectorError if the database is away."""
        async with self._turns:
            try:
                yield
            except StorageError as error:
                raise ConnectorError("DOCUMENT_STORE", "the documents cannot be used now") from error

    async def with_files(self, inputs: Mapping[str, Any], tenant: str) -> Mapping[str, Any]:
        """The inputs with the bytes of the body, if it is or has documents. Raises ConnectorError."""
        headers, body = inputs.get("headers"), inputs["body"]
        if headers and not isinstance(headers, dict):
            raise bad_input("headers must be a context")
        given = {name: value for name, value in (headers or {}).items() if value is not None}
        kept = {name: value for name, value in given.items() if name.lower() != CONTENT_TYPE}
        if (reference := read_reference(body)) is not None:
            file = await self._fetch(reference, tenant, self.max_bytes)
            type_ = next((value for name, value in given.items() if name.lower() == CONTENT_TYPE), file.content_type)
            return {**inputs, "body": file.content, "headers": {**kept, "Content-Type": type_}}
        type_, content = await self._form(read_url(inputs.get("url")), body, tenant)
        return {**inputs, "body": content, "headers": {**kept, "Content-Type": type_}}

    async def files(self, given: Sequence[Any], tenant: str) -> list[SentFile]:
        """The files of references. Raises ConnectorError, also if they are too large together."""
        left, found = self.max_bytes, list[SentFile]()
        for item in given:
            if (reference := read_reference(item)) is None:
                raise ConnectorError("UNSUPPORTED_DOCUMENT", "an attachment is no reference to a document", final=True)
            found.append(await self._fetch(reference, tenant, left))
            left -= len(found[-1].content)
        return found

    async def file(self, given: Any, tenant: str, most: int) -> SentFile:
        """The file of a reference. Raises ConnectorError, also if it has more than `most` bytes."""
        if (reference := read_reference(given)) is None:
            raise ConnectorError("UNSUPPORTED_DOCUMENT", "a document is no reference to one", final=True)
        return await self._fetch(reference, tenant, most)

    async def _form(self, url: httpx.URL, body: Any, tenant: str) -> tuple[str, bytes]:
        """The type and the bytes of a form. References, alone or in lists, are its files."""
        if not isinstance(body, dict):
            raise bad_input("the body of a multipart request must be a context")
        left, parts = self.max_bytes, list[tuple[str, tuple[str | None, bytes, str | None]]]()
        for name, value in body.items():
            for item in value if isinstance(value, list) else [value]:
                if item is None:
                    continue
                if (reference := read_reference(item)) is None:
                    parts.append((name, (None, text_of(item).encode(), None)))
                    continue
                file = await self._fetch(reference, tenant, left)
                left -= len(file.content)
                parts.append((name, (file.name, file.content, file.content_type)))
        if not parts:
            raise bad_input("the body of a multipart request has no parts")
        request = httpx.Request("POST", url, files=parts)
        return request.headers["content-type"], request.read()

    async def _fetch(self, reference: Reference, tenant: str, most: int) -> SentFile:
        document = await self._find(reference, tenant)
        if document.size > most:
            text = f"the document '{reference.id[:200]}' has {document.size} bytes"
            raise bad_input(f"{text}, and those of this request may have {most} more")
        content = bytearray()
        try:
            while len(content) < document.size:
                content += await self._part(document, len(content))
        except (ObjectGone, UnknownStore) as error:
            raise _not_found(reference) from error
        except StoreProblem as error:
            raise _away(document.place.store, error) from error
        return SentFile(document.file_name, document.content_type, bytes(content))

    async def _find(self, reference: Reference, tenant: str) -> Document:
        if "\0" in reference.id or "\0" in (reference.store or ""):
            raise _not_found(reference)  # PostgreSQL has no such text
        async with self._storage.connections() as connection:
            found = await documents.find(connection, reference.id, reference.store, tenant, None)
        if not found:
            raise _not_found(reference)
        if len(found) > 1 or reference.sha256 not in (None, found[0].sha256):
            raise bad_input(f"the reference to the document '{reference.id[:200]}' fits no document")
        return found[0]

    async def _part(self, document: Document, begin: int) -> bytes:
        objects = self._storage.stores.of(document.place.store)
        if objects is not None and document.object_name is not None:
            return await objects.read(document.object_name, begin, document.size)
        async with self._storage.connections() as connection:
            found = await contents.part(connection, document.content_key, begin, None)
        if found is None or not found[1][begin - found[0] :]:
            raise ObjectGone("the document was deleted")
        return found[1][begin - found[0] :]

    async def store(
        self, job: ConnectorJob, content_type: str, content: bytes, name: str | None = None
    ) -> dict[str, Any]:
        """The reference to a new document with the body of a response, or a file. Raises ConnectorError."""
        place = DocumentPlace(str(uuid4()), self._storage.stores.default, job.tenant_id)
        upload = ContentUpload(self._storage, place.tenant, place.store)
        try:
            await upload.write(content)
            await upload.finish()
            return await self._add(upload, place, _metadata(job, content_type, name, self._storage))
        except QuotaReached as error:
            raise ConnectorError("DOCUMENT_QUOTA", str(error), final=True) from error
        except UploadRefused as error:
            raise ConnectorError("DOCUMENT_STORE", str(error)) from error
        except StoreProblem as error:
            raise _away(place.store, error) from error
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + DISCARD_S):
                await self._discard(upload)

    async def delete(self, given: Sequence[Any], tenant: str) -> None:
        """Delete the documents of references that nothing has got. A chore frees their space."""
        places = [(each.id, each.store) for each in map(read_reference, given) if each is not None]
        try:
            async with self._storage.connections() as connection, connection.transaction():
                for id, store in places:
                    for found in await documents.find(connection, id, store, tenant, None):
                        await documents.delete(connection, found)
        except StorageError as error:
            log.warning("documents that nothing refers to are not deleted", why=describe(error), count=len(places))

    async def belong(self, given: Sequence[Any], tenant: str, owner: DocumentOwner | None) -> None:
        """Let documents go with what an event has made, which is there in any case; delete them if there is nothing."""
        found = [each for each in map(read_reference, given) if each is not None]
        with trio.CancelScope(shield=True, deadline=trio.current_time() + DISCARD_S):
            if owner is None:
                await self.delete(given, tenant)
                return
            places = [DocumentPlace(each.id, each.store or self._storage.stores.default, tenant) for each in found]
            try:
                async with self._storage.connections() as connection:
                    await documents.belong(connection, owner, places)
            except StorageError as error:
                log.warning("documents of an event do not go with it", why=describe(error), count=len(places))

    async def _add(self, upload: ContentUpload, place: DocumentPlace, new: NewDocument) -> dict[str, Any]:
        async with self._storage.connections() as connection, connection.transaction():
            content = None if upload.key is None else await contents.complete(connection, upload.key, upload.sha256)
            if content is None:
                raise ConnectorError("DOCUMENT_STORE", "the upload of the response was given up")
            await documents.add(connection, place, content, new)
        upload.keep(content)
        if not (found := await self._read(place)):
            raise ConnectorError("DOCUMENT_STORE", "the document with the response was deleted at once")
        (added,) = found
        return reference_of(added, None if added.expires_at is None else _as_of_api(added.expires_at), {})

    async def _read(self, place: DocumentPlace) -> list[Document]:
        async with self._storage.connections() as connection:
            return await documents.find(connection, *place, None)

    async def _discard(self, upload: ContentUpload) -> None:
        try:
            await upload.discard()
        except (StorageError, StoreProblem) as error:
            log.warning("a response that was not kept is deleted later", why=describe(error))


def _as_of_api(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def bounded(store: Callable[P, Awaitable[T]], code: str) -> Callable[P, Awaitable[T]]:
    """The function that stores a file, for one answer, whose files are few. It raises ConnectorError for more."""
    numbers = count(1)

    async def stored(*args: P.args, **kwargs: P.kwargs) -> T:
        if next(numbers) > MOST_FILES:
            raise ConnectorError(code, f"the answer of the server has more than {MOST_FILES} files", final=True)
        return await store(*args, **kwargs)

    return stored


def needs_files(inputs: Mapping[str, Any]) -> bool:
    """Whether the body of a request is a document, or a form with parts."""
    if str(inputs.get("method") or "GET").upper() not in WITH_BODY or inputs.get("body") is None:
        return False
    headers = inputs.get("headers")
    given = headers if isinstance(headers, dict) else {}  # others are reported when the request is read
    types = [str(value) for name, value in given.items() if name.lower() == CONTENT_TYPE]
    return read_reference(inputs["body"]) is not None or any(each.lower().startswith(MULTIPART) for each in types)


def _metadata(job: ConnectorJob, type_: str, name: str | None, storage: DocumentStorage) -> NewDocument:
    plain = type_.isascii() and type_.isprintable() and len(type_) <= MAX_TYPE and "/" in type_
    settings = storage.settings
    return NewDocument(
        *(type_ if plain else OCTETS, name or f"{job.element_id}-response", None, settings.ttl_ms),
        *(job.process_definition_id, None if job.process_instance_key is None else int(job.process_instance_key)),
        *("{}", settings.with_instances),
    )


def _not_found(reference: Reference) -> ConnectorError:
    return ConnectorError("DOCUMENT_NOT_FOUND", f"there is no document '{reference.id[:200]}'", final=True)


def _away(store: str, problem: StoreProblem) -> ConnectorError:
    log.warning("the store of documents cannot be used", store=store, why=describe(problem))
    return ConnectorError("DOCUMENT_STORE", f"the document store '{store}' cannot be used now")
