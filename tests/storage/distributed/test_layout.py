"""The layout over several servers: the rules of Citus, what PostgreSQL makes of the statements, and an engine on it."""

from contextlib import ExitStack
from functools import cache, partial

import psycopg
import pytest

from tests.core.engine import raw
from tests.core.partitions.test_interleavings import CREATED, MODELS
from tests.engine.several_partitions import PartitionsEngine
from tests.engine.test_several_partitions import CORRELATED_TWICE, OPEN, UNLIKE, Traffic, live
from tests.storage.distributed import layout
from tests.storage.distributed.statements import COLUMNS, laid_out
from tests.storage.distributed.test_routing import FILES, STATEMENTS
from tests.storage.distribution import BELONGS, GLOBAL
from tests.storage.test_distribution import UNIQUE
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.storage.postgres import connection as connections
from vivero.storage.postgres import driver, pipelines
from vivero.storage.postgres.errors import StorageError

COUNT = 3


@pytest.fixture(scope="module")
def prepared(databases):
    """Makes a database of this module after a script, for tests that change nothing in it."""
    with ExitStack() as stack:

        @cache
        def after(script):
            dsn = stack.enter_context(databases.new())
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute(script)
            return dsn

        yield after


@pytest.fixture
async def laid(prepared):
    connection = await driver.connect(prepared(layout.script()), name="vivero test")
    yield connection
    connection.close()


async def test_every_table_of_partitions_is_distributed_beside_the_others(laid):
    rows = (
        await laid.execute("SELECT relation, distribution_column, beside FROM placements WHERE kind = 'distributed'")
    ).rows
    assert {table: column for table, column, _ in rows} == {table: COLUMNS[table] for table in BELONGS}
    assert [table for table, _, beside in rows if beside is None] == ["command_log"]
    copied = {name for (name,) in (await laid.execute("SELECT relation FROM placements WHERE kind = 'reference'")).rows}
    assert copied < set(GLOBAL)


async def test_every_unique_index_contains_the_partition(laid):
    rows = (await laid.execute(UNIQUE)).rows
    assert [index for table, index, columns in rows if table in BELONGS and COLUMNS[table] not in columns] == []


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        ("create_distributed_table('jobs', 'partition_id', 'none')", "no integer column"),
        ("create_distributed_table('timers', 'partition_id', 'none')", "timers_pkey does not contain"),
        ("create_distributed_table('batches', 'partition_id', 'jobs')", "jobs is not distributed yet"),
        ("create_reference_table('users')", "has a trigger"),
        ("create_distributed_function('fence(int, bigint, bigint, bigint, bigint)')", "volatile"),
    ],
)
def test_what_citus_refuses_is_refused_here(prepared, call, refusal):
    with psycopg.connect(prepared(layout.CITUS)) as connection, pytest.raises(psycopg.Error, match=refusal):
        connection.execute(f"SELECT {call}")


async def test_a_row_without_its_partition_is_refused(laid):
    """The program of today fails on the layout at its first row, and loses none silently."""
    with pytest.raises(StorageError, match="partition_id"):
        await laid.execute(
            "INSERT INTO work_items (process_instance_key, suspended, number, items) VALUES (1, true, 1, '')"
        )


async def test_postgresql_accepts_each_statement_for_the_layout(laid):
    """Columns, types and ON CONFLICT fit the changed keys."""
    assert len(STATEMENTS) > 120
    for statement in STATEMENTS.values():
        await laid.execute(f"PREPARE laid_out AS {laid_out(statement.text)}")
        await laid.execute("DEALLOCATE laid_out")
    assert set(FILES) == {name.split(".")[0] for name in STATEMENTS}


class LaidOutEngine(PartitionsEngine):
    """The sessions of consumers and timers name their partition, and all others none: they find no row by accident."""

    def connect_of(self, dsn, partition):
        return partial(driver.connect, dsn, settings={layout.SETTING: str(partition)})


@pytest.mark.long
async def test_random_traffic_works_on_the_layout(migrated, monkeypatch, seed):
    """Each row of a partition is written with it, and read by it: appends, batches, timers, messages, follow-ups."""
    connection = await driver.connect(migrated, name="vivero test")
    await connection.script(layout.script())
    for module in (connections, pipelines):
        monkeypatch.setattr(module, "text", layout.text)
    async with LaidOutEngine(migrated, COUNT).running() as engine:
        await engine.deploy(*MODELS)
        traffic = Traffic(engine, seed)
        for at in engine.routes.all:
            traffic.positions.append(await engine.send(CreateInstance(CREATED[0], variables=raw({"k": "a"})), at=at))
        for _ in range(60):
            await traffic.step()
        await engine.settled()
        await engine.until(lambda: set(traffic.positions) <= set(engine.answers))
        assert await engine.rows(CORRELATED_TWICE) == [], f"seed {seed}"
        assert await engine.rows(UNLIKE) == [], f"seed {seed}"
        while instances := await live(engine):
            for instance in instances:
                await traffic.send(CancelInstance(instance))
            await engine.settled()
        assert await engine.value(OPEN) == 0, f"seed {seed}"
        wrong = "SELECT count(*) FROM element_instances WHERE partition_id <> element_instance_key >> 51"
        assert await engine.value(wrong) == 0
        assert await engine.value("SELECT count(DISTINCT partition_id) FROM element_instances") == COUNT
        assert engine.errors == []
    connection.close()
