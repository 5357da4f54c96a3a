"""The statement of a page, and of the number of all rows: `statements.py` says what a search is.

PostgreSQL expects rows that fit a filter everywhere in an order. It knows neither how many instances share the value of
a variable nor that most instances end soon after they began. Where that makes it read very many rows, the keys of the
page's rows are looked for apart: in lists of which each has an index that gives its order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivero.storage.access.tenants import Tenants
from vivero.storage.search.conditions import is_given
from vivero.storage.search.fields import RANGE, Field
from vivero.storage.search.filters import matching
from vivero.storage.search.keysets import past_cursor
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.queries import MAX_TOTAL, SearchQuery, Sort
from vivero.storage.search.resources import Part, Resource
from vivero.storage.search.shared_filters import Sharing, sharing

FEW = 5_000
"""Rows of variables with one value, or of instances that fit the rest of a filter: so many are read and sorted. With
more of both, a search goes through the instances in the order of the page, and finds enough soon."""
SPARE = 2_000
"""Rows that may be of instances with the value several times, before the total is counted in another way."""

Extra = Sequence[tuple[str, Any]]


class _Wanted(NamedTuple):
    """The first rows of a page: `most` of `rows` (FROM … WHERE …, without FROM), in an order, past a cursor."""

    resource: Resource
    rows: str
    order: tuple[Sort, ...]
    backwards: bool
    most: int
    beyond: str | None

    @property
    def past(self) -> str:
        """The rows past the cursor."""
        return self.rows if self.beyond is None else f"{self.rows} AND ({self.beyond})"

    @property
    def order_by(self) -> str:
        return self._by(sort.field.order_sql for sort in self.order)

    def _by(self, values: Any) -> str:
        return ", ".join(f"{v} {_direction(sort, self.backwards)}" for v, sort in zip(values, self.order, strict=True))

    @property
    def columns(self) -> str:
        """The key, the values of the order, and whether a row is past the cursor."""
        values = (f"{sort.field.order_sql} AS s{n}" for n, sort in enumerate(self.order))
        return ", ".join((f"{self.resource.key} AS key", *values, f"({self.beyond or 'true'}) AS past"))

    def walk(self, condition: str = "true") -> str:
        """The keys (an array) of the first rows that fulfil a condition, found in the order of an index."""
        chosen = f"SELECT {self.resource.key} FROM {self.past} AND {condition}"
        return f"ARRAY({chosen} ORDER BY {self.order_by} LIMIT {self.most})"

    def sort(self, source: str) -> str:
        """The keys (an array) of the first rows of a source with `columns`: all of its rows are read."""
        order_by = self._by(f"s{n}" for n in range(len(self.order)))
        return f"ARRAY(SELECT key FROM {source} WHERE past ORDER BY {order_by} LIMIT {self.most})"

    def sort_those(self, condition: str) -> str:
        """The same for the rows that fulfil a condition, which has an index. OFFSET 0: nothing but this chooses it."""
        return self.sort(f"(SELECT {self.columns} FROM {self.rows} AND {condition} OFFSET 0) AS those")

    def sort_parts(self, parts: Sequence[Part]) -> str:
        """The same for the rows of parts. A part in whose order they are wanted gives its first ones, others give all:
        PostgreSQL would look for the first ones in the order of another index."""
        first = f"ORDER BY {self.order_by} LIMIT {self.most}"
        by = self.order[0].field.order_sql
        chosen = [
            _of_part(part, f"SELECT {self.columns} FROM {self.past} AND {part.condition} {end}")
            for part in parts
            for end in [first if part.order == by else "OFFSET 0"]
        ]
        return self.sort(f"({' UNION ALL '.join(chosen)}) AS those")

    def among(self, keys: str) -> str:
        """The rows with these keys (an array)."""
        return f"{self.resource.source} WHERE {self.resource.key} = ANY ({keys})"


def search_of(resource: Resource, query: SearchQuery, extra: Extra, tenants: Tenants, parameters: Parameters) -> str:
    """The statement of a search among the rows of these tenants. Its last parameter is the byte limit."""
    sort = query.sort or tuple(Sort(field) for field in ranges_of(resource, query.filter)[:1])
    shared = None
    if not parameters.limited and query.offset <= MAX_TOTAL:
        shared = sharing(resource, query.filter, parameters)
    if shared is not None:
        return _by_shared_value(resource, shared, query, extra, sort, parameters)
    divided = next((name for name in resource.parts if query.filter.get(name) is True), None)
    if divided is None or query.offset > MAX_TOTAL:
        return page_of(resource, matching(resource, query.filter, extra, tenants, parameters), query, sort, parameters)
    rest = {name: each for name, each in query.filter.items() if name != divided}
    rows = matching(resource, rest, extra, tenants, parameters)
    return _by_parts(resource.parts[divided], _wanted(resource, rows, query, sort, parameters), query, parameters)


def _by_parts(parts: Sequence[Part], wanted: _Wanted, query: SearchQuery, parameters: Parameters) -> str:
    """A search for rows of which each part has an index. No more of them are read than the page and the total need."""
    most = f"LIMIT {MAX_TOTAL + 1}"
    each = (_of_part(part, f"SELECT FROM {wanted.rows} AND {part.condition} {most}") for part in parts)
    total = f"(SELECT count(*) FROM ({' UNION ALL '.join(each)} {most}) AS every)"
    return _statement(wanted, wanted.among(wanted.sort_parts(parts)), total, query, parameters)


def _of_part(part: Part, rows: str) -> str:
    """The rows of a part: `rows` is their SELECT for one row of what the part is within."""
    return (
        f"({rows})" if part.within is None else f"(SELECT those.* FROM {part.within} CROSS JOIN LATERAL ({rows}) those)"
    )


def ranges_of(resource: Resource, filter: Mapping[str, Any]) -> list[Field]:
    """The fields whose ranges the filter has and whose order an index has."""
    return [field for field in resource.fields if field.orders and _is_range(filter.get(field.name))]


def _is_range(value: Any) -> bool:
    return bool(_given(value, *RANGE))


def page_of(resource: Resource, rows: str, query: SearchQuery, sort: Sequence[Sort], parameters: Parameters) -> str:
    """The statement of a page of `rows` (FROM … WHERE …, without FROM). Its last parameter is the byte limit."""
    wanted = _wanted(resource, rows, query, sort, parameters)
    keys = None
    if query.offset <= MAX_TOTAL:
        keys = _soon_or_late(wanted, query.filter, parameters) or _with_and_without(wanted, query.filter)
    paged = wanted.past if keys is None else wanted.among(keys)
    return _statement(wanted, paged, _count(rows), query, parameters)


def _wanted(resource: Resource, rows: str, query: SearchQuery, sort: Sequence[Sort], parameters: Parameters) -> _Wanted:
    order = (*sort, Sort(Field("", resource.key, resource.key_type)))
    beyond = past_cursor(order, query, parameters)
    return _Wanted(resource, rows, order, query.before is not None, query.limit + query.offset, beyond)


def _by_shared_value(
    resource: Resource, shared: Sharing, query: SearchQuery, extra: Extra, sort: Sequence[Sort], parameters: Parameters
) -> str:
    """A search by the value of a variable. PostgreSQL cannot know how many share it: the statement counts them first.

    The rows of few are read once, for the page and the total. If many share the value and few fit the rest of the
    filter, those few are read. Among many of both, a walk in the order soon finds the page.
    """
    rest = {name: each for name, each in query.filter.items() if name != shared.name}
    others = matching(resource, rest, extra, None, parameters)
    wanted = _wanted(resource, f"{others} AND {shared.condition}", query, sort, parameters)
    few = f"(SELECT count(*) FROM sharing) <= {FEW}"
    total, limit = _count(wanted.rows), FEW + 1
    tables: list[str] = []
    found = f"SELECT {wanted.columns} FROM {others} AND {_among(resource, 'sharing')} AND {few}"
    if rest or extra or resource.visible != "true":
        tables = [f"fitting AS MATERIALIZED (SELECT {resource.key} AS key FROM {others} AND NOT {few} LIMIT {FEW + 1})"]
        fewer = f"(SELECT count(*) FROM fitting) <= {FEW}"
        found += f" UNION ALL SELECT {wanted.columns} FROM {wanted.rows} AND {_among(resource, 'fitting')} AND {fewer}"
        few = f"({few} OR {fewer})"
    else:  # then each instance with the variable counts
        limit = MAX_TOTAL + SPARE
        many = f"(SELECT count(DISTINCT key) FROM sharing) > {MAX_TOTAL}"
        total = f"CASE WHEN {many} THEN {MAX_TOTAL + 1} ELSE {total} END"
    tables = [f"sharing AS MATERIALIZED ({shared.keys} LIMIT {limit})", *tables, f"found AS MATERIALIZED ({found})"]
    total = f"CASE WHEN {few} THEN (SELECT count(*) FROM found) ELSE {total} END"
    paged = wanted.among(f"CASE WHEN {few} THEN {wanted.sort('found')} ELSE {wanted.walk()} END")
    return f"WITH {', '.join(tables)} {_statement(wanted, paged, total, query, parameters)}"


def _among(resource: Resource, table: str) -> str:
    """The condition that a row's key is in a table."""
    return f"{resource.key} = ANY (ARRAY(SELECT DISTINCT key FROM {table}))"


