"""Results of searches of the client, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Generic, Self, TypeVar

from vivero.client.typed.queries import RecordQuery
from vivero.client.typed.requests import ApiRequest

R = TypeVar("R")
Send = Callable[[ApiRequest], Awaitable[bytes]]


class AsyncSearch(Generic[R]):
    """The results of a search, page by page as far as one iterates. Each iteration searches anew."""

    def __init__(self, send: Send, query: RecordQuery[R]) -> None:
        self._send = send
        self._query = query

    def __aiter__(self) -> AsyncIterator[R]:
        return _AsyncRecords(self._send, self._query)

    async def all(self) -> list[R]:
        """All records in memory."""
        return [record async for record in self]

    async def first(self) -> R | None:
        """The first record; None if there is none."""
        page = self._query.page(await self._send(self._query.request(limit=1)))
        return page.items[0] if page.items else None

    async def count(self) -> int:
        """The number of records; 10,000 if there are as many or more."""
        return self._query.page(await self._send(self._query.request(limit=1))).page.total_items


class _AsyncRecords(Generic[R]):
    """One iteration. It is no generator: an event loop has nothing to clean up if it is left early."""

    def __init__(self, send: Send, query: RecordQuery[R]) -> None:
        self._send = send
        self._query = query
        self._records: list[R] = []
        self._after: str | None = None
        self._is_last = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> R:
        if not self._records:
            if self._is_last:
                raise StopAsyncIteration
            page = self._query.page(await self._send(self._query.request(self._after)), self._after)
            self._after = self._query.cursor_behind(page)
            self._is_last = self._after is None
            self._records = page.items[::-1]
            if not self._records:
                raise StopAsyncIteration
        return self._records.pop()
