"""Start-up checks: whether a database is fit for the program, before anything else runs.

Each problem is an exception of its own (`startup_problems`). `check` reports all problems that it can find at once.
"""

from dataclasses import dataclass

import trio

from vivero.storage.postgres import conninfo
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import Retry, StorageBug
from vivero.storage.postgres.pooling import find_pooling
from vivero.storage.postgres.session_settings import REFUSED
from vivero.storage.postgres.several_primaries import find_several_primaries
from vivero.storage.postgres.startup_connections import connect_for_checks, describe
from vivero.storage.postgres.startup_problems import (
    CannotEndOwnSessions,
    CommitsNotDurable,
    NotPermitted,
    ReadOnlyServer,
    ServerTooOld,
    SeveralProblems,
    StartupProblem,
    Unreachable,
    WrongEncoding,
    WrongSchema,
    WrongSetting,
)
from vivero.storage.schema import installations

MINIMUM_VERSION = 15
CHECK_TIMEOUT_S = 10.0
STANDBY = "it is a standby. Give the primary's address, or the addresses of all servers: host1,host2"


@dataclass(frozen=True, slots=True)
class Server:
    """Facts about the server. The program logs them at start; benchmarks report them with their results."""

    version: str
    version_number: int
    """PostgreSQL's own number: 180004 is 18.4."""
    synchronous_commit: str
    fsync: bool
    address: str
    """Host, port, database and user, without the password."""


async def check(
    dsn: str, *, allow_unsafe_commits: bool = False, any_schema: bool = False, deadline: float | None = None
) -> Server:
    """The facts about a fit server. Raises a `StartupProblem`, or `SeveralProblems`.

    `allow_unsafe_commits` accepts `synchronous_commit` off or local and `fsync` off: a crash may then lose
    acknowledged commands. `any_schema` does not look at the schema: a restore decides by the backup.
    """
    end = trio.current_time() + CHECK_TIMEOUT_S if deadline is None else deadline
    address = describe(dsn)
    connection = await connect_for_checks(dsn, address, end)
    try:
        return await _inspect(dsn, connection, address, allow_unsafe_commits, any_schema, end)
    except Retry as error:
        raise Unreachable(f"{address}: the connection broke during the start-up checks: {error}") from error
    finally:
        connection.close()


async def _inspect(
    dsn: str, connection: Connection, address: str, unsafe: bool, any_schema: bool, end: float
) -> Server:
    if connection.parameter("in_hot_standby") == "on":
        raise ReadOnlyServer(f"{address}: the server accepts no writes: {STANDBY}")  # nor does it accept LISTEN
    if problem := await find_several_primaries(dsn, end):
        raise problem  # the other checks need sessions of one server
    if problem := await find_pooling(dsn, connection, end):
        raise problem  # other findings through a pooler may belong to another session
    server, read_only = await facts(connection, address)
    problems = judge(server, connection.parameter("server_encoding"), read_only, unsafe)
    problems += await _find_refused(connection, address)
    if not any_schema and (problem := await _find_wrong_schema(connection, address)):
        problems.append(problem)
    if not problems and (problem := await _find_unendable_sessions(dsn, connection, end)):
        raise problem
    if problems:
        raise problems[0] if len(problems) == 1 else SeveralProblems(problems)
    return server


# The server's reports


async def facts(connection: Connection, address: str) -> tuple[Server, str | None]:
    """The server; and, if it accepts no writes, the reason and the remedy."""
    (row,) = (
        await connection.execute(
            "SELECT current_setting('server_version'), current_setting('synchronous_commit'),"
            " current_setting('fsync')::boolean, pg_is_in_recovery(), current_setting('transaction_read_only')::boolean"
        )
    ).rows
    version, commit, fsync, recovering, read_only = row
    server = Server(version, connection.server_version, commit, fsync, address)
    if recovering:
        return server, STANDBY
    if read_only:
        return server, "default_transaction_read_only is on. Turn it off for this server, database or user"
    return server, None