def _with_and_without(wanted: _Wanted, filter: Mapping[str, Any]) -> str | None:
    """The keys of the first rows with a value in the first field, and of the first without one, if both are possible.

    An index has those with a value in their order. With the others among them, PostgreSQL would sort all rows.
    """
    field = wanted.order[0].field
    if not field.apart or not field.apart.isdisjoint(filter):
        return None
    return " || ".join(wanted.walk(f"{field.order_sql} IS {kind}") for kind in ("NULL", "NOT NULL"))


def _soon_or_late(wanted: _Wanted, filter: Mapping[str, Any], parameters: Parameters) -> str | None:
    """The keys of the first rows by a time that follows soon after another one, of which the filter has a range.

    Rows of the range have the later time within it or soon after, where a walk finds them. An index has all others.
    """
    field = wanted.order[0].field
    if (follows := field.follows) is None or field.name in filter:
        return None
    ends = _given(filter.get(follows.field), "$lt", "$lte")
    if not ends or follows.may_lack_it(filter) is None:
        return None
    begins = _given(filter[follows.field], "$gt", "$gte")
    value, places = field.order_sql, [parameters.add(field.type.read(each), field.type.cast) for each in ends + begins]
    near = [f"{value} <= {place} + interval '{follows.soon}'" for place in places[: len(ends)]]
    near += [f"{value} >= {place}" for place in places[len(ends) :]]
    found = [wanted.walk(" AND ".join(near)), wanted.sort_those(f"({follows.late})")]
    if follows.may_lack_it(filter):
        found.append(wanted.sort_those(f"{value} IS NULL"))
    return " || ".join(found)


