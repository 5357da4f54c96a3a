"""Documents: upload, download, delete, and links that need no sign-in (docs/documents.md)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from uuid import uuid4

import msgspec
import structlog

from vivero.api.access import audit, tenants
from vivero.api.access.needs import CREATE_DOCUMENT
from vivero.api.access.rates import only_tenant
from vivero.api.documents.adding import complete, taken
from vivero.api.documents.metadata import check_id, merged, reference
from vivero.api.documents.receiving import FormNames, Received, receive
from vivero.api.documents.serving import serve
from vivero.api.documents.upload import Upload, storage_of, unknown
from vivero.api.http.decoding import Body, Int64, as_int64, decode_optional, decoder
from vivero.api.http.problems import Problem, bad_request, invalid_argument
from vivero.api.http.request import Request
from vivero.api.http.response import Response, iso_time, json_response, no_content
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.core.records.base import DEFAULT_TENANT
from vivero.engine.documents.stores import StoreProblem, UnknownStore
from vivero.engine.documents.uploads import drop_content
from vivero.storage.access import audit_log
from vivero.storage.access.tenants import Tenants
from vivero.storage.documents import documents, link_keys
from vivero.storage.documents.documents import Document, DocumentPlace, NewDocument
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import StorageError, describe

log = structlog.get_logger(__name__)

LINK_MS = 3_600_000
"""The life of a link whose request names none."""
LINK_PATH = "/v2/document-links/"


class LinkBody(Body, frozen=True):
    time_to_live: Int64 | None = None


_link_decoder = decoder(LinkBody)


async def create(request: Request, services: Services) -> Response:
    """POST /v2/documents: store a file as it arrives."""
    place = _new_place(request, services, request.query.get("documentId"))
    if "documentId" in request.query:
        async with services.reads.pool.connection() as connection:
            if await documents.exists(connection, place):
                raise taken(place)
    names = FormNames("file", "metadata", 1, tolerant=False)
    async with receive(request, services, place, names) as received:
        ((upload, new),) = _described(services, received, place.id, tolerant=False)
        (document,) = await complete(services, [(upload, place, new)], partial(_record, request))
    return json_response(reference(document), status=201)


async def create_batch(request: Request, services: Services) -> Response:
    """POST /v2/documents/batch: store several files. 207 if some of them are not stored."""
    place = _new_place(request, services, None)
    names = FormNames("files", "metadataList", services.documents.settings.max_files, tolerant=True)
    async with receive(request, services, place, names) as received:
        chosen = [
            (upload, place._replace(id=str(uuid4())), new)
            for upload, new in _described(services, received, None, tolerant=True)
        ]
        stored = await complete(services, chosen, partial(_record, request))
        failed = [_failure(each, each.problem) for each in received.uploads if each.problem is not None]
    answer = {"createdDocuments": [reference(each) for each in stored], "failedDocuments": failed}
    return json_response(answer, status=207 if failed else 201)


async def get(request: Request, services: Services) -> Response:
    """GET /v2/documents/{documentId}: the file, or a range of it."""
    return await serve(request, services, await _find(request, services), request.tenants)


async def delete(request: Request, services: Services) -> Response:
    """DELETE /v2/documents/{documentId}. The content goes with the last document that has it."""
    found = await _find(request, services, check_hash=False)
    async with services.reads.pool.connection() as connection, connection.transaction():
        if not await documents.delete(connection, found):
            raise _unknown(found.place.id)
        await _record(request, connection, found.place)
    await _drop(services, found)
    return no_content()


async def _drop(services: Services, gone: Document) -> None:
    """Free the space of a deleted document at once. An outage changes nothing about its deletion: a chore does it."""
    try:
        await drop_content(storage_of(services), gone.content_key, gone.place.store, gone.object_name)
    except (StorageError, StoreProblem, UnknownStore) as error:
        log.warning("the content of a deleted document is deleted later", why=describe(error))


async def create_link(request: Request, services: Services) -> Response:
    """POST /v2/documents/{documentId}/links: a URL that shows the document to everybody, for some time."""
    body = decode_optional(request, _link_decoder, services.settings)
    ttl_ms = LINK_MS if body.time_to_live is None else as_int64(body.time_to_live, "timeToLive") or 0
    most_ms = services.documents.settings.max_link_s * 1000
    if not 0 < ttl_ms <= most_ms:
        raise invalid_argument(f"The value for timeToLive is '{ttl_ms}' but must be from 1 to {most_ms}")
    found = await _find(request, services)
    async with services.reads.pool.connection() as connection, connection.transaction():
        until_ms = await link_keys.until(connection, ttl_ms)
        await _record(request, connection, found.place)
    text = await services.documents.links.sign(services.reads.pool.connection, until_ms, found.place, found.content_key)
    url = f"{services.settings.advertised_address or request.host}{LINK_PATH}{text}"
    return json_response({"url": url, "expiresAt": iso_time(until_ms)}, status=201)


async def open_link(request: Request, services: Services) -> Response:
    """GET /v2/document-links/{link}: the document of a link, for whoever has it. 404; 429 if an address tries many."""
    connections, text = services.reads.pool.connection, request.params["link"]
    link = await services.documents.links.opened(connections, text, request.owner)
    if link is None:
        raise _no_link()
    of_link = frozenset({link.place.tenant}) if services.access.multi_tenancy else None
    found = await read_of(services, of_link, partial(_find_all, link.place, link.until_ms))
    if not found or found[0].content_key != link.content:
        raise _no_link()
    return await serve(request, services, found[0], of_link)


def _new_place(request: Request, services: Services, id: str | None) -> DocumentPlace:
    """The place of a new document. Raises Problem: 400, 403, 429."""
    if id is not None:
        check_id(id)
    store = _store(request, services) or services.documents.stores.default
    return DocumentPlace(id or str(uuid4()), store, _tenant(request, services))


def _store(request: Request, services: Services) -> str | None:
    store = request.query.get("storeId")
    if store is not None:
        try:
            services.documents.stores.of(store)
        except UnknownStore as error:
            raise unknown(error) from error
    return store


def _tenant(request: Request, services: Services) -> str:
    """The tenant of new documents: `tenantId` of the query, an addition of ours, or the one that the caller has."""
    named = request.query.get("tenantId")
    if named is None:
        named = only_tenant(request.caller, services.access.multi_tenancy)
    if named is None and (request.tenants is None or DEFAULT_TENANT in request.tenants):
        named = DEFAULT_TENANT
    return tenants.named(request, services, named, "Create Document", CREATE_DOCUMENT)


def _described(
    services: Services, received: Received, name: str | None, *, tolerant: bool
) -> Sequence[tuple[Upload, NewDocument]]:
    """The files that nothing is wrong with, with their metadata. Raises Problem 400 unless the form is tolerant.

    `name`: the name of a file that has none; None: it needs one.
    """
    found = []
    for upload, given in zip(received.uploads, received.metadata, strict=True):
        if given.file_name:
            upload.head = upload.head._replace(file_name=given.file_name)
        try:
            new = merged(upload, given, services.documents.settings, name)
        except Problem as problem:
            if not tolerant:
                raise
            upload.problem = upload.problem or problem
        if upload.problem is None:
            found.append((upload, new))
    return found


async def _record(request: Request, connection: Connection, place: DocumentPlace) -> None:
    """Record the change, in its transaction. An id of digits is no key of the engine."""
    made = audit.record_of(request, place.id)
    if made is not None:
        await audit_log.add(connection, msgspec.structs.replace(made, key=None, tenant_id=place.tenant))


async def _find(request: Request, services: Services, *, check_hash: bool = True) -> Document:
    """The document of a path. Raises Problem: 400, also for an id that several stores or tenants have; 404."""
    id, tenant = request.params["documentId"], request.query.get("tenantId")
    store = _store(request, services)
    found = await read_of(
        services,
        request.tenants,
        lambda connection, allowed: documents.find(connection, id, store, tenant, allowed),
    )
    if not found:
        raise _unknown(id)
    if len(found) > 1:
        raise invalid_argument(f"Several documents have the documentId '{id[:200]}': name one by storeId and tenantId")
    sum = request.query.get("contentHash")
    if check_hash and sum is not None and sum.lower() != found[0].sha256:
        raise bad_request(f"The contentHash '{sum[:100]}' is not that of the document '{id[:200]}'")
    return found[0]


async def _find_all(place: DocumentPlace, until_ms: int, connection: Connection, tenants: Tenants) -> list[Document]:
    return await documents.find(connection, *place, tenants, until_ms)


def _failure(upload: Upload, problem: Problem) -> dict[str, object]:
    name = upload.head.file_name or ""
    return {"fileName": name, "status": problem.status, "title": problem.title, "detail": problem.detail}


def _unknown(id: str) -> Problem:
    return Problem(404, "NOT_FOUND", f"Document with id '{id[:200]}' not found")


def _no_link() -> Problem:
    return Problem(404, "NOT_FOUND", "The link is not valid, or has ended")
