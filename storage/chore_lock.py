"""Which node does the chores: the one whose session holds their lock. A lost connection releases the lock."""

from __future__ import annotations

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import statement

LOCK = 4712
"""The class of this advisory lock. 4711 is that of the appends."""

_TRY = statement(
    "try_chore_lock",
    f"SELECT pg_try_advisory_lock({LOCK}, 0)",
    "A lock of the session: it needs no row, no heartbeat and no clean-up.",
)
_PARTITIONS = statement("chore_partitions", "SELECT id FROM partitions ORDER BY id", "All, whoever leads them.")


async def attempt(connection: Connection) -> bool:
    """Take the lock for the session, unless another session has it. Whether the session has it."""
    taken: bool = (await connection.execute(_TRY)).rows[0][0]
    return taken


async def partitions(connection: Connection) -> tuple[int, ...]:
    """The partitions of the database."""
    return tuple(partition for (partition,) in (await connection.execute(_PARTITIONS)).rows)
