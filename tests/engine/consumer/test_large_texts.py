"""Few requests, each as large as one may be, that make many copies: no commit takes longer than its deadline."""

from random import Random

import msgspec
import pytest
import trio

from tests.core.engine import raw
from tests.core.event_models import call, loop
from tests.core.event_models import model as with_events
from tests.core.message_models import catch, model, receive
from tests.core.models import ONE_TASK, start, task
from tests.engine.consumer.serial_runs import Serial, append, beat, make_consumer, work_off
from vivero.core.execution import step
from vivero.core.records.codec import decode_events
from vivero.core.records.instances import CreateInstance, VariableSet
from vivero.core.records.messages import PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.engine.consumer import committer
from vivero.storage.log import command_log
from vivero.storage.state import save

TENANT = "<default>"
LARGE = msgspec.Raw(b'"%s"' % Random(1).randbytes(1_900_000).hex().encode())
"""That no compression makes much smaller."""
COPIES = 60
"""Together more than can be saved within the deadline of a commit: each term would end at them."""


@pytest.fixture
async def working(migrated, connection):
    """Begins a term with these models deployed; a function that works commands off, and its statistics."""
    async with trio.open_nursery() as nursery:

        async def begin(*models):
            serial = Serial()
            serial.deploy(*models)
            consumer, observer = make_consumer(migrated, serial.resources, poll_s=1)
            nursery.start_soon(consumer.run, beat())

            async def work(*commands):
                last = await append(connection, [(TENANT, command) for command in commands])
                consumer.partition_duty.wake()
                await observer.reached(last)
                assert observer.outcomes[last].rejection is None

            await work(*(command for _, command in serial.commands))
            return work, consumer.stats, observer

        yield begin
        nursery.cancel_scope.cancel()


async def one(connection, query):
    return (await connection.execute(query)).rows[0][0]


async def test_a_signal_with_a_large_variable_for_many(working, connection):
    work, stats, _ = await working(model(start(), catch("wait", "signal"), task("work"), "start > wait > work"))
    await work(*[CreateInstance("p")] * COPIES)
    await work(BroadcastSignal("alarm", {"large": LARGE}))
    told = "SELECT count(*) FROM variables WHERE name = 'large'"
    assert (await one(connection, told), stats.terms) == (1, 1)
    assert await one(connection, "SELECT string_agg(intent, ',') FROM inbox") == "SIGNAL:DELIVER"


@pytest.mark.long
async def test_many_calls_of_a_process_with_a_large_variable(working, connection, monkeypatch):
    monkeypatch.setattr(committer, "RESERVED_KEYS", 0)  # nothing goes on between commands
    called = with_events(start(), task("inner"), "start > inner", id="q")
    calling = with_events(start(), loop(call("c", "q"), "=items"), "start > c")
    work, stats, observer = await working(called, calling)
    await work(CreateInstance("p", variables={"large": LARGE, **raw({"items": list(range(COPIES))})}))
    await observer.reached(await command_log.forward(connection, 1, 1))
    copies = await one(connection, "SELECT count(*) FROM variables WHERE name = 'large'")
    assert 1 < copies < 5
    assert stats.terms == 1


async def test_large_events_stand_by_themselves_and_are_read_all_the_same(working, connection, monkeypatch):
    monkeypatch.setattr(save, "LARGE_EVENTS", 2_000)
    work, _, _ = await working(ONE_TASK)
    await work(*(CreateInstance("p", variables=raw({"text": "x" * size})) for size in (10, 2_000)))
    kept = "SELECT position, events IS NULL, large_events IS NULL FROM event_log ORDER BY position DESC LIMIT 2"
    (large, *of_large), (small, *of_small) = (await connection.execute(kept)).rows
    assert (of_small, of_large) == ([False, True], [True, False])
    keys = (await connection.execute("SELECT process_instance_key FROM process_instances ORDER BY 1")).rows
    for position, (key,), size in zip((small, large), keys, (10, 2_000), strict=True):
        (row,) = (await command_log.command(connection, position)).rows
        ((told,), _more) = await command_log.history(connection, key, 0, 10, 100_000)
        assert row.events == told.events
        assert [event.value for event in decode_events(row.events) if isinstance(event, VariableSet)] == [
            f'"{"x" * size}"'
        ]


async def test_a_batch_ends_when_it_has_written_enough(working, connection, monkeypatch):
    monkeypatch.setattr(step, "BATCH_CHARACTERS", 100)
    monkeypatch.setattr("vivero.engine.consumer.batch.COMPUTE_S", 60)
    work, stats, _ = await working(ONE_TASK)
    for size, batches in [(10, 1), (45, 3), (200, 7)]:
        before = stats.batches
        await work(*[CreateInstance("p", variables=raw({"text": "x" * (size - 2)}))] * 7)
        assert stats.batches - before == batches


async def test_follow_ups_of_a_batch_that_has_written_enough_go_through_the_log(migrated, connection, monkeypatch):
    """Missing texts are loaded when they come back, and the buffered message reaches its receiver."""
    serial = Serial()
    serial.deploy(model(start(), receive(), task("work"), "start > receive > work"))
    serial.run(PublishMessage("hello", "x", 60_000, variables=raw({"n": 1})))
    await work_off(migrated, connection, serial)
    monkeypatch.setattr(step, "BATCH_CHARACTERS", 1)
    consumer, observer = make_consumer(migrated, serial.resources)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(await append(connection, [(TENANT, CreateInstance("p", variables=raw({"k": "x"})))]))
        assert await one(connection, "SELECT string_agg(intent, ',') FROM inbox") == "MESSAGE_SUBSCRIPTION:CREATE"
        while (last := await command_log.forward(connection, 1, 1)) is not None:
            await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert await one(connection, "SELECT value FROM variables WHERE name = 'n'") == "1"
    assert await one(connection, "SELECT type FROM jobs") == "work"
