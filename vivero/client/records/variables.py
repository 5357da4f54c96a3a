"""Records and filters of `client.variables`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter,
    TextFilter,
)
from vivero.client.values import decoded


class VariableRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/variables/search."""

    name: str
    tenant_id: str
    variable_key: str
    scope_key: str
    process_instance_key: str
    root_process_instance_key: str
    value: str
    is_truncated: bool

    @property
    def decoded(self) -> Any:
        """The value, which `value` has as JSON."""
        return decoded(self.value, Any)


class VariableFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    name: TextFilter
    tenant_id: str
    variable_key: KeyFilter
    scope_key: KeyFilter
    process_instance_key: KeyFilter
    value: TextFilter
    is_truncated: bool


VariableSort = Literal["name", "tenant_id", "variable_key", "scope_key", "process_instance_key", "value"]
