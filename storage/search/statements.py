"""Search, once for all resources: filter, sort, page and total as one statement, made of a resource's table of fields.

Text of the statement comes from those tables alone; every value of a request is a parameter. Pages are found by keyset:
the cursor holds the sort values and the key of a row, so that a page costs the same wherever it is.

PostgreSQL's order is kept for nulls: larger than everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from vivero.storage.postgres.driver import Connection
from vivero.storage.search.cursors import BadCursor, decode_cursor, encode_cursor
from vivero.storage.search.fields import KEY, Field, Invalid, Parameters, Unparsable, condition, conditions

MAX_TOTAL = 10_000
"""Rows are counted up to this; `Page.more` says that there are more."""
MAX_OFFSET = 1_000_000
MAX_PAGE_BYTES = 32 * 1024 * 1024
MAX_CONDITIONS = 500
MAX_SORT = 20

Special = Callable[[Any, str, Parameters], str]
"""A filter of its own: (value, path, parameters) → SQL."""


@dataclass(frozen=True, slots=True)
class Nested:
    """Filters that one row of another table must all fit; `exists` has a place for its conditions."""

    exists: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Resource:
    """What can be searched: rows of `source` (a FROM clause) that `visible` lets through, identified by `key`."""

    name: str
    source: str
    key: str
    fields: tuple[Field, ...]
    visible: str = "true"
    special: Mapping[str, Special] = field(default_factory=dict)
    within: Mapping[str, Special] = field(default_factory=dict)
    """Conditions that a path asks for, never a client's filter."""
    nested: tuple[Nested, ...] = ()
    alternatives: bool = False
    """Whether a filter may have `$or`."""

    @property
    def by_name(self) -> Mapping[str, Field]:
        return {field.name: field for field in self.fields}

    @property
    def document(self) -> str:
        """SQL of a row as a JSON object."""
        pairs = ", ".join(f"'{field.name}', {field.as_json}" for field in self.fields if field.shown)
        return f"json_build_object({pairs})"


class Sort(msgspec.Struct, frozen=True):
    """One criterion of the order."""

    field: Field
    descending: bool = False


class Query(msgspec.Struct, frozen=True):
    """What is wanted. At most one of `after` and `before` (cursors), and `offset` only without them."""

    filter: Mapping[str, Any] = {}
    sort: tuple[Sort, ...] = ()
    limit: int = 100
    offset: int = 0
    after: str | None = None
    before: str | None = None
    max_bytes: int = MAX_PAGE_BYTES
    """Of the items together; a single one may be larger."""


class Page(msgspec.Struct, frozen=True):
    """What was found: items are JSON documents."""

    items: Sequence[bytes]
    total: int
    more: bool
    """There are more than `total`."""
    start: str | None
    end: str | None


class OutOfMemory(Exception):
    """The items of the page have `size` bytes together, more than the caller has memory for now."""

    def __init__(self, size: int) -> None:
        super().__init__(f"the page has {size} bytes")
        self.size = size


class Prepared(msgspec.Struct, frozen=True):
    """A search that was understood: what `run` needs."""

    text: str
    values: list[Any]
    """The last one of a page is the limit of its bytes."""
    backwards: bool
    max_bytes: int = MAX_PAGE_BYTES


def prepare(resource: Resource, query: Query, *extra: tuple[str, Any]) -> Prepared:
    """Make the statement of a search; `extra` are conditions beside the filter: (name of `within` or a field, value).

    Raises:
        BadQuery: `Unparsable`, `UnexpectedValue` or `Invalid`, what is wrong with the query.
    """
    text, values = statement(resource, query, *extra)
    return Prepared(text, values, query.before is not None, query.max_bytes)


async def run(connection: Connection, prepared: Prepared, most: int | None = None) -> Page:
    """The page that was asked for.

    Raises:
        OutOfMemory: its items have more than `most` bytes together.
        Invalid: they have more than any page may have: nobody can hold ten thousand large values.
    """
    most = prepared.max_bytes if most is None else min(most, prepared.max_bytes)
    rows = (await connection.execute(prepared.text, [*prepared.values[:-1], most])).rows
    found = [row for row in rows if row[1] is not None]
    if not found and rows[0][3] is not None:
        if rows[0][3] <= prepared.max_bytes:
            raise OutOfMemory(int(rows[0][3]))
        raise Invalid(
            f"The items of the page have {rows[0][3]} bytes but must not have more than {prepared.max_bytes} together:"
            " ask for fewer at a time (page.limit)"
        )
    if prepared.backwards:
        found.reverse()
    total: int = rows[0][0]
    return Page(
        [row[1] for row in found],
        min(total, MAX_TOTAL),
        total > MAX_TOTAL,
        encode_cursor(found[0][2]) if found else None,
        encode_cursor(found[-1][2]) if found else None,
    )


