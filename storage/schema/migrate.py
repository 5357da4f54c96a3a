"""Brings a database to the program's schema: numbered SQL files, each in a transaction, under one advisory lock.

The table `schema_migrations` lists the migrations that ran, each with the SHA-256 of its file. Any number of programs
may start at once: one migrates; the others wait for its lock and then find nothing to do. A database of the fifty
migrations before these is adopted (`predecessor`).
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager

import trio

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import Conflict, Outage, Retry, StorageError
from vivero.storage.postgres.session_settings import RELIED_ON
from vivero.storage.schema import predecessor
from vivero.storage.schema.migration_files import Migration, MigrationError, read_migrations

MIGRATION_TIMEOUT_S = 600.0
"""Time for one migration, which may rewrite a large table."""

LOCK_WAIT_S = 120.0
"""Time to wait for another program that is migrating, and for each table lock within a migration."""

LOCK_KEY = int.from_bytes(b"Vivero")

LOCK_TIMEOUT = RELIED_ON["lock_timeout"]
"""The lock timeout of a session outside of migrations."""

_EXISTS = "SELECT to_regclass(quote_ident(current_schema()) || '.schema_migrations') IS NOT NULL"
"""In the schema where tables are made: another one of the search_path may be another program's."""

CREATE_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    version    int PRIMARY KEY,
    name       text NOT NULL,
    sha256     text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)"""


Progress = Callable[[Migration, int, int], None]
"""Called before each migration with the migration, its number (from 1) among those to run, and their count."""


Check = Callable[[Connection, Sequence[Migration]], Awaitable[None]]
"""Raises if these migrations must not run now."""


async def pending(connection: Connection, migrations: Sequence[Migration] | None = None) -> list[Migration]:
    """The migrations that have not run. Changes nothing, waits for no lock.

    For a database of the fifty migrations, the adoption comes first. Raises `MigrationError` if the database is newer
    than the program, or ran other migrations.
    """
    known = read_migrations() if migrations is None else migrations
    exists = await connection.execute(_EXISTS)
    if not exists.rows[0][0]:
        return list(known)
    rows = (await connection.execute("SELECT version, name, sha256 FROM schema_migrations ORDER BY version")).rows
    applied = [Migration(version, name, "", sha256) for version, name, sha256 in rows]
    first = known[0].version
    if any(each.version < first and each.sha256 for each in applied):
        predecessor.check(applied)
        return [predecessor.ADOPTION, *predecessor.behind(known)]
    return _compare([each for each in applied if each.version >= first], known)


def _compare(applied: Sequence[Migration], known: Sequence[Migration]) -> list[Migration]:
    if len(applied) > len(known):
        raise MigrationError(
            f"the database has schema version {applied[-1]}, but this program knows only {known[-1]}:"
            " start a newer version of the program, or use another database"
        )
    for done, migration in zip(applied, known, strict=False):
        if (done.version, done.sha256) != (migration.version, migration.sha256):
            raise MigrationError(
                f"migration {migration} is not the one that ran in this database (the database has {done}, checksum"
                f" {done.sha256[:12]}; the program has checksum {migration.sha256[:12]}): a released migration must"
                " never change. Restore the file, or start with a new database"
            )
    return list(known[len(applied) :])


async def migrate(
    connection: Connection,
    migrations: Sequence[Migration] | None = None,
    *,
    before: Check | None = None,
    progress: Progress | None = None,
    lock_wait_s: float = LOCK_WAIT_S,
    timeout_s: float = MIGRATION_TIMEOUT_S,
) -> list[Migration]:
    """Runs the pending migrations and returns them. Each runs in one transaction: as a whole or not at all.

    An adoption and the migrations behind it run in one transaction.

    It calls `before` under the lock, when the database is known to be one that it can migrate, and changes nothing if
    that raises. `before` may read only what every schema has: the tables are those of the last migration that ran.

    Raises `MigrationError` if a migration fails, or if another program has held the lock for `lock_wait_s`. `Retry` and
    `Outage` pass through: call it again on another connection.
    """
    known = read_migrations() if migrations is None else migrations
    async with locked(connection, lock_wait_s):
        todo = await pending(connection, known)
        if before is not None:
            await before(connection, todo)
        if todo:
            await connection.execute(CREATE_TABLE)
        if todo[:1] == [predecessor.ADOPTION]:
            await _adopt(connection, todo, known, progress, timeout_s)
        else:
            await _run(connection, todo, progress, timeout_s)
    return todo


@asynccontextmanager
async def locked(connection: Connection, wait_s: float = LOCK_WAIT_S) -> AsyncGenerator[None]:
    """Holds the migration lock. `lock_timeout` bounds the wait for it, and for the locks within migrations."""
    await connection.execute("SELECT set_config('lock_timeout', $1, false)", (f"{int(wait_s * 1000)}ms",))
    try:
        deadline = trio.current_time() + wait_s + connection.call_timeout_s
        await connection.execute("SELECT pg_advisory_lock($1)", (LOCK_KEY,), deadline=deadline)
    except Conflict as error:
        raise MigrationError(
            f"another program has been migrating this database for more than {wait_s:g} s:"
            " wait until it has finished, or end it"
        ) from error
    try:
        yield
    finally:
        await _unlock(connection)


async def _unlock(connection: Connection) -> None:
    """Releases the lock, if necessary by closing the connection."""
    if connection.closed:
        return
    with trio.CancelScope(shield=True):
        try:
            await connection.script(f"SELECT pg_advisory_unlock({LOCK_KEY}); SET lock_timeout = '{LOCK_TIMEOUT}'")
        except StorageError:
            connection.abort()


async def _run(connection: Connection, todo: Sequence[Migration], progress: Progress | None, timeout_s: float) -> None:
    for number, migration in enumerate(todo, 1):
        _say(progress, todo, number)
        deadline = trio.current_time() + timeout_s
        with _explained(migration):
            async with connection.transaction(deadline=deadline):
                await _apply(connection, migration, deadline)


async def _adopt(
    connection: Connection,
    todo: Sequence[Migration],
    known: Sequence[Migration],
    progress: Progress | None,
    timeout_s: float,
) -> None:
    """All in one transaction, because `schema.sql` is the schema after the last migration."""
    deadline = trio.current_time() + timeout_s
    with _explained(predecessor.ADOPTION):
        async with connection.transaction(deadline=deadline):
            _say(progress, todo, 1)
            await predecessor.rewrite(connection, known)
            for number, migration in enumerate(todo[1:], 2):
                _say(progress, todo, number)
                with _explained(migration):
                    await _apply(connection, migration, deadline)
            await predecessor.compare(connection)


def _say(progress: Progress | None, todo: Sequence[Migration], number: int) -> None:
    if progress is not None:
        progress(todo[number - 1], number, len(todo))


async def _apply(connection: Connection, migration: Migration, deadline: float) -> None:
    await connection.script(migration.sql, deadline=deadline)
    if not connection.in_transaction:
        raise MigrationError(f"migration {migration} ended its own transaction: repair the database by hand")
    await connection.execute(
        "INSERT INTO schema_migrations (version, name, sha256) VALUES ($1, $2, $3)",
        (migration.version, migration.name, migration.sha256),
    )


@contextmanager
def _explained(migration: Migration) -> Generator[None]:
    """Turns errors of a migration into `MigrationError`."""
    try:
        yield
    except Conflict as error:
        raise MigrationError(
            f"migration {migration} could not lock a table: end the sessions that use it ({error.message})"
        ) from error
    except (Retry, Outage):
        raise
    except StorageError as error:
        raise MigrationError(f"migration {migration} failed{_place(migration, error)}: {error.message}") from error


def _place(migration: Migration, error: StorageError) -> str:
    position = error.diagnosis.position
    return f" at line {migration.sql.count(chr(10), 0, position - 1) + 1}" if position else ""
