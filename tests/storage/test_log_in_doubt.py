"""Appends whose answer is lost on the way: the proxy passes the call on and drops what PostgreSQL says to it."""

from functools import partial

import pytest
import trio

from tests.eventually import eventually
from vivero.core.records.jobs import CompleteJob
from vivero.engine.appender.calls import Append
from vivero.engine.appender.settings import AppenderSettings
from vivero.engine.appender.task import Appender
from vivero.engine.outcomes.admission import InDoubt
from vivero.engine.supervision.children import Child
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.supervision.supervisor import Supervisor
from vivero.storage.postgres import driver
from vivero.storage.schema.migrate import migrate

SECONDS = 20.0


def died(message):
    pytest.fail(f"the process would have ended: {message}")


def command(number, **more):
    return Append(CompleteJob(key=number), "t", key=number, **more)


@pytest.fixture
async def connection(database):
    """A connection past the proxy to a database with the schema."""
    connection = await driver.connect(database)
    await migrate(connection)
    yield connection
    connection.close()


@pytest.fixture
async def through(proxy, database, connection, nursery):
    """An appender that reaches PostgreSQL by way of the proxy, and has polled for the first and last time."""
    polled = trio.Event()

    def owned():
        polled.set()
        return ()

    appender = Appender(
        partial(driver.connect, proxy.dsn(database)), AppenderSettings(poll_s=1e6), led_partitions=owned
    )
    child = Child("appender", appender.run, close=appender.close)
    nursery.start_soon(Supervisor([child], SupervisionSettings(max_delay_s=0.05), died).run)
    await polled.wait()
    return appender


async def keys(connection):
    return [row[0] for row in (await connection.execute("SELECT key FROM command_log ORDER BY position")).rows]


async def until_stored(connection, number):
    await eventually(lambda: keys(connection), accept=lambda found: number in found)


async def until_reconnecting(proxy, before):
    await eventually(lambda: proxy.connections, accept=lambda found: found != before, every_s=0)


@pytest.mark.long
async def test_dropped_answers_double_and_lose_nothing(through, proxy, connection):
    """The old key is a replay, and stays one when the call is made again."""
    old = await through.append(command(0, idempotency=("old", b"a" * 32)), deadline_s=SECONDS)
    answers = {}

    async def append(number, **more):
        answers[number] = await through.append(command(number, **more), deadline_s=SECONDS)

    for number in range(10, 210, 10):
        async with trio.open_nursery() as callers:
            before, proxy.drop_answers = proxy.connections, True
            callers.start_soon(append, number)
            callers.start_soon(partial(append, number + 1, idempotency=(f"k{number}", b"b" * 32)))
            callers.start_soon(partial(append, number + 2, idempotency=("old", b"a" * 32)))
            callers.start_soon(partial(append, number + 3, idempotency=("old", b"c" * 32)))
            await until_stored(connection, number)
            await until_reconnecting(proxy, before)
            proxy.drop_answers = False
    stored = await keys(connection)
    assert sorted(stored) == [0] + [number + more for number in range(10, 210, 10) for more in (0, 1)]
    for number in range(10, 210, 10):
        assert not answers[number].replayed
        assert not answers[number + 1].replayed
        assert (answers[number + 2].position, answers[number + 2].same_body) == (old.position, True)
        assert (answers[number + 3].position, answers[number + 3].same_body) == (old.position, False)


async def test_a_black_hole_leaves_in_doubt_what_had_left(through, proxy, connection):
    """The request waits no longer than its deadline; the call is freed by its own, and made again."""
    await through.append(command(1), deadline_s=SECONDS)
    proxy.swallow = True
    with pytest.raises(InDoubt):
        await through.append(command(2), deadline_s=0.2)
    proxy.swallow = False
    through.close()
    await through.append(command(3), deadline_s=SECONDS)
    assert await keys(connection) == [1, 2, 3]
