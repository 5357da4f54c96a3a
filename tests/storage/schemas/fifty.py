"""A database as the fifty migrations before the squash left it: its list of migrations is all that differs."""

import re
from pathlib import Path

import psycopg

from vivero.storage.schema.migration_files import Migration

DUMP = Path(__file__).parent / "released" / "schema_50.sql"
_ROW = re.compile(r"\((\d+), '(\w+)', '([0-9a-f]{64})', '[^']+'\)")

FIFTY = [Migration(int(version), name, "", sha256) for version, name, sha256 in _ROW.findall(DUMP.read_text())]


def as_left(dsn, applied=tuple(FIFTY), schema="public"):
    """Give a migrated database the list of the program before, a day old."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f'SET search_path = "{schema}"')
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
