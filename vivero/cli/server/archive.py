"""The commands `archive …`: process instances that retention has archived and deleted."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import click
import msgspec
import trio

from vivero.api.http.response import iso_time
from vivero.cli.shared.database import on_database
from vivero.cli.shared.failures import Failure
from vivero.cli.shared.groups import Group
from vivero.cli.shared.options import MAX_KEY, json_option, say
from vivero.cli.shared.recorded import record, recorded
from vivero.cli.shared.settings import Database, database_in_use
from vivero.cli.shared.streams import write_bytes
from vivero.engine.retention.archive.adoption import Adoptable
from vivero.engine.retention.archive.archive import Archive, Erased
from vivero.engine.retention.archive.opening import open_store
from vivero.engine.retention.archive.stores import Missing
from vivero.storage.postgres.driver import Connection
from vivero.storage.retention import archives
from vivero.storage.retention.archives import ArchiveFile, ArchiveProblem
from vivero.terminal.texts import echo

T = TypeVar("T")

FILES = 500
"""That are read from the database at once."""

KEY = click.argument("key", metavar="KEY", type=click.IntRange(0, MAX_KEY))
LIMIT = click.option(
    "--limit", type=click.IntRange(1, 10_000), metavar="N", default=100, show_default=True, help="At most N lines."
)


@click.group(cls=Group)
def archive() -> None:
    """List, show, check, adopt and erase archived process instances.

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
@database_in_use
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
            echo("  ".join(str(value) for name, value in row.items() if name != "sha256"))


@archive.command()
@KEY
@database_in_use
def show(key: int, database: Database) -> None:
    """Print an archived tree as one line of JSON: its rows by table, and its events.

    KEY is the key of the root process instance: the one that no other called.

    \b
    Example:
      vivero archive show 2251799813685251 | jq '.variables[] | {name, value}'
    """

    async def work(archive: Archive, connection: Connection) -> bool:
        missing: Missing | None = None
        for found in await archives.files_of(connection, key):
            try:
                if await trio.to_thread.run_sync(_print, archive, found, key):
                    return True
            except Missing as problem:
                missing = problem  # another file may have it: the ranges of their keys overlap
        if missing is not None:
            raise missing
        return False

    if not _work(database, work):
        raise Failure(f"the archive has no process instance with the key {key} that no other one called")


@archive.command()
@click.option("--quick", is_flag=True, help="Look at names and sizes only, and read no file.")
@json_option
@database_in_use
def check(quick: bool, as_json: bool, database: Database) -> None:
    """Compare the archive with what the database knows of it.

    Each file is read and compared with the sum that was written down. Files are named that are missing or damaged,
    that the database does not know, or that should have been deleted. The exit code is 1 if there are any. Nothing is
    changed.

    \b
    Examples:
      vivero archive check --config vivero.toml
      vivero archive check --quick --json
    """

    async def work(archive: Archive, connection: Connection) -> int:
        files = faults = 0
        async for one in _complete(connection):
            files += 1
            if (fault := await archive.fault_of(one, quick)) is not None:
                outcome = "missing" if isinstance(fault, Missing) else "damaged"
                _print_outcome(
                    as_json, outcome, one.name, trees=one.trees, firstKey=str(one.first_key), lastKey=str(one.last_key)
                )
                faults += 1
        for outcome, names in (
            ("unknown", await archive.unknown()),
            ("not deleted", await archives.still_to_be_deleted(connection)),
        ):
            for name in names:
                _print_outcome(as_json, outcome, name)
                faults += 1
        if not as_json:
            echo(f"{files} files, {faults} faults")
        return faults

    if faults := _work(database, work):
        raise Failure(f"{faults} files of the archive are not as they should be: docs/operations/archive.md")


def _print_outcome(as_json: bool, outcome: str, name: str, **more: object) -> None:
    if as_json:
        say({"file": name, "outcome": outcome, **more})
    else:
        echo(f"{outcome}  {name}" + (f"  {more['trees']} trees" if more else ""))


async def _complete(connection: Connection) -> AsyncGenerator[ArchiveFile]:
    """All complete files, by name."""
    after = ""
    while found := await archives.files_behind(connection, after, FILES):
        for one in found:
            yield one
        after = found[-1].name


