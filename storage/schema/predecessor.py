"""Databases of the fifty migrations that twelve have replaced: they are adopted as they are, or refused.

`schema_migrations` of a database of this program has rows for the fifty, too, without checksums: a program that knows
only the fifty counts the rows, and says that the database is newer than itself (docs/adr/0074).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import islice

from vivero.storage.postgres.connection import Connection
from vivero.storage.schema import catalogue
from vivero.storage.schema.migration_files import Migration, MigrationError

LAST = 50
"""The newest schema of the fifty."""
SQUASHED = range(LAST + 1, LAST + 13)
"""The versions of the migrations that have replaced them."""
PROGRAM = "commit 414db56b"
"""The last program with the fifty. It migrates older schemas."""
FINGERPRINT = "bd0781af7240386da0becdd962695d84c64c9f38a513c1a7e20dadbb67617eb7"
"""SHA-256 of the list of the fifty."""
ADOPTION = Migration(LAST, "adoption", "", "")
"""The step that is pending for a database of the fifty."""
UNRELEASED_FIRST = "kernel"
"""The name of the first migration in databases that even the fifty could not migrate."""
_FIRST = {"database": "start", "backup": "restore it and start"}
SHOWN = 5
"""The most differences in a message."""

_FORGET = "UPDATE schema_migrations SET name = 'squashed', sha256 = ''"
_NOTE = """INSERT INTO schema_migrations (version, name, sha256, applied_at)
SELECT $1, $2, $3, max(applied_at) FROM schema_migrations"""
"""The time stays: positions after a restore follow from it (`seconds_behind`)."""


def too_old(what: str, version: int) -> str:
    """The reason why a database or backup with fewer than the fifty is refused, and what to do."""
    return (
        f"the {what} has schema version {version}, and this program can take over version {LAST}: {_FIRST[what]}"
        f" Vivero of {PROGRAM} once, which migrates it, and then this version"
    )


def check(applied: Sequence[Migration]) -> None:
    """Raise MigrationError unless exactly the fifty ran."""
    if applied[0].name == UNRELEASED_FIRST:
        raise MigrationError(
            f"a development version from before the first release created this database (its first migration is"
            f" {applied[0]}). It cannot be migrated: use an empty database (--database-url), or another data directory"
            " for the embedded PostgreSQL (--data-dir); if you do not need the data, delete the old one"
        )
    if len(applied) < LAST:
        raise MigrationError(too_old("database", applied[-1].version))
    if fingerprint(applied) != FINGERPRINT:
        raise MigrationError(
            f"the migrations of this database, up to {applied[-1]}, are not those of {PROGRAM}: this program cannot"
            " take it over. Use the program that made it, or a new database"
        )


def fingerprint(applied: Sequence[Migration]) -> str:
    """One checksum of names and checksums."""
    return hashlib.sha256("\n".join(f"{each} {each.sha256}" for each in applied).encode()).hexdigest()


def behind(known: Sequence[Migration]) -> list[Migration]:
    """The migrations that an adopted database still has to run."""
    return [migration for migration in known if migration.version not in SQUASHED]


async def rewrite(connection: Connection, known: Sequence[Migration]) -> None:
    """Replace the list of the fifty by that of the migrations that have replaced them."""
    await connection.execute(_FORGET)
    for migration in known[: len(SQUASHED)]:
        await connection.execute(_NOTE, (migration.version, migration.name, migration.sha256))


async def compare(connection: Connection) -> None:
    """Raise MigrationError, with what differs, if the catalogue is not that of `schema.sql`."""
    found = catalogue.differences(await catalogue.read(connection), catalogue.expected())
    shown = list(islice(found, SHOWN))
    if not shown:
        return
    more = sum(1 for _ in found)
    raise MigrationError(
        f"this database has schema version {LAST}, but somebody has changed it: {'; '.join(shown)}"
        f"{f'; and {more} more' if more else ''}. Undo that, and start again. Nothing was changed"
    )
