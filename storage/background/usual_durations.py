"""The usual duration of each version of a process: open instances that exceed it are late (docs/rest-api.md)."""

from __future__ import annotations

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

DAYS = 30
"""The past days whose completed instances count."""
LEAST_COMPLETED = 20
"""Fewer completed instances say nothing of what is usual."""
LEAST_MS = 60_000
"""No instance is late within its first minute, however fast the others are."""

_sql = beside(__file__)


async def compute(connection: Connection) -> None:
    """Write the usual duration of each version with open instances: the 90th percentile, as in its figures."""
    await connection.execute(_sql["compute"], (DAYS, LEAST_COMPLETED, LEAST_MS))
