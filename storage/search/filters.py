"""A filter of a resource as a list of SQL conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vivero.storage.access.tenants import Tenants
from vivero.storage.search.conditions import condition, conditions
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.problems import Invalid, Unparsable
from vivero.storage.search.resources import Nested, Resource

MAX_CONDITIONS = 500
OF_PROCESSES = "of processes"
"""The name of a condition beside the filter: only rows of processes with these ids."""


def of_tenants(resource: Resource, tenants: Tenants, parameters: Parameters) -> list[str]:
    """The condition that rows belong to these tenants; none for all tenants, and for rows of no tenant."""
    if tenants is None or resource.tenant is None:
        return []
    if resource.tenant_of_all is not None:
        tenants = {*tenants, resource.tenant_of_all}
    if resource.tenants_sql is not None:
        return [f"{resource.tenants_sql} <@ {parameters.add(sorted(tenants), 'text[]')}"]
    if len(tenants) == 1:  # a comparison with an array costs a scan twice as much
        (tenant,) = tenants
        return [f"{resource.tenant} = {parameters.add(tenant, 'text')}"]
    return [f"{resource.tenant} = ANY ({parameters.add(sorted(tenants), 'text[]')})"]


def condition_of_path(resource: Resource, name: str, value: Any, parameters: Parameters) -> str:
    """The condition that the API adds to a filter: OF_PROCESSES, a name of `within`, or a field; and a value."""
    if name == OF_PROCESSES:
        return f"{resource.process} = ANY ({parameters.add(value, 'text[]')})"
    within = resource.within.get(name)
    return within(value, name, parameters) if within else condition(resource.by_name[name], value, name, parameters)


def matching(
    resource: Resource,
    filter: Mapping[str, Any],
    extra: Iterable[tuple[str, Any]],
    tenants: Tenants,
    parameters: Parameters,
) -> str:
    """The rows of these tenants that fit a filter and the conditions beside it: FROM … WHERE …, without FROM."""
    conditions = [resource.visible, *of_tenants(resource, tenants, parameters)]
    conditions += [condition_of_path(resource, name, value, parameters) for name, value in extra]
    conditions += conditions_of(resource, filter, "filter", parameters)
    return f"{resource.source} WHERE {join(conditions)}"


def conditions_of(resource: Resource, filter: Mapping[str, Any], path: str, parameters: Parameters) -> list[str]:
    """The conditions of a filter, or of one of its alternatives. All must hold."""
    left = dict(filter)
    parts = [part for nested in resource.nested if (part := _nested(nested, left, path, parameters))]
    for name, value in left.items():
        at = f"{path}.{name[:50]}"
        if name == "$or" and path == "filter":
            parts.append(_alternatives(resource, value, at, parameters))
        else:
            parts.append(_entry(resource, name, value, at, parameters))
    if parameters.limited:
        parts += _by_functions(resource, filter, parts, parameters)
    if len(parameters.values) > MAX_CONDITIONS:
        raise Invalid(f"The filter has more than {MAX_CONDITIONS} conditions")
    return parts


def _by_functions(
    resource: Resource, filter: Mapping[str, Any], parts: list[str], parameters: Parameters
) -> Iterator[str]:
    """The conditions on the key that special filters imply."""
    for name in resource.key_functions.keys() & filter.keys():
        function, texts = resource.key_functions[name], _texts(filter[name])
        if texts and (function.needs is None or f"({function.needs})" in parts):
            yield f"{resource.key} = ANY (ARRAY(SELECT {function.name}({parameters.add(texts, 'text[]')})))"


def _texts(value: Any) -> list[str]:
    """The texts of which a filter needs one or all. Empty: it needs none of them (negations)."""
    if isinstance(value, dict):
        value = value.get("$eq") or value.get("$in")
    return [value] if isinstance(value, str) else list(value or ())


def _nested(nested: Nested, left: dict[str, Any], path: str, parameters: Parameters) -> str | None:
    """The condition on another table. Removes its entries from the filter (`left`)."""
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
    branches = [conditions_of(resource, branch, f"{path}[{i}]", parameters) for i, branch in enumerate(value)]
    return " OR ".join(f"({join(branch)})" for branch in branches) or "true"


def join(conditions: list[str]) -> str:
    """The SQL that all conditions hold."""
    return " AND ".join(f"({each})" for each in conditions) or "true"
