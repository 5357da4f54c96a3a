"""The search for all resources: filter, sort, page and total as one statement.

The text of a statement comes only from the resource's fields; every value of a request is a parameter. A page is found
by keyset: its cursor holds the sort values and the key of a row. A page therefore costs the same wherever it is.

Nulls sort as in PostgreSQL: they are larger than all values.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

import msgspec

from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres import sql_files
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import Statement
from vivero.storage.search.cursors import encode_cursor
from vivero.storage.search.filters import condition_of_path, join, of_tenants
from vivero.storage.search.pages import search_of
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.problems import ItemsTooLarge
from vivero.storage.search.queries import MAX_PAGE_BYTES, MAX_TOTAL, Page, SearchQuery
from vivero.storage.search.resources import Resource


class PageTooLarge(Exception):
    """The page has `size` bytes, more than the caller has reserved."""

    def __init__(self, size: int) -> None:
        super().__init__(f"the page needs {size} bytes: ask again later, or for fewer items")
        self.size = size


class SearchStatement(msgspec.Struct, frozen=True):
    """The statement of a search, for `run`."""

    text: str
    values: list[Any]
    """The last value is the byte limit of the page; `run` replaces it."""
    backwards: bool
    max_bytes: int = MAX_PAGE_BYTES
    of_tenants: bool = True
    """Whether it reads rows that belong to tenants."""


class _Row(NamedTuple):
    total: int
    item: bytes | None
    cursor: bytes
    size: Decimal | None
    """The bytes of all items of the page."""


def prepare(
    resource: Resource, query: SearchQuery, *extra: tuple[str, Any], tenants: Tenants = None
) -> SearchStatement:
    """Prepares a search among the rows of these tenants.

    `extra` are conditions beside the filter: (name of `within` or of a field, value).

    Raises:
        BadQuery: the query's problem, as `Unparsable`, `UnexpectedValue` or `Invalid`.
    """
    text, values = statement(resource, query, *extra, tenants=tenants)
    return SearchStatement(text, values, query.before is not None, query.max_bytes, resource.of_tenants)


async def run(connection: Connection, prepared: SearchStatement, most: int | None = None) -> Page:
    """Runs a prepared search; returns its page.

    Raises:
        PageTooLarge: the items have more than `most` bytes together.
        ItemsTooLarge: the items have more bytes together than any page may have.
    """
    most = prepared.max_bytes if most is None else min(most, prepared.max_bytes)
    rows = [_Row(*row) for row in (await connection.execute(prepared.text, [*prepared.values[:-1], most])).rows]
    found = [(row.item, row.cursor) for row in rows if row.item is not None]
    first = rows[0]
    if not found and first.size is not None:
        if first.size <= prepared.max_bytes:
            raise PageTooLarge(int(first.size))
        raise ItemsTooLarge(
            f"The items of the page have {first.size} bytes but must not have more than {prepared.max_bytes} together:"
            " ask for fewer items at a time (page.limit)"
        )
    if prepared.backwards:
        found.reverse()
    return Page(
        [item for item, _ in found],
        min(first.total, MAX_TOTAL),
        first.total > MAX_TOTAL,
        encode_cursor(found[0][1]) if found else None,
        encode_cursor(found[-1][1]) if found else None,
    )


async def get(connection: Connection, resource: Resource, key: int, tenants: Tenants = None) -> bytes | None:
    """The row of one of these tenants with this key as a JSON document, None if it does not exist."""
    visible = [f"({resource.visible})"]
    document: bytes | None = await _value(connection, resource, resource.document, key, visible, tenants)
    return document


async def get_by(connection: Connection, resource: Resource, column: str, id: str) -> bytes | None:
    """The row with this text in a column (SQL) as a JSON document, None if it does not exist."""
    text = f"SELECT {resource.document} FROM {resource.source} WHERE {column} = $1::text AND ({resource.visible})"
    rows = (await connection.execute(text, (id,))).rows
    return rows[0][0] if rows else None


async def process_of(connection: Connection, resource: Resource, key: int, tenants: Tenants = None) -> str | None:
    """The id of the process that the row with this key belongs to, None if these tenants have no such row."""
    id: str | None = await _value(connection, resource, resource.process, key, [], tenants)
    return id


async def fits(
    connection: Connection, resource: Resource, key: int, condition: tuple[str, Any], tenants: Tenants = None
) -> bool:
    """Whether these tenants have a row with this key that fulfils a condition: (name of `within`, value)."""
    parameters = Parameters(tenants is not None)
    by_key = f"{resource.key} = {parameters.add(key, 'bigint')}"
    conditions = [
        by_key,
        condition_of_path(resource, *condition, parameters),
        *of_tenants(resource, tenants, parameters),
    ]
    text = f"SELECT FROM {resource.source} WHERE {join(conditions)}"
    return bool((await connection.execute(text, parameters.values)).rows)


async def _value(
    connection: Connection, resource: Resource, column: str, key: int, conditions: list[str], tenants: Tenants
) -> Any:
    parameters = Parameters(tenants is not None)
    by_key = f"{resource.key} = {parameters.add(key, 'bigint')}"
    conditions = [by_key, *conditions, *of_tenants(resource, tenants, parameters)]
    text = f"SELECT {column} FROM {resource.source} WHERE {' AND '.join(conditions)}"
    query = text if tenants is None else _prepared(text)
    rows = (await connection.execute(query, parameters.values)).rows
    return rows[0][0] if rows else None


@cache
def _prepared(text: str) -> Statement:
    """A statement by key for some tenants. To plan the policies each time costs more than to read the row."""
    return sql_files.statement("search.by_key", text, "One for each resource.")


def statement(
    resource: Resource, query: SearchQuery, *extra: tuple[str, Any], tenants: Tenants = None
) -> tuple[str, list[Any]]:
    """The statement of a query, and its parameters.

    Each row has the total, a document, its cursor values, and the bytes of all documents. There is at least one row. If
    the documents are too large together, they are NULL.
    """
    parameters = Parameters(tenants is not None)
    return search_of(resource, query, extra, tenants, parameters), parameters.values