@archive.command()
@click.argument("names", metavar="FILE...", nargs=-1, required=True)
@click.option("--reason", required=True, help="Why, for the record.")
@json_option
@database_in_use
def forget(names: tuple[str, ...], reason: str, as_json: bool, database: Database) -> None:
    """Forget files that somebody has deleted for good, and record that.

    FILE is the name of a file, or of a day's directory such as 2026-01-31: all of its files that are missing. A file
    that is still there is not forgotten: delete it first. Erasures and `vivero archive check` name forgotten files no
    longer.

    \b
    Examples:
      vivero archive forget 2026-01-31 --reason 'older than five years'
      vivero archive forget 2026-01-31/141500-p1-01234567.jsonl.gz --reason lost
    """

    async def work(archive: Archive, connection: Connection) -> tuple[list[str], list[str]]:
        forgotten, there = [], []
        for one in [one async for one in _complete(connection) if _is_named(one.name, names)]:
            if not isinstance(await archive.fault_of(one, quick=True), Missing):
                there.append(one.name)
                continue
            made = record("archive forget", "RESOURCE", "DELETE", one.name)
            text = f"{made.description}: {one.trees} trees from {one.first_key} to {one.last_key}: {reason}"

            async def drop(connection: Connection, name: str = one.name) -> None:
                if not await archives.forget_lost(connection, name):
                    raise ArchiveProblem(f"{name} was replaced meanwhile: try again")

            await recorded(msgspec.structs.replace(made, description=text), drop, ArchiveProblem)(connection)
            forgotten.append(one.name)
        return forgotten, there

    forgotten, there = _work(database, work)
    for name in forgotten:
        _print_outcome(as_json, "forgotten", name)
    if there:
        raise Failure(f"these files are still in the archive: delete them first: {', '.join(there)}")
    if not forgotten:
        raise Failure("the database knows no such files: vivero archive list has their names")


@archive.command()
@click.argument("names", metavar="FILE...", nargs=-1, required=True)
@json_option
@database_in_use
def adopt(names: tuple[str, ...], as_json: bool, database: Database) -> None:
    """Note files that the database does not know because it was restored to an earlier moment, and record that.

    FILE is the name of a file, or of a day's directory such as 2026-01-31: all of its files that `vivero archive check`
    calls unknown. Each is read to its end. From then on it is listed, shown, checked, and searched by erasures. Repeat
    erasures that were made since the restore. Never name files of another database.

    \b
    Example:
      vivero archive adopt 2026-01-31
    """

    async def work(archive: Archive, connection: Connection) -> tuple[list[Adoptable], list[str]]:
        adopted, problems = [], []
        for name in [each for each in await archive.unknown() if _is_named(each, names)]:
            try:
                found = await archive.look_through(name)
                await _adopt(connection, found)
            except ArchiveProblem as problem:
                problems.append(str(problem))
            else:
                adopted.append(found)
        return adopted, problems

    adopted, problems = _work(database, work)
    for one in adopted:
        trees = one.contents.roots
        _print_outcome(
            as_json, "adopted", one.name, trees=len(trees), firstKey=str(min(trees)), lastKey=str(max(trees))
        )
    if problems:
        raise Failure("; ".join(problems))
    if not adopted:
        raise Failure(
            "the database knows all files of these names: vivero archive check lists those that it does not know"
        )


async def _adopt(connection: Connection, found: Adoptable) -> None:
    trees = found.contents.roots
    made = record("archive adopt", "RESOURCE", "CREATE", found.name)
    text = f"{made.description}: {len(trees)} trees from {min(trees)} to {max(trees)}"

    async def note(connection: Connection) -> None:
        if not await archives.adopt(connection, found.name, found.partition, found.begun, found.contents):
            raise ArchiveProblem(f"{found.name} is known meanwhile")

    await recorded(msgspec.structs.replace(made, description=text), note, ArchiveProblem)(connection)


def _is_named(name: str, names: tuple[str, ...]) -> bool:
    return any(name == each or name.startswith(f"{each.rstrip('/')}/") for each in names)


def _print(archive: Archive, file: archives.ArchiveFile, key: int) -> bool:
    found = False
    for part in archive.show(file, key):
        write_bytes(part)
        found = True
    sys.stdout.flush()
    return found


@archive.command()
@click.argument("keys", metavar="KEY...", nargs=-1, required=True, type=click.IntRange(0, MAX_KEY))
@click.option("--reason", required=True, help="Why, for the record.")
@json_option
@database_in_use
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

    async def work(archive: Archive, _connection: Connection) -> Erased:
        return await archive.erase(keys, reason)

    erased = _work(database, work)
    for key in erased.roots:
        say({"key": str(key), "outcome": "erased"}) if as_json else echo(f"erased {key}")
    if absent := sorted(set(keys) - set(erased.roots)):
        text = f"the archive does not have {', '.join(map(str, absent))}"
        if lost := erased.missing + erased.damaged:
            text = f"{text}, unless they are in files that are missing or damaged: {', '.join(lost)}"
        raise Failure(text)
