"""Attempts at commands that may have ended a term, as the database keeps them (docs/adr/0014)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import psycopg
from psycopg.conninfo import make_conninfo

from vivero.storage.postgres import conninfo
from vivero.storage.postgres.driver import Call, Connection
from vivero.storage.postgres.errors import SteppedDown
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

CONNECT_S = 2
NOTE_TIMEOUT = "2s"
PACKETS = "vivero " * 2_500
"""A text as large as several network packets."""
WATCHDOG = "watchdog"
"""The cause of an attempt's end: it blocked the event loop, and the process ended itself."""


class Known(msgspec.Struct, frozen=True):
    """The attempts at the command at `position`; with empty `causes`, a suspicion about the commands up to `until`."""

    position: int
    until: int
    causes: Sequence[str]
    """The causes of the counted attempts."""


class Suspicion(msgspec.Struct, frozen=True):
    """The work of a term when it ended: an attempt at `first` alone (`attempt`), a batch, or work between commands."""

    partition: int
    epoch: int
    first: int
    last: int
    attempt: bool


async def begin(writer: Connection, partition: int, epoch: int, position: int) -> None:
    """Records that a term begins an attempt at the command at `position`.

    Raises:
        SteppedDown: another term has begun.
    """
    if not (await writer.execute(_sql["begin"], (partition, epoch, position))).rows:
        raise SteppedDown(f"partition {partition} is no longer owned by epoch {epoch}")


async def end(writer: Connection, suspicion: Suspicion, cause: str) -> None:
    """Counts an attempt that `cause` ended. Does nothing if it is already counted, or its command is done."""
    await writer.execute(_sql["end"], (suspicion.partition, suspicion.epoch, suspicion.first, cause))


async def known(writer: Connection, partition: int, position: int) -> list[Known]:
    """The attempts at, and suspicions about, commands after `position`."""
    rows = (await writer.execute(_sql["known"], (partition, position))).rows
    return [Known(*row) for row in rows]


async def waiting(writer: Connection, partition: int, position: int, commands: int) -> int:
    """The position of the last of the next `commands` commands after `position`; `position` itself if there is none."""
    rows = (await writer.execute(_sql["waiting"], (partition, position, commands))).rows
    return rows[0][0] or position


def clear(partition: int, last: int) -> Call:
    """The statement that deletes all attempts up to position `last`, for the batch that passes it."""
    return _sql["clear"], (partition, last)


async def prove(connection: Connection, sessions: Sequence[int], deadline: float) -> bool:
    """Makes PostgreSQL do a small commit with a flush; returns whether none of `sessions` waits for a lock.

    Request and answer are as large as those of a batch, because a network may lose only large packets.

    Raises:
        StorageError: the commit failed, or was not done before the deadline.
    """
    ((_, blocked, _),) = (await connection.execute(_sql["prove"], (list(sessions), PACKETS), deadline=deadline)).rows
    return not blocked


def leave_notes(dsn: str, suspicions: Sequence[Suspicion]) -> None:
    """Records, without the event loop, that the watchdog ends this process during the work of `suspicions`.

    It blocks for a few seconds at most. Raises psycopg.Error.
    """
    parameters = conninfo.with_name(conninfo.parse(dsn), "vivero:watchdog")
    parameters["connect_timeout"] = str(CONNECT_S)
    if conninfo.names_several(dsn):
        parameters.setdefault("target_session_attrs", "read-write")
    with psycopg.connect(make_conninfo(**parameters), autocommit=True) as connection:
        connection.execute("SELECT set_config('statement_timeout', %s, false)", (NOTE_TIMEOUT,))
        for suspicion in suspicions:
            statement, last = (_sql["end"], WATCHDOG) if suspicion.attempt else (_sql["suspect"], suspicion.last)
            values = (suspicion.partition, suspicion.epoch, suspicion.first, last)
            psycopg.RawCursor(connection).execute(statement.text.encode(), values)
