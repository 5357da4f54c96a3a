"""Records and filters of `client.roles`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from typing import Literal, TypedDict

import msgspec


class RoleRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/roles/search."""

    role_id: str
    name: str
    description: str | None = None


class RoleFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    role_id: str
    name: str


RoleSort = Literal["role_id", "name"]
