"""Reads: one query on a connection of the pool, with a second attempt if the connection is lost."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from vivero.api.services import Services
from vivero.storage.access.tenants import Tenants, scope
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import DeadlineExceeded, Retry

T = TypeVar("T")


async def read(services: Services, query: Callable[[Connection], Awaitable[T]]) -> T:
    """The result of `query`, which must only read, because it may be repeated. It reads what belongs to no tenant."""
    return await read_of(services, None, lambda connection, _tenants: query(connection))


async def read_of(services: Services, tenants: Tenants, query: Callable[[Connection, Tenants], Awaitable[T]]) -> T:
    """The same, for a caller with these tenants (None: all), which are the second argument of `query`.

    Two things hide the rows of other tenants: the condition that `query` makes of its second argument, and row-level
    security, which has the tenants of the connection.
    """
    try:
        async with _connection(services, tenants) as connection:
            return await query(connection, conditions(tenants))
    except DeadlineExceeded:
        raise  # a second attempt would take as long
    except Retry:
        async with _connection(services, tenants) as connection:
            return await query(connection, conditions(tenants))


def conditions(tenants: Tenants) -> Tenants:
    """The tenants that statements name. (Tests of row-level security replace it.)"""
    return tenants


@asynccontextmanager
async def _connection(services: Services, tenants: Tenants) -> AsyncGenerator[Connection]:
    if tenants is None:
        async with services.reads.pool.connection() as connection:
            yield connection
    elif services.reads.readers is None:
        raise RuntimeError("multi-tenancy needs the connections of the second role")
    else:
        async with services.reads.readers.connection() as connection:
            with connection.scoped(scope(tenants)):
                yield connection
