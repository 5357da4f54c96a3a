"""Released migrations never change, and what ran under a released schema goes on under the newest one.

`released/migrations.txt` lists the released migrations with the SHA-256 of each; `released/schema_N.sql` is a dump with
running instances of every kind (`python -m tests.storage.schemas.dump` makes one).
"""

from pathlib import Path

import psycopg
import pytest

from tests.engine.whole_engine import WholeEngine
from tests.storage.schemas.running_instances import KINDS, REMAINS, finish
from vivero.storage.postgres import driver
from vivero.storage.schema.migrate import migrate, pending
from vivero.storage.schema.migration_files import read_migrations

RELEASED = Path(__file__).parent / "released"
DUMPS = sorted(RELEASED.glob("schema_*.sql"))
EXPECTED = {"COMPLETED", "TERMINATED"}


def released_migrations():
    lines = (RELEASED / "migrations.txt").read_text().splitlines()
    return [tuple(reversed(line.split())) for line in lines]


def test_released_migrations_never_change():
    """A migration that is not in the list is not released: it may change, and a release adds it."""
    released = released_migrations()
    known = [(str(migration), migration.sha256) for migration in read_migrations()]
    assert known[: len(released)] == released, "make a new migration; a released one never changes"


def test_there_is_a_dump_of_the_schema():
    assert DUMPS


@pytest.fixture(params=DUMPS, ids=lambda path: path.stem)
def restored(request, empty_database):
    """A database as the version left it."""
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute(request.param.read_text())
    return empty_database


def count(dsn, query):
    with psycopg.connect(dsn) as connection:
        return connection.execute(query).fetchone()[0]


def test_a_dump_has_instances_of_every_kind(restored):
    with psycopg.connect(restored) as connection:
        absent = [kind for kind, query in KINDS.items() if not connection.execute(query).fetchone()[0]]
    assert absent == []


async def test_instances_of_a_released_schema_run_to_their_end(restored):
    connection = await driver.connect(restored, name="vivero test")
    await migrate(connection)
    assert await pending(connection) == []
    connection.close()
    canceled = count(restored, "SELECT count(*) FROM process_instances WHERE state = 'TERMINATED'")
    engine = WholeEngine(restored)
    async with engine.running():
        await finish(engine)
        states = dict(await engine.rows("SELECT state, count(*) FROM process_instances GROUP BY state"))
        left = {table: await engine.rows(f"SELECT * FROM {table} WHERE {live}") for table, live in REMAINS.items()}
    assert {table: rows for table, rows in left.items() if rows} == {}
    assert states.keys() == EXPECTED
    assert states["TERMINATED"] == canceled
