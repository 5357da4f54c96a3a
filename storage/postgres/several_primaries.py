"""Looks for a second host that accepts writes: after a failover, the old primary may have come back as it was."""

import trio

from vivero.storage.postgres import conninfo, hosts, startup_connections
from vivero.storage.postgres.driver import Connection, connect
from vivero.storage.postgres.errors import StorageError
from vivero.storage.postgres.startup_problems import SeveralPrimaries, StartupProblem

_STARTED = "SELECT pg_postmaster_start_time()::text"
"""The start time tells two servers apart, and shows that two addresses lead to the same one."""


async def find_several_primaries(dsn: str, end: float) -> StartupProblem | None:
    """The problem if more than one server accepts writes. A host that does not answer in time is not one of them."""
    if not conninfo.names_several(dsn):
        return None
    found: dict[str, str] = {}
    deadline = min(end, trio.current_time() + startup_connections.PROBE_TIMEOUT_S)

    async def ask(attempt: str) -> None:
        try:
            connection = await connect(attempt, name="vivero:checks", deadline=deadline, accept=_writable)
        except StorageError:
            return  # several hosts are given because one may be down or a standby
        try:
            ((started,),) = (await connection.execute(_STARTED, deadline=deadline)).rows
            found.setdefault(started, conninfo.address(attempt))
        except StorageError:
            return
        finally:
            connection.close()

    async with trio.open_nursery() as nursery:
        for attempt in await conninfo.attempts(conninfo.parse(dsn)):
            nursery.start_soon(ask, attempt)
    if len(found) < 2:
        return None
    return SeveralPrimaries(
        f"{' and '.join(sorted(found.values()))} both accept writes. Stop the one that was replaced, or make it a"
        " standby: commands that it takes are lost"
    )


async def _writable(connection: Connection) -> None:
    hosts.check_role(connection, hosts.Role.READ_WRITE, "the host")
