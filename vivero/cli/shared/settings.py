"""The settings of commands that start a server or work on the database: a file, options, the environment."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from vivero.cli.shared import running_servers
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.options import CONFIG, PATH
from vivero.cli.shared.running_servers import RunningServer
from vivero.config import sources
from vivero.config.sections import Config, ConfigError
from vivero.terminal.texts import echo

DATABASE_URL = click.option("--database-url", metavar="URL", help="Your own PostgreSQL, 15 or later.")
DATA_DIR = click.option("--data-dir", type=PATH, metavar="DIR", help="Data directory of the embedded PostgreSQL.")


ADDRESS = click.option(
    "--address",
    metavar="URL",
    help="The server of this machine whose database it is.  [VIVERO_ADDRESS or http://localhost:8080]",
)


@dataclass(frozen=True, slots=True)
class Database:
    """The values of `database_options` or `database_in_use`."""

    file: Path | None
    data_dir: Path | None
    url: str | None
    address: str | None = None
    is_in_use: bool = False
    """Whether the database is that of a running server if no option or setting names one."""

    def settings(self, **flags: Any) -> Config:
        """The settings of the command with these options and flags (`settings`). Raises Failure, UsageError."""
        if self.url and self.data_dir:
            raise click.UsageError(
                "--data-dir is for the embedded PostgreSQL and --database-url for your own: give only one of them"
            )
        chosen = settings(self.file, database__data_dir=self.data_dir, database__url=self.url, **flags)
        if _names_one(chosen):
            if self.address is not None:
                raise click.UsageError("the settings name a database already: leave out --address")
            return chosen
        server = self._server() if self.is_in_use else None
        return chosen if server is None else self._of(server, chosen, flags)

    def _server(self) -> RunningServer | None:
        """The running server that the address names. Raises Failure."""
        from vivero.client.rest import BadAddress, address_from  # the client's libraries would slow `up` down

        try:
            address = address_from(self.address)
        except BadAddress as error:
            raise Failure(str(error)) from error
        server = running_servers.find(address)
        if server is None and (self.address is not None or not running_servers.is_local(address)):
            raise Failure(
                f"no server with the address {address} runs here as this user:"
                f" name its database with --data-dir or --database-url.{running_servers.others()}"
            )
        return server

    def _of(self, server: RunningServer, chosen: Config, flags: Mapping[str, Any]) -> Config:
        """The settings for the server's database, from the server's own file, which has the archive and more, too.

        `chosen`: the settings without that file.
        """
        echo(f"using the database of the server at {server.address}: {server.place}", err=True)
        if self.file is None and server.file is not None:
            chosen = settings(Path(server.file), **flags)
        if server.has(chosen.database):
            return chosen
        # the file names none, or options or the environment of the server named another
        data_dir = None if server.data_dir is None else Path(server.data_dir)
        return replace(chosen, database=replace(chosen.database, data_dir=data_dir, url=server.url))


def _names_one(chosen: Config) -> bool:
    return chosen.database.url is not None or chosen.database.data_dir is not None


def database_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select PostgreSQL. The command gets them as its argument `database`."""

    @functools.wraps(command)
    def run(*arguments: Any, file: Path | None, data_dir: Path | None, database_url: str | None, **options: Any) -> Any:
        return command(*arguments, database=Database(file, data_dir, database_url), **options)

    for option in (CONFIG, DATABASE_URL, DATA_DIR):
        run = option(run)
    return run


def database_in_use(command: Callable[..., Any]) -> Callable[..., Any]:
    """As `database_options`, for commands that may run beside a server, which --address names."""

    @functools.wraps(command)
    def run(*arguments: Any, address: str | None, database: Database, **options: Any) -> Any:
        return command(*arguments, database=replace(database, address=address, is_in_use=True), **options)

    return ADDRESS(database_options(run))


def settings(file: Path | None, **flags: Any) -> Config:
    """The settings of a command. The names of flags have `__` for the dot. Raises Failure."""
    try:
        return sources.load(file, flags={name.replace("__", "."): value for name, value in flags.items()})
    except ConfigError as error:
        raise Failure(str(error)) from error
