"""Records and filters of `client.users`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    TextFilter,
)


class UserRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/users/search."""

    username: str
    name: str | None = None
    email: str | None = None


class UserFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    username: TextFilter
    name: TextFilter
    email: TextFilter


UserSort = Literal["username", "name", "email"]
