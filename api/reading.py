"""Reads: a connection of the pool for the time of one query, and a second try when the connection was lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from vivero.api.services import Services
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import DeadlineExceeded, Retry

T = TypeVar("T")


async def read(services: Services, query: Callable[[Connection], Awaitable[T]]) -> T:
    """What `query` gives. It only reads, so that it may be repeated."""
    try:
        async with services.pool.connection() as connection:
            return await query(connection)
    except DeadlineExceeded:
        raise  # it would take as long again
    except Retry:
        async with services.pool.connection() as connection:
            return await query(connection)
