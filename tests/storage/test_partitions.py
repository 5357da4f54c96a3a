"""Making the partitions of a new database, once and for all."""

from functools import partial
from uuid import uuid4

import pytest
import trio
from psycopg.conninfo import conninfo_to_dict

from tests.eventually import eventually_blocked
from tests.server_objects import new_database
from vivero.storage.cluster import leadership
from vivero.storage.log import command_log
from vivero.storage.log.command_log import LogEntry
from vivero.storage.postgres import driver
from vivero.storage.schema.migrate import migrate


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
    assert await leadership.create(connection, 3) == 3
    assert await slots(connection) == {1: 342, 2: 341, 3: 341}
    assert [await command_log.last_position(connection, number) for number in (1, 2, 3)] == [
        number << 51 for number in (1, 2, 3)
    ]
    assert (await leadership.claim(connection, 3, "a")).next_key == (3 << 51) + 1


async def test_it_keeps_more_than_are_asked_for(connection):
    await leadership.create(connection, 2)
    assert await leadership.create(connection, 1) == 2
    assert await slots(connection) == {1: 512, 2: 512}


async def test_a_database_in_use_keeps_its_number(connection):
    await leadership.claim(connection, 1, "a")
    assert await leadership.create(connection, 2) == 1
    assert await slots(connection) == {1: 1024}


JUMP = 1 << 30
RANGE = 10_000_000
"""Positions of a log partition."""
WENT_BACK = "TRUNCATE since_recovery, appenders"
"""The result of a recovery: no row in an unlogged table."""


async def next_keys(connection):
    return [(await leadership.claim(connection, one, "a")).next_key - (one << 51) for one in (1, 2, 3)]


async def test_no_key_is_assigned_again_after_the_database_went_back(connection):
    """A term or an append may come first; the last keys may be missing here, but known to others."""
    await leadership.create(connection, 3)
    assert await next_keys(connection) == [1, 1, 1]
    await connection.script(WENT_BACK)
    assert await next_keys(connection) == [1 + JUMP] * 3
    assert await next_keys(connection) == [1 + JUMP] * 3
    await connection.script(WENT_BACK)
    await command_log.begin(connection, uuid4(), 1)
    assert await next_keys(connection) == [1 + 2 * JUMP] * 3


async def position_of_an_append(connection):
    session = await command_log.begin(connection, uuid4(), 1)
    (answer,) = await command_log.append(
        connection, session, 1, uuid4(), None, [LogEntry("t", "JOB:COMPLETE", b"{}")], True
    )
    return answer.position - (1 << 51)


async def test_the_older_a_backup_the_farther_the_jump(connection):
    """Two days at 65,536 positions and 262,144 keys a second: more than the original can have given out since."""
    await position_of_an_append(connection)
    await leadership.claim(connection, 1, "a")
    await connection.execute("UPDATE command_log SET at = at - interval '2 days'")
    await connection.script(WENT_BACK)
    gone_s = 2 * 86_400
    position = await position_of_an_append(connection)
    assert gone_s << 16 <= position <= (gone_s << 16) + RANGE + (100 << 16)
    key = (await leadership.claim(connection, 1, "a")).next_key - (1 << 51)
    assert gone_s << 18 < key <= (gone_s + 100) << 18
    assert await position_of_an_append(connection) == position + 1


async def test_a_clock_that_is_far_off_does_not_use_up_a_partition(connection):
    for years in ("1000 years", "-1000 years"):
        await position_of_an_append(connection)
        await connection.execute(f"UPDATE command_log SET at = at - interval '{years}'")
        await connection.script(WENT_BACK)
    longest_s = 400 * 86_400
    assert longest_s << 16 < await position_of_an_append(connection) <= (longest_s << 16) + 2 * RANGE
    assert (await leadership.claim(connection, 1, "a")).next_key - (1 << 51) == 1 + (longest_s << 18) + JUMP


async def test_a_partition_whose_log_is_empty_jumps_by_the_age_of_its_schema(connection):
    await connection.execute("UPDATE schema_migrations SET applied_at = applied_at - interval '1 day'")
    await connection.script(WENT_BACK)
    assert await position_of_an_append(connection) > 86_400 << 16


async def test_a_dump_in_the_database_that_it_comes_from(connection):
    """Somebody empties the tables and fills them from a dump: the name of the database is the same."""
    assert await next_key(connection) == 1
    ((row,),) = (await connection.execute("SELECT database FROM since_recovery")).rows
    await connection.script("TRUNCATE since_recovery")
    await connection.execute("INSERT INTO since_recovery (database) VALUES ($1)", (row,))
    assert await next_key(connection) == 1 + JUMP


async def test_a_term_waits_for_a_jump_that_is_under_way(connect, connection):
    await connection.script(WENT_BACK)
    first, second = await connect(), await connect()
    claims = []

    async def claim():
        claims.append(await leadership.claim(second, 1, "a"))

    async with trio.open_nursery() as nursery, first.transaction():
        await first.execute("SELECT skip_lost_positions()")
        nursery.start_soon(claim)
        await eventually_blocked(connection)
    assert claims[0].next_key == (1 << 51) + 1 + JUMP
    first.close()
    second.close()


@pytest.mark.new_database  # a database to which someone is connected cannot be copied
async def test_a_copy_of_a_database_assigns_other_keys(connection, postgres_dsn, database):
    """As a backup that is restored. The original may have gone on since, and others may know its keys."""
    assert await next_key(connection) == 1
    connection.close()
    source = conninfo_to_dict(database)["dbname"]
    with new_database(postgres_dsn, "copy_of_another", f'TEMPLATE "{source}" STRATEGY file_copy') as copy:
        for dsn, expected in ((database, 1), (copy, 1 + JUMP), (copy, 1 + JUMP)):
            connected = await driver.connect(dsn)
            assert await next_key(connected) == expected
            connected.close()


async def next_key(connection):
    return (await leadership.claim(connection, 1, "a")).next_key - (1 << 51)


async def test_programs_that_start_at_once_make_them_once(connect):
    counts = []

    async def start(asked):
        connection = await connect()
        counts.append(await leadership.create(connection, asked))
        connection.close()

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(start, 4)
    assert counts == [4] * 8
