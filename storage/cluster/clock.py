"""The engine's clock: one row for all nodes. It governs timers, job leases, backoffs, TTL and retention.

A pinned clock stands still; otherwise it shows the database's time plus a shift. Partition leases and the deadlines of
calls always use real time.
"""

from __future__ import annotations

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

CLOCK_CHANNEL = "vivero_clock"
"""Each change of the clock notifies all nodes on this channel."""


async def pin(connection: Connection, at_ms: int) -> None:
    """Stops the clock at this moment (epoch milliseconds, 1970 to 9999)."""
    await _set(connection, "pin", at_ms)


async def reset(connection: Connection) -> None:
    """Makes the clock show the database's time again."""
    await shift(connection, 0)


async def shift(connection: Connection, by_ms: int) -> None:
    """Makes the clock run `by_ms` milliseconds ahead of the database's time (behind it, if negative)."""
    await _set(connection, "shift", by_ms)


async def _set(connection: Connection, how: str, value: int) -> None:
    """Sets the clock. If another session sets it at the same time, this one tries again and wins."""
    done = False
    while not done:
        revision = (await connection.execute(_sql["revision"])).rows[0][0]
        done = bool((await connection.execute(_sql[how], (value, CLOCK_CHANNEL, revision))).rows)
