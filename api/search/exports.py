"""Lists as CSV: all rows that a search finds, read page by page while the client receives them.

Each page is a statement of its own, and nothing is held while a client is slow: no connection, no snapshot, no share of
the memory for pages. The file therefore does not show one moment: each row says when it was read.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from vivero.api.http.decoding import Body, decode, decode_json, decoder
from vivero.api.http.downloads import SAFE, disposition
from vivero.api.http.problems import bad_request, invalid_argument, unexpected_value
from vivero.api.http.request import Request
from vivero.api.http.response import Response, iso_datetime
from vivero.api.reading import read
from vivero.api.search.csv_text import MARK, line, text_of
from vivero.api.search.search_requests import Handler, SortBody, page_of, prepare_query, sorts_of
from vivero.api.services import Services
from vivero.storage.reads import single_reads
from vivero.storage.search.queries import Page, SearchQuery
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
    """A list as CSV: what is searched, and the columns of the file. `names`: variables among them."""

    resource: Resource
    query: SearchQuery
    columns: tuple[str, ...]
    names: tuple[str, ...]


def exporting(resource: Resource, file_name: str, key: str | None = None) -> Handler:
    """A handler that answers what a search finds as CSV.

    `key`: the field with the key of the process instance whose variables can be columns; None: none can.
    """

    async def export(request: Request, services: Services) -> Response:
        return await _answer(request, services, _read(request, services, resource, key), file_name, key)

    return export


def _read(request: Request, services: Services, resource: Resource, key: str | None) -> Export:
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
    query = SearchQuery(body.filter or {}, sort, limit, max_bytes=settings.max_page_bytes)
    return Export(resource, query, columns, names)


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


async def _answer(request: Request, services: Services, export: Export, file_name: str, key: str | None) -> Response:
    headers = ((b"content-type", b"text/csv; charset=utf-8"), disposition(f"{file_name}.csv"), *SAFE)
    lines = _lines(request, services, export, key)
    first = await anext(lines)  # before the head: what fails by now has a status
    if request.method == "HEAD":
        await lines.aclose()
        return Response(200, headers=headers, more_bytes=None)
    head = MARK + line([*map(_title, export.columns), READ_AT])
    return Response(200, head.encode() + first, headers, rest=lines, more_bytes=None)


def _title(column: str) -> str:
    return column.removeprefix(VARIABLE)


async def _lines(request: Request, services: Services, export: Export, key: str | None) -> AsyncGenerator[bytes]:
    """The lines of each page. The last one says so if there are more rows than a file may have."""
    query, rows = export.query, 0
    while True:
        prepared = prepare_query(request, export.resource, query)
        async with services.reads.exporting:
            at = iso_datetime(await read(services, single_reads.moment))
            page = await _found(request, services, prepared)
            items = [_rows.decode(item) for item in page.items]
            values = await _values(request, services, export, [item[key] for item in items] if key else [])
        rows += len(items)
        is_last = len(items) < query.limit
        limited = "" if is_last or rows < MAX_ROWS else line([f"The file ends after {rows} rows, its limit"])
        yield ("".join(line([*_cells(item, values, export, key), at]) for item in items) + limited).encode()
        if is_last or limited:
            return
        query = msgspec.structs.replace(query, after=page.end)


async def _found(request: Request, services: Services, prepared: SearchStatement) -> Page:
    with services.reads.pages.share() as share:
        return await page_of(request, services, prepared, share)


async def _values(
    request: Request, services: Services, export: Export, keys: Sequence[str]
) -> Mapping[tuple[str, str], str]:
    """Key of an instance and name → value of the variable in the instance's own scope. A long one ends with `…`."""
    if not export.names or not keys:
        return {}
    filter = {"scopeKey": {"$in": list(keys)}, "name": {"$in": list(export.names)}}
    query = SearchQuery(filter, limit=len(keys) * len(export.names), max_bytes=export.query.max_bytes)
    found = await _found(request, services, prepare_query(request, VARIABLE_PREVIEWS, query))
    return {(item["scopeKey"], item["name"]): _shown(item) for item in map(_rows.decode, found.items)}


def _shown(variable: Row) -> str:
    """The value of a variable as a text. A text of JSON stands without its quotation marks."""
    value: str = variable["value"]
    if variable["isTruncated"]:
        return f"{value}…"
    return text_of(msgspec.json.decode(value)) if value.startswith('"') else value


def _cells(item: Row, values: Mapping[tuple[str, str], str], export: Export, key: str | None) -> list[str]:
    if key is None:
        return [text_of(item[column]) for column in export.columns]
    of = partial(_value, values, item[key])
    return [of(column) if column.startswith(VARIABLE) else text_of(item[column]) for column in export.columns]


def _value(values: Mapping[tuple[str, str], str], key: str, column: str) -> str:
    return values.get((key, column.removeprefix(VARIABLE)), "")
