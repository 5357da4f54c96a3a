"""Row-level security: the second role of multi-tenancy, and the rows that it sees.

The API reads with this role for callers that may see some tenants only. Its sessions set these tenants at the beginning
of each transaction (`tenants.scope`). The owner of the tables does all other work and sees all rows.
"""

from __future__ import annotations

import trio

from vivero.storage.access import policies
from vivero.storage.postgres import conninfo
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import Conflict, StorageBug
from vivero.storage.postgres.sql_files import beside
from vivero.storage.postgres.startup_connections import connect_for_checks, describe
from vivero.storage.postgres.startup_problems import StartupProblem, WrongSchema
from vivero.storage.schema import installations, migrate
from vivero.storage.schema.checks import CHECK_TIMEOUT_S

_sql = beside(__file__)

READER = "vivero_reader"
"""The role of the embedded PostgreSQL, and the one that `vivero db roles` proposes."""
LOCK_WAIT_MS = 10_000
"""Time to wait for the exclusive lock of each table."""
ADVICE = "`vivero db roles` prints the SQL that makes it; then set database.reader_url to its URL"


class NotSeparated(StartupProblem):
    """Multi-tenancy is on, but no second role is subject to row-level security."""


async def make_reader(connection: Connection) -> None:
    """Create the role of the reads in the embedded PostgreSQL, which needs no passwords."""
    if not (await connection.execute(_sql["role"], (READER,))).rows:
        await connection.script(f"CREATE ROLE {READER} LOGIN")


async def prepare(connection: Connection, reader_url: str) -> None:
    """Enable row-level security on all tables, for the role of `reader_url`.

    Raises:
        StartupProblem: the role cannot connect, is not subject to it, or works on other tables; or a table is in use.
    """
    address = describe(reader_url)
    place = (await connection.execute(_sql["place"])).rows[0]
    found = await _place(reader_url, address)
    if found[1:] != place[1:]:
        raise NotSeparated(
            f"database.reader_url: {address}: this role does not see the tables in the schema '{place[2]}' of the"
            f" database '{place[1]}'. Give it USAGE on the schema, and the same search_path ({ADVICE})"
        )
    reader = found[0]
    await _check_role(connection, reader)
    try:
        async with migrate.locked(connection):
            if await unprotected(connection, reader):
                await _apply(connection, reader)
    except StorageBug as error:
        raise NotSeparated(f"the tables cannot be put under row-level security: {error.message}") from error


async def unprotected(connection: Connection, reader: str) -> list[str]:
    """The tables without row-level security, and those that the role may not read."""
    digests = {table: policies.digest(condition) for table, condition in policies.POLICIES.items()}
    digests |= dict.fromkeys((*policies.SHARED, *policies.VIEWS), "")
    found = await connection.execute(_sql["unprotected"], (list(digests), list(digests.values()), reader))
    return [name for (name,) in found.rows]


async def _place(reader_url: str, address: str) -> tuple[str, str, str | None, int | None]:
    """User, database, schema and table of the sessions of the second role. Raises StartupProblem."""
    end = trio.current_time() + CHECK_TIMEOUT_S
    try:
        connection = await connect_for_checks(reader_url, address, end)
    except StartupProblem as error:
        raise NotSeparated(f"multi-tenancy reads with a second role: {error}. {ADVICE}") from error
    try:
        user, database, schema, table = (await connection.execute(_sql["place"])).rows[0]
    finally:
        connection.close()
    return user, database, schema, table


async def _check_role(connection: Connection, reader: str) -> None:
    """Raise NotSeparated for a role that is not subject to row-level security."""
    ((bypasses,),) = (await connection.execute(_sql["role"], (reader,))).rows
    if bypasses:
        raise NotSeparated(
            f"database.reader_url: row-level security does not hold for the role '{reader}': it is a superuser, has"
            f" BYPASSRLS, or is a member of the role that owns the tables. Use another role: {ADVICE}"
        )


async def _apply(connection: Connection, reader: str) -> None:
    schema, owner, quoted = (await connection.execute(_sql["names"], (reader,))).rows[0]
    try:
        async with connection.transaction():
            await connection.script(f"SET LOCAL lock_timeout = {LOCK_WAIT_MS}")
            await connection.script(policies.script(schema, owner, quoted), deadline=trio.current_time() + 60)
    except Conflict as error:
        raise NotSeparated(
            f"row-level security could not lock a table within {LOCK_WAIT_MS // 1000} s: end the sessions that use it,"
            f" and start again ({error.message})"
        ) from error


def reader_of(dsn: str) -> str:
    """The URL of the second role in the embedded PostgreSQL."""
    return conninfo.with_user(dsn, READER)


async def roles_sql(connection: Connection, role: str, password: str) -> str:
    """The SQL that creates the second role in an external database.

    Raises:
        StartupProblem: the search_path leads to a schema without the installation, which is in another one.
    """
    place, (user, *_) = await installations.place(connection), (await connection.execute(_sql["place"])).rows[0]
    if why := installations.misplaced(place, user):
        raise WrongSchema(why)
    _, database, schema, _ = (await connection.execute(_sql["place"])).rows[0]
    quoted = (await connection.execute(_QUOTED, (role, password, database, schema))).rows[0]
    name, secret, database, schema = quoted
    lines = [
        f"CREATE ROLE {name} LOGIN PASSWORD {secret} NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;",
        f"GRANT CONNECT ON DATABASE {database} TO {name};",
        f"GRANT USAGE ON SCHEMA {schema} TO {name};",
        f"ALTER ROLE {name} IN DATABASE {database} SET search_path = {schema};",
    ]
    return "\n".join(lines)


_QUOTED = "SELECT quote_ident($1), quote_literal($2), quote_ident($3), quote_ident($4)"
