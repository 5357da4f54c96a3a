"""What tests of engine tasks on PostgreSQL share.

They may import the helper modules beside this file, and those of the core's tests (random models, serial runs).
"""

from functools import partial

import pytest
from psycopg.conninfo import make_conninfo

from vivero.storage.postgres import driver
from vivero.storage.postgres.migrate import migrate


@pytest.fixture
async def migrated(database):
    """The DSN of a database with the schema, of this test alone."""
    connection = await driver.connect(database, name="vivero migration")
    await migrate(connection)
    connection.close()
    return database


@pytest.fixture
def connect(migrated):
    """Opens a connection to the test's database."""
    return partial(driver.connect, migrated, name="vivero test")


@pytest.fixture
async def connection(connect):
    """A connection to the test's database."""
    connection = await connect()
    yield connection
    connection.close()


@pytest.fixture
async def second(connection, postgres_dsn):
    """A connection to another database with the schema, for what it is compared with."""
    await connection.execute("CREATE DATABASE second_of_tests TEMPLATE template_for_tests STRATEGY file_copy")
    other = await driver.connect(make_conninfo(postgres_dsn, dbname="second_of_tests"), name="vivero second")
    yield other
    other.close()
    await connection.execute("DROP DATABASE second_of_tests WITH (FORCE)")
