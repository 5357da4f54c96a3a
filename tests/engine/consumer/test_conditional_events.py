"""Conditional events on PostgreSQL: what waits is saved, and loaded with its instance."""

import trio

from tests.core.engine import raw
from tests.core.event_models import boundary, catch, loop, model, on
from tests.core.models import end, par, start, task
from tests.engine.consumer.serial_runs import (
    Serial,
    append,
    beat,
    dump,
    event_log,
    expected_event_log,
    make_consumer,
    pin_clock,
    save_serially,
    worked_off_one_by_one,
)
from vivero.core.records.conditionals import EvaluateConditionals
from vivero.core.records.instances import CreateInstance, SetVariables
from vivero.core.records.jobs import CompleteJob

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
    await worked_off_one_by_one(migrated, connection, serial)
    await save_serially(second, serial)
    assert await dump(connection, without={"version"}) == await dump(second, without={"version"})
    assert await event_log(connection) == expected_event_log(serial)
    assert (await connection.execute(SUBSCRIPTIONS)).rows == [
        ("e", "CONDITION", "CORRELATED", False),
        ("beside", "CONDITION", "DELETED", False),
        ("wait", "CONDITION", "CORRELATED", False),
    ]


OPEN_JOBS = "SELECT type, min(job_key), count(*) FROM jobs WHERE ended_at IS NULL GROUP BY type ORDER BY type"


async def test_what_a_page_of_a_loop_brings_is_seen_around_it(migrated, connection):
    """The loop has pages, and its inner instances are loaded by themselves; the condition waits in the scope around."""
    handler = on(WHEN.replace("10", "20"), "e", task("handle"), "e-start > handle", interrupting=False)
    serial = Serial()
    serial.deploy(model(start(), loop(task("work"), "=for i in 1..20 return i"), handler, end(), "start > work > end"))
    await pin_clock(connection)
    settings = {"cache_bytes": 0, "batch_commands": 1, "poll_s": 5, "paged_from": 5}
    consumer, observer = make_consumer(migrated, serial.resources, **settings)

    async def work(command):
        last = await append(connection, [command])
        consumer.partition_duty.wake()
        await observer.reached(last)
        return (await connection.execute(OPEN_JOBS)).rows

    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await work(serial.commands[0])
        open_jobs = await work(("<default>", CreateInstance("p")))
        for x, types in ((11, ["work"]), (21, ["handle", "work"])):
            open_jobs = await work(("<default>", CompleteJob(open_jobs[-1][1], raw({"x": x}))))
            assert [type_ for type_, _, _ in open_jobs] == types
        nursery.cancel_scope.cancel()
    assert (await connection.execute("SELECT count(*) > 0 FROM paged_loop_items")).rows == [(True,)]
    assert [row[:3] for row in (await connection.execute(SUBSCRIPTIONS)).rows] == [("e", "CONDITION", "CREATED")]
