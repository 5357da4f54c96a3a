"""Calls that reach PostgreSQL when they have long been given up and repeated: each has one effect.

The proxy keeps what the old connection said, lets the caller give up and go on with a new one, and then passes it on
to the session that was waiting for it. `docs/reliability.md` lists every call and why it is safe.
"""

import os
import signal
from functools import partial
from uuid import uuid4

import pytest
import trio
import trio.testing

from tests.eventually import eventually_rows
from vivero.core.records.jobs import CompleteJob
from vivero.engine.appender.calls import Append
from vivero.engine.appender.settings import AppenderSettings
from vivero.engine.appender.task import Appender
from vivero.engine.outcomes.admission import InDoubt
from vivero.engine.supervision.children import Child
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.supervision.supervisor import Supervisor
from vivero.storage.log import command_log
from vivero.storage.log.command_log import LogEntry
from vivero.storage.postgres import driver
from vivero.storage.postgres.errors import ConnectionLost, Retry

TIMES = int(os.environ.get("VIVERO_LATE", "3"))
"""The number of times that each call comes late."""
SECONDS = 20.0

pytestmark = pytest.mark.usefixtures("new_sessions")


def died(message):
    pytest.fail(f"the process would have ended: {message}")


def command(number, **more):
    return Append(CompleteJob(key=number), "t", key=number, **more)


@pytest.fixture
async def connection(database):
    """A connection past the proxy."""
    connection = await driver.connect(database)
    yield connection
    connection.close()


@pytest.fixture
async def appender(proxy, database, nursery):
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


@pytest.mark.parametrize("keyed", [False, True])
async def test_an_append_that_comes_late_is_not_made_twice(appender, proxy, connection, keyed):
    """Commands with an idempotency key and without in one call; the late one is refused whole."""

    async def append(number):
        key = (f"k{number}", b"a" * 32) if keyed and number % 2 else None
        await appender.append(command(number, idempotency=key), deadline_s=SECONDS)

    for number in range(0, 10 * TIMES, 10):
        with trio.fail_after(SECONDS):
            for each in (number, number + 1):
                await append(each)  # on this connection, so that the next is one message
            async with trio.open_nursery() as callers:
                proxy.hold()
                for each in (number + 2, number + 3):
                    callers.start_soon(append, each)
                await proxy.until_kept()
                appender.close()
            said = await proxy.deliver()
        assert sorted(await keys(connection)) == [at + each for at in range(0, number + 1, 10) for each in range(4)]
        assert b"VV002" in said


async def test_a_backend_that_was_stopped_does_not_append_again(appender, connection):
    """The bytes that were sent to it stay in its socket until it goes on."""
    await appender.append(command(1), deadline_s=SECONDS)
    ((pid,),) = (await connection.execute("SELECT pid FROM appenders")).rows
    os.kill(pid, signal.SIGSTOP)
    try:
        async with trio.open_nursery() as callers:
            callers.start_soon(partial(appender.append, command(2), deadline_s=SECONDS))
            await trio.testing.wait_all_tasks_blocked()
            appender.close()
    finally:
        os.kill(pid, signal.SIGCONT)
    await eventually_rows(connection, [], "SELECT FROM pg_stat_activity WHERE pid = $1", pid)
    assert await keys(connection) == [1, 2]


async def test_what_is_in_doubt_stays_so_when_the_repeated_call_fails(appender, proxy, connection):
    """PostgreSQL refuses the repetition before it has looked for the first try."""
    await appender.append(command(1), deadline_s=SECONDS)
    await connection.script("ALTER TABLE idempotency_keys RENAME COLUMN body_sha TO gone")

    async def append():
        with pytest.raises(InDoubt, match="body_sha"):
            await appender.append(command(2), deadline_s=SECONDS)

    async with trio.open_nursery() as callers:
        proxy.hold()
        callers.start_soon(append)
        await proxy.until_kept()
        appender.close()


async def test_a_session_that_begins_late_ends_no_later_one(database, proxy, connection):
    """The appender gave its connection up before it had said anything else."""
    appender = uuid4()
    early = await driver.connect(proxy.dsn(database))
    await command_log.begin(early, appender, 0)
    for number in range(1, 2 * TIMES, 2):
        proxy.hold()
        await given_up(early, proxy, partial(command_log.begin, early, appender, number))
        early = await driver.connect(proxy.dsn(database))
        session = await command_log.begin(early, appender, number + 1)
        assert b"ERROR" not in await proxy.deliver()
        await command_log.append(connection, session, 1, uuid4(), None, [LogEntry("t", "X:Y", b"{}")])
    early.close()


async def test_a_session_ends_with_its_backend_when_another_appender_begins(database, connection):
    """The rows of programs that are gone do not pile up."""
    gone = await driver.connect(database)
    session = await command_log.begin(gone, uuid4(), 1)
    lives = await command_log.begin(connection, uuid4(), 1)
    gone.close()
    with trio.fail_after(SECONDS):
        while (await connection.execute("SELECT count(*) FROM appenders")).rows[0][0] > 1:
            other = await driver.connect(database)
            await command_log.begin(other, lives.appender, 0)
            other.close()
    with pytest.raises(Retry, match="is over"):
        await command_log.append(connection, session, 1, uuid4(), None, [LogEntry("t", "X:Y", b"{}")])
    await command_log.append(connection, lives, 1, uuid4(), None, [LogEntry("t", "X:Y", b"{}")])


async def given_up(connection, proxy, call):
    """Make a call whose request is kept by the proxy, and close the connection."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lost, call)
        await proxy.until_kept()
        connection.abort()


async def lost(call):
    with pytest.raises(ConnectionLost) as caught:
        await call()
    assert caught.value.in_doubt
