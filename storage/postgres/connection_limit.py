"""How many connections a server grants to programs."""

from __future__ import annotations

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import statement

_LIMIT = statement(
    "connection_limit",
    """
    SELECT least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
            - coalesce(current_setting('reserved_connections', true), '0')::int,
        (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
        (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user))
    """,
    "The server, the database and the user have a limit each; -1 is none.",
)


async def read(connection: Connection) -> int:
    """The number of connections that this user may have to this database at most."""
    limit: int = (await connection.execute(_LIMIT)).rows[0][0]
    return limit
