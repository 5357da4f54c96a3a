"""The engine's clock: one row for all nodes. It governs timers, leases of jobs, backoffs, TTL and retention alike.

Pinned, it stands still; otherwise it is the database's time plus a shift. Leases of partitions and deadlines of calls
are always real time.
"""

from __future__ import annotations

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

CLOCK_CHANNEL = "vivero_clock"
"""Every node hears here that the clock was set."""


async def pin(connection: Connection, at_ms: int) -> None:
    """Stop the clock at this moment (epoch milliseconds, 1970 to 9999)."""
    await _set(connection, "pin", at_ms)


async def reset(connection: Connection) -> None:
    """Let the clock show the database's time again."""
    await shift(connection, 0)


async def shift(connection: Connection, by_ms: int) -> None:
    """Let the clock run, so many milliseconds before the database's time (or, negative, behind it)."""
    await _set(connection, "shift", by_ms)


async def _set(connection: Connection, how: str, value: int) -> None:
    """Others may set it at the same time: then it is set after that."""
    done = False
    while not done:
        revision = (await connection.execute(_sql["revision"])).rows[0][0]
        done = bool((await connection.execute(_sql[how], (value, CLOCK_CHANNEL, revision))).rows)
