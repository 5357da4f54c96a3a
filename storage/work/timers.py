"""The reads of the timer task: the time, and the nearest due dates. Batches write the timers."""

from __future__ import annotations

import msgspec

from vivero.storage.postgres.driver import Call, Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
_NOW, _WINDOW, _PURGE = _sql["now"], _sql["window"], _sql["purge"]


class Clock(msgspec.Struct, frozen=True, gc=False):
    """The engine's time in epoch milliseconds. Each setting raises `revision`; a pinned clock stands still."""

    now: int
    revision: int
    pinned: bool


class PendingTimer(msgspec.Struct, frozen=True, gc=False):
    """A timer that has not fired. `due_at`: epoch milliseconds."""

    key: int
    due_at: int
    tenant: str


async def clock(connection: Connection) -> Clock:
    """The current state of the engine's clock."""
    return Clock(*(await connection.execute(_NOW)).rows[0])


async def nearest(connection: Connection, partition: int, limit: int) -> list[PendingTimer]:
    """Up to `limit` pending timers of a partition, ordered by due date."""
    return [PendingTimer(*row) for row in (await connection.execute(_WINDOW, (partition, limit))).rows]


class StuckTimer(msgspec.Struct, frozen=True, gc=False):
    """A timer that can neither fire nor be marked as failed, and why."""

    key: int
    due_at: int
    reason: str


def note_stuck(partition: int, timer: StuckTimer) -> Call:
    """The statement that records a stuck timer, for the batch that rejects its trigger."""
    return _sql["note_stuck"], (timer.key, timer.due_at, partition, timer.reason)


async def stuck(connection: Connection, partition: int, limit: int) -> list[StuckTimer]:
    """Up to `limit` stuck timers of a partition, the latest first."""
    return [StuckTimer(*row) for row in (await connection.execute(_sql["stuck"], (partition, limit))).rows]


async def purge(connection: Connection, age_ms: int, limit: int) -> int:
    """Deletes up to `limit` timers that ended more than `age_ms` ago; returns their number.

    It also deletes the records of stuck timers that are no longer pending.
    """
    await connection.execute(_sql["purge_stuck"])
    return (await connection.execute(_PURGE, (age_ms, limit))).count
