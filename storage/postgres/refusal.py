"""Why a server refuses a connection, as a SQLSTATE.

libpq keeps the SQLSTATE of a refused start to itself and hands out only a text, in the server's language. Its protocol
trace has it, though. For the start-up checks alone: libpq leaks the trace's FILE (a few kB) at each use.
"""

import os
import re
import sys

import trio
from psycopg import pq

from vivero.storage.postgres import dsn as conninfo
from vivero.storage.postgres.errors import ConnectFailed

_ERROR_RESPONSE = re.compile(rb"\tErrorResponse\t.* C \"(?P<sqlstate>[0-9A-Z]{5})\"")
_TRACE_LIMIT = 1_000_000


async def sqlstate_of_refusal(dsn: str, *, deadline: float) -> str | None:
    """Connects once more and gives the SQLSTATE with which the last host refuses.

    None if it does not refuse, says nothing of the kind before `deadline`, cannot be reached, or libpq cannot trace
    here (it can on Linux).
    """
    if sys.platform != "linux":
        return None
    found: str | None = None
    with trio.move_on_at(deadline):
        try:
            attempts = await conninfo.attempts(conninfo.parse(dsn))
        except ConnectFailed:
            return None
        for attempt in attempts:
            found = await _sqlstate(attempt) or found
    return found


async def _sqlstate(attempt: str) -> str | None:
    connection = pq.PGconn.connect_start(attempt.encode())
    trace = os.memfd_create("libpq-trace")
    try:
        connection.trace(trace)
        while (state := connection.connect_poll()) in {pq.PollingStatus.READING, pq.PollingStatus.WRITING}:
            reading = state == pq.PollingStatus.READING
            await (trio.lowlevel.wait_readable if reading else trio.lowlevel.wait_writable)(connection.socket)
        connection.untrace()
        refusals = _ERROR_RESPONSE.findall(os.pread(trace, _TRACE_LIMIT, 0))
        return refusals[-1].decode() if refusals else None
    finally:
        connection.finish()
        os.close(trace)
