"""Commands that work on the database itself, without a server: the session that they share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from vivero.cli.shared import running_servers
from vivero.cli.shared.failures import Failure, run
from vivero.cli.shared.recorded import Work, recorded
from vivero.cli.shared.settings import Database
from vivero.config.sections import Config
from vivero.embedded import EmbeddedPostgresError, default_root, has_data
from vivero.engine.cluster.versions import IncompatibleVersion
from vivero.program.database import leased, prepare
from vivero.storage.access.audit_log import AuditRecord
from vivero.storage.postgres import driver
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import DataPoison, InvalidDsn, Outage, Retry
from vivero.storage.postgres.startup_problems import StartupProblem
from vivero.storage.schema.migration_files import MIGRATIONS, Migration, MigrationError
from vivero.terminal.texts import echo

T = TypeVar("T")

EXPECTED: Mapping[type[Exception], type[Failure]] = dict.fromkeys(
    (
        *(StartupProblem, EmbeddedPostgresError, MigrationError, IncompatibleVersion),
        *(Outage, Retry, InvalidDsn, DataPoison),
    ),
    Failure,
)
"""The expected exceptions of work on a database, and the failure of the command for each."""


def need_database(chosen: Config) -> None:
    """Raise Failure instead of making an embedded database."""
    if chosen.database.url is None and not has_data(chosen.database.data_dir):
        root = chosen.database.data_dir or default_root()
        raise Failure(
            f"there is no database at {root}: `vivero up` makes one. Name yours with --address, --data-dir or"
            f" --database-url.{running_servers.others()}"
        )


def on_database(database: Database, work: Callable[[Connection], Awaitable[T]], rejection: type[Exception]) -> T:
    """Run `work` on a connection of the database, whose schema is migrated first.

    Raises Failure, also if there is no database, and for `rejection`, which `work` raises.
    """
    chosen = database.settings()
    need_database(chosen)

    async def session() -> T:
        async with leased(chosen) as (dsn, _children):
            await prepare(dsn, chosen)
            connection = await driver.connect(dsn, name="vivero:command")
            try:
                return await work(connection)
            finally:
                connection.close()

    return run(session, {**EXPECTED, rejection: Failure})


def change(database: Database, made: AuditRecord, work: Work[T], rejection: type[Exception]) -> T:
    """Change the database, with a record in the audit log. Raises Failure, as `on_database` does."""
    return on_database(database, recorded(made, work, rejection), rejection)


def say_migration(migration: Migration, number: int, count: int) -> None:
    """Print one line for a migration; a new database gets one for all of them."""
    if count == MIGRATIONS:
        if number == 1:
            echo(f"making the tables of a new database: {count} migrations", err=True)
        return
    echo(f"migration {number} of {count}: {migration}", err=True)
