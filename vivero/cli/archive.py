"""The commands `archive …`: process instances that retention has archived and deleted."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import click
import trio

from vivero.api.response import iso_time
from vivero.cli.database import on_database
from vivero.cli.failures import Failure
from vivero.cli.groups import Group
from vivero.cli.options import json_option, say
from vivero.cli.settings import Database, database_options
from vivero.engine.jobs.archive.archive import Archive
from vivero.engine.jobs.archive.opening import open_store
from vivero.storage import archives
from vivero.storage.archives import ArchiveProblem
from vivero.storage.postgres.driver import Connection

T = TypeVar("T")

KEY = click.argument("key", metavar="KEY", type=int)
LIMIT = click.option(
    "--limit", type=click.IntRange(1, 10_000), metavar="N", default=100, show_default=True, help="At most N lines."
)


@click.group(cls=Group)
def archive() -> None:
    """List, show and erase archived process instances.

    Retention writes instances to files before it deletes them, if `retention.archive` names a directory or a bucket.
    The commands work on the database and on the archive, without a server.

    \b
    Examples:
      vivero archive list --config vivero.toml
      vivero archive show 2251799813685251 | jq '.variables[] | {name, value}'
    """


def _work(
    database: Database,
    work: Callable[[Archive, Connection], Awaitable[T]],
) -> T:
    chosen = database.settings()
    store = open_store(chosen.retention)
    if store is None:
        raise Failure("there is no archive: set retention.archive to its directory, or to s3://bucket/prefix")

    async def session(connection: Connection) -> T:
        @asynccontextmanager
        async def connections() -> AsyncGenerator[Connection]:
            yield connection

        return await work(Archive(store, connections), connection)

    return on_database(database, session, ArchiveProblem)


@archive.command("list")
@click.option("--erased", is_flag=True, help="The instances that were erased, instead of the files.")
@LIMIT
@json_option
@database_options
def list_(erased: bool, limit: int, as_json: bool, database: Database) -> None:
    """List the files of the archive, the newest first.

    Each file has the trees of ended instances whose keys lie between the two that are shown.

    \b
    Examples:
      vivero archive list --config vivero.toml
      vivero archive list --erased
    """

    async def work(_archive: Archive, connection: Connection) -> list[dict[str, object]]:
        if erased:
            return [
                {"rootKey": str(one.root), "erasedAt": iso_time(one.at_ms), "file": one.file, "reason": one.reason}
                for one in await archives.erasures(connection, limit)
            ]
        return [
            {
                "file": one.name, "writtenAt": iso_time(one.begun_ms), "trees": one.trees, "bytes": one.bytes,
                "firstKey": str(one.first_key), "lastKey": str(one.last_key), "sha256": one.sha256,
            }
            for one in await archives.files(connection, limit)
        ]  # fmt: skip

    for row in _work(database, work):
        if as_json:
            say(row)
        else:
            click.echo("  ".join(str(value) for name, value in row.items() if name != "sha256"))


@archive.command()
@KEY
@database_options
def show(key: int, database: Database) -> None:
    """Print an archived tree as one line of JSON: its rows by table, and its events.

    KEY is the key of the root process instance: the one that no other called.

    \b
    Example:
      vivero archive show 2251799813685251 | jq '.variables[] | {name, value}'
    """

    async def work(archive: Archive, connection: Connection) -> bool:
        for found in await archives.files_of(connection, key):
            if await trio.to_thread.run_sync(_print, archive, found, key):
                return True
        return False

    if not _work(database, work):
        raise Failure(f"the archive has no process instance with the key {key} that no other one called")


def _print(archive: Archive, file: archives.ArchiveFile, key: int) -> bool:
    found = False
    for part in archive.show(file, key):
        sys.stdout.buffer.write(part)
        found = True
    sys.stdout.flush()
    return found


@archive.command()
@click.argument("keys", metavar="KEY...", nargs=-1, required=True, type=int)
@click.option("--reason", required=True, help="Why, for the record.")
@json_option
@database_options
def erase(
    keys: tuple[int, ...],
    reason: str,
    as_json: bool,
    database: Database,
) -> None:
    """Erase trees from the archive, and record that.

    The files that have them are written anew without them, and deleted. The record has the keys and the reason, and no
    data. Instances that are still in the database stay there: delete them first.

    \b
    Example:
      vivero archive erase 2251799813685251 --reason 'request 4711'
    """

    async def work(archive: Archive, _connection: Connection) -> list[int]:
        return await archive.erase(keys, reason)

    erased = _work(database, work)
    for key in erased:
        say({"key": str(key), "outcome": "erased"}) if as_json else click.echo(f"erased {key}")
    if absent := sorted(set(keys) - set(erased)):
        raise Failure(f"the archive does not have {', '.join(map(str, absent))}")
