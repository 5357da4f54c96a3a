"""The figures of the whole database: lag, work that waits, sizes, and what the server says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

GROUPS = tuple(_sql)
"""The names of the statements. Each has a group of figures."""

Rows = Sequence[Sequence[Any]]


async def read(connection: Connection, group: str) -> Rows:
    """The rows of a group (`figures.sql`). Raises StorageError: the statement took too long, or is not permitted."""
    return (await connection.execute(_sql[group])).rows
