"""The commands `migrate` and `database-url`."""

from __future__ import annotations

from pathlib import Path

import click

from vivero import embedded, logs
from vivero.cli.shared.database import EXPECTED, need_database, say_migration
from vivero.cli.shared.failures import Failure, run
from vivero.cli.shared.options import json_option, tell
from vivero.cli.shared.settings import Database, database_in_use, database_options
from vivero.config.sections import Config
from vivero.program.database import leased, pending, prepare
from vivero.storage.schema.migration_files import Migration

LISTED = 5
"""The most migrations that one message names."""


@click.command()
@database_options
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if migrations are pending.")
@json_option
def migrate(database: Database, check: bool, as_json: bool) -> None:
    """Migrate a database's schema, then exit.

    `vivero up` does the same at its start. Use this command to migrate before the start. Several programs may run it
    at the same time: one migrates, and the others wait and then have nothing to do.

    \b
    Examples:
      vivero migrate --database-url postgresql://vivero:secret@db/vivero
      vivero migrate --check
    """
    chosen = database.settings()
    if check:
        need_database(chosen)
    logs.configure(chosen.log_format, "warning")
    todo = run(lambda: _pending(chosen) if check else _migrate(chosen), EXPECTED)
    if check and todo:
        raise Failure(_pending_text(todo))
    text = f"{len(todo)} migrations done; the schema is up to date" if todo else "the schema is up to date"
    tell(as_json, text, migrations=list(map(str, todo)))


def _pending_text(todo: list[Migration]) -> str:
    """Names the migrations; of many only the first and the last one."""
    names = list(map(str, todo))
    listed = ", ".join(names) if len(names) <= LISTED else f"{names[0]} … {names[-1]}"
    return f"{len(names)} migrations are pending: {listed}"


async def _migrate(chosen: Config) -> list[Migration]:
    done: list[Migration] = []

    def progress(migration: Migration, number: int, count: int) -> None:
        say_migration(migration, number, count)
        done.append(migration)

    async with leased(chosen) as (dsn, _children):
        await prepare(dsn, chosen, progress)
    return done


async def _pending(chosen: Config) -> list[Migration]:
    async with leased(chosen) as (dsn, _children):
        return await pending(dsn, chosen)


@click.command("database-url")
@database_in_use
@json_option
def database_url(database: Database, as_json: bool) -> None:
    """Print the URL of the database of the server that runs, embedded or your own.

    \b
    Example:
      vivero database-url
      psql "$(vivero database-url)" -c 'SELECT * FROM process_instances'
    """
    chosen = database.settings().database
    url = chosen.url or embedded_url(chosen.data_dir)
    tell(as_json, url, url=url)


def embedded_url(data_dir: Path | None) -> str:
    """The URL of the embedded PostgreSQL that runs at a data directory. Raises Failure."""
    try:
        url = embedded.database_url(data_dir)
    except embedded.EmbeddedPostgresError as error:
        raise Failure(str(error)) from error
    if url is None:
        root = data_dir or embedded.default_root()
        raise Failure(f"no embedded PostgreSQL runs at {root}: start it with `vivero up`")
    return url
