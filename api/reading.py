"""Reads: one query on a connection of the pool, with a second attempt if the connection is lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from vivero.api.services import Services
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import DeadlineExceeded, Retry

T = TypeVar("T")


async def read(services: Services, query: Callable[[Connection], Awaitable[T]]) -> T:
    """The result of `query`, which must only read, because it may be repeated."""
    try:
        async with services.pool.connection() as connection:
            return await query(connection)
    except DeadlineExceeded:
        raise  # a second attempt would take as long
    except Retry:
        async with services.pool.connection() as connection:
            return await query(connection)
