"""A program with several partitions: each has tasks of its own, and none falls with another."""

from contextlib import asynccontextmanager
from uuid import uuid4

import psycopg
import pytest

from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.process.rows import rows
from vivero.core.records.codec import encode_command
from vivero.core.records.messages import PublishMessage
from vivero.storage.log import command_log
from vivero.storage.log.command_log import AppenderSession, LogEntry
from vivero.storage.postgres import driver

PARTITIONS = 3
KINDS = ("raise", "cancel", "hang")


@pytest.fixture
async def partitioned(program):
    program.add_arguments("--partitions", str(PARTITIONS))
    await program.restart()
    return program


def epochs(dsn):
    return dict(rows(dsn, "SELECT id, epoch FROM partitions"))


@asynccontextmanager
async def appending(dsn):
    """Appends a command to the log of a partition, as another node does."""
    connection, session = await driver.connect(dsn, name="vivero test"), AppenderSession(uuid4(), 1)
    await command_log.begin(connection, *session)

    async def append(partition):
        command = PublishMessage("hello", f"key-{partition}", 0, None, b"{}")
        entry = LogEntry("<default>", command.intent, encode_command(command), None)
        (appended,), _ = await command_log.append_segment(connection, session, partition, uuid4(), None, [entry], True)

        async def processed():
            return await command_log.cursor(connection, partition) >= appended.position

        await eventually(processed, f"partition {partition} processes its log")

    yield append
    connection.close()


async def test_one_program_works_all_partitions(partitioned, database):
    async with appending(database) as append:
        for partition in range(1, PARTITIONS + 1):
            await append(partition)
    async with Caller(partitioned.port) as caller:
        topology = (await caller.call("GET", "/v2/topology")).json
        status = (await caller.call("GET", "/cluster/status")).json
    assert [one["role"] for one in topology["brokers"][0]["partitions"]] == ["leader"] * PARTITIONS
    assert [(one["partitionId"], one["leads"], one["commands"]) for one in status["partitions"]] == [
        (partition, True, 1) for partition in range(1, PARTITIONS + 1)
    ]
    assert {"consumer", "consumer-2", "timers-3", "warm-up"} <= {child["name"] for child in status["children"]}
    assert status["definitions"]["entries"] == 0


@pytest.mark.long
async def test_a_failure_in_one_partition_ends_no_term_of_another(partitioned, database):
    before = epochs(database)
    for number, kind in enumerate(KINDS, 1):
        assert await partitioned.hurt("consumer-2", kind) == 204

        async def ended(times=number):
            return len(partitioned.ends_of("consumer-2")) == times

        await eventually(ended, f"consumer-2 ends after {kind}")
        await partitioned.ready()
    after = epochs(database)
    assert (after[1], after[3]) == (before[1], before[3])
    assert after[2] == before[2] + len(KINDS)
    async with appending(database) as append:
        for partition in range(1, PARTITIONS + 1):
            await append(partition)


@pytest.mark.long
async def test_a_database_keeps_its_partitions(make_program, partitioned, database):
    partitioned.end()
    partitioned.add_arguments("--partitions", "2")
    await partitioned.restart()
    (said,) = partitioned.logged("the database keeps its number of partitions, which is higher")
    assert (said["partitions"], said["asked"]) == (PARTITIONS, 2)
    assert sorted(epochs(database)) == [1, 2, 3]


@pytest.mark.long
async def test_a_running_program_works_a_partition_that_is_added(partitioned, database):
    with psycopg.connect(database) as connection:
        connection.execute(f"SELECT make_partition({PARTITIONS + 1})")
    async with appending(database) as append:
        await append(PARTITIONS + 1)
    assert await partitioned.hurt(f"consumer-{PARTITIONS + 1}", "raise") == 204
    await partitioned.ready()
