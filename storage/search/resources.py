"""A resource that can be searched: its rows, its fields, and its filters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vivero.storage.search.fields import KEY, Field, Type
from vivero.storage.search.parameters import Parameters

SpecialFilter = Callable[[Any, str, Parameters], str]
"""A filter that is not a field's: (value, path, parameters) → SQL."""


@dataclass(frozen=True, slots=True)
class Nested:
    """Fields of another table. One of its rows must fit all their filters; `exists` has a place for the conditions."""

    exists: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class KeysFunction:
    """A function of PostgreSQL (`row_security_policies`) that gives the keys of rows that have some of a list of texts.

    The operators of arrays are not leakproof, so their index is of no use under row-level security. `needs`: a
    condition that the search must have, which is that of the index.
    """

    name: str
    needs: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Rows that an index finds by a condition, for each row of `within` (a FROM item) if there is one."""

    condition: str
    within: str | None = None
    order: str | None = None
    """The SQL of what the index is sorted by after the condition's equalities, if a page may be sorted by it."""


@dataclass(frozen=True, slots=True)
class Resource:
    """The rows of `source` (a FROM clause) that fit the condition `visible`; `key` is the expression of their key."""

    name: str
    source: str
    key: str
    fields: tuple[Field, ...]
    visible: str = "true"
    special: Mapping[str, SpecialFilter] = field(default_factory=dict)
    within: Mapping[str, SpecialFilter] = field(default_factory=dict)
    """Conditions that paths of the API add (`/process-instances/{key}/incidents/search`); never a client's filter."""
    nested: tuple[Nested, ...] = ()
    alternatives: bool = False
    """Whether a filter may have `$or`."""
    process_sql: str | None = None
    """The SQL of the process id of a row, where no field has it."""
    key_functions: Mapping[str, KeysFunction] = field(default_factory=dict)
    """Name of a special filter → function with the keys that it finds."""
    parts: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)
    """Name of a special filter → the disjoint parts whose rows fulfil it where it is true. A page reads only the first
    rows of each."""
    key_type: Type = KEY
    of_tenants: bool = True
    """Whether each row belongs to a tenant, which the field `tenantId` has."""
    variables: str | None = None
    """The column of the table of variables that is the key of the rows, if `variables` is a special filter of it."""
    tenant_sql: str | None = None
    """The SQL of the tenant, where the field shows it otherwise."""
    tenant_of_all: str | None = None
    """The tenant of the rows that every tenant sees."""
    tenants_sql: str | None = None
    """The SQL of the tenants (text[]) of a row that may belong to several. Its reader must have them all."""

    @property
    def by_name(self) -> Mapping[str, Field]:
        return {field.name: field for field in self.fields}

    @property
    def process(self) -> str:
        """The SQL of the id of the process that a row belongs to."""
        return self.process_sql or self.by_name["processDefinitionId"].sql

    @property
    def tenant(self) -> str | None:
        """The SQL of the tenant that a row belongs to; None if rows belong to no tenant."""
        return (self.tenant_sql or self.by_name["tenantId"].sql) if self.of_tenants else None

    @property
    def document(self) -> str:
        """The SQL of a row as a JSON object."""
        pairs = ", ".join(f"'{field.name}', {field.as_json}" for field in self.fields if field.shown)
        return f"json_build_object({pairs})"
