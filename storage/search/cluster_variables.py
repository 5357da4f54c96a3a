"""Cluster variables that can be searched and read, with whole values or with the beginnings of large ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.search.conditions import conditions
from vivero.storage.search.fields import (
    FLAG,
    OTHER,
    RANGE,
    SORTED_PREFIX,
    TEXT,
    Field,
    Type,
    enumeration,
    filtered,
    plain,
)
from vivero.storage.search.filters import join, of_tenants
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.problems import Invalid, Unparsable
from vivero.storage.search.resources import Resource
from vivero.storage.search.variables import PREVIEW
from vivero.storage.state.cluster_variables import OF_CLUSTER
from vivero.storage.state.normal_form import normal_form

SCOPES = GLOBAL, TENANT = ("GLOBAL", "TENANT")
JSON = "JSON"
KINDS = (JSON, "SECRET_REFERENCE")
"""The kinds of the API. All variables are of the first one."""
MOST_METADATA = 50
"""Entries of metadata, of a variable and of a filter."""


def _is_number(value: Any) -> bool:
    return type(value) in (int, float, Decimal)


def _read_number(value: Any) -> str:
    if not _is_number(value):
        raise ValueError("a number is expected")
    return str(value)


_JSON_TEXT = replace(TEXT, read=lambda value: normal_form(TEXT.read(value)))
"""JSON text, which is compared in its normal form."""
_ENTRY_TEXT = replace(TEXT, operators=TEXT.operators | RANGE)
_ENTRY_NUMBER = Type("numeric", TEXT.operators - {"$like"} | RANGE, _read_number, TEXT.from_cursor)


def _metadata(value: Any, path: str, parameters: Parameters) -> str:
    """A filter with an object of names: each entry must fit, a text as a text and a number as a number."""
    if type(value) is not dict:
        raise Unparsable(path)
    if len(value) > MOST_METADATA:
        raise Invalid(f"{path} has {len(value)} entries but must not have more than {MOST_METADATA}")
    return " AND ".join(_entries(value, path, parameters)) or "true"


def _entries(value: dict[str, Any], path: str, parameters: Parameters) -> Iterator[str]:
    for name, wanted in value.items():
        entry = f"(x.metadata -> {parameters.add(name, 'text')})"
        yield from _conditions(entry, wanted, f"{path}.{name[:50]}", parameters)


def _conditions(entry: str, wanted: Any, path: str, parameters: Parameters) -> list[str]:
    """Each operator by the type of its own operand. A number never equals a text."""
    operations = wanted.items() if type(wanted) is dict else (("$eq", wanted),)
    text = Field("text", _of_type("string", f"{entry} #>> '{{}}'", entry), _ENTRY_TEXT, _ENTRY_TEXT.operators)
    number = Field(
        "number",
        _of_type("number", f"({entry})::text::numeric", entry),
        _ENTRY_NUMBER,
        _ENTRY_NUMBER.operators,
    )
    any_type = replace(text, given=f"{entry} IS NOT NULL")
    parts: list[str] = []
    for operator, operand in operations:
        first = operand[0] if type(operand) is list and operand else operand
        field = any_type if operator == "$exists" else number if _is_number(first) else text
        parts += conditions(field, {operator: operand}, path, parameters)
    return parts


def _of_type(type: str, sql: str, entry: str) -> str:
    return f"(CASE WHEN jsonb_typeof({entry}) = '{type}' THEN {sql} END)"


_VALUE = filtered(
    "value", "x.normal", _JSON_TEXT, shown_sql="x.value", sort=True, sort_sql=f"left(x.value, {SORTED_PREFIX})"
)
_OTHERS = (
    filtered("name", "x.name", TEXT, sort=True),
    enumeration(
        "scope", f"(CASE x.tenant_id WHEN '{OF_CLUSTER}' THEN '{GLOBAL}' ELSE '{TENANT}' END)", SCOPES, sort=True
    ),
    filtered(
        "tenantId",
        f"nullif(x.tenant_id, '{OF_CLUSTER}')",
        TEXT,
        sort=True,
        implied=lambda among: f"x.tenant_id {among}",
    ),
    Field("metadata", "x.metadata", OTHER),
    enumeration("kind", f"'{JSON}'", KINDS),
)


def _variables(*more: Field) -> Resource:
    return Resource(
        "Cluster variable",
        "cluster_variables x",
        "x.key",
        (*_OTHERS, *more),
        special={"metadata": _metadata},
        tenant_sql="x.tenant_id",
        tenant_of_all=OF_CLUSTER,
    )


CLUSTER_VARIABLE = _variables(_VALUE)
"""A single variable, read by its name."""
CLUSTER_VARIABLES = _variables(_VALUE, plain("isTruncated", "false", FLAG))
CLUSTER_VARIABLE_PREVIEWS = _variables(
    replace(_VALUE, shown_sql=f"left(x.value, {PREVIEW})"),
    plain("isTruncated", f"(length(x.value) > {PREVIEW})", FLAG),
)


async def find(connection: Connection, tenant: str, name: str, tenants: Tenants = None) -> bytes | None:
    """A variable as a JSON document; None if these tenants see none with this name."""
    parameters = Parameters(tenants is not None)
    by_name = f"x.tenant_id = {parameters.add(tenant, 'text')} AND x.name = {parameters.add(name, 'text')}"
    where = join([by_name, *of_tenants(CLUSTER_VARIABLE, tenants, parameters)])
    text = f"SELECT {CLUSTER_VARIABLE.document} FROM {CLUSTER_VARIABLE.source} WHERE {where}"
    rows = (await connection.execute(text, parameters.values)).rows
    return rows[0][0] if rows else None