def _given(range: Any, *operators: str) -> list[Any]:
    """The operands of these operators of a filter's entry."""
    return [range[name] for name in operators if is_given(name, range.get(name))] if isinstance(range, dict) else []


def _statement(wanted: _Wanted, paged: str, total: str, query: SearchQuery, parameters: Parameters) -> str:
    """The page of these rows, with the total (SQL); with NULL for the documents if they are too large together."""
    cursor = ", ".join(sort.field.order_sql for sort in wanted.order)
    page = (
        f"SELECT {wanted.resource.document} AS item, json_build_array({cursor}) AS cursor,"
        f" row_number() OVER (ORDER BY {wanted.order_by}) AS place"
        f" FROM {paged} ORDER BY {wanted.order_by}"
        f" LIMIT {parameters.add(query.limit, 'int')} OFFSET {parameters.add(query.offset, 'int')}"
    )
    max_bytes = parameters.add(query.max_bytes, "bigint")
    total = total if query.counts else "0"
    return (
        f"SELECT counted.total, CASE WHEN found.size <= {max_bytes} OR found.items = 1 THEN found.item END,"
        f" found.cursor, found.size FROM (SELECT {total} AS total) AS counted"
        f" LEFT JOIN (SELECT page.*, count(*) OVER () AS items, sum(octet_length(item::text)) OVER () AS size"
        f" FROM ({page}) AS page) AS found ON true"
        f" ORDER BY found.place"
    )


def _count(rows: str) -> str:
    """The number of rows, up to one more than is told."""
    return f"(SELECT count(*) FROM (SELECT FROM {rows} LIMIT {MAX_TOTAL + 1}) AS every)"


def _direction(sort: Sort, backwards: bool) -> str:
    return "DESC" if sort.descending != backwards else "ASC"
