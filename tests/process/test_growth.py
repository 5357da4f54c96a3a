"""Generated instances are as the real ones: no row is missing or different, and the engine goes on behind them."""

import signal

import psycopg
import pytest
import trio

from benchmarks.growth import fill as filling
from benchmarks.growth import real, varieties
from benchmarks.growth.check import check
from benchmarks.growth.templates import columns_of
from tests.process.http_client import Caller
from tests.process.load import send_files
from vivero.storage.postgres import driver

REAL, PORTION = 60, 40
COPIES = 3 * PORTION
"""The numbers of both, real instances and copies, have all varieties."""
COUNTED = {
    "element_count_changes",
    "element_counts",
    "element_durations",
    "instance_counts",
    "instance_durations",
    "job_count_changes",
    "job_counts",
}
"""Statistics: the check compares what they count."""
BOUNDED = {
    *("batches", "element_count_totals", "job_count_totals"),
    *("appenders", "job_dispatchers", "job_executions", "nodes", "since_recovery", "unhashed_variables"),
    *("deployments", "process_definitions", "resources"),
}
"""Tables that ended instances leave alone, or chores keep small."""
TABLES = """
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
"""


class Stopped(Exception):
    """The filling was stopped."""


def stop(done, _total):
    raise Stopped(done)


def rows_by_table(dsn):
    with psycopg.connect(dsn) as connection:
        names = [name for (name,) in connection.execute(TABLES)]
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}


@pytest.fixture
async def tables(program, database, monkeypatch):
    """The tables that instances left rows in; the program has ended."""
    monkeypatch.setattr(varieties, "RARELY", 50)
    before = rows_by_table(database)
    await program.restart()
    async with Caller(program.port) as caller:
        models = {name: model.decode() for name, model in varieties.MODELS.items()}
        assert (await send_files(caller, models)).status == 200
    await trio.to_thread.run_sync(real.make, program.port, range(REAL))
    program.signal(signal.SIGTERM)
    await program.wait()
    return {name for name, count in rows_by_table(database).items() if count != before[name]}


@pytest.fixture
async def connection(tables, database):
    """After the program has ended."""
    connection = await driver.connect(database, name="vivero test")
    yield connection
    connection.close()


@pytest.fixture
def directory(reachable_directory):
    """The server can read it."""
    return reachable_directory()


@pytest.mark.long
async def test_copies_are_as_the_real_ones_and_the_engine_goes_on(program, tables, connection, directory, monkeypatch):
    assert tables <= {*(await columns_of(connection)), *COUNTED, *BOUNDED}, "copies would lack these rows"
    monkeypatch.setattr(filling, "PORTION", PORTION)
    for number in (1, 2):
        with pytest.raises(Stopped, match=str(number * PORTION)):
            await filling.fill(connection, REAL, COPIES, directory, stop)
    await filling.fill(connection, REAL, COPIES, directory, lambda *_: None)
    copies = range(REAL, REAL + COPIES)
    found = await check(connection, range(REAL), copies)
    print(*found.differences, sep="\n")
    assert (found.compared, found.unlike, found.differences, found.counted) == (REAL, 0, [], True)
    await program.restart()
    behind = range(copies.stop + 65, copies.stop + 75)
    assert any(map(varieties.is_canceled, behind))
    await trio.to_thread.run_sync(real.make, program.port, behind)
    found = await check(connection, behind, copies)
    assert (found.unlike, found.differences) == (0, [])
    await connection.execute("UPDATE jobs SET retries = 7 WHERE business_id = $1", (varieties.business_id_of(2),))
    found = await check(connection, range(REAL), copies)
    assert [line.split("; ")[0] for line in found.differences] == [
        "measured completed True: only real: jobs: job_key=<key 6>",
        "measured completed True: only generated: jobs: job_key=<key 6>",
    ]
    assert found.unlike == 1
