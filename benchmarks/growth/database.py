"""Databases that stay: a PostgreSQL in a directory, and its databases by name."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import trio

from vivero import embedded
from vivero.storage.postgres import driver
from vivero.storage.postgres.conninfo import parse
from vivero.storage.postgres.driver import Connection
from vivero.storage.schema import migrate

LONGEST_S = 7_200.0
"""The longest statement: VACUUM of the filled tables."""


@asynccontextmanager
async def server(directory: Path, settings: Mapping[str, str]) -> AsyncGenerator[str]:
    """The DSN of the PostgreSQL in this directory, which is made if it does not exist, with these settings."""
    _reachable(directory)
    parameters = {**embedded.DEVELOPMENT.parameters, "max_connections": "100", "max_wal_size": "4GB", **settings}
    chosen = replace(embedded.DEVELOPMENT, parameters=parameters)
    lease = await trio.to_thread.run_sync(embedded.acquire, directory / "root", chosen)
    try:
        yield lease.dsn
    finally:
        lease.close()
        await trio.to_thread.run_sync(embedded.wait_stopped, directory / "root")


def _reachable(directory: Path) -> None:
    """Make the directory, if it is missing; the server's user can pass through it when we are root."""
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o711)


def named(dsn: str, name: str) -> str:
    """The DSN of another database of the same server."""
    return " ".join(f"{key}='{value}'" for key, value in {**parse(dsn), "dbname": name}.items())


@asynccontextmanager
async def connected(dsn: str) -> AsyncGenerator[Connection]:
    """A connection whose calls may take long."""
    connection = await driver.connect(dsn, name="benchmark", call_timeout_s=LONGEST_S)
    try:
        yield connection
    finally:
        connection.close()


async def make(dsn: str, name: str) -> str:
    """The DSN of a migrated database, which is made if it does not exist."""
    async with connected(dsn) as connection:
        exists = (await connection.execute("SELECT FROM pg_database WHERE datname = $1", (name,))).rows
        if not exists:
            await connection.execute(f"CREATE DATABASE {name}")
    found = named(dsn, name)
    async with connected(found) as connection:
        await migrate.migrate(connection)
    return found


async def copy(dsn: str, source: str, name: str) -> str:
    """The DSN of a copy of a database that nobody is connected to. It replaces what had the name."""
    async with connected(dsn) as connection:
        await connection.execute(f"DROP DATABASE IF EXISTS {name}")
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE {source} STRATEGY file_copy")
    return named(dsn, name)


def default_directory() -> Path:
    """The directory with the data of `python -m benchmarks growth`, which removes them."""
    return Path("/tmp") / f"vivero-growth-{os.getpid()}"
