"""Whether a database is fit for the program, found out before anything else runs.

Each misfit is an exception of its own whose message says what to do about it. `check` finds all it can at once, so that
nobody repairs one setting after the other.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar

import trio

from vivero.storage.postgres import dsn as conninfo
from vivero.storage.postgres.driver import Connection, connect
from vivero.storage.postgres.errors import ConnectFailed, InvalidDsn, Retry, StorageBug
from vivero.storage.postgres.refusal import sqlstate_of_refusal

MINIMUM_VERSION = 15
CHECK_TIMEOUT_S = 10.0
PROBE_TIMEOUT_S = 2.0
"""How long one answer may take while the checks look for a pooler, which may make a client wait for another's end."""

_PROBE_CHANNEL = "vivero_probe"


class StartupProblem(Exception):
    """The database cannot be used as it is. `may_pass`: waiting may help (the server starts, a standby is promoted)."""

    may_pass: ClassVar[bool] = False


class UnreadableUrl(StartupProblem):
    """The connection string is malformed."""


class Unreachable(StartupProblem):
    """No server answers there, or it is not ready."""

    may_pass = True


class WrongCredentials(StartupProblem):
    """The server does not let this user in."""


class UnknownDatabase(StartupProblem):
    """The server has no such database."""


class ServerTooOld(StartupProblem):
    """The server lacks what the program's SQL needs."""


class CommitsNotDurable(StartupProblem):
    """The server would acknowledge commits that it can lose."""


class WrongEncoding(StartupProblem):
    """The database cannot hold all of Unicode."""


class PooledConnections(StartupProblem):
    """A proxy gives each transaction another session: locks and LISTEN do not work."""


class ReadOnlyServer(StartupProblem):
    """Nothing can be written there."""

    may_pass = True


class NotPermitted(StartupProblem):
    """This user may not make, or work with, the program's tables."""


class CannotEndOwnSessions(StartupProblem):
    """A frozen owner of a partition could not be replaced."""


