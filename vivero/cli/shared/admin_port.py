"""The admin port of a program with several processes: how `status --processes` and `top --processes` reach it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from vivero.cli.shared.failures import Failure, run
from vivero.cli.shared.options import CONFIG
from vivero.client.rest import Client, ClientError, Unreachable
from vivero.config import sources
from vivero.config.sections import ConfigError

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}
"""An address to listen on that stands for all → one to connect to."""


def processes_options(help: str) -> Callable[[F], F]:
    """Add --processes with this help, and --admin and --config, which say where the admin port is."""

    def add(command: F) -> F:
        command = CONFIG(command)
        command = click.option(
            "--admin", metavar="URL", help="The admin port, for --processes.  [admin.host and admin.port]"
        )(command)
        return click.option("--processes", is_flag=True, help=help)(command)

    return add


def admin_address(file: Path | None) -> str:
    """The address of the admin port by the settings. Raises Failure."""
    try:
        chosen = sources.load(file).admin
    except ConfigError as error:
        raise Failure(str(error)) from error
    if not chosen.port:
        raise Failure("admin.port is 0, so the server has chosen a port: name it with --admin")
    host = f"[{chosen.host}]" if ":" in chosen.host else chosen.host
    return f"http://{ANY_ADDRESS.get(chosen.host, host)}:{chosen.port}"


def talk_to_admin(address: str, work: Callable[[Client], Awaitable[T]]) -> T:
    """Run `work` with a client of the admin port. Sends no credentials, because it has no authentication.

    Raises:
        Failure: nobody answers there, or another failure of the client.
    """

    async def session() -> T:
        async with Client(address, credentials="") as client:
            try:
                return await work(client)
            except Unreachable as error:
                raise ClientError(f"{error} Only a program with --processes has an admin port.") from error

    return run(session, {ClientError: Failure})
