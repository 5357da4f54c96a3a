"""Brings a database to the program's schema: numbered SQL files, each in a transaction, under one advisory lock.

Files are `migrations/NNNN_name.sql`, numbered from 0001 without gaps. A released file never changes. The table
`schema_migrations` lists the migrations that ran, each with the SHA-256 of its file. Any number of programs may start
at once: one migrates; the others wait for its lock and then find nothing to do.
"""

import hashlib
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import trio

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import Conflict, Outage, Retry, StorageError
from vivero.storage.postgres.session_settings import RELIED_ON

MIGRATIONS_DIRECTORY = Path(__file__).parent / "migrations"

MIGRATION_TIMEOUT_S = 600.0
"""Time for one migration, which may rewrite a large table."""

LOCK_WAIT_S = 120.0
"""Time to wait for another program that is migrating, and for each table lock within a migration."""

LOCK_KEY = int.from_bytes(b"Vivero")

UNRELEASED_FIRST = "kernel"
"""The name of the first migration in databases from before the first release. No released migration has it."""

LOCK_TIMEOUT = RELIED_ON["lock_timeout"]
"""What a session has outside of migrations."""

_FILE_NAME = re.compile(r"(?P<version>\d{4})_(?P<name>[a-z0-9_]+)\.sql")
_TRANSACTION_CONTROL = re.compile(r"^(BEGIN|START TRANSACTION|COMMIT|ROLLBACK)\b.*;", re.IGNORECASE | re.MULTILINE)

_EXISTS = "SELECT to_regclass(quote_ident(current_schema()) || '.schema_migrations') IS NOT NULL"
"""In the schema where tables are made: another one of the search_path may be another program's."""

_CREATE_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    version    int PRIMARY KEY,
    name       text NOT NULL,
    sha256     text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)"""


class MigrationError(Exception):
    """The database cannot be migrated to this program's schema. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file. `sha256` covers its text with plain line ends, which a checkout may change."""

    version: int
    name: str
    sql: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.version:04d}_{self.name}"


Progress = Callable[[Migration, int, int], None]
"""Called before each migration with the migration, its number (from 1) among those to run, and their count."""


Check = Callable[[Connection], Awaitable[None]]
"""Raises if the database must not be migrated now."""


def read_migrations(directory: Path = MIGRATIONS_DIRECTORY) -> tuple[Migration, ...]:
    """All migrations in order. Raises `MigrationError` if the files break the rules."""
    migrations = tuple(_read(path) for path in sorted(directory.glob("*.sql")))
    for expected, migration in enumerate(migrations, 1):
        if migration.version != expected:
            raise MigrationError(f"{migration}.sql: its number must be {expected:04d}, without gaps or duplicates")
    if not migrations:
        raise MigrationError(f"no migrations in {directory}")
    return migrations


def _read(path: Path) -> Migration:
    name = _FILE_NAME.fullmatch(path.name)
    if name is None:
        raise MigrationError(f"{path.name}: rename the migration to the pattern 0001_name.sql")
    sql = path.read_text(encoding="utf-8")  # universal newlines
    if control := _TRANSACTION_CONTROL.search(sql):
        line = sql.count("\n", 0, control.start()) + 1
        raise MigrationError(f"{path.name}:{line}: remove {control[1]}: each migration runs in one transaction")
    return Migration(int(name["version"]), name["name"], sql, hashlib.sha256(sql.encode()).hexdigest())


SCHEMA_VERSION = read_migrations()[-1].version
"""The newest schema that this program knows."""


async def pending(connection: Connection, migrations: Sequence[Migration] | None = None) -> list[Migration]:
    """The migrations that have not run. Changes nothing, waits for no lock.

    Raises `MigrationError` if the database is newer than the program, or ran other migrations.
    """
    known = read_migrations() if migrations is None else migrations
    exists = await connection.execute(_EXISTS)
    if not exists.rows[0][0]:
        return list(known)
    applied = await connection.execute("SELECT version, name, sha256 FROM schema_migrations ORDER BY version")
    return _compare([Migration(version, name, "", sha256) for version, name, sha256 in applied.rows], known)


def _compare(applied: Sequence[Migration], known: Sequence[Migration]) -> list[Migration]:
    if applied and applied[0].name == UNRELEASED_FIRST:
        raise MigrationError(
            f"a development version from before the first release created this database (its first migration is"
            f" {applied[0]}). It cannot be migrated: use an empty database (--database-url), or another data directory"
            " for the embedded PostgreSQL (--data-dir); if you do not need the data, delete the old one"
        )
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

    It calls `before` under the lock, when the database is known to be one that it can migrate, and changes nothing if
    that raises. `before` may read only what every schema has: the tables are those of the last migration that ran.

    Raises `MigrationError` if a migration fails, or if another program has held the lock for `lock_wait_s`. `Retry` and
    `Outage` pass through: call it again on another connection.
    """
    known = read_migrations() if migrations is None else migrations
    async with locked(connection, lock_wait_s):
        todo = await pending(connection, known)
        if before is not None:
            await before(connection)
        if todo:
            await connection.execute(_CREATE_TABLE)
        for number, migration in enumerate(todo, 1):
            if progress is not None:
                progress(migration, number, len(todo))
            await _apply(connection, migration, timeout_s)
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


async def _apply(connection: Connection, migration: Migration, timeout_s: float) -> None:
    deadline = trio.current_time() + timeout_s
    try:
        async with connection.transaction(deadline=deadline):
            await connection.script(migration.sql, deadline=deadline)
            if not connection.in_transaction:
                raise MigrationError(f"migration {migration} ended its own transaction: repair the database by hand")
            await connection.execute(
                "INSERT INTO schema_migrations (version, name, sha256) VALUES ($1, $2, $3)",
                (migration.version, migration.name, migration.sha256),
            )
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
