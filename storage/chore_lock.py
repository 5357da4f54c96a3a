"""Which node does the chores: the one whose session holds their lock. A lost connection releases the lock.

The session of a frozen node lives on. Therefore the holder uses it all the time, and another node ends it when it has
been silent for too long.
"""

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
SILENT_S = 10.0
"""A holder that has said nothing for so long is ended. It speaks every two seconds."""
_END_SILENT = statement(
    "end_silent_holder",
    f"""
    SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.classid = {LOCK} AND l.objid = 0 AND l.objsubid = 2 AND l.granted
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND a.state_change < clock_timestamp() - make_interval(secs => $1)
    """,
    "By the server's clock. It ends only the holder of this database's lock, and only while it is silent.",
)
_PARTITIONS = statement("chore_partitions", "SELECT id FROM partitions ORDER BY id", "All, whoever leads them.")


async def attempt(connection: Connection) -> bool:
    """Take the lock for the session, unless another session has it. Whether the session has it."""
    taken: bool = (await connection.execute(_TRY)).rows[0][0]
    return taken


async def end_silent_holder(connection: Connection, silent_s: float = SILENT_S) -> bool:
    """End the session that holds the lock if it has been silent for this long. Whether there was such a session."""
    return bool((await connection.execute(_END_SILENT, (silent_s,))).rows)


async def partitions(connection: Connection) -> tuple[int, ...]:
    """The partitions of the database."""
    return tuple(partition for (partition,) in (await connection.execute(_PARTITIONS)).rows)
