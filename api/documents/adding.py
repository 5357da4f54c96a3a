"""The end of uploads: their documents are added, all or none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from vivero.api.documents.upload import Upload
from vivero.api.http.problems import Problem
from vivero.api.services import Services
from vivero.storage.documents import contents, documents
from vivero.storage.documents.documents import Document, DocumentPlace, NewDocument
from vivero.storage.postgres.driver import Connection

Record = Callable[[Connection, DocumentPlace], Awaitable[None]]
"""Records the change in its transaction."""


async def complete(
    services: Services, chosen: Sequence[tuple[Upload, DocumentPlace, NewDocument]], record: Record | None = None
) -> list[Document]:
    """Add the documents of complete uploads: all, or none. In the order of their sums, so that two never deadlock.

    Raises Problem 409, 503.
    """
    made: dict[DocumentPlace, Document] = {}
    async with services.reads.pool.connection() as connection, connection.transaction():
        for upload, place, new in sorted(chosen, key=lambda each: each[0].content.sha256):
            made[place] = await _add(connection, upload, place, new)
            if record is not None:
                await record(connection, place)
    for upload, place, _ in chosen:
        upload.content.keep(made[place].content_key)
    return [made[place] for _, place, _ in chosen]


async def _add(connection: Connection, upload: Upload, place: DocumentPlace, new: NewDocument) -> Document:
    made = upload.content
    content = None if made.key is None else await contents.complete(connection, made.key, made.sha256)
    if content is None:
        raise Problem(503, "UNAVAILABLE", "The upload took too long and was given up")
    added = await documents.add(connection, place, content, new)
    if added is None:
        raise taken(place)
    more = new.process_definition_id, new.process_instance_key, new.custom_properties
    name = made.object_name if content == made.key else None
    return Document(place, content, made.sha256, made.size, new.content_type, new.file_name, added[0], *more, name)


def taken(place: DocumentPlace) -> Problem:
    """The problem of an id that another document has."""
    detail = f"Document with id '{place.id}' exists already in the store '{place.store}'"
    return Problem(409, "ALREADY_EXISTS", detail)