class SeveralProblems(StartupProblem):
    """More than one; each in `problems`."""

    def __init__(self, problems: list[StartupProblem]) -> None:
        super().__init__("\n".join(f"- {problem}" for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Server:
    """What was found; the program says it at start, and benchmarks with their results."""

    version: str
    version_number: int
    """As PostgreSQL counts: 180004 is 18.4."""
    synchronous_commit: str
    fsync: bool
    address: str
    """Host, port, database and user, without the password."""


async def check(dsn: str, *, allow_unsafe_commits: bool = False, deadline: float | None = None) -> Server:
    """What server this is, if it is fit. Raises a `StartupProblem`, or `SeveralProblems`.

    `allow_unsafe_commits` accepts `synchronous_commit` off or local and `fsync` off: an acknowledged command may then
    be lost in a crash.
    """
    end = trio.current_time() + CHECK_TIMEOUT_S if deadline is None else deadline
    address = _address(dsn)
    connection = await _connect(dsn, address, end)
    try:
        return await _inspect(dsn, connection, address, allow_unsafe_commits, end)
    except Retry as error:
        raise Unreachable(f"{address}: the connection broke during the start-up checks: {error}") from error
    finally:
        connection.close()


async def _inspect(dsn: str, connection: Connection, address: str, unsafe: bool, end: float) -> Server:
    if problem := await find_pooling(dsn, connection, end):
        raise problem  # whatever else is found through a pooler may be somebody else's
    server, read_only = await _facts(connection, address)
    problems = _judge(server, connection.parameter("server_encoding"), read_only, unsafe)
    if problem := await _find_powerless(connection, address):
        problems.append(problem)
    if not problems and (problem := await _find_helpless(dsn, connection, end)):
        raise problem
    if problems:
        raise problems[0] if len(problems) == 1 else SeveralProblems(problems)
    return server


# Getting in


def _address(dsn: str) -> str:
    try:
        parameters = conninfo.parse(dsn)
    except InvalidDsn as error:
        raise UnreadableUrl(str(error)) from error
    user, name = parameters.get("user", "the default user"), parameters.get("dbname", "the default database")
    return f"{name} as {user} at {conninfo.address(dsn)}"


async def _connect(dsn: str, address: str, end: float) -> Connection:
    try:
        return await connect(dsn, name="vivero:checks", deadline=end, call_timeout_s=PROBE_TIMEOUT_S)
    except InvalidDsn as error:
        raise UnreadableUrl(str(error)) from error
    except ConnectFailed as error:
        sqlstate = await sqlstate_of_refusal(dsn, deadline=end)
        raise _refused(sqlstate, address, error.message) from error


def _refused(sqlstate: str | None, address: str, said: str) -> StartupProblem:
    match sqlstate:
        case "28P01" | "28000":
            return WrongCredentials(
                f"{address}: the server does not accept this user or password."
                f" Check them in the database URL, and the server's pg_hba.conf. It said: {said}"
            )
        case "3D000":
            return UnknownDatabase(
                f"{address}: there is no such database. Create it: CREATE DATABASE … ENCODING 'UTF8'"
            )
        case "08P01":
            return PooledConnections(
                f"{address}: what answers there refuses settings at the start of a session, as connection poolers do."
                f" Give the address of PostgreSQL itself. It said: {said}"
            )
        case "53300":
            return Unreachable(
                f"{address}: all connections of the server are in use. Raise max_connections, or free some"
            )
        case "57P03":
            return Unreachable(f"{address}: the server is starting up or shutting down. It said: {said}")
        case _:
            return Unreachable(
                f"{address}: no connection. Check host and port in the database URL, and that PostgreSQL runs there."
                f" The attempt said: {said}"
            )


# What the server says of itself


async def _facts(connection: Connection, address: str) -> tuple[Server, str | None]:
    """The server, and why it cannot be written to, if so."""
    (row,) = (
        await connection.execute(
            "SELECT current_setting('server_version'), current_setting('synchronous_commit'),"
            " current_setting('fsync')::boolean, pg_is_in_recovery(), current_setting('transaction_read_only')::boolean"
        )
    ).rows
    version, commit, fsync, recovering, read_only = row
    server = Server(version, connection.server_version, commit, fsync, address)
    if recovering:
        return (
            server,
            "it is a standby. Give the primary's address, or several hosts and target_session_attrs=read-write",
        )
    if read_only:
        return server, "default_transaction_read_only is on. Turn it off for this server, database or user"
    return server, None


def _judge(server: Server, encoding: str | None, read_only: str | None, unsafe: bool) -> list[StartupProblem]:
    problems: list[StartupProblem] = []
    if server.version_number < MINIMUM_VERSION * 10_000:
        problems.append(
            ServerTooOld(f"{server.address}: PostgreSQL {server.version} is too old, {MINIMUM_VERSION} is the oldest")
        )
    if encoding != "UTF8":
        problems.append(
            WrongEncoding(
                f"{server.address}: the database's encoding is {encoding}. Create another one:"
                " CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'"
            )
        )
    if read_only is not None:
        problems.append(ReadOnlyServer(f"{server.address}: nothing can be written there: {read_only}"))
    if not unsafe:
        problems += _judge_durability(server)
    return problems


def _judge_durability(server: Server) -> list[StartupProblem]:
    advice = (
        "a command is acknowledged when it is safe, not before. Turn it on; for tests,"
        " the setting database.allow_unsafe_commits takes it as it is"
    )
    problems: list[StartupProblem] = []
    if server.synchronous_commit in {"off", "local"}:
        problems.append(
            CommitsNotDurable(f"{server.address}: synchronous_commit is {server.synchronous_commit}; {advice}")
        )
    if not server.fsync:
        problems.append(CommitsNotDurable(f"{server.address}: fsync is off; {advice}"))
    return problems


_PERMISSIONS = """
SELECT current_user, current_schema(), has_schema_privilege(current_schema(), 'CREATE'),
    (SELECT pg_get_userbyid(c.relowner) FROM pg_class c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
       AND NOT pg_has_role(c.relowner, 'USAGE')
       AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
                AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))
     LIMIT 1),
    to_regclass('schema_migrations') IS NOT NULL
"""


async def _find_powerless(connection: Connection, address: str) -> StartupProblem | None:
    """Since PostgreSQL 15 nobody but a database's owner may make tables in its schema `public`."""
    (row,) = (await connection.execute(_PERMISSIONS)).rows
    user, schema, may_create, owner, migrated = row
    if schema is None:
        return NotPermitted(f"{address}: the user's search_path names no schema that is there. Set it, or create one")
    if not migrated and not may_create:
        return NotPermitted(
            f"{address}: this user may not make tables in the schema {schema}."
            f" ALTER DATABASE … OWNER TO {user}, or GRANT CREATE ON SCHEMA {schema} TO {user}"
        )
    if migrated and owner is not None:
        return NotPermitted(
            f"{address}: this user may not work with the tables in the schema {schema}, which are {owner}'s."
            f" Give the database URL of that user, or GRANT {owner} TO {user}"
        )
    return None


# What has to be tried


async def find_pooling(dsn: str, connection: Connection, end: float) -> StartupProblem | None:
    """Looks for a proxy that gives each transaction another session (PgBouncer's transaction pooling, and its like).

    A pooler with little to do hands out the same session again and again. So a second connection opens a transaction,
    which keeps its session busy, and the first must still be the session that it was.
    """
    second = await _connect(dsn, conninfo.address(dsn), end)
    try:
        for probe in (_same_backend, _keeps_settings, _hears_itself):
            if (evidence := await _evidence(probe, connection, second)) is not None:
                return PooledConnections(
                    f"{conninfo.address(dsn)}: between here and PostgreSQL is a pooler that shares sessions between"
                    f" transactions ({evidence}). Locks and notifications do not work through it: give the address"
                    " of PostgreSQL itself, or set the pooler to session pooling"
                )
    finally:
        second.close()
    return None


Probe = Callable[[Connection, Connection], Awaitable[str | None]]


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
    heard = False
    give_up = trio.current_time() + PROBE_TIMEOUT_S
    while not heard and (left := give_up - trio.current_time()) > 0:
        heard = any(notification.payload == token for notification in await connection.notifications(left))
    await connection.execute(f"UNLISTEN {_PROBE_CHANNEL}")
    return None if heard else "a notification did not come"


_THIS_BACKEND = "SELECT pid, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()"
_END_BACKEND = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2::timestamptz"
)
"""Not another that has got its number meanwhile."""


async def _find_helpless(dsn: str, connection: Connection, end: float) -> StartupProblem | None:
    """Ends a session of our own, as a contender must when the owner of a partition is frozen."""
    victim = await _connect(dsn, conninfo.address(dsn), end)
    try:
        (row,) = (await victim.execute(_THIS_BACKEND)).rows
        await connection.execute(_END_BACKEND, row)
    except StorageBug as error:
        return CannotEndOwnSessions(
            f"{conninfo.address(dsn)}: this user may not end its own sessions ({error.message})."
            " GRANT EXECUTE ON FUNCTION pg_terminate_backend TO it"
        )
    finally:
        victim.close()
    return None