def judge(server: Server, encoding: str | None, read_only: str | None, unsafe: bool) -> list[StartupProblem]:
    problems: list[StartupProblem] = []
    if server.version_number < MINIMUM_VERSION * 10_000:
        problems.append(
            ServerTooOld(
                f"{server.address}: PostgreSQL {server.version} is too old."
                f" Use PostgreSQL {MINIMUM_VERSION} or a newer one"
            )
        )
    if encoding != "UTF8":
        problems.append(
            WrongEncoding(
                f"{server.address}: the database's encoding is {encoding}, not UTF8. Create another database:"
                " CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'"
            )
        )
    if read_only is not None:
        problems.append(ReadOnlyServer(f"{server.address}: the server accepts no writes: {read_only}"))
    if not unsafe:
        problems += _judge_durability(server)
    return problems


def _judge_durability(server: Server) -> list[StartupProblem]:
    advice = (
        "a crash could lose acknowledged commands. Turn it on; for tests,"
        " the setting database.allow_unsafe_commits accepts it"
    )
    problems: list[StartupProblem] = []
    if server.synchronous_commit in {"off", "local"}:
        problems.append(
            CommitsNotDurable(f"{server.address}: synchronous_commit is {server.synchronous_commit}; {advice}")
        )
    if not server.fsync:
        problems.append(CommitsNotDurable(f"{server.address}: fsync is off; {advice}"))
    return problems


async def _find_refused(connection: Connection, address: str) -> list[StartupProblem]:
    """Settings that a session cannot make itself."""
    query = "SELECT name, current_setting(name, true) FROM unnest($1::text[]) AS settings (name)"
    found = (await connection.execute(query, (list(REFUSED),))).rows
    return [
        WrongSetting(
            f"{address}: {name} is {value}: {REFUSED[name][1]}. Set it to {REFUSED[name][0]} for this server, database"
            " and user"
        )
        for name, value in found
        if value not in (None, "", REFUSED[name][0])
    ]


_PERMISSIONS = """
SELECT current_user::text, current_schema(), has_schema_privilege(current_schema(), 'CREATE'),
    (SELECT pg_get_userbyid(c.relowner) FROM pg_class c
     WHERE c.relnamespace = to_regnamespace(quote_ident(current_schema())) AND c.relkind IN ('r', 'p')
       AND NOT pg_has_role(c.relowner, 'USAGE')
       AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
                AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))
     LIMIT 1)
"""


async def _find_wrong_schema(connection: Connection, address: str) -> StartupProblem | None:
    """Since PostgreSQL 15 only a database's owner may create tables in its schema `public`."""
    place = await installations.place(connection)
    (row,) = (await connection.execute(_PERMISSIONS)).rows
    user, schema, may_create, owner = row
    if why := installations.misplaced(place, user):
        return WrongSchema(f"{address}: {why}")
    migrated = place.is_ours
    if not migrated and not may_create:
        return NotPermitted(
            f"{address}: this user may not create tables in the schema {schema}."
            f" Run: ALTER DATABASE … OWNER TO {user}; or: GRANT CREATE ON SCHEMA {schema} TO {user}"
        )
    if migrated and owner is not None:
        return NotPermitted(
            f"{address}: this user may not read and write the tables in the schema {schema}, which {owner} owns."
            f" Use the database URL of that user, or run: GRANT {owner} TO {user}"
        )
    return None


# A session of our own


_THIS_BACKEND = "SELECT pid, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()"
_END_BACKEND = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2::timestamptz"
)
"""The start time tells the backend from a later one with the same number."""


async def _find_unendable_sessions(dsn: str, connection: Connection, end: float) -> StartupProblem | None:
    """Ends a session of the same user. A contender must do that when the owner of a partition is frozen."""
    victim = await connect_for_checks(dsn, conninfo.address(dsn), end)
    try:
        (row,) = (await victim.execute(_THIS_BACKEND)).rows
        await connection.execute(_END_BACKEND, row)
    except StorageBug as error:
        return CannotEndOwnSessions(
            f"{conninfo.address(dsn)}: this user may not end its own sessions ({error.message})."
            " Run: GRANT EXECUTE ON FUNCTION pg_terminate_backend TO this user"
        )
    finally:
        victim.close()
    return None
