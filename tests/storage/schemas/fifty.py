"""A database as the fifty migrations before the squash left it: the tables of the squash, and the list of the fifty."""

import re
from pathlib import Path

import psycopg

from vivero.storage.schema import predecessor
from vivero.storage.schema.migrate import CREATE_TABLE
from vivero.storage.schema.migration_files import Migration, read_migrations

DUMP = Path(__file__).parent / "released" / "schema_50.sql"
_ROW = re.compile(r"\((\d+), '(\w+)', '([0-9a-f]{64})', '[^']+'\)")

FIFTY = [Migration(int(version), name, "", sha256) for version, name, sha256 in _ROW.findall(DUMP.read_text())]
ADOPTED = [predecessor.ADOPTION, *predecessor.behind(read_migrations())]
"""The migrations that such a database gets."""


def as_left(dsn, applied=tuple(FIFTY), schema="public"):
    """Make a database that of the program before, a day old: empty tables without what later migrations changed."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA "{schema}" CASCADE; CREATE SCHEMA "{schema}"')
        connection.execute(f'GRANT USAGE ON SCHEMA "{schema}" TO PUBLIC; SET search_path = "{schema}"')
        connection.execute(CREATE_TABLE)
        for migration in read_migrations()[: len(predecessor.SQUASHED)]:
            connection.execute(migration.sql)
        connection.execute("DELETE FROM schema_migrations")
        connection.cursor().executemany(
            "INSERT INTO schema_migrations VALUES (%s, %s, %s, now() - interval '1 day')",
            [(each.version, each.name, each.sha256) for each in applied],
        )
    return dsn


def listed(dsn, columns="version, name, sha256"):
    """The list of migrations."""
    with psycopg.connect(dsn) as connection:
        return connection.execute(f"SELECT {columns} FROM schema_migrations ORDER BY version").fetchall()
