"""Documents: their metadata, and which content each has."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
_of_tenants = TenantStatements(__file__)


class DocumentPlace(NamedTuple):
    """The place of a document. Two tenants, and two stores, may have the same id."""

    id: str
    store: str
    tenant: str


class DocumentOwner(NamedTuple):
    """The owner of the references of documents: a message, an instance, or neither."""

    message: int | None = None
    """Its key."""
    is_pending: bool = False
    """Whether a pending start alone keeps the message."""
    instance: int | None = None
    """The key of the process instance."""


class NewDocument(NamedTuple):
    """The metadata of a new document. `ttl_ms`: its life if it has no `expires_at_ms`; None: for ever.

    `goes_with_instance`: it expires when the process instance is deleted, if it is one of its tenant.
    """

    content_type: str
    file_name: str
    expires_at_ms: int | None
    ttl_ms: int | None
    process_definition_id: str | None
    process_instance_key: int | None
    custom_properties: str
    """A JSON object."""
    goes_with_instance: bool


class Document(NamedTuple):
    """A document."""

    place: DocumentPlace
    content_key: int
    sha256: str
    size: int
    content_type: str
    file_name: str
    expires_at: datetime | None
    process_definition_id: str | None
    process_instance_key: int | None
    custom_properties: str
    object_name: str | None
    """Its name in its store; None: it is in the database."""


async def add(
    connection: Connection, place: DocumentPlace, content: int, new: NewDocument
) -> tuple[datetime | None] | None:
    """Add a document to a complete content. When it expires; None instead of the tuple if the id is taken."""
    values = (
        *(*place, content, new.content_type, new.file_name, new.expires_at_ms, new.ttl_ms),
        *(new.process_definition_id, new.process_instance_key, new.custom_properties),
        new.goes_with_instance,
    )
    rows = (await connection.execute(_sql["add"], values)).rows
    return (rows[0][0],) if rows else None


async def exists(connection: Connection, place: DocumentPlace) -> bool:
    """Whether the id is taken."""
    return (await connection.execute(_sql["exists"], place)).count > 0


async def find(
    connection: Connection,
    id: str,
    store: str | None,
    tenant: str | None,
    tenants: Tenants,
    valid_until_ms: int | None = None,
) -> list[Document]:
    """The documents with this id: two if it is in several stores, or several tenants have it.

    `valid_until_ms`: the end of the link that leads to it, in real time. After it there is nothing.
    """
    rows = (await _of_tenants.execute(connection, "find", tenants, id, store, tenant, valid_until_ms)).rows
    return [Document(DocumentPlace(*row[:3]), *row[3:]) for row in rows]


async def delete(connection: Connection, found: Document) -> bool:
    """Delete a document, in a transaction. Its content is deleted later if nothing else refers to it."""
    gone = await connection.execute(_sql["delete"], (*found.place, found.content_key))
    await _release(connection, [key for (key,) in gone.rows])
    return bool(gone.rows)


async def belong(connection: Connection, owner: DocumentOwner, places: Sequence[DocumentPlace]) -> None:
    """Let documents go with what a call or an event has made.

    Those of a stored message go if it is deleted before any process has got it; those of a pending start, if it ends
    without an instance. For an instance, it is written to their metadata.
    """
    ids, stores, tenants = zip(*places, strict=True)
    of_message = "belong_to_pending_start" if owner.is_pending else "belong_to_message"
    for statement, key in ((of_message, owner.message), ("belong_to_instance", owner.instance)):
        if key is not None:
            await connection.execute(_sql[statement], (key, list(ids), list(stores), list(tenants)))


async def expire(connection: Connection, limit: int) -> int:
    """Delete expired documents, in a transaction of its own; their number."""
    return await _delete_some(connection, "expire", limit)


async def delete_orphans(connection: Connection, limit: int) -> int:
    """Delete documents of deleted tenants, in a transaction of its own; their number."""
    return await _delete_some(connection, "orphans", limit)


async def _delete_some(connection: Connection, statement: str, limit: int) -> int:
    async with connection.transaction():
        gone = await connection.execute(_sql[statement], (limit,))
        await _release(connection, [key for (key,) in gone.rows])
    return gone.count


async def _release(connection: Connection, keys: list[int]) -> None:
    if keys:
        await connection.execute(_sql["release"], (keys,))
