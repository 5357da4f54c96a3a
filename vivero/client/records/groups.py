"""Records and filters of `client.groups`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    TextFilter,
)


class GroupRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/groups/search."""

    group_id: str
    name: str
    description: str | None = None


class GroupFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    group_id: TextFilter
    name: str


GroupSort = Literal["group_id", "name"]
