"""Conditional events on PostgreSQL: what waits is saved, and loaded with its instance."""

import trio

from tests.core.bench import raw
from tests.core.event_models import boundary, catch, model, on
from tests.core.models import end, par, start, task
from tests.runtime.consumer.bench import (
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
from vivero.engine.core.records.conditionals import EvaluateConditionals
from vivero.engine.core.records.instances import SetVariables
from vivero.engine.core.records.jobs import CompleteJob

WHEN = "<conditionalEventDefinition><condition>=x &gt; 10</condition></conditionalEventDefinition>"
MODEL = model(
    start(),
    par("fork"),
    task("work"),
    boundary("beside", "work", WHEN, interrupting=False),
    task("told"),
    catch("wait", WHEN),
    end("waited"),
    on(WHEN.replace("10", "20"), "e", task("handle"), "e-start > handle"),
    "start > fork > work",
    "fork > wait > waited",
    "beside > told",
)
SUBSCRIPTIONS = "SELECT target_element_id, kind, state, ended_at IS NULL FROM subscriptions ORDER BY subscription_key"


STARTING = model(f'<startEvent id="begin">{WHEN}</startEvent>', task("begun"), "begin > begun", id="q")


async def test_what_waits_is_loaded_with_its_instance(migrated, connection, second):
    """One command at a time, each when everything has been evicted: as if the program began anew before each."""
    serial = Serial()
    serial.deploy(MODEL)
    key = serial.start(x=1)
    for x in (5, 11, 12):
        serial.run(SetVariables(key, raw({"x": x})))
    serial.run(CompleteJob(serial.job("told").key, raw({"y": 1})))
    assert serial.jobs == ["told", "work"]
    serial.run(SetVariables(key, raw({"x": 21})))
    assert serial.jobs == ["handle"]
    serial.deploy(STARTING, name="q.bpmn")
    for x in (1, 11):
        serial.run(EvaluateConditionals(raw({"x": x})))
    assert serial.jobs == ["begun", "handle"]
    await pin_clock(connection)
    consumer, ears = make_consumer(migrated, serial.resources, cache_bytes=0, batch_commands=1, poll_s=5)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        for command in serial.commands:
            last = await append(connection, [command])
            consumer.wake()
            await ears.reached(last)
        nursery.cancel_scope.cancel()
    await save_serially(second, serial)
    assert await dump(connection, without={"version"}) == await dump(second, without={"version"})
    assert await event_log(connection) == expected_event_log(serial)
    assert (await connection.execute(SUBSCRIPTIONS)).rows == [
        ("e", "CONDITION", "CORRELATED", False),
        ("beside", "CONDITION", "DELETED", False),
        ("wait", "CONDITION", "CORRELATED", False),
    ]
