"""Looks for a connection pooler that shares sessions between transactions. Locks and LISTEN do not work through it."""

from collections.abc import Awaitable, Callable

import trio

from vivero.storage.postgres import conninfo, startup_connections
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import Retry, StorageBug
from vivero.storage.postgres.startup_connections import connect_for_checks
from vivero.storage.postgres.startup_problems import PooledConnections, StartupProblem

_PROBE_CHANNEL = "vivero_probe"


async def find_pooling(dsn: str, connection: Connection, end: float) -> StartupProblem | None:
    """The problem if a proxy gives each transaction another session (PgBouncer's transaction pooling and the like).

    An idle pooler hands out the same session again and again. Therefore a second connection opens a transaction, which
    keeps its session busy. The first connection must then still have its old session.
    """
    second = await connect_for_checks(dsn, conninfo.address(dsn), end)
    try:
        for probe in (_same_backend, _keeps_settings, _hears_itself):
            if (evidence := await _evidence(probe, connection, second)) is not None:
                return PooledConnections(
                    f"{conninfo.address(dsn)}: a connection pooler in front of PostgreSQL shares sessions between"
                    f" transactions ({evidence}). Locks and notifications do not work through it: use the address"
                    " of PostgreSQL itself, or set the pooler to session pooling"
                )
    finally:
        second.close()
    return None


Probe = Callable[[Connection, Connection], Awaitable[str | None]]
"""Returns the evidence of a pooler, if it finds any."""


async def _evidence(probe: Probe, connection: Connection, second: Connection) -> str | None:
    try:
        return await probe(connection, second)
    except (Retry, StorageBug) as error:
        if connection.closed:
            return f"a connection got no answer while another one was in a transaction: {error.message}"
        raise


async def _same_backend(connection: Connection, second: Connection) -> str | None:
    pid = "SELECT pg_backend_pid()"
    before = (await connection.execute(pid)).rows
    async with second.transaction():
        others = (await second.execute(pid)).rows
        after = (await connection.execute(pid)).rows
    if before == after != others:
        return None
    return f"one connection was backend {before[0][0]} and then {after[0][0]}, another one {others[0][0]}"


async def _keeps_settings(connection: Connection, second: Connection) -> str | None:
    await connection.execute("SELECT set_config('vivero.probe', 'kept', false)")
    async with second.transaction():
        await second.execute("SELECT 1")
        (row,) = (await connection.execute("SELECT current_setting('vivero.probe', true)")).rows
    return None if row == ("kept",) else "a setting of the session was lost"


async def _hears_itself(connection: Connection, second: Connection) -> str | None:
    await connection.execute(f"LISTEN {_PROBE_CHANNEL}")
    token = f"{trio.current_time()}"
    await second.execute("SELECT pg_notify($1, $2)", (_PROBE_CHANNEL, token))
    arrived = False
    give_up = trio.current_time() + startup_connections.PROBE_TIMEOUT_S
    while not arrived and (left := give_up - trio.current_time()) > 0:
        arrived = any(notification.payload == token for notification in await connection.notifications(left))
    await connection.execute(f"UNLISTEN {_PROBE_CHANNEL}")
    return None if arrived else "a notification did not arrive"
