"""Searches as data: the requests for their pages, and the records in the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from vivero.client.answers import ClientError
from vivero.client.records.filters import api_name
from vivero.client.typed.requests import ApiRequest
from vivero.client.values import decoded

R = TypeVar("R")
DEFAULT_PAGE_ITEMS = 100


class PageInfo(msgspec.Struct, rename="camel", frozen=True):
    """`total_items` is at most 10,000; then `has_more_total_items` says whether there are more."""

    total_items: int
    has_more_total_items: bool = False
    end_cursor: str | None = None


class FoundPage(msgspec.Struct, Generic[R], frozen=True):
    """The answer to a search."""

    items: list[R]
    page: PageInfo


@dataclass(frozen=True, slots=True)
class RecordQuery(Generic[R]):
    """A search of the resource at a path for records of a type."""

    path: str
    record: type[R]
    filter: Mapping[str, Any]
    sort: str | None = None
    descending: bool = False
    page_items: int = DEFAULT_PAGE_ITEMS

    def request(self, after: str | None = None, limit: int | None = None) -> ApiRequest:
        """The request for the page behind a cursor."""
        page: dict[str, Any] = {"limit": limit or self.page_items}
        if after is not None:
            page["after"] = after
        body: dict[str, Any] = {"filter": self.filter, "page": page}
        if self.sort is not None:
            body["sort"] = [{"field": api_name(self.sort), "order": "DESC" if self.descending else "ASC"}]
        return ApiRequest("POST", self.path, body, is_read=True)

    def page(self, content: bytes, after: str | None = None) -> FoundPage[R]:
        """The page in an answer. Raises ClientError if it is none, or is the page before it again."""
        found: FoundPage[R] = decoded(content, FoundPage[self.record])  # type: ignore[name-defined]
        if found.items and after is not None and found.page.end_cursor == after:
            raise ClientError("the answer repeats the last page: is it a Vivero server?")
        return found

    def cursor_behind(self, page: FoundPage[R]) -> str | None:
        """The cursor of the next page; None on the last."""
        return page.page.end_cursor if len(page.items) >= self.page_items else None
