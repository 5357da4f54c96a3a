"""Records and filters of `client.tenants`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from typing import Literal, TypedDict

import msgspec


class TenantRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/tenants/search."""

    tenant_id: str
    name: str
    description: str | None = None


class TenantFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    tenant_id: str
    name: str


TenantSort = Literal["tenant_id", "name", "key"]
