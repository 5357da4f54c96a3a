"""Partitions spread over the programs on one database, and move when programs come and go."""

import signal
import statistics
from collections import Counter

import psycopg
import pytest
import trio

from tests.eventually import eventually
from tests.process.audit import audit, settled
from tests.process.load import Load, deploy
from tests.process.rows import rows

PARTITIONS = 4
MOVES = 5
GONE = (
    "(SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = owner_pid AND backend_start = owner_backend_start))"
)


def leaders(dsn):
    """The node of each partition that leads it now."""
    query = (
        f"SELECT id, CASE WHEN lease_until IS NOT NULL AND NOT {GONE} THEN owner_node END FROM partitions ORDER BY id"
    )
    return dict(rows(dsn, query))


def epochs(dsn):
    return sum(epoch for (epoch,) in rows(dsn, "SELECT epoch FROM partitions"))


def by_node(dsn, *programs):
    """The programs, each of which leads a partition, in the order of their nodes' ids, which decides between equals."""
    nodes = leaders(dsn).values()
    return sorted(programs, key=lambda program: min(node for node in nodes if node and f"-{program.pid}-" in node))


async def counts_are(dsn, programs, *counts):
    """Wait until each program leads so many partitions; after how many seconds."""
    began = trio.current_time()

    async def balanced():
        nodes = [node or "" for node in leaders(dsn).values()]
        return [sum(f"-{program.pid}-" in node for node in nodes) for program in programs] == list(counts)

    await eventually(balanced, f"{[program.name for program in programs]} lead {counts}")
    return trio.current_time() - began


@pytest.fixture
def make(make_program, database, unsafe):
    def make(name, *arguments):
        return make_program("--database-url", database, *arguments, name=name, environment=unsafe)

    return make


async def test_partitions_follow_the_programs(make, database):
    programs = [make(name, "--partitions", str(PARTITIONS)) for name in "abc"]
    first, second, third = programs
    for program, counts in ((first, (4,)), (second, (2, 2))):
        await program.restart()
        await counts_are(database, programs[: len(counts)], *counts)
    keeps, gives = by_node(database, first, second)
    await third.restart()
    await counts_are(database, [keeps, gives, third], 2, 1, 1)
    assert epochs(database) == PARTITIONS + 3, "two partitions moved to the second, and one to the third"
    second.signal(signal.SIGTERM)
    await counts_are(database, [first, third], 2, 2)
    await first.kill()
    print(f"all taken over {await counts_are(database, [third], 4):.2f} s after kill -9")
    for program in programs:
        assert program.ends_of("consumer") == []


@pytest.mark.long
async def test_a_frozen_program_loses_its_partitions(make, database):
    first, second = make("a", "--partitions", "2"), make("b")
    await first.restart()
    await second.restart()
    await counts_are(database, [first, second], 1, 1)
    first.signal(signal.SIGSTOP)
    try:
        seconds = await counts_are(database, [second], 2)
    finally:
        first.signal(signal.SIGCONT)
    print(f"taken over {seconds:.2f} s after SIGSTOP")
    await counts_are(database, [first, second], 1, 1)


def drain(dsn, node, draining):
    with psycopg.connect(dsn) as connection:
        connection.execute("UPDATE nodes SET draining = %s WHERE id = %s", (draining, node))
        connection.execute("NOTIFY vivero_nodes")


@pytest.mark.long
async def test_moves_under_load_cost_milliseconds_and_no_answer(make, database):
    """The only partition goes to and fro, and clients of both programs notice nothing."""
    pair = [make("a"), make("b")]
    for program in pair:
        await program.restart()
    await deploy(pair[0].port, "one_task.bpmn")
    load, seconds = Load([program.port for program in pair], workers=4, lease_ms=60_000), []
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        for _ in range(MOVES):
            await load.progress(20)
            (node,) = leaders(database).values()
            target = next(program for program in pair if f"-{program.pid}-" not in node)
            drain(database, node, True)
            seconds.append(await counts_are(database, [target], 1))
            drain(database, node, False)
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    count = await audit(database, load.ledger)
    assert {answer.split()[1] for answer in load.ledger.statuses} == {"200", "204"}, load.ledger.statuses
    for program in pair:
        assert program.ends_of("consumer") == []
    print(
        f"{count} instances; {MOVES} moves, median {statistics.median(seconds):.3f} s; {Counter(load.ledger.statuses)}"
    )
