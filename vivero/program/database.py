"""The database of a program or command: the embedded PostgreSQL or the user's, and the schema in it.

Commands such as `vivero backup` import this module, and nothing of the API or the engine's tasks, so they start soon.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import structlog
import trio

from vivero import embedded
from vivero.config import budget
from vivero.config.sections import Config
from vivero.embedded import ServerLease
from vivero.engine.cluster import versions
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.children import Child
from vivero.engine.supervision.failures import Escalated
from vivero.storage.cluster import nodes
from vivero.storage.postgres import driver
from vivero.storage.postgres.connection import Connection
from vivero.storage.schema import checks, migrate
from vivero.storage.schema.checks import Server
from vivero.storage.schema.migration_files import Migration

log = structlog.get_logger(__name__)

CONNECTIONS_FOR_PEOPLE = 20
"""Connections of the embedded PostgreSQL beyond those of the program: psql, further programs, superusers."""


async def prepare(dsn: str, config: Config, migrating: Callable[[Migration, int, int], None] | None = None) -> Server:
    """Check that PostgreSQL and the running nodes fit, and migrate the schema."""
    server = await checks.check(dsn, allow_unsafe_commits=config.database.allow_unsafe_commits)
    connection = await driver.connect(dsn, name="vivero:migrate")
    try:

        async def fits(connection: Connection, todo: Sequence[Migration]) -> None:
            running = await nodes.running(connection)
            versions.check(config.api.version, running)
            versions.check_alone(todo, running)

        await migrate.migrate(connection, before=fits, progress=migrating)
    finally:
        connection.close()
    return server


async def pending(dsn: str, config: Config) -> list[Migration]:
    """Check that PostgreSQL fits, and return the migrations that `prepare` would run."""
    await checks.check(dsn, allow_unsafe_commits=config.database.allow_unsafe_commits)
    connection = await driver.connect(dsn, name="vivero:migrate")
    try:
        return await migrate.pending(connection)
    finally:
        connection.close()


@asynccontextmanager
async def leased(config: Config) -> AsyncGenerator[tuple[str, list[Child]]]:
    """The DSN of the user's PostgreSQL or of the embedded one, and the children that supervise the embedded one.

    The embedded server is leased for the duration of the block.
    """
    if config.database.url is not None:
        yield config.database.url, []
        return
    holder = LeaseHolder(config.database.data_dir, _embedded_settings(config))
    try:
        yield await holder.acquire(), [Child("postgres", holder.run)]
    finally:
        holder.release()


def _embedded_settings(config: Config) -> embedded.Settings:
    """The embedded server's settings, with as many connections as the processes need beside a few for people."""
    usual = embedded.DEVELOPMENT
    needed = budget.of_program(config) + CONNECTIONS_FOR_PEOPLE
    most = max(needed, int(usual.parameters["max_connections"]))
    return replace(usual, parameters={**usual.parameters, "max_connections": str(most)})


class LeaseHolder:
    """Holds the lease of the embedded PostgreSQL. Restarts a killed supervisor and resumes a stopped one.

    A server that dies too often ends the program, so that its user notices.
    """

    def __init__(self, root: Path | None, settings: embedded.Settings = embedded.DEVELOPMENT) -> None:
        self._root = root
        self._settings = settings
        self._lease: ServerLease | None = None

    async def acquire(self) -> str:
        """Lease the server and return its DSN. A lease that arrives after a cancellation is dropped."""
        self._lease = await trio.to_thread.run_sync(
            embedded.acquire, self._root, self._settings, abandon_on_cancel=True
        )
        return self._lease.dsn

    async def run(self, beat: Beat) -> None:
        """Acquire the lease again whenever it is lost. The DSN stays the same, because it depends on the root only."""
        while True:
            lease = self._lease
            if lease is None or lease.is_lost():
                log.warning("the embedded PostgreSQL is gone: restarting it")
                self.release()
                with beat.waiting(60.0):
                    await self._acquire_again()
            elif lease.is_stopped():
                log.error("the supervisor of the embedded PostgreSQL was stopped: resuming it")
                lease.resume()
            beat.beat()
            await trio.sleep_until(beat.next_at)

    async def _acquire_again(self) -> None:
        try:
            await self.acquire()
        except embedded.GivenUp as given_up:
            raise Escalated(str(given_up)) from given_up

    def release(self) -> None:
        if self._lease is not None:
            self._lease.close()
            self._lease = None
