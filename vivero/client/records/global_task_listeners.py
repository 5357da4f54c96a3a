"""Records and filters of `client.global_task_listeners`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    NumberFilter,
    TextFilter,
    Where,
)


class GlobalTaskListenerRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/global-task-listeners/search."""

    id: str
    type: str
    retries: int
    after_non_global: bool
    priority: int
    event_types: list[str]
    source: str


class GlobalTaskListenerFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    id: TextFilter
    type: TextFilter
    retries: NumberFilter
    after_non_global: bool
    priority: NumberFilter
    source: Literal["API", "CONFIGURATION"] | Sequence[str] | Where
    event_types: Sequence[str | Where]


GlobalTaskListenerSort = Literal["id", "type", "after_non_global", "priority", "source"]
