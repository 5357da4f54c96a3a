"""The figures of the whole database for people: counts that end at a limit, so that asking costs little."""

from __future__ import annotations

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside
from vivero.storage.reads import figures
from vivero.storage.reads.figures import Rows

MAX_COUNT = 100_000
"""Counts end here: the true number is this or more."""

_sql = beside(__file__)


async def read(connection: Connection, group: str) -> Rows:
    """The rows of a group. Raises StorageError: the statement took too long, or is not permitted.

    Groups whose cost does not depend on what waits are those of the metrics.
    """
    if group not in _sql:
        return await figures.read(connection, group)
    return (await connection.execute(_sql[group], (MAX_COUNT,))).rows
