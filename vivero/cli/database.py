"""Commands that work on the database itself, without a server: the session that they share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from vivero import program
from vivero.cli.failures import Failure, run
from vivero.cli.server import EXPECTED, settings
from vivero.storage.postgres import driver
from vivero.storage.postgres.driver import Connection

T = TypeVar("T")


def on_database(
    file: Path | None,
    data_dir: Path | None,
    url: str | None,
    work: Callable[[Connection], Awaitable[T]],
    rejection: type[Exception],
) -> T:
    """Run `work` on a connection of the database, whose schema is migrated first.

    Raises Failure, also for `rejection`, which `work` raises.
    """
    chosen = settings(file, database__data_dir=data_dir, database__url=url)

    async def session() -> T:
        async with program.database(chosen) as (dsn, _children):
            await program.prepare(dsn, chosen)
            connection = await driver.connect(dsn, name="vivero:command")
            try:
                return await work(connection)
            finally:
                connection.close()

    return run(session, {**EXPECTED, rejection: Failure})
