"""Backups of a database while it works, by pg_dump: a directory that can be verified and restored.

    DIR/manifest.json   versions, the moment, counts of rows, and the SHA-256 of each file
    DIR/dump/           the dump, in pg_dump's directory format

The directory appears under its name when everything is in it. A restore is one transaction: all or nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import msgspec
import trio

from vivero.engine.flushed_directories import flush_directory
from vivero.operations.dump_tools import Meter, Progress, run_tool, tool
from vivero.storage.postgres import conninfo, driver
from vivero.storage.postgres.errors import StorageBug
from vivero.storage.retention import backups as queries
from vivero.storage.schema import installations, predecessor
from vivero.storage.schema.migration_files import SCHEMA_VERSION

FORMAT = 1
MANIFEST = "manifest.json"
DUMP = "dump"
CHUNK = 1 << 20
_OF_ROLES = re.compile(r"^\d+; \d+ \d+ (POLICY|ROW SECURITY|EXTENSION|COMMENT\b.*\b(POLICY|EXTENSION))\b")
"""Entries of a dump that name roles, or need a superuser. The start of the program makes policies anew."""
_OF_SCHEMA = r"^\d+; \d+ \d+ ({1}COMMENT - SCHEMA) {0} "
_MIGRATIONS = re.compile(r"^\d+; \d+ \d+ TABLE (.+) schema_migrations .")


class BackupProblem(Exception):
    """A backup cannot be made or restored. The message says why, and what to do."""


class File(msgspec.Struct, frozen=True):
    """A file of the dump."""

    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, rename="camel"):
    """The description of a backup."""

    format: int
    vivero: str
    schema: int
    postgresql: str
    pg_dump: int
    taken_at_ms: int
    cluster: str
    rows: dict[str, int]
    tables: dict[str, int]
    """Table → bytes in the database, for progress bars."""
    files: dict[str, File]
    outside: dict[str, tuple[int, int]] = {}
    """Store → files of documents, and their bytes, that are in a directory or a bucket and not in the dump."""

    @property
    def size(self) -> int:
        """Bytes of the dump."""
        return sum(file.bytes for file in self.files.values())


async def take(dsn: str, target: Path, *, jobs: int, progress: Progress) -> Manifest:
    """Back up the database of `dsn` into the new directory `target`. Raises BackupProblem."""
    unfinished = _new_directory(target)
    try:
        manifest = await _dump(dsn, unfinished, jobs, progress)
        await trio.to_thread.run_sync(_finish, unfinished, target, manifest)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return manifest


def _new_directory(target: Path) -> Path:
    """A directory beside `target`, for the backup until it is complete."""
    parent = target.absolute().parent
    if target.exists():
        raise BackupProblem(f"{target} exists already: name a new directory")
    if not parent.is_dir():
        raise BackupProblem(f"{parent} is not a directory: make it first")
    try:
        return Path(tempfile.mkdtemp(prefix=f".{target.name}-unfinished-", dir=parent))
    except OSError as error:
        raise BackupProblem(f"cannot write to {parent}: {error.strerror}") from error


async def _dump(dsn: str, directory: Path, jobs: int, progress: Progress) -> Manifest:
    connection = await driver.connect(dsn, name="vivero:backup")
    try:
        owns = await queries.owns_the_tables(connection)
        if owns is None:
            raise BackupProblem("the database has no tables of Vivero: nothing to back up")
        if not owns:
            raise BackupProblem(
                "this user does not own the tables, and may not see every row: use the URL of the server"
            )
        postgresql, major = await queries.server(connection)
        found = tool("pg_dump", major)
        options = await queries.tool_options(connection)
        async with queries.moment(connection) as moment:
            command: list[str] = [
                *(str(found.path), "--format=directory", f"--file={directory / DUMP}", f"--jobs={jobs}", "--verbose"),
                *("--no-owner", "--no-privileges", "--no-unlogged-table-data", "--enable-row-security"),
                *(f"--snapshot={moment.snapshot}", f"--schema={await queries.own_schema(connection)}"),
            ]
            rows: dict[str, int] = {}
            outside: dict[str, tuple[int, int]] = {}

            async def count() -> None:
                rows.update(await queries.counts(connection))
                outside.update(await queries.outside(connection))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(count)
                await run_tool(command, dsn, Meter(moment.sizes, "dumping", progress), BackupProblem, options)
    finally:
        connection.close()
    files = await trio.to_thread.run_sync(_sums, directory / DUMP, progress)
    return Manifest(
        *(FORMAT, version("vivero"), moment.schema, postgresql, found.major, moment.at_ms, moment.cluster),
        *(rows, moment.sizes, files, outside),
    )


def _finish(unfinished: Path, target: Path, manifest: Manifest) -> None:
    """Write the manifest, and give the directory its name when everything is on disk."""
    with (unfinished / MANIFEST).open("wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    for directory in (unfinished / DUMP, unfinished):
        flush_directory(directory)
    try:
        unfinished.rename(target)
    except OSError as error:
        raise BackupProblem(f"cannot name the backup {target}: {error.strerror}") from error
    flush_directory(target.absolute().parent)


def _sums(dump: Path, progress: Progress) -> dict[str, File]:
    """The sizes and sums of all files."""
    sizes = {path.name: path.stat().st_size for path in sorted(dump.iterdir())}
    total, done, found = sum(sizes.values()), 0, {}
    for name, size in sizes.items():
        found[name] = File(size, _sha256(dump / name))
        done += size
        progress("verifying", done, total)
    return found


def _sha256(path: Path) -> str:
    summed = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            summed.update(chunk)
    return summed.hexdigest()


async def verify(directory: Path, progress: Progress) -> Manifest:
    """Read a whole backup, and compare it with its manifest. Raises BackupProblem."""
    manifest = read_manifest(directory)
    if not (directory / DUMP).is_dir():
        raise BackupProblem(f"{directory / DUMP} is missing: the backup is damaged")
    found = await trio.to_thread.run_sync(_sums, directory / DUMP, progress)
    for name, file in manifest.files.items():
        if name not in found:
            raise BackupProblem(f"{directory / DUMP / name} is missing: the backup is damaged")
        if found[name] != file:
            raise BackupProblem(f"{directory / DUMP / name} has changed since the backup was made: it is damaged")
    return manifest


def read_manifest(directory: Path) -> Manifest:
    """The description of a backup. Raises BackupProblem if this program cannot restore it."""
    try:
        text = (directory / MANIFEST).read_bytes()
    except OSError as error:
        raise BackupProblem(f"{directory} is not a backup: {MANIFEST}: {error.strerror}") from error
    try:
        written = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        format = msgspec.json.decode(written.get("format", msgspec.Raw(b"0")), type=int)
        if format > FORMAT:
            raise BackupProblem(
                f"the backup has format {format}, and this program knows {FORMAT}: use a newer version of it"
            )
        manifest = msgspec.json.decode(text, type=Manifest)
    except msgspec.MsgspecError as error:
        raise BackupProblem(f"{directory / MANIFEST} cannot be read: {error}") from error
    if manifest.schema < predecessor.LAST:
        raise BackupProblem(predecessor.too_old("backup", manifest.schema))
    if manifest.schema > SCHEMA_VERSION:
        raise BackupProblem(
            f"the backup has schema version {manifest.schema}, but this program knows only {SCHEMA_VERSION}: restore it"
            f" with version {manifest.vivero} or later"
        )
    return manifest


async def restore(dsn: str, directory: Path, manifest: Manifest, progress: Progress) -> None:
    """Restore a verified backup into a schema without tables. Raises BackupProblem, and leaves nothing then.

    The schema is that of the backup, which is made if it does not exist. The search_path must lead to it.
    """
    connection = await driver.connect(dsn, name="vivero:restore")
    try:
        major = (await queries.server(connection))[1]
        if major < manifest.pg_dump:
            raise BackupProblem(
                f"the backup was made by pg_dump {manifest.pg_dump}, and the server is PostgreSQL {major}: restore it"
                f" into PostgreSQL {manifest.pg_dump} or later"
            )
        dump = Dump(directory / DUMP, str(tool("pg_restore", major).path), dsn, await queries.tool_options(connection))
        entries = await dump.entries()
        schema = _schema_of(entries)
        before = await _state_before(connection, schema)
        await dump.load(_chosen(entries, schema, before), Meter(manifest.tables, "restoring", progress))
        try:
            await _compare(connection, manifest)
            progress("analyzing", 0, 0)
            await queries.analyze(connection)
        except BaseException:
            with trio.CancelScope(shield=True):
                await _undo(dsn, schema, before)
            raise
    finally:
        connection.close()


async def _state_before(connection: driver.Connection, schema: str) -> list[str] | None:
    """The schema's contents before the restore; None if it does not exist. Raises BackupProblem if it may not begin."""
    exists = await installations.exists(connection, schema)
    if exists and (tables := await queries.count_tables(connection, schema)):
        raise BackupProblem(
            f"the database has {tables} tables in the schema {schema}: restore into an empty one (--database-url), or"
            " into a new data directory of the embedded PostgreSQL (--data-dir)"
        )
    try:
        if exists:
            leads_to = (await installations.place(connection)).schema
        else:
            leads_to = await installations.schema_beside(connection, schema)
    except StorageBug as error:
        raise BackupProblem(
            f"the backup is of the schema {schema}, which this user may not create ({error.message}): create it, or"
            " grant the user CREATE on the database"
        ) from error
    if leads_to != schema:
        to = "no schema that exists" if leads_to is None else f"the schema {leads_to}"
        raise BackupProblem(
            f"the backup is of the schema {schema}, and the search_path leads to {to}."
            f" {installations.set_search_path(schema)}. The server needs the same"
        )
    return await queries.drops(connection, schema) if exists else None