async def get(connection: Connection, resource: Resource, key: int) -> bytes | None:
    """The row with this key as a JSON document, None when there is none."""
    text = (
        f"SELECT {resource.document} FROM {resource.source} WHERE {resource.key} = $1::bigint AND ({resource.visible})"
    )
    rows = (await connection.execute(text, (key,))).rows
    return rows[0][0] if rows else None


def prepare_statistics(resource: Resource, filter: Mapping[str, Any], *extra: tuple[str, Any]) -> Prepared:
    """The statement that counts the elements of the process instances that fit: a JSON array. Raises BadQuery."""
    parameters = Parameters()
    conditions = [_asked_for(resource, name, value, parameters) for name, value in extra]
    conditions += _conditions(resource, filter, "filter", parameters)
    text = _STATISTICS.format(f"SELECT {resource.key} FROM {resource.source} WHERE {_all(conditions)}")
    return Prepared(text, parameters.values, False)


_STATISTICS = """
SELECT coalesce(json_agg(s ORDER BY s."elementId"), '[]') FROM (
    SELECT e.element_id AS "elementId", count(*) FILTER (WHERE e.ended_at IS NULL AND e.incidents = 0) AS active,
        count(*) FILTER (WHERE e.state = 'TERMINATED') AS canceled,
        count(*) FILTER (WHERE e.ended_at IS NULL AND e.incidents > 0) AS incidents,
        count(*) FILTER (WHERE e.state = 'COMPLETED') AS completed
    FROM element_instances e
    WHERE e.process_instance_key IN ({}) AND e.element_type <> 'MULTI_INSTANCE_BODY'
    GROUP BY e.element_id
) s
"""


async def run_statistics(connection: Connection, prepared: Prepared) -> bytes:
    """The counts, as a JSON array."""
    document: bytes = (await connection.execute(prepared.text, prepared.values)).rows[0][0]
    return document


def statement(resource: Resource, query: Query, *extra: tuple[str, Any]) -> tuple[str, list[Any]]:
    """The statement of a query and its parameters.

    Each row: total, document, cursor values, bytes of all documents. There is one row at least. Where the documents are
    too large together, there are none.
    """
    parameters = Parameters()
    conditions = [resource.visible]
    conditions += [_asked_for(resource, name, value, parameters) for name, value in extra]
    conditions += _conditions(resource, query.filter, "filter", parameters)
    matching = f"{resource.source} WHERE {_all(conditions)}"
    order = (*query.sort, Sort(Field("", resource.key, KEY)))
    beyond = _beyond(order, query, parameters)
    paged = matching if beyond is None else f"{matching} AND ({beyond})"
    backwards = query.before is not None
    order_by = ", ".join(f"{sort.field.order_sql} {_direction(sort, backwards)}" for sort in order)
    cursor = ", ".join(sort.field.order_sql for sort in order)
    page = (
        f"SELECT {resource.document} AS item, json_build_array({cursor}) AS cursor,"
        f" row_number() OVER (ORDER BY {order_by}) AS place"
        f" FROM {paged} ORDER BY {order_by}"
        f" LIMIT {parameters.add(query.limit, 'int')} OFFSET {parameters.add(query.offset, 'int')}"
    )
    text = _bounded(matching, page, parameters.add(query.max_bytes, "bigint"))
    return text, parameters.values


def _bounded(matching: str, page: str, max_bytes: str) -> str:
    """A page with the total of what matches, and without its documents where they are too large together."""
    return (
        f"SELECT counted.total, CASE WHEN found.size <= {max_bytes} OR found.items = 1 THEN found.item END,"
        f" found.cursor, found.size FROM"
        f" (SELECT count(*) AS total FROM (SELECT FROM {matching} LIMIT {MAX_TOTAL + 1}) AS every) AS counted"
        f" LEFT JOIN (SELECT page.*, count(*) OVER () AS items, sum(octet_length(item::text)) OVER () AS size"
        f" FROM ({page}) AS page) AS found ON true"
        f" ORDER BY found.place"
    )


def _direction(sort: Sort, backwards: bool) -> str:
    return "DESC" if sort.descending != backwards else "ASC"


# ----------------------------------------------------------------------------------------------------- filters


def _asked_for(resource: Resource, name: str, value: Any, parameters: Parameters) -> str:
    """A condition that no client wrote."""
    within = resource.within.get(name)
    return within(value, name, parameters) if within else condition(resource.by_name[name], value, name, parameters)


