"""Attempts at commands that may be what ends terms, as the database keeps them (docs/adr/0014)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import psycopg
from psycopg.conninfo import make_conninfo

from vivero.storage.postgres import dsn as conninfo
from vivero.storage.postgres.driver import Call, Connection
from vivero.storage.postgres.errors import SteppedDown
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

CONNECT_S = 2
NOTE_TIMEOUT = "2s"
PACKETS = "vivero " * 2_500
"""Some packets of a network."""
WATCHDOG = "watchdog"
"""What ended an attempt: it blocked the event loop, and the process ended itself."""


class Known(msgspec.Struct, frozen=True):
    """What is known of the command at `position`, or, where `causes` is empty, of the commands up to `until`."""

    position: int
    until: int
    causes: Sequence[str]
    """What ended the attempts that count."""


class Suspicion(msgspec.Struct, frozen=True):
    """What a term was about when it ended: an attempt at `first` alone, or a batch, or work between commands."""

    partition: int
    epoch: int
    first: int
    last: int
    attempt: bool


async def begin(writer: Connection, partition: int, epoch: int, position: int) -> None:
    """Record that a term begins an attempt at the command at `position`.

    Raises:
        SteppedDown: somebody else has begun a term.
    """
    if not (await writer.execute(_sql["begin"], (partition, epoch, position))).rows:
        raise SteppedDown(f"partition {partition} is no longer owned by epoch {epoch}")


async def end(writer: Connection, suspicion: Suspicion, cause: str) -> None:
    """Count an attempt, which `cause` ended. Does nothing when it is counted already, or its command is done."""
    await writer.execute(_sql["end"], (suspicion.partition, suspicion.epoch, suspicion.first, cause))


async def known(writer: Connection, partition: int, position: int) -> list[Known]:
    """All that is known of commands behind `position`."""
    rows = (await writer.execute(_sql["known"], (partition, position))).rows
    return [Known(*row) for row in rows]


async def waiting(writer: Connection, partition: int, position: int, commands: int) -> int:
    """How far the next so many commands behind `position` reach; `position` itself when there are none."""
    rows = (await writer.execute(_sql["waiting"], (partition, position, commands))).rows
    return rows[0][0] or position


def clear(partition: int, last: int) -> Call:
    """The statement that forgets everything up to position `last`, for the batch that passes it."""
    return _sql["clear"], (partition, last)


async def prove(connection: Connection, sessions: Sequence[int], deadline: float) -> bool:
    """Have PostgreSQL do a small commit with a flush; whether none of those sessions waits for a lock. What is said is
    as large as what a batch says, for a network may lose large packets alone.

    Raises:
        StorageError: it did not, or not before the deadline.
    """
    ((_, blocked, _),) = (await connection.execute(_sql["prove"], (list(sessions), PACKETS), deadline=deadline)).rows
    return not blocked


def leave_note(dsn: str, suspicion: Suspicion) -> None:
    """Record, without the event loop, that the watchdog ends this process during what `suspicion` names.

    Blocks, for a few seconds at most. Raises psycopg.Error.
    """
    settings = {"statement_timeout": NOTE_TIMEOUT}
    parameters = conninfo.with_session(conninfo.parse(dsn), "vivero:watchdog", settings) | {
        "connect_timeout": str(CONNECT_S)
    }
    statement, last = (_sql["end"], WATCHDOG) if suspicion.attempt else (_sql["suspect"], suspicion.last)
    with psycopg.connect(make_conninfo(**parameters), autocommit=True) as connection:
        values = (suspicion.partition, suspicion.epoch, suspicion.first, last)
        psycopg.RawCursor(connection).execute(statement.text.encode(), values)
