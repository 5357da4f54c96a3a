"""Records and filters of `client.cluster_variables`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    TextFilter,
    Where,
)


class ClusterVariableRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/cluster-variables/search."""

    name: str
    scope: str
    tenant_id: str | None = None
    metadata: Any
    kind: str
    value: str
    is_truncated: bool


class ClusterVariableFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    name: TextFilter
    scope: Literal["GLOBAL", "TENANT"] | Sequence[str] | Where
    tenant_id: TextFilter
    kind: Literal["JSON", "SECRET_REFERENCE"] | Sequence[str] | Where
    value: TextFilter
    is_truncated: bool
    metadata: Mapping[str, Any]


ClusterVariableSort = Literal["name", "scope", "tenant_id", "value"]
