"""Records and filters of `client.resources`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter,
    NumberFilter,
    TextFilter,
)


class GenericResourceRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/resources/search."""

    resource_name: str
    version: int
    version_tag: str | None = None
    resource_id: str
    tenant_id: str
    resource_key: str


class GenericResourceFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    resource_name: TextFilter
    version: NumberFilter
    version_tag: TextFilter
    resource_id: TextFilter
    tenant_id: str
    resource_key: KeyFilter
    deployment_key: KeyFilter


GenericResourceSort = Literal[
    "resource_name", "version", "version_tag", "resource_id", "tenant_id", "resource_key", "deployment_key"
]
