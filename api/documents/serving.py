"""Downloads: a document as a file that no browser shows by itself, whole or a range of it (RFC 9110, section 14)."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from functools import partial

from vivero.api.documents.upload import away
from vivero.api.http.downloads import SAFE, disposition
from vivero.api.http.problems import Problem
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.engine.documents.stores import ObjectGone, ObjectStore, StoreProblem, UnknownStore
from vivero.storage.access.tenants import Tenants
from vivero.storage.documents import contents
from vivero.storage.documents.documents import Document
from vivero.storage.postgres.driver import Connection

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


class DocumentLost(Exception):
    """A part of a document is gone: somebody deleted it during the download."""


async def serve(request: Request, services: Services, document: Document, tenants: Tenants) -> Response:
    """The document, or the range of it that the request asks for. Raises Problem: 404, 416."""
    begin, end = _range(request, document)
    tag = f'"{document.sha256}"'.encode()
    headers = [
        (b"content-type", document.content_type.encode()),
        disposition(document.file_name),
        (b"accept-ranges", b"bytes"),
        (b"etag", tag),
        *SAFE,
    ]
    status = 200
    if (begin, end) != (0, document.size):
        status = 206
        headers.append((b"content-range", b"bytes %d-%d/%d" % (begin, end - 1, document.size)))
    if request.method == "HEAD" or begin == end:
        return Response(status, headers=tuple(headers), more_bytes=end - begin)
    parts = _parts(services, document, begin, end, tenants)
    try:
        first = await anext(parts)  # before the head: what fails by now has a status
    except DocumentLost as error:
        raise Problem(404, "NOT_FOUND", f"Document with id '{document.place.id}' was deleted just now") from error
    except StoreProblem as error:
        raise away(document.place.store, error) from error
    return Response(status, first, tuple(headers), rest=parts, more_bytes=end - begin - len(first))


def _range(request: Request, document: Document) -> tuple[int, int]:
    """The first offset to send and the one after the last. Several ranges count as none, as they may."""
    size, asked = document.size, request.header(b"range")
    found = None if asked is None else _RANGE.fullmatch(asked.strip())
    condition = request.header(b"if-range")
    if found is None or found[0] == "bytes=-" or condition not in (None, f'"{document.sha256}"'):
        return 0, size
    first, last = found[1], found[2]
    begin = int(first) if first else max(0, size - int(last))
    end = min(size, int(last) + 1) if first and last else size
    if begin < end:
        return begin, end
    if first and last and int(last) < int(first):
        return 0, size
    detail = f"The document has {size} bytes: the range '{asked}' is not in it"
    raise Problem(416, "Range Not Satisfiable", detail, (b"content-range", b"bytes */%d" % size))


def _parts(services: Services, document: Document, begin: int, end: int, tenants: Tenants) -> AsyncGenerator[bytes]:
    """The bytes from `begin` to before `end`. Nothing is held while a client reads.

    Raises:
        DocumentLost, StoreProblem.
    """
    try:
        objects = services.documents.stores.of(document.place.store)
    except UnknownStore as error:
        raise away(document.place.store, StoreProblem(str(error))) from error
    if objects is None or document.object_name is None:
        return _rows(services, document.content_key, begin, end, tenants)
    return _pieces(objects, document.object_name, begin, end)


async def _pieces(objects: ObjectStore, name: str, begin: int, end: int) -> AsyncGenerator[bytes]:
    while begin < end:
        try:
            data = await objects.read(name, begin, end)
        except ObjectGone as error:
            raise DocumentLost(str(error)) from error
        begin += len(data)
        yield data


async def _rows(services: Services, key: int, begin: int, end: int, tenants: Tenants) -> AsyncGenerator[bytes]:
    while begin < end:
        async with services.documents.reading:
            found = await read_of(services, tenants, partial(_part, key, begin))
        first, content = found or (begin, b"")
        data = content[begin - first : end - first]
        if not data:
            raise DocumentLost(f"the document ends at byte {begin}, and not at {end}")
        begin += len(data)
        yield data


async def _part(key: int, offset: int, connection: Connection, tenants: Tenants) -> tuple[int, bytes] | None:
    return await contents.part(connection, key, offset, tenants)
