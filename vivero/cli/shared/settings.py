"""The settings of commands that start a server or work on the database: a file, options, the environment."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from vivero.cli.shared.failures import Failure
from vivero.cli.shared.options import CONFIG, PATH
from vivero.config import sections
from vivero.config.sections import Config, ConfigError

DATABASE_URL = click.option("--database-url", metavar="URL", help="Your own PostgreSQL, 15 or later.")
DATA_DIR = click.option("--data-dir", type=PATH, metavar="DIR", help="Data directory of the embedded PostgreSQL.")


@dataclass(frozen=True, slots=True)
class Database:
    """The values of `database_options`."""

    file: Path | None
    data_dir: Path | None
    url: str | None

    def settings(self, **flags: Any) -> Config:
        """The settings of the command with these options and flags (`settings`). Raises Failure, UsageError."""
        if self.url and self.data_dir:
            raise click.UsageError(
                "--data-dir is for the embedded PostgreSQL and --database-url for your own: give only one of them"
            )
        return settings(self.file, database__data_dir=self.data_dir, database__url=self.url, **flags)


def database_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select PostgreSQL. The command gets them as its argument `database`."""

    @functools.wraps(command)
    def run(*arguments: Any, file: Path | None, data_dir: Path | None, database_url: str | None, **options: Any) -> Any:
        return command(*arguments, database=Database(file, data_dir, database_url), **options)

    for option in (CONFIG, DATABASE_URL, DATA_DIR):
        run = option(run)
    return run


def settings(file: Path | None, **flags: Any) -> Config:
    """The settings of a command. The names of flags have `__` for the dot. Raises Failure."""
    try:
        return sections.load(file, flags={name.replace("__", "."): value for name, value in flags.items()})
    except ConfigError as error:
        raise Failure(str(error)) from error
