"""Records and filters of `client.tokens`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    TextFilter,
)


class TokenRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/tokens/search."""

    name: str
    owner: str | None = None
    roles: list[str]
    tenant_ids: list[str]
    created_at: datetime
    expires_at: datetime | None = None
    used_at: datetime | None = None


class TokenFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    name: TextFilter
    owner: TextFilter


TokenSort = Literal["name", "owner", "created_at", "expires_at", "used_at"]
