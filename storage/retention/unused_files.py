"""Deployed files that nothing refers to any more, because all versions that were deployed from them are deleted.

A file is marked first, and deleted later: requests and batches that are under way may still read it.
"""

from __future__ import annotations

from vivero.core.partitions.routes import CATALOGUE
from vivero.core.records.catalogue import Deploy
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
MANY_COMMANDS = 200
"""With so many commands that wait in the log, nothing is deleted: some may be deployments of the files."""


async def mark(connection: Connection, after: str, limit: int) -> str | None:
    """Judge up to `limit` files behind the SHA-256 `after`. Returns the last one, or None after all files."""
    rows = (await connection.execute(_sql["mark"], (after, limit))).rows
    return rows[0][0] if rows else None


async def delete(connection: Connection, unused_s: float, limit: int) -> int:
    """Delete up to `limit` files that have been unused for so long; their number."""
    values = (unused_s, limit, CATALOGUE, Deploy.intent, MANY_COMMANDS)
    return (await connection.execute(_sql["delete"], values)).count
