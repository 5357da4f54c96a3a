"""The connections of a process to the primary, also when another server becomes the primary.

A promotion begins a new timeline. If the old primary comes back beside the new one, both accept writes. A process that
has seen the newer timeline uses no server of an older one, and closes the connections that it has there. It cannot
protect itself from an old primary before it has seen the new one: fencing is the operator's task (docs/postgresql.md).
"""

from collections.abc import Mapping
from typing import NamedTuple
from weakref import WeakSet

import structlog
import trio

from vivero.storage.postgres import conninfo, driver
from vivero.storage.postgres.connection import Connection
from vivero.storage.postgres.errors import ConnectFailed, NoPrimary, StorageBug, StorageError, describe
from vivero.storage.postgres.sql_files import statement

log = structlog.get_logger(__name__)

_TIMELINE = statement(
    "timeline",
    """
    SELECT system_identifier::text,
        CASE WHEN pg_is_in_recovery() THEN NULL ELSE left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END
    FROM pg_control_system()
    """,
    "The name of a WAL file begins with the timeline that is written now; pg_control_checkpoint() is behind after a"
    " promotion.",
)


class Timeline(NamedTuple):
    """The timeline of a server: `system` is common to a primary and its standbys; each promotion raises `number`."""

    system: str
    number: int


class Primary:
    """Opens connections to the primary of a DSN, and closes those to a server that is the primary no more."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._several = conninfo.names_several(dsn)
        self._timeline: Timeline | None = None
        self._connections: WeakSet[Connection] = WeakSet()

    async def connect(
        self, name: str, settings: Mapping[str, str] | None = None, deadline: float | None = None
    ) -> Connection:
        """A new connection, as from `driver.connect`. With several hosts it costs one more round trip."""
        if not self._several:
            return await driver.connect(self._dsn, name=name, settings=settings, deadline=deadline)
        end = trio.current_time() + driver.CONNECT_TIMEOUT_S if deadline is None else deadline

        async def accept(connection: Connection) -> None:
            self._compare(await _timeline(connection, end))
            self._connections.add(connection)

        return await driver.connect(self._dsn, name=name, settings=settings, deadline=end, accept=accept)

    def _compare(self, found: Timeline | None) -> None:
        known = self._timeline
        if found is None or found == known:
            return
        if known is not None:
            if found.system == known.system and found.number < known.number:
                raise NoPrimary(
                    f"a server on timeline {found.number} accepts writes, but timeline {known.number} has replaced it:"
                    " stop that server"
                )
            log.warning("another server is the primary now", timeline=found.number, before=known.number)
            for connection in list(self._connections):
                connection.abort()
        self._timeline = found


async def _timeline(connection: Connection, deadline: float) -> Timeline | None:
    """None if this user may not ask, or the server is promoted at this moment. Raises `ConnectFailed`."""
    try:
        ((system, name),) = (await connection.execute(_TIMELINE, deadline=deadline)).rows
    except StorageBug as error:
        log.debug("the timeline of the server is not known", error=describe(error))
        return None
    except StorageError as error:
        raise ConnectFailed(f"the server did not tell its timeline: {error}") from error
    return None if name is None else Timeline(system, int(name, 16))
