"""Files in calls of webhooks: they become documents of the process, and stay if the call has an effect."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import msgspec
import structlog
import trio

from vivero.api.documents.adding import complete
from vivero.api.documents.metadata import OCTETS, MetadataBody, merged, reference
from vivero.api.documents.receiving import DISCARD_S, discard
from vivero.api.documents.upload import Upload
from vivero.api.http.multipart import FormPart, PartHead, read_parts
from vivero.api.http.problems import Problem, invalid_argument
from vivero.api.http.request import MAX_QUERY_FIELDS, Request
from vivero.api.services import Services
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.outcomes.admission import NotAppended
from vivero.storage.documents import documents
from vivero.storage.documents.documents import Document, DocumentOwner, DocumentPlace, NewDocument
from vivero.storage.postgres.errors import StorageError, describe

log = structlog.get_logger(__name__)

MULTIPART = "multipart/form-data"
UNKNOWN_OUTCOME = 504
_SEPARATOR = re.compile(r"[/\\]")


class InboundForm:
    """The parts of a form: `fields` are texts by name, of several the last one; `files` have a name."""

    def __init__(self, request: Request, services: Services) -> None:
        """Raises Problem 400."""
        most = services.documents.settings.max_files
        parts = read_parts(request, MAX_QUERY_FIELDS + most)
        self.files = [part for part in parts if part.file_name is not None and (part.file_name or part.content)]
        if len(self.files) > most:
            raise invalid_argument(f"The form has more than {most} files (documents.max_files)")
        self.fields = {
            part.name: part.content.decode(errors="replace").replace("\0", "\ufffd")
            for part in parts
            if part.file_name is None
        }


class Effect:
    """Whether a call has had an effect, so that something refers to its documents."""

    missing = False
    owner = DocumentOwner()


@asynccontextmanager
async def stored(
    request: Request, services: Services, tenant: str, process_id: str, files: Sequence[FormPart]
) -> AsyncGenerator[tuple[list[dict[str, Any]], Effect]]:
    """Store files for the block, which gets their references. Without an effect their documents are deleted.

    Those of a message are deleted when nobody has got it until it expires, or the pending start that keeps it ends
    without an instance. Those of an instance are deleted like others that name it.

    A failure that leaves the outcome of the block unknown keeps them. Raises Problem: 400, 413, 503, 507.
    """
    made, effect = await _stored(request, services, tenant, process_id, files) if files else [], Effect()
    try:
        yield [_reference(each) for each in made], effect
    except Problem as problem:
        effect.missing = problem.status != UNKNOWN_OUTCOME
        raise
    except (ConnectorError, NotAppended):
        effect.missing = True
        raise
    finally:
        if effect.missing and made:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + DISCARD_S):
                await _delete(services, made)
        elif made:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + DISCARD_S):
                await _belong(services, effect, made)


async def _stored(
    request: Request, services: Services, tenant: str, process_id: str, files: Sequence[FormPart]
) -> list[Document]:
    store, uploads = services.documents.stores.default, list[Upload]()
    chosen = list[tuple[Upload, DocumentPlace, NewDocument]]()
    try:
        for file in files:
            name = _SEPARATOR.split(file.file_name or "")[-1]
            upload = Upload(request, services, tenant, store, PartHead(file.name, name, file.content_type or OCTETS))
            uploads.append(upload)
            new = merged(upload, MetadataBody(process_definition_id=process_id), services.documents.settings, None)
            await upload.write(file.content)
            await upload.finish()
            chosen.append((upload, DocumentPlace(str(uuid4()), store, tenant), new))
        return await complete(services, chosen)
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + DISCARD_S):
            for upload in uploads:
                await discard(upload.content)


async def _delete(services: Services, made: Sequence[Document]) -> None:
    """Delete documents that nothing refers to. A chore frees their space."""
    try:
        async with services.reads.pool.connection() as connection, connection.transaction():
            for each in sorted(made, key=lambda document: document.sha256):
                await documents.delete(connection, each)
    except StorageError as error:
        log.warning("documents of a call without effect are not deleted", why=describe(error), count=len(made))


async def _belong(services: Services, effect: Effect, made: Sequence[Document]) -> None:
    """Let documents go with what the call has made. The call has had its effect in any case."""
    places = [each.place for each in made]
    try:
        async with services.reads.pool.connection() as connection:
            await documents.belong(connection, effect.owner, places)
    except StorageError as error:
        log.warning("documents of a call do not go with what it has made", why=describe(error), count=len(made))


def _reference(document: Document) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(reference(document)))
    return found
