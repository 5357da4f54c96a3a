"""The command `psql`: the client of PostgreSQL that comes with the embedded server."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import click

from vivero import embedded
from vivero.cli.server.migrate import embedded_url
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.settings import Database, database_in_use
from vivero.embedded.binaries import find_installation


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, metavar="[ARGUMENT...]", type=click.UNPROCESSED)
@database_in_use
def psql(arguments: tuple[str, ...], database: Database) -> None:
    """Run psql on the database: of the embedded PostgreSQL that runs, or of your own.

    It is the psql that comes with the embedded PostgreSQL, else the one on the PATH. ARGUMENTs are those of psql.

    \b
    Examples:
      vivero psql
      vivero psql -c 'SELECT * FROM process_instances'
      vivero psql -- --csv -c 'TABLE incidents' > incidents.csv
    """
    chosen = database.settings().database
    url = chosen.url or embedded_url(chosen.data_dir)
    program = _program()
    try:
        os.execv(program, [program, url, *arguments])
    except OSError as error:
        raise Failure(f"cannot run {program}: {error.strerror}") from error


def _program() -> str:
    """The path of psql. Raises Failure."""
    try:
        found = find_installation().bin / "psql"
    except embedded.EmbeddedPostgresError:
        found = Path()
    if found.is_file():
        return str(found)
    on_path = shutil.which("psql")
    if on_path is None:
        raise Failure("there is no psql: install the client of PostgreSQL, or the embedded server")
    return on_path
