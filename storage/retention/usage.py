"""The end of what usage metrics keep of deleted rows (`storage.reads.usage_metrics`), and of counts over time."""

from __future__ import annotations

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


async def compact(connection: Connection, age_ms: int, limit: int) -> int:
    """Make days (UTC) of up to `limit` older quarters of an hour of assignees; the number of these quarters."""
    count: int = (await connection.execute(_sql["compact"], (age_ms, limit))).rows[0][0]
    return count


async def purge(connection: Connection, age_ms: int, limit: int) -> int:
    """Delete up to `limit` older rows of each kind; the number of the kind with the most."""
    count: int = (await connection.execute(_sql["purge"], (age_ms, limit))).rows[0][0]
    return count
