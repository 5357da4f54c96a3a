"""An embedded PostgreSQL for the benchmarks: development settings, commits durable, a fresh database.

And the whole program on it, in a process of its own.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import httpx
import psutil
import trio

from vivero import embedded
from vivero.embedded.processes import dying_with_us
from vivero.storage.postgres import driver
from vivero.storage.postgres.driver import Connection
from vivero.storage.schema import migrate

SETTINGS = ("server_version", "fsync", "synchronous_commit", "shared_buffers", "max_wal_size", "wal_level")


@asynccontextmanager
async def fresh_database(
    connections: int = 50, settings: embedded.Settings = embedded.DEVELOPMENT
) -> AsyncGenerator[tuple[str, dict[str, str]]]:
    """The DSN of a migrated database that is gone afterwards, with the server's settings. It permits so many
    connections."""
    directory = _reachable_directory()
    root = directory / "root"
    try:
        parameters = {**settings.parameters, "max_connections": str(connections)}
        lease = await trio.to_thread.run_sync(embedded.acquire, root, replace(settings, parameters=parameters))
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


@contextmanager
def program(
    dsn: str,
    files: Mapping[str, bytes],
    *options: str,
    authorization: str = "",
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[int, psutil.Process]]:
    """`vivero up` on a free port, with these options and, if there are any, these files deployed."""
    with tempfile.TemporaryFile("w+") as output:
        command = [sys.executable, "-m", "vivero", "up", "--port", "0", "--database-url", dsn, *options]
        variables = os.environ | (environment or {})
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=output, text=True, env=variables, preexec_fn=dying_with_us()
        )
        try:
            port = _port(process, output)
            if files:
                deploy(port, files, authorization)
            yield port, psutil.Process(process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def _port(process: subprocess.Popen[str], output: IO[str]) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        if "http://" in line:
            return int(line.rsplit(":", 1)[1].split("/")[0].split()[0])
    output.seek(0)
    raise RuntimeError(f"the server did not start: {output.read()}")


def deploy(port: int, files: Mapping[str, bytes], authorization: str = "") -> None:
    """Deploy the files to the program at the port of this machine. Raises httpx.HTTPError."""
    resources = [("resources", file) for file in files.items()]
    headers = {"authorization": authorization} if authorization else {}
    url = f"http://127.0.0.1:{port}/v2/deployments"
    httpx.post(url, files=resources, headers=headers, timeout=10).raise_for_status()
