"""The commands `backup` and `restore`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from vivero.cli.shared.database import EXPECTED, need_database, say_migration
from vivero.cli.shared.failures import Failure, run
from vivero.cli.shared.options import PATH, json_option, tell
from vivero.cli.shared.settings import Database, database_in_use, database_options
from vivero.config.sections import Config
from vivero.operations import backups, dump_tools
from vivero.operations.backups import BackupProblem, Manifest
from vivero.operations.dump_tools import NoTool
from vivero.program.database import leased, prepare
from vivero.storage.schema import checks
from vivero.terminal.terminal_tables import console

PROBLEMS: Mapping[type[Exception], type[Failure]] = {**EXPECTED, BackupProblem: Failure, NoTool: Failure}


@click.command()
@click.argument("directory", metavar="DIR", type=PATH)
@click.option(
    "--jobs", type=click.IntRange(1, 64), metavar="N", default=2, show_default=True, help="Tables to dump at once."
)
@database_in_use
@json_option
def backup(
    directory: Path,
    jobs: int,
    database: Database,
    as_json: bool,
) -> None:
    """Back up the database into a new directory, while the server works.

    The backup holds one moment. It is complete when DIR exists: an interrupted backup leaves nothing there. The program
    needs pg_dump, which the embedded PostgreSQL has.

    \b
    Examples:
      vivero backup /backups/monday
      vivero backup /backups/monday --database-url postgresql://vivero@db/vivero
    """
    chosen = database.settings()
    need_database(chosen)

    async def work() -> Manifest:
        async with leased(chosen) as (dsn, _children):
            await checks.check(dsn, allow_unsafe_commits=chosen.database.allow_unsafe_commits)
            with _bar() as progress:
                return await backups.take(dsn, directory, jobs=jobs, progress=progress)

    manifest = run(work, PROBLEMS)
    tell(as_json, f"{directory}: {summary(manifest)}", outcome="backed up", **_document(manifest))


@click.command()
@click.argument("directory", metavar="DIR", type=PATH)
@click.option("--check", is_flag=True, help="Only verify the backup; change nothing.")
@database_options
@json_option
def restore(
    directory: Path,
    check: bool,
    database: Database,
    as_json: bool,
) -> None:
    """Restore a backup of `vivero backup` into an empty database.

    The backup is verified first. The restore is one transaction, so an interrupted one leaves the database empty. Then
    the schema is migrated. What happened after the moment of the backup is not in it: docs/operations/backup.md says
    what clients see.

    \b
    Examples:
      vivero restore /backups/monday --check
      vivero restore /backups/monday --data-dir ./restored
      vivero restore /backups/monday --database-url postgresql://vivero@db/new
    """
    chosen = database.settings()

    async def work() -> Manifest:
        with _bar() as progress:
            manifest = await backups.verify(directory, progress)
        if not check:
            await _restore(chosen, directory, manifest)
        return manifest

    manifest = run(work, PROBLEMS)
    outcome = "the backup is whole" if check else "restored"
    tell(as_json, f"{outcome}: {summary(manifest)}", outcome=outcome, **_document(manifest))


async def _restore(chosen: Config, directory: Path, manifest: Manifest) -> None:
    async with leased(chosen) as (dsn, _children):
        unsafe = chosen.database.allow_unsafe_commits
        await checks.check(dsn, allow_unsafe_commits=unsafe, any_schema=True)
        with _bar() as progress:
            await backups.restore(dsn, directory, manifest, progress)
        await prepare(dsn, chosen, say_migration)


@contextmanager
def _bar() -> Iterator[dump_tools.Progress]:
    """A progress bar on stderr, if that is a terminal."""
    screen = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        bar = progress.add_task("connecting", total=None)

        def show(what: str, done: int, total: int) -> None:
            progress.update(bar, description=what, completed=done, total=total or None)

        yield show


def _moment(manifest: Manifest) -> str:
    return datetime.fromtimestamp(manifest.taken_at_ms / 1000, UTC).isoformat(timespec="seconds")


def _document(manifest: Manifest) -> dict[str, Any]:
    figures = {"processInstances": manifest.rows["process_instances"], "bytes": manifest.size}
    outside = {store: {"files": files, "bytes": size} for store, (files, size) in manifest.outside.items()}
    return {"takenAt": _moment(manifest), "schema": manifest.schema, **figures, "documentsOutside": outside}


def summary(manifest: Manifest) -> str:
    """A backup in one line."""
    return (
        f"{manifest.rows['process_instances']:,} instances as of {_moment(manifest)}, schema {manifest.schema},"
        f" {manifest.size / 1e6:,.1f} MB{_outside(manifest)}"
    )


def _outside(manifest: Manifest) -> str:
    """A sentence about documents that the dump does not have."""
    stores = [
        f"{files:,} files of documents ({size / 1e6:,.1f} MB) are in the store '{store}'"
        for store, (files, size) in manifest.outside.items()
    ]
    return f". Not in the backup: {' and '.join(stores)}. They need a backup of their own" if stores else ""
