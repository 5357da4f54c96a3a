"""Filters that several resources share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from vivero.storage.search.conditions import condition
from vivero.storage.search.fields import TEXT, filtered
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.problems import Invalid, Unparsable
from vivero.storage.search.resources import Resource, SpecialFilter
from vivero.storage.state.normal_form import hash_of, normal_form

MAX_TAGS = 100
MAX_VARIABLES = 100
MAX_JOINED = 5
"""Variables of a filter that PostgreSQL may join with the instances in any order. The time to plan a join grows with
the square of the tables. Further variables are checked on the instances that fit the others."""

VALUE = filtered("value", "v.value", TEXT, normal_sql="v.normal_hash")


def has_variables(where: str) -> SpecialFilter:
    """A filter with a list of {name, value}. Each must fit one of the variables of `where`; values are JSON text."""

    def has(value: Any, path: str, parameters: Parameters) -> str:
        parts = []
        for i, entry in enumerate(list_of(value, path, MAX_VARIABLES)):
            at = f"{path}[{i}]"
            if type(entry) is not dict or entry.keys() != {"name", "value"} or type(entry["name"]) is not str:
                raise Unparsable(at)
            name = parameters.add(entry["name"], "text")
            fits = condition(VALUE, entry["value"], f"{at}.value", parameters)
            alone = "" if i < MAX_JOINED else " OFFSET 0"
            parts.append(f"EXISTS (SELECT FROM variables v WHERE {where} AND v.name = {name} AND ({fits}){alone})")
        return " AND ".join(parts) or "true"

    return has


class Sharing(NamedTuple):
    """An entry of a filter that the rows with one value of a variable fulfil."""

    name: str
    keys: str
    """The SQL of their keys as `key`, perhaps several times; a LIMIT may follow."""
    condition: str
    """The SQL of the entry."""


def sharing(resource: Resource, filter: Mapping[str, Any], parameters: Parameters) -> Sharing | None:
    """The filter by one variable with one value, if there is one and nothing else about variables. Raises BadQuery."""
    of = resource.variables
    entries = filter.get("variables") if of is not None else None
    if of is None or type(entries) is not list or len(entries) != 1 or type(entries[0]) is not dict:
        return None
    value = entries[0].get("value")
    value = value.get("$eq") if type(value) is dict and value.keys() == {"$eq"} else value
    if type(value) is not str:
        return None  # before anything is added to the parameters: the statement would not use it
    condition = resource.special["variables"](entries, "filter.variables", parameters)
    normal = normal_form(value)
    name, place = parameters.add(entries[0]["name"], "text"), parameters.add(normal, "text")
    keys = f"SELECT v.{of} AS key FROM variables v WHERE v.name = {name} AND"
    # md5 is leakproof: an index on another hash would not serve readers whose rows a policy selects.
    same = f"md5(v.value) = md5({place}) AND v.value = {place}"
    spelled_otherwise = f"v.normal_hash = {parameters.add(hash_of(normal), 'uuid')}"
    return Sharing("variables", f"{keys} {same} UNION ALL {keys} {spelled_otherwise}", condition)


def has_tags(column: str) -> SpecialFilter:
    """A filter with a list of tags. The column must contain all of them."""

    def has(value: Any, path: str, parameters: Parameters) -> str:
        tags = list_of(value, path, MAX_TAGS)
        if any(type(tag) is not str for tag in tags):
            raise Unparsable(path)
        # The second condition is that of the partial index on tags.
        return f"{column} @> {parameters.add(tags, 'text[]')} AND {column} <> '{{}}'" if tags else "true"

    return has


def list_of(value: Any, path: str, limit: int) -> list[Any]:
    """The value, which must be a list of at most `limit` entries. Raises Unparsable, Invalid."""
    if type(value) is not list:
        raise Unparsable(path)
    if len(value) > limit:
        raise Invalid(f"The list of {path} has {len(value)} entries but must not have more than {limit}")
    return value
