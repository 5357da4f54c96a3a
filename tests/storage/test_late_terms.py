"""Batches of a consumer that come late: its term was given up, and the next one has done the work."""

import os

import pytest
import trio

from tests.core.message_models import model
from tests.core.models import end, start, task
from tests.engine.consumer.serial_runs import (
    Models,
    RecordingObserver,
    Serial,
    append,
    dump,
    event_log,
    expected_event_log,
    keep_leading,
    pin_clock,
    save_serially,
)
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.storage.postgres import driver

TIMES = int(os.environ.get("VIVERO_LATE", "3"))
PROCESS = model(start(), task("work"), end(), "start > work > end", id="p")


@pytest.fixture
async def connection(database):
    """A connection past the proxy."""
    connection = await driver.connect(database)
    yield connection
    connection.close()


async def test_a_batch_that_comes_late_is_refused(proxy, database, connection, second):
    """The calls of the old term's writer arrive when the next term has done the same work."""
    await pin_clock(connection)
    serial = Serial()
    serial.deploy(PROCESS)
    for _ in range(TIMES):
        serial.start()
        serial.complete("work")
    dsn = {"vivero:consumer-writer": proxy.dsn(database)}
    observer = RecordingObserver()
    consumer = Consumer(
        lambda name: driver.connect(dsn.get(name, database), name=name),
        "node",
        Models(serial.resources),
        observer,
        ConsumerSettings(poll_s=0.05),
    )
    refused = 0
    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep_leading, consumer)
        for number, command in enumerate(serial.commands):
            await observer.until(lambda number=number: len(observer.terms) > number)
            with trio.fail_after(20):
                proxy.hold()
                last = await append(connection, [command])
                await proxy.until_kept()
                consumer.close()
            await observer.until(lambda number=number: len(observer.terms) > number + 1)
            await observer.reached(last)
            refused += b"VV001" in await proxy.deliver()
        nursery.cancel_scope.cancel()
    assert refused, "no batch came late: the test did not bite"
    print(f"{refused} batches of {len(serial.commands)} came late")
    assert observer.terms == sorted(set(observer.terms))
    assert await event_log(connection) == expected_event_log(serial)
    await save_serially(second, serial)
    assert await dump(connection, without={"version"}) == await dump(second, without={"version"})
