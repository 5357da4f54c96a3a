"""What tests of engine tasks on PostgreSQL share."""

from functools import partial
from pathlib import Path

import psycopg
import pytest

from storage import driver

MIGRATIONS = Path(__file__).parents[2] / "storage" / "sql" / "migrations"


@pytest.fixture
def migrated(database: str) -> str:
    """The DSN of a database with the schema, of this test alone."""
    with psycopg.connect(database, autocommit=True) as connection:
        if connection.execute("SELECT to_regclass('command_log')").fetchone() == (None,):
            for path in sorted(MIGRATIONS.glob("*.sql")):
                connection.execute(path.read_text())
    return database


@pytest.fixture
def connect(migrated: str):
    """Opens a connection to the test's database."""
    return partial(driver.connect, migrated, name="vivero test")


@pytest.fixture
async def connection(connect):
    """A connection to the test's database."""
    connection = await connect()
    yield connection
    connection.close()
