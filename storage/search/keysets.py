"""Keyset pages: the condition of being past a cursor."""

from __future__ import annotations

from collections.abc import Sequence

from vivero.storage.search.cursors import BadCursor, decode_cursor
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.problems import Invalid
from vivero.storage.search.queries import SearchQuery, Sort


def past_cursor(order: Sequence[Sort], query: SearchQuery, parameters: Parameters) -> str | None:
    """The condition of being past the query's cursor, None without a cursor."""
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
    sign = "<" if backwards else ">"  # the key is never null: without IS NULL this can be an index condition
    key = order[-1].field
    alternatives.append(" AND ".join([*equal, f"{key.sql} {sign} {parameters.add(values[-1], key.type.cast)}"]))
    return " OR ".join(f"({alternative})" for alternative in alternatives)


def _past(sql: str, place: str | None, descending: bool) -> str:
    """The condition that `sql` comes after the value at `place`. Nulls come last ascending, first descending."""
    if descending:
        return f"{sql} IS NOT NULL" if place is None else f"{sql} < {place}"
    return "false" if place is None else f"({sql} > {place} OR {sql} IS NULL)"
