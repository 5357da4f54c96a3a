"""PostgreSQL connections on Trio: psycopg's own protocol generators, waited for by Trio.

psycopg implements the protocol as generators that yield when they must wait; in `waiting` Trio does the waiting.
A connection is a thin layer over libpq (`psycopg.pq`): no cursors, no adaptation of large values, results as lists of
tuples. It needs half the CPU of psycopg's own connection class. It uses names beyond psycopg's documented API:
`psycopg.generators` (connect, cancel, send, execute, fetch_many, notifies) and `psycopg.waiting` (Ready, Wait). The
narrow range of versions and tests/storage/postgres/test_driver.py guard against changes.

Rules that hold for every call:

- A call has a deadline, a point on Trio's clock (seconds, `trio.current_time()`); by default `call_timeout_s` from now.
  A deadline that passes closes the connection and raises `DeadlineExceeded`. It shuts the socket down: neither TCP
  keepalive nor statement_timeout frees a call on a broken network path.
- A cancelled call leaves no dirty connection. Its query gets a moment to end, and then a cancel request, all within
  `SETTLE_S`. Otherwise, and always for a pipeline, the connection is closed.
- `errors` lists the errors. After `ConnectionLost` the connection is closed; after other errors it is usable
  (within an explicit transaction: for a rollback).
- One task uses a connection at a time; a second one gets `StorageBug`. Any task may call `abort()`.
"""

from collections.abc import Awaitable, Callable, Mapping

import psycopg
import trio
from psycopg import generators
from psycopg.pq.abc import PGconn

from vivero.storage.postgres import conninfo, hosts
from vivero.storage.postgres.connection import Connection, Notification
from vivero.storage.postgres.errors import ConnectFailed, StorageError
from vivero.storage.postgres.given_time import patient
from vivero.storage.postgres.queries import Call, Query
from vivero.storage.postgres.results import QueryResult
from vivero.storage.postgres.session_settings import BEGIN_SESSION, beginning
from vivero.storage.postgres.values import Params
from vivero.storage.postgres.waiting import drive_pairs

__all__ = ["Call", "Connect", "Connection", "Notification", "Params", "Query", "QueryResult", "connect"]

Connect = Callable[[float], Awaitable[Connection]]
"""Opens a connection before a deadline (a point on Trio's clock)."""

Accept = Callable[[Connection], Awaitable[None]]
"""Raises `ConnectFailed` for a connection to a server that must not be used."""

CALL_TIMEOUT_S = 5.0
CONNECT_TIMEOUT_S = 5.0


async def _all(_connection: Connection) -> None:
    """Accepts any server."""


async def connect(
    dsn: str,
    *,
    name: str = "vivero",
    settings: Mapping[str, str] | None = None,
    deadline: float | None = None,
    call_timeout_s: float = CALL_TIMEOUT_S,
    accept: Accept = _all,
) -> Connection:
    """A new connection to the first host of the DSN that accepts one, or to the primary among several hosts.

    `name` is its `application_name`; `settings` are server settings for its whole session, beside those that all
    sessions rely on (`session_settings`). `accept` looks at a
    connection first, and raises `ConnectFailed` for a host that must not be used. The attempts overlap (`hosts.first`);
    each has the DSN's `connect_timeout`, and at most the time until `deadline`. Raises `InvalidDsn`, and
    `ConnectFailed` with the error of each host.
    """
    parameters = conninfo.with_name(conninfo.parse(dsn), name)
    limit_s = conninfo.connect_timeout_s(parameters)
    end = trio.current_time() + CONNECT_TIMEOUT_S if deadline is None else deadline
    attempts: list[str] = []
    with trio.CancelScope(deadline=end) as scope, patient(scope):
        attempts = await conninfo.attempts(parameters)
    if not attempts:
        raise ConnectFailed("the host names could not be resolved before the deadline")
    role = hosts.needed_role(parameters.get("target_session_attrs"), len(attempts))

    async def open_one(attempt: str) -> Connection:
        timeout_s = min(limit_s, end - trio.current_time())
        connection = Connection(await _open(attempt, timeout_s), name, call_timeout_s)
        try:
            hosts.check_role(connection, role, conninfo.address(attempt))
            await _begin_session(connection, settings or {}, end)
            await accept(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    return await hosts.first(attempts, open_one)


async def _open(attempt: str, timeout_s: float) -> PGconn:
    try:
        with trio.fail_after(max(timeout_s, 0)) as scope, patient(scope):
            return await drive_pairs(generators.connect(attempt))
    except (psycopg.Error, OSError) as error:
        raise ConnectFailed(str(error).strip()) from error
    except trio.TooSlowError:
        raise ConnectFailed(f"no answer from {conninfo.address(attempt)} within {timeout_s:.1f} s") from None


async def _begin_session(connection: Connection, settings: Mapping[str, str], deadline: float) -> None:
    """Make the settings, and ask for the backend's number: that of the greeting may be a pooler's."""
    try:
        result = await connection.execute(BEGIN_SESSION, beginning(settings), deadline=deadline)
    except StorageError as error:
        raise ConnectFailed(f"the session could not begin: {error.message}") from error
    connection.backend_pid = result.rows[0][0]
