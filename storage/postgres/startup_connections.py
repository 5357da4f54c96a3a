"""The connections of the start-up checks, and the problem that a failed one means."""

import re

from vivero.storage.postgres import conninfo
from vivero.storage.postgres.driver import Connection, connect
from vivero.storage.postgres.errors import ConnectFailed, InvalidDsn, NoPrimary
from vivero.storage.postgres.startup_problems import (
    PooledConnections,
    ReadOnlyServer,
    StartupProblem,
    UnknownDatabase,
    Unreachable,
    UnreadableUrl,
    WrongCredentials,
)
from vivero.storage.postgres.startup_sqlstate import startup_sqlstate

PROBE_TIMEOUT_S = 2.0
"""Time for one answer. A pooler may make one client wait for the end of another's transaction."""


def describe(dsn: str) -> str:
    """Database, user, host and port of a DSN, for messages. Raises `UnreadableUrl`."""
    try:
        parameters = conninfo.parse(dsn)
    except InvalidDsn as error:
        raise UnreadableUrl(str(error)) from error
    user, name = parameters.get("user", "the default user"), parameters.get("dbname", "the default database")
    return f"{name} as {user} at {conninfo.address(dsn)}"


async def connect_for_checks(dsn: str, address: str, end: float) -> Connection:
    """A connection before `end`, with a short timeout for its calls. Raises a `StartupProblem`."""
    try:
        return await connect(dsn, name="vivero:checks", deadline=end, call_timeout_s=PROBE_TIMEOUT_S)
    except InvalidDsn as error:
        raise UnreadableUrl(str(error)) from error
    except NoPrimary as error:
        raise ReadOnlyServer(f"{address}: no host accepts writes: {error.message}. Promote one of them") from error
    except ConnectFailed as error:
        sqlstate = await startup_sqlstate(dsn, deadline=end)
        raise _problem_of(sqlstate, address, error.message) from error


_NOT_PASSED_ON = re.compile(r"unsupported startup parameters?(?: in options)?: ([\w.]+)")
"""PgBouncer's words. Its code says nothing, and they are the same in every language."""


def _problem_of(sqlstate: str | None, address: str, said: str) -> StartupProblem:
    if (found := _NOT_PASSED_ON.search(said)) is not None:
        return PooledConnections(
            f"{address}: the connection pooler in front of PostgreSQL does not take the start parameter '{found[1]}',"
            " which the database URL or the environment (PG…) names. Remove it there, use the address of PostgreSQL"
            f" itself, or set ignore_startup_parameters = {found[1]} in PgBouncer. It said: {said}"
        )
    match sqlstate:
        case "28P01" | "28000":
            return WrongCredentials(
                f"{address}: the server does not accept this user or password."
                f" Check them in the database URL, and the server's pg_hba.conf. It said: {said}"
            )
        case "3D000":
            return UnknownDatabase(
                f"{address}: the database does not exist. Create it: CREATE DATABASE … ENCODING 'UTF8'"
            )
        case "08P01":
            return PooledConnections(
                f"{address}: the server rejects a setting of the database URL, as connection poolers do with `options`."
                f" Leave it out, or use the address of PostgreSQL itself. It said: {said}"
            )
        case "53300":
            return Unreachable(
                f"{address}: all connections that the server, the database or the user may have are in use."
                f" Raise the limit, or close some. It said: {said}"
            )
        case "57P03":
            return Unreachable(f"{address}: the server is starting up or shutting down. It said: {said}")
        case _:
            return Unreachable(
                f"{address}: cannot connect. Check host and port in the database URL, and that PostgreSQL runs there."
                f" The attempt said: {said}"
            )
