"""Messages and signals on PostgreSQL: what is left in the tables is what a serial run in memory comes to."""

import pytest
import trio
from consumer_bench import (
    TABLES,
    Serial,
    append,
    beat,
    dump,
    event_log,
    expected_event_log,
    make_consumer,
    pin_clock,
    save_serially,
)
from core_bench import raw
from core_messages import boundary, event_sub, message, model, receive, signal, starts, throw
from core_models import end, task
from psycopg.conninfo import make_conninfo

from engine.core.records import BroadcastSignal, CorrelateMessage, PublishMessage
from storage import driver

OWN_TABLES = (
    "subscriptions",
    "start_subscriptions",
    "messages",
    "channel_subscriptions",
    "start_locks",
    "message_correlations",
)
ROOTS = (message(), signal(), message("begin", None, "b"), message("none", None, "n"))
BUSY = model(
    starts("start", "b"),
    receive("first"),
    task("work"),
    boundary("work", "again", interrupting=False),
    boundary("work", "stop", on="signal"),
    end("done"),
    end("heard"),
    throw("told", "s", tag="endEvent"),
    "start > first > work > done",
    "again > heard",
    "stop > told",
    event_sub("aside", end("noted"), "aside-start > noted", on="signal", interrupting=False),
    id="busy",
    roots=ROOTS,
)


@pytest.fixture(autouse=True)
def all_tables(monkeypatch):
    monkeypatch.setattr("consumer_bench.TABLES", TABLES + OWN_TABLES)


@pytest.fixture
async def second(connection, postgres_dsn):
    """A connection to another database with the schema."""
    dsn = make_conninfo(postgres_dsn, dbname="second_of_message_tests")
    await connection.execute("CREATE DATABASE second_of_message_tests TEMPLATE template_for_tests STRATEGY file_copy")
    other = await driver.connect(dsn, name="vivero second")
    yield other
    other.close()
    await connection.execute("DROP DATABASE second_of_message_tests WITH (FORCE)")


def published(name, key, ttl_ms=0, id=None, **variables):
    return PublishMessage(name, key, ttl_ms, id, raw(variables))


def serial_run():
    """Everything that a channel does, in one log."""
    serial = Serial()
    serial.deploy(BUSY)
    for key in ("x", "y"):
        serial.run(published("begin", key, 60_000, k=key, n=1))
        serial.run(published("begin", key, 60_000, k=key, n=2))
        serial.run(published("hello", key, 60_000, "one", from_="hello"))
    serial.run(published("hello", "x", 60_000, "one"))
    serial.run(published("nobody", "x", 60_000, "two"))
    serial.run(published("hello", "y", 0, a=1))
    serial.run(CorrelateMessage("hello", "y", raw({"b": 2})))
    serial.run(CorrelateMessage("hello", "z"))
    serial.run(BroadcastSignal("alarm", raw({"level": 3})))
    serial.run(BroadcastSignal("alarm"))
    serial.deploy(BUSY.replace(b"begin", b"start"))
    serial.run(published("start", "w", k="w"))
    for key in list(serial.state.trees):
        serial.cancel(key)
    return serial


async def test_reloading_after_every_command_changes_nothing(migrated, connection, second):
    await pin_clock(connection)
    serial = serial_run()
    consumer, ears = make_consumer(migrated, serial.resources, cache_bytes=0, batch_commands=1, poll_s=5)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        for command in serial.commands:
            last = await append(connection, [command])
            consumer.wake()
            await ears.reached(last)
        nursery.cancel_scope.cancel()
    assert consumer.stats.evicted > 0
    await save_serially(second, serial)
    assert await event_log(connection) == expected_event_log(serial)
    assert await dump(connection, without={"version"}) == await dump(second, without={"version"})
