"""Requests that are repeated while a server restarts or is too busy. Each of them has the same effect when repeated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

import trio

from vivero.client.rest import Answer, Client, ClientError, Document, Page
from vivero.client.typed.repetition import Repetition

T = TypeVar("T")
U = TypeVar("U")

PATIENCE_S = 60.0
"""The time for which a server may give no answer."""
FIRST_PAUSE_S = 0.5
AT_ONCE = 8
"""Instances at which an import works at once."""
NO_RIGHT = (401, 403)


async def patiently(work: Callable[[], Awaitable[T]]) -> T:
    """The result of `work`, which is tried again while its server may answer later. Raises ClientError."""
    repetition = Repetition(True, trio.current_time() + PATIENCE_S, FIRST_PAUSE_S)
    while True:
        try:
            return await work()
        except ClientError as error:
            pause_s = repetition.pause_after(error, trio.current_time())
            if pause_s is None:
                raise
        await trio.sleep(pause_s)


async def together(work: Callable[[U], Awaitable[None]], items: Iterable[U]) -> None:
    """Do the work for all items, for some of them at once, begun in their order. Raises the first exception."""
    places = trio.CapacityLimiter(AT_ONCE)

    async def one(item: U, *, task_status: trio.TaskStatus[None]) -> None:
        async with places:
            task_status.started()
            await work(item)

    try:
        async with trio.open_nursery() as nursery:
            for item in items:
                await nursery.start(one, item)
    except BaseExceptionGroup as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None


async def post(client: Client, path: str, body: Mapping[str, Any]) -> Answer:
    """A POST that may be repeated."""
    return await patiently(lambda: client.request("POST", path, body))


async def get(client: Client, path: str) -> Document:
    """The document at a path."""
    return await patiently(lambda: client.get(path))


async def page(client: Client, resource: str, filter: Mapping[str, Any], **options: Any) -> Page:
    """One page of a search."""
    return await patiently(lambda: client.search(resource, filter, **options))


async def found(
    client: Client, resource: str, filter: Mapping[str, Any], most: int, **options: Any
) -> tuple[list[Document], bool]:
    """The matches, page by page, and whether there are more than `most`, which are left out."""
    items: list[Document] = []
    after = None
    while True:
        one = await page(client, resource, filter, after=after, **options)
        items += one.items
        after = one.after
        if after is None or len(items) > most:
            return items[:most], len(items) > most


async def count(client: Client, resource: str, filter: Mapping[str, Any]) -> int:
    """The number of matches, at most 10,000."""
    return (await page(client, resource, filter, limit=1)).total
