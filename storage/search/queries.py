"""A query of a search, and the page that it finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from vivero.storage.search.fields import Field

MAX_TOTAL = 10_000
"""A search counts rows up to this number; `Page.more` says that there are more."""
MAX_OFFSET = 1_000_000
MAX_SORT = 20
MAX_PAGE_BYTES = 32 * 1024 * 1024


class Sort(msgspec.Struct, frozen=True):
    """One criterion of the sort order."""

    field: Field
    descending: bool = False


class SearchQuery(msgspec.Struct, frozen=True):
    """A search. It has at most one of `after` and `before` (cursors), and `offset` only without them."""

    filter: Mapping[str, Any] = {}
    sort: tuple[Sort, ...] = ()
    limit: int = 100
    offset: int = 0
    after: str | None = None
    before: str | None = None
    max_bytes: int = MAX_PAGE_BYTES
    """The limit of all items together. A single item may be larger."""
    counts: bool = True
    """Whether the page has the total. Who reads page after page needs none; then it is 0."""


class Page(msgspec.Struct, frozen=True):
    """A page of a search. The items are JSON documents."""

    items: Sequence[bytes]
    total: int
    more: bool
    """Whether there are more rows than `total`."""
    start: str | None
    end: str | None


def check_page(limit: int | None, offset: int | None, after: str | None, before: str | None) -> list[str]:
    """The problems of a request's page."""
    found = []
    if limit is not None and not 1 <= limit <= MAX_TOTAL:
        found.append(f"The value for page.limit is '{limit}' but must be between 1 and {MAX_TOTAL}")
    if offset is not None and not 0 <= offset <= MAX_OFFSET:
        found.append(f"The value for page.from is '{offset}' but must be between 0 and {MAX_OFFSET}")
    if after is not None and before is not None:
        found.append("Both after and before cannot be set at the same time")
    elif offset is not None and (after is not None or before is not None):
        found.append("Both after/before and from cannot be set at the same time")
    return found
