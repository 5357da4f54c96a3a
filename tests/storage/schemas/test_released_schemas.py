"""Released migrations never change, and what ran under a released schema goes on under the newest one.

`released/migrations.txt` lists the released migrations with the SHA-256 of each; `released/schema_N.sql` is a dump with
running instances of every kind (`python -m tests.storage.schemas.dump` makes one).
"""

from collections import Counter
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from tests.engine.whole_engine import WholeEngine
from tests.storage.schemas.running_instances import KINDS, REMAINS, finish
from vivero.storage.postgres import driver
from vivero.storage.schema.migrate import migrate, pending
from vivero.storage.schema.migration_files import read_migrations
from vivero.storage.state.durations import bucket_of

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


TOO_LITTLE = """
    SELECT count(*) FROM (
        SELECT sum(started), sum(completed + canceled), sum(incidents) FROM counted_instances
        EXCEPT
        SELECT count(*), count(ended_at), (SELECT count(*) FROM incidents) FROM process_instances) different"""
LEFT = """
    SELECT sum(started - completed - canceled) - (SELECT sum(active) FROM counted_elements WHERE element_id = '')
    FROM counted_instances"""
LONG = """
    UPDATE process_instances SET ended_at = started_at + process_instance_key % 1000 * interval '7.777 seconds'
    WHERE state = 'COMPLETED'"""
TOOK = "SELECT started_at, ended_at FROM process_instances WHERE state = 'COMPLETED' AND ended_at IS NOT NULL"


async def test_figures_over_time_begin_with_the_instances_that_are_there(restored):
    """Each once: also those whose counts were not added up before the upgrade."""
    with psycopg.connect(restored, autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM element_count_changes WHERE element_id = ''").fetchone() > (0,)
        connection.execute(LONG)
    connection = await driver.connect(restored, name="vivero test")
    await migrate(connection)
    connection.close()
    assert (count(restored, TOO_LITTLE), count(restored, LEFT)) == (0, 0)
    with psycopg.connect(restored) as connection:
        took = Counter(
            bucket_of((ended - began) // timedelta(milliseconds=1)) for began, ended in connection.execute(TOOK)
        )
        query = "SELECT bucket, sum(completed)::int FROM counted_instance_durations GROUP BY 1"
        assert dict(connection.execute(query).fetchall()) == took


@pytest.mark.long
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
