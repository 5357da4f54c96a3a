"""Routes: the partitions of the database and what they own.

A change of the routes raises `definitions_seq`, as a deployment does. Each batch reads this number with its commands,
so that a consumer reads the routes again only when something changed.
"""

from __future__ import annotations

from vivero.engine.core.routes import Routes
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


async def read(connection: Connection) -> Routes:
    """The routes as of now."""
    revision, partitions, slots = (await connection.execute(_sql["routes"])).rows[0]
    return Routes(revision, partitions, tuple(slots) if partitions > 1 else ())
