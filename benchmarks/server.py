"""An embedded PostgreSQL for the benchmarks: development settings, commits durable, a fresh database."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from storage import driver, migrate
from storage.driver import Connection
from vivero import embedded

SETTINGS = ("server_version", "fsync", "synchronous_commit", "shared_buffers", "max_wal_size", "wal_level")


@asynccontextmanager
async def fresh_database() -> AsyncGenerator[tuple[str, dict[str, str]]]:
    """The DSN of a migrated database that is gone afterwards, with the server's settings."""
    directory = _reachable_directory()
    root = directory / "root"
    try:
        lease = await trio.to_thread.run_sync(embedded.acquire, root)
        try:
            connection = await driver.connect(lease.dsn, name="benchmark")
            await migrate.migrate(connection)
            notes = {name: await _setting(connection, name) for name in SETTINGS}
            connection.close()
            yield lease.dsn, notes
        finally:
            lease.close()
            await trio.to_thread.run_sync(embedded.wait_stopped, root)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _reachable_directory() -> Path:
    """A directory that the server's user can pass through when we are root."""
    directory = Path(tempfile.mkdtemp(prefix="vivero-bench-"))
    directory.chmod(0o711)
    return directory


async def _setting(connection: Connection, name: str) -> str:
    return str((await connection.execute("SELECT current_setting($1)", (name,))).rows[0][0])