def _conditions(resource: Resource, filter: Mapping[str, Any], path: str, parameters: Parameters) -> list[str]:
    """The conditions of a filter, or of one of its alternatives: all must hold."""
    left = dict(filter)
    parts = [part for nested in resource.nested if (part := _nested(nested, left, path, parameters))]
    for name, value in left.items():
        at = f"{path}.{name[:50]}"
        if name == "$or" and path == "filter":
            parts.append(_alternatives(resource, value, at, parameters))
        else:
            parts.append(_entry(resource, name, value, at, parameters))
    if len(parameters.values) > MAX_CONDITIONS:
        raise Invalid(f"The filter has more than {MAX_CONDITIONS} conditions")
    return parts


def _nested(nested: Nested, left: dict[str, Any], path: str, parameters: Parameters) -> str | None:
    """The condition on another table, and its entries taken out of the filter."""
    entries = [(field, left.pop(field.name)) for field in nested.fields if field.name in left]
    parts = [
        part
        for field, value in entries
        if value is not None
        for part in conditions(field, value, f"{path}.{field.name}", parameters)
    ]
    return nested.exists.format(" AND ".join(f"({part})" for part in parts)) if parts else None


def _entry(resource: Resource, name: str, value: Any, path: str, parameters: Parameters) -> str:
    special = resource.special.get(name)
    if special is not None:
        return "true" if value is None else special(value, path, parameters)
    field = resource.by_name.get(name)
    if field is None or not field.operators:
        raise Unparsable(path)
    return "true" if value is None else condition(field, value, path, parameters)


def _alternatives(resource: Resource, value: Any, path: str, parameters: Parameters) -> str:
    if value is None:
        return "true"
    if not resource.alternatives or type(value) is not list or any(type(branch) is not dict for branch in value):
        raise Unparsable(path)
    if len(value) > MAX_CONDITIONS:
        raise Invalid(f"The filter has more than {MAX_CONDITIONS} alternatives")
    branches = [_conditions(resource, branch, f"{path}[{i}]", parameters) for i, branch in enumerate(value)]
    return " OR ".join(f"({_all(branch)})" for branch in branches) or "true"


def _all(conditions: list[str]) -> str:
    return " AND ".join(f"({each})" for each in conditions) or "true"


# ----------------------------------------------------------------------------------------------------- cursors


def _beyond(order: Sequence[Sort], query: Query, parameters: Parameters) -> str | None:
    """The condition of being past the cursor, None without one."""
    cursor = query.after if query.after is not None else query.before
    if cursor is None:
        return None
    try:
        values = decode_cursor(cursor)
        if len(values) != len(order) or values[-1] is None:
            raise BadCursor("it does not fit the sort order")
        values = [None if v is None else sort.field.type.from_cursor(v) for v, sort in zip(values, order, strict=True)]
    except BadCursor as error:
        raise Invalid(f"The cursor '{cursor[:100]}' cannot be used: {error}") from error
    backwards = query.before is not None
    alternatives: list[str] = []
    equal: list[str] = []
    for sort, value in zip(order[:-1], values[:-1], strict=True):
        sql = sort.field.order_sql
        place = None if value is None else parameters.add(value, sort.field.type.cast)
        alternatives.append(" AND ".join([*equal, _past(sql, place, sort.descending != backwards)]))
        equal.append(f"{sql} IS NULL" if place is None else f"{sql} = {place}")
    sign = "<" if backwards else ">"  # of the key, which is never null: so that this can be an index condition
    alternatives.append(" AND ".join([*equal, f"{order[-1].field.sql} {sign} {parameters.add(values[-1], 'bigint')}"]))
    return " OR ".join(f"({alternative})" for alternative in alternatives)


def _past(sql: str, place: str | None, descending: bool) -> str:
    """`sql` comes after the value at `place`; nulls come last ascending, and first descending."""
    if descending:
        return f"{sql} IS NOT NULL" if place is None else f"{sql} < {place}"
    return "false" if place is None else f"({sql} > {place} OR {sql} IS NULL)"


def check_page(limit: int | None, offset: int | None, after: str | None, before: str | None) -> list[str]:
    """What is wrong with a page that was asked for."""
    found = []
    if limit is not None and not 1 <= limit <= MAX_TOTAL:
        found.append(f"The value for page.limit is '{limit}' but must be between 1 and {MAX_TOTAL}")
    if offset is not None and not 0 <= offset <= MAX_OFFSET:
        found.append(f"The value for page.from is '{offset}' but must be between 0 and {MAX_OFFSET}")
    if after is not None and before is not None:
        found.append("Both after and before cannot be set at the same time")
    elif offset is not None and (after is not None or before is not None):
        found.append("Both after/before and from cannot be set at the same time")
    return found
