"""The SQLSTATE with which a server rejects a new connection.

libpq hides that SQLSTATE: it returns only a text in the server's language. Its protocol trace has the SQLSTATE. Only
the start-up checks use the trace, because libpq leaks its FILE (a few kB) each time.
"""

import os
import re
import sys

import trio
from psycopg import pq

from vivero.storage.postgres import conninfo
from vivero.storage.postgres.errors import ConnectFailed

_ERROR_RESPONSE = re.compile(rb"\tErrorResponse\t.* C \"(?P<sqlstate>[0-9A-Z]{5})\"")
_TRACE_LIMIT = 1_000_000


async def startup_sqlstate(dsn: str, *, deadline: float) -> str | None:
    """Connects once more; returns the SQLSTATE with which the last host that sends one rejects the connection.

    None if the hosts accept it, cannot be reached, or send no SQLSTATE before `deadline`; and on systems other than
    Linux, where libpq cannot trace. A silent host does not hide the SQLSTATE of another one.
    """
    if sys.platform != "linux":
        return None
    found: dict[int, str | None] = {}

    async def ask(number: int, attempt: str) -> None:
        found[number] = await _sqlstate(attempt)

    with trio.move_on_at(deadline):
        try:
            attempts = await conninfo.attempts(conninfo.parse(dsn))
        except ConnectFailed:
            return None
        async with trio.open_nursery() as nursery:
            for number, attempt in enumerate(attempts):
                nursery.start_soon(ask, number, attempt)
    return next((found[number] for number in sorted(found, reverse=True) if found[number]), None)


async def _sqlstate(attempt: str) -> str | None:
    connection = pq.PGconn.connect_start(attempt.encode())
    trace = os.memfd_create("libpq-trace")
    try:
        connection.trace(trace)
        while (state := connection.connect_poll()) in {pq.PollingStatus.READING, pq.PollingStatus.WRITING}:
            reading = state == pq.PollingStatus.READING
            await (trio.lowlevel.wait_readable if reading else trio.lowlevel.wait_writable)(connection.socket)
        connection.untrace()
        sqlstates = _ERROR_RESPONSE.findall(os.pread(trace, _TRACE_LIMIT, 0))
        return sqlstates[-1].decode() if sqlstates else None
    finally:
        connection.finish()
        os.close(trace)
