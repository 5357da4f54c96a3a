"""Commands that work on the database itself, without a server: the session that they share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from vivero import program
from vivero.cli.failures import Failure, run
from vivero.cli.recorded import Work, recorded
from vivero.cli.server import EXPECTED
from vivero.cli.settings import Database
from vivero.storage.audit_log import AuditRecord
from vivero.storage.postgres import driver
from vivero.storage.postgres.driver import Connection

T = TypeVar("T")


def on_database(database: Database, work: Callable[[Connection], Awaitable[T]], rejection: type[Exception]) -> T:
    """Run `work` on a connection of the database, whose schema is migrated first.

    Raises Failure, also for `rejection`, which `work` raises.
    """
    chosen = database.settings()

    async def session() -> T:
        async with program.database(chosen) as (dsn, _children):
            await program.prepare(dsn, chosen)
            connection = await driver.connect(dsn, name="vivero:command")
            try:
                return await work(connection)
            finally:
                connection.close()

    return run(session, {**EXPECTED, rejection: Failure})


def change(database: Database, made: AuditRecord, work: Work[T], rejection: type[Exception]) -> T:
    """Change the database, with a record in the audit log. Raises Failure, as `on_database` does."""
    return on_database(database, recorded(made, work, rejection), rejection)
