"""Fixtures of the tests of engine tasks on PostgreSQL.

They may import the helper modules beside this file, and those of the core's tests (random models, serial runs).
"""

import pytest
from psycopg.conninfo import make_conninfo

from vivero.storage.postgres import driver


@pytest.fixture
async def second(connection, postgres_dsn):
    """A connection to another database with the schema, for what it is compared with."""
    await connection.execute("CREATE DATABASE second_of_tests TEMPLATE template_for_tests STRATEGY file_copy")
    other = await driver.connect(make_conninfo(postgres_dsn, dbname="second_of_tests"), name="vivero second")
    yield other
    other.close()
    await connection.execute("DROP DATABASE second_of_tests WITH (FORCE)")
