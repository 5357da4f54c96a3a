"""A stop between the end of a host and its boundary event, which a later quantum enters: the tables have its token."""

import trio

from tests.core.engine import raw
from tests.core.message_models import boundary, model
from tests.core.models import par, start, sub, task
from tests.engine.consumer.serial_runs import Serial, append, beat, make_consumer, pin_clock
from vivero.core.records.instances import CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.signals import BroadcastSignal
from vivero.engine.consumer import committer
from vivero.storage.log import command_log

MODEL = model(
    start(),
    par("fork"),
    sub("host", start("i"), par("f"), task("a1"), task("a2"), "i > f > a1", "f > a2"),
    boundary("host", "event", "signal"),
    task("beside"),
    par("join"),
    task("after"),
    task("late"),
    "start > fork > host",
    "fork > beside > join > after",
    "event > late > join",
)
PENDING = "SELECT work::text LIKE '%\"enter\"%' FROM process_instances"


async def until(connection, consumer, observer, last, is_done):
    """Have the log worked off, and the inbox, a command at a time, until it is done or nothing is left."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        while last is not None:
            await observer.reached(last)
            if await is_done():
                break
            last = await command_log.forward(connection, 1, 1)
            consumer.partition_duty.wake()
        nursery.cancel_scope.cancel()


async def jobs(connection):
    rows = (await connection.execute("SELECT type, job_key FROM jobs WHERE ended_at IS NULL ORDER BY type")).rows
    return dict(rows)


async def test_it_is_entered_after_a_stop_and_its_scope_is_not_stuck_meanwhile(migrated, connection, monkeypatch):
    monkeypatch.setattr(committer, "RESERVED_KEYS", 0)  # nothing goes on between commands
    serial = Serial()
    serial.deploy(MODEL)
    await pin_clock(connection)
    start_it, happen = CreateInstance("p"), BroadcastSignal("alarm", raw({"n": 1}))
    first = await append(connection, [*serial.commands, ("<default>", start_it)])

    async def never():
        return False

    async def is_pending():
        return (await connection.execute(PENDING)).rows == [(True,)]

    consumer, observer = make_consumer(migrated, serial.resources)
    await until(connection, consumer, observer, first, never)
    happened = await append(connection, [("<default>", happen)])
    consumer, observer = make_consumer(migrated, serial.resources, quantum_items=1)
    await until(connection, consumer, observer, happened, is_pending)
    assert await is_pending()
    beside = (await jobs(connection))["beside"]
    consumer, observer = make_consumer(migrated, serial.resources)
    completed = await append(connection, [("<default>", CompleteJob(beside))])
    await until(connection, consumer, observer, completed, is_pending)
    assert await is_pending()
    assert (observer.outcomes[completed].rejection, await jobs(connection)) == (None, {})
    last = await command_log.forward(connection, 1, 10)
    consumer, observer = make_consumer(migrated, serial.resources)
    await until(connection, consumer, observer, last, never)
    assert list(await jobs(connection)) == ["late"]
    assert (await connection.execute("SELECT count(*) FROM incidents")).rows == [(0,)]
    assert (await connection.execute("SELECT value FROM variables WHERE name = 'n'")).rows == [("1",)]
