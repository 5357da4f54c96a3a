"""Grouped searches: the rows of a resource that fit a filter are counted by group. Groups sort and page like rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vivero.storage.access.tenants import Tenants
from vivero.storage.search.filters import matching
from vivero.storage.search.pages import page_of
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.problems import Invalid
from vivero.storage.search.queries import SearchQuery, Sort
from vivero.storage.search.resources import Resource
from vivero.storage.search.statements import SearchStatement

GroupsOfRows = Callable[[str, Mapping[str, Any]], str]
"""(what follows FROM: the rows, with their WHERE; filter) → SQL. It may raise BadQuery."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of the rows of a resource.

    `rows` has the fields of the filter, `sql` makes the groups, and `items` shows them (as `g`).
    """

    rows: Resource
    sql: GroupsOfRows
    items: Resource
    order: tuple[tuple[str, bool], ...] = ()
    """The sort of a request without one: (field of `items`, whether descending)."""
    required: tuple[str, ...] = ()
    """The fields that a filter must have."""

    @property
    def default_sort(self) -> tuple[Sort, ...]:
        return tuple(Sort(self.items.by_name[name], descending) for name, descending in self.order)


def require(filter: Mapping[str, Any], names: Sequence[str], path: str = "filter.") -> None:
    """Raises Invalid if a filter lacks some of these fields."""
    missing = [name for name in names if filter.get(name) is None]
    if missing:
        raise Invalid(" ".join(f"No {path}{name} provided." for name in missing).removesuffix("."))


def prepare_groups(
    groups: Groups, query: SearchQuery, *extra: tuple[str, Any], tenants: Tenants = None
) -> SearchStatement:
    """Prepares a search for groups of the rows of these tenants; `extra` are conditions on the rows.

    Raises:
        BadQuery: the query's problem, as for `statements.prepare`.
    """
    require(query.filter, groups.required)
    parameters = Parameters(tenants is not None)
    rows = matching(groups.rows, query.filter, extra, tenants, parameters)
    made = groups.sql(rows, query.filter)
    page = page_of(groups.items, "g WHERE true", query, query.sort or groups.default_sort, parameters)
    text = f"WITH g AS MATERIALIZED ({made}) {page}"
    return SearchStatement(text, parameters.values, query.before is not None, query.max_bytes)
