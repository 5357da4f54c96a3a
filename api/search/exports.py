"""Lists as CSV: all rows that a search finds, read page by page while the client receives them.

Each page is a statement of its own, and nothing is held while a client is slow: no connection, no snapshot, no share of
the memory for pages. The file therefore does not show one moment: each row says when it was read. The caller needs the
permission for each page: a file ends early, and incomplete, with the session or the permission.

Rows can be of any size, so a page has as many as fit into a page of a search.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NamedTuple

import msgspec
import trio

from vivero.api.access.needs import Need
from vivero.api.access.renewal import renewed
from vivero.api.http.decoding import Body, decode, decode_json, decoder
from vivero.api.http.downloads import SAFE, disposition
from vivero.api.http.problems import LATER, Problem, bad_request, invalid_argument, unexpected_value
from vivero.api.http.request import Request
from vivero.api.http.response import Response, iso_datetime
from vivero.api.reading import read
from vivero.api.search.csv_text import MARK, line, text_of
from vivero.api.search.search_requests import Handler, SortBody, fetch_page, prepare_query, problem_of, sorts_of
from vivero.api.services import Services
from vivero.storage.reads import single_reads
from vivero.storage.search.problems import ItemsTooLarge
from vivero.storage.search.queries import SearchQuery
from vivero.storage.search.resources import Resource
from vivero.storage.search.statements import SearchStatement
from vivero.storage.search.variables import VARIABLE_PREVIEWS

MAX_ROWS = 1_000_000
PAGE_ROWS = 500
ROWS_WITH_VARIABLES = 50
"""Rows of a page that has variables as columns: their values can be large."""
MAX_COLUMNS = 50
MAX_VARIABLES = 10
VARIABLE = "variable:"
"""It stands in front of the name of a variable that is a column."""
READ_AT = "readAt"

Row = dict[str, Any]


class ExportBody(Body, frozen=True):
    filter: dict[str, Any] | None = None
    sort: list[SortBody] | None = None
    columns: list[str] | None = None


_decoder = decoder(ExportBody)
_rows = msgspec.json.Decoder(Row)


class Export(msgspec.Struct, frozen=True):
    """A list as CSV: what is searched, and the columns of the file. `names`: variables among them.

    `need`: the permission. `key`: the field with the key of the process instance whose variables can be columns.
    """

    need: Need
    resource: Resource
    key: str | None
    query: SearchQuery
    columns: tuple[str, ...]
    names: tuple[str, ...]


class _Part(NamedTuple):
    """A page of the file. `bytes`: of its rows as documents. `end`: the cursor behind the last row."""

    text: str
    rows: int
    bytes: int
    end: str | None


def exporting(resource: Resource, file_name: str, key: str | None = None) -> Callable[[Need], Handler]:
    """The handler, for callers with a permission, that answers what a search finds as CSV.

    `key`: the field with the key of the process instance whose variables can be columns; None: none can.
    """

    def handler(need: Need) -> Handler:
        async def export(request: Request, services: Services) -> Response:
            return await _answer(request, services, _read(request, services, need, resource, key), file_name)

        return export

    return handler


def _read(request: Request, services: Services, need: Need, resource: Resource, key: str | None) -> Export:
    """The list that a request asks for: in its body, or, for links, in its parameter `query`. Raises Problem 400."""
    settings = services.settings
    if request.method == "POST":
        body = decode(request, _decoder, settings) if request.body.strip() else ExportBody()
    else:
        body = decode_json(request.query.get("query", "{}").encode(), _decoder, settings.max_nesting)
    columns = tuple(body.columns) if body.columns else tuple(field.name for field in resource.fields if field.shown)
    names = _variables(columns, resource, takes_variables=key is not None)
    limit = ROWS_WITH_VARIABLES if names else PAGE_ROWS
    sort = sorts_of(body.sort or [], resource)
    query = SearchQuery(body.filter or {}, sort, limit, max_bytes=settings.max_page_bytes, counts=False)
    return Export(need, resource, key, query, columns, names)


def _variables(columns: Sequence[str], resource: Resource, *, takes_variables: bool) -> tuple[str, ...]:
    """The names of the variables that are columns. Raises Problem 400 for columns that there are not, or too many."""
    if len(columns) > MAX_COLUMNS or len(set(columns)) < len(columns):
        raise invalid_argument(f"A list as CSV has at most {MAX_COLUMNS} columns, each of them once")
    known = {field.name for field in resource.fields if field.shown}
    names = tuple(each.removeprefix(VARIABLE) for each in columns if takes_variables and each.startswith(VARIABLE))
    for column in columns:
        if column not in known and not (takes_variables and column.startswith(VARIABLE)):
            raise unexpected_value(column, "columns", tuple(sorted(known)))
    if len(names) > MAX_VARIABLES:
        raise invalid_argument(f"A list as CSV has at most {MAX_VARIABLES} variables as columns")
    if any("\0" in name for name in names):
        raise bad_request("The name of a variable contains a NUL character")
    return names


async def _answer(request: Request, services: Services, export: Export, file_name: str) -> Response:
    headers = ((b"content-type", b"text/csv; charset=utf-8"), disposition(f"{file_name}.csv"), *SAFE)
    parts = _parts(request, services, export)
    first = await anext(parts)  # before the head: what fails by now has a status
    if request.method == "HEAD":
        await parts.aclose()
        return Response(200, headers=headers, more_bytes=None)
    head = MARK + line([*map(_title, export.columns), READ_AT])
    return Response(200, head.encode() + first, headers, rest=parts, more_bytes=None)


def _title(column: str) -> str:
    return column.removeprefix(VARIABLE)


async def _parts(request: Request, services: Services, export: Export) -> AsyncGenerator[bytes]:
    """The lines of each page. The last one says so if there are more rows than a file may have."""
    query, most, left = export.query, export.query.limit, MAX_ROWS
    while True:
        query = msgspec.structs.replace(query, limit=min(most, left))
        try:
            part = await _part(request, services, export, query)
        except ItemsTooLarge as error:
            if query.limit == 1:
                raise problem_of(error) from error
            most = query.limit // 2
            continue
        left -= part.rows
        is_last = part.rows < query.limit
        query = msgspec.structs.replace(query, after=part.end)
        if not (is_last or left):
            is_last = True
            if await _has_more(request, services, export, query):
                part = part._replace(text=part.text + line([f"The file ends after {MAX_ROWS} rows, its limit"]))
        yield part.text.encode()
        if is_last:
            return
        if part.bytes <= query.max_bytes // 4:
            most = min(most * 2, export.query.limit)
        request = await renewed(request, services, export.need)


async def _part(request: Request, services: Services, export: Export, query: SearchQuery) -> _Part:
    """A page of the file. Raises ItemsTooLarge."""
    prepared = prepare_query(request, export.resource, query)
    async with _turn(services):
        at = iso_datetime(await read(services, single_reads.moment))
        items, end = await _found(request, services, prepared)
        rows = [_rows.decode(item) for item in items]
        keys = [row[export.key] for row in rows] if export.key else []
        values = await _values(request, services, export, keys, export.names)
    text = "".join(line([*_cells(row, values, export), at]) for row in rows)
    return _Part(text, len(rows), sum(map(len, items)), end)


@asynccontextmanager
async def _turn(services: Services) -> AsyncGenerator[None]:
    """One of the pages that are read at a time. Raises Problem 503 if others have them all for too long."""
    exporting = services.reads.exporting
    with trio.move_on_after(services.settings.response_timeout_s) as waiting:
        await exporting.acquire()
    if waiting.cancelled_caught:
        raise Problem(503, "RESOURCE_EXHAUSTED", "Other lists as CSV are being read; try again later", LATER)
    try:
        yield
    finally:
        exporting.release()


async def _has_more(request: Request, services: Services, export: Export, query: SearchQuery) -> bool:
    """Whether there is a row behind the last page."""
    prepared = prepare_query(request, export.resource, msgspec.structs.replace(query, limit=1))
    async with _turn(services):
        items, _ = await _found(request, services, prepared)
    return bool(items)


async def _found(request: Request, services: Services, prepared: SearchStatement) -> tuple[Sequence[bytes], str | None]:
    """The rows of a page as documents, and its end. Raises ItemsTooLarge."""
    with services.reads.pages.share() as share:
        page = await fetch_page(request, services, prepared, share)
        return page.items, page.end


async def _values(
    request: Request, services: Services, export: Export, keys: Sequence[str], names: Sequence[str]
) -> Mapping[tuple[str, str], str]:
    """Key of an instance and name → value of the variable in the instance's own scope. A long one ends with `…`.

    Those of one instance that are too large together are read one by one. Raises ItemsTooLarge for several instances.
    """
    if not names or not keys:
        return {}
    filter = {"scopeKey": {"$in": list(keys)}, "name": {"$in": list(names)}}
    query = SearchQuery(filter, limit=len(keys) * len(names), max_bytes=export.query.max_bytes, counts=False)
    try:
        items, _ = await _found(request, services, prepare_query(request, VARIABLE_PREVIEWS, query))
    except ItemsTooLarge:
        if len(keys) > 1 or len(names) == 1:
            raise
        each = [await _values(request, services, export, keys, [name]) for name in names]
        return {place: value for values in each for place, value in values.items()}
    return {(item["scopeKey"], item["name"]): _shown(item) for item in map(_rows.decode, items)}


def _shown(variable: Row) -> str:
    """The value of a variable as a text. A text of JSON stands without its quotation marks."""
    value: str = variable["value"]
    if variable["isTruncated"]:
        return f"{value}…"
    return text_of(msgspec.json.decode(value)) if value.startswith('"') else value


def _cells(item: Row, values: Mapping[tuple[str, str], str], export: Export) -> list[str]:
    if export.key is None:
        return [text_of(item[column]) for column in export.columns]
    of = partial(_value, values, item[export.key])
    return [of(column) if column.startswith(VARIABLE) else text_of(item[column]) for column in export.columns]


def _value(values: Mapping[tuple[str, str], str], key: str, column: str) -> str:
    return values.get((key, column.removeprefix(VARIABLE)), "")
