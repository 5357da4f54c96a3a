"""Making the partitions of a new database, once and for all."""

from functools import partial

import pytest
import trio

from vivero.storage import log, partitions
from vivero.storage.postgres import driver
from vivero.storage.postgres.migrate import migrate


@pytest.fixture
async def connect(database):
    connect = partial(driver.connect, database, name="vivero test")
    connection = await connect()
    await migrate(connection)
    connection.close()
    return connect


@pytest.fixture
async def connection(connect):
    connection = await connect()
    yield connection
    connection.close()


async def slots(connection):
    query = "SELECT partition_id, count(*) FROM slots GROUP BY 1 ORDER BY 1"
    return dict((await connection.execute(query)).rows)


async def test_a_new_database_gets_as_many_as_asked(connection):
    assert await partitions.create(connection, 3) == 3
    assert await slots(connection) == {1: 342, 2: 341, 3: 341}
    assert [await log.last_position(connection, number) for number in (1, 2, 3)] == [
        number << 51 for number in (1, 2, 3)
    ]
    assert (await partitions.claim(connection, 3, "a")).next_key == (3 << 51) + 1


async def test_it_keeps_more_than_are_asked_for(connection):
    await partitions.create(connection, 2)
    assert await partitions.create(connection, 1) == 2
    assert await slots(connection) == {1: 512, 2: 512}


async def test_a_database_in_use_keeps_its_number(connection):
    await partitions.claim(connection, 1, "a")
    assert await partitions.create(connection, 2) == 1
    assert await slots(connection) == {1: 1024}


async def test_programs_that_start_at_once_make_them_once(connect):
    counts = []

    async def start(asked):
        connection = await connect()
        counts.append(await partitions.create(connection, asked))
        connection.close()

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(start, 4)
    assert counts == [4] * 8