async def _undo(dsn: str, schema: str, before: list[str] | None) -> None:
    """Drop what was restored. The connection of the restore may be broken."""
    connection = await driver.connect(dsn, name="vivero:restore")
    try:
        await queries.drop(connection, schema, before)
    finally:
        connection.close()


def _schema_of(entries: Sequence[str]) -> str:
    """The schema of the installation in a dump. Raises BackupProblem."""
    for entry in entries:
        if found := _MIGRATIONS.match(entry):
            return found[1]
    raise BackupProblem("the dump has no tables of Vivero: it is damaged")


def _chosen(entries: Sequence[str], schema: str, before: list[str] | None) -> list[str]:
    """Entries without what names roles, and without the schema if it exists."""
    own = re.compile(_OF_SCHEMA.format(re.escape(schema), "" if before is None else "SCHEMA -|"))
    return [entry for entry in entries if not _OF_ROLES.match(entry) and not own.match(entry)]


@dataclass(frozen=True, slots=True)
class Dump:
    """The dump of a backup, and the pg_restore that loads it into the database of `dsn`."""

    directory: Path
    pg_restore: str
    dsn: str
    options: str
    """The settings of the sessions of pg_restore."""

    async def entries(self) -> list[str]:
        """Its table of contents."""
        entries: list[str] = []
        await run_tool([self.pg_restore, "--list", str(self.directory)], self.dsn, entries.append, BackupProblem)
        return entries

    async def load(self, entries: Sequence[str], meter: Meter) -> None:
        """Load these entries in one transaction."""
        with tempfile.NamedTemporaryFile("w", prefix="vivero-restore-") as chosen:
            chosen.write("\n".join(entries))
            chosen.flush()
            command = [
                *(self.pg_restore, "--format=directory", "--single-transaction", "--exit-on-error", "--verbose"),
                *("--no-owner", "--no-privileges", f"--use-list={chosen.name}"),
                *(f"--dbname={conninfo.name_of(self.dsn)}", str(self.directory)),
            ]
            await run_tool(command, self.dsn, meter, BackupProblem, self.options)


async def _compare(connection: driver.Connection, manifest: Manifest) -> None:
    found = await queries.counts(connection)
    wrong = [
        f"{name} has {found[name]:,} rows, not {rows:,}" for name, rows in manifest.rows.items() if found[name] != rows
    ]
    if wrong:
        raise BackupProblem(
            f"the restored database is not what was backed up: {'; '.join(wrong)}. Nothing was left of it"
        )
