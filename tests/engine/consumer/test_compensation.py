"""Compensation on PostgreSQL: completed activities are saved, and loaded when something compensates them."""

import json
from functools import partial

import pytest
import trio

from tests.core.compensation_models import CANCEL, T, all_models, done, in_line, play, transaction
from tests.core.engine import raw
from tests.core.event_models import boundary, final, loop, model, script
from tests.core.models import end, start, sub, task
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
    work_off,
    worked_off_one_by_one,
)
from tests.eventually import eventually
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.storage.state import compensations

LEFT = "SELECT process_id, element_id FROM compensations JOIN process_instances USING (process_instance_key)"


@pytest.fixture
def serial():
    serial = Serial()
    serial.deploy(*all_models())
    play(serial)
    return serial


@pytest.mark.parametrize("work", [worked_off_one_by_one, work_off], ids=["reloaded", "together"])
async def test_it_comes_to_the_same_as_in_memory(migrated, connection, second, serial, work):
    await work(migrated, connection, serial)
    await save_serially(second, serial)
    assert await dump(connection, without={"version"}) == await dump(second, without={"version"})
    assert await event_log(connection) == expected_event_log(serial)
    left = [(process, element) for process, element in (await connection.execute(LEFT)).rows if process != "nobody"]
    assert left == [("replaced", "c")], "an event sub-process that compensates leaves what it does not throw for"


async def counted(connection, element):
    found = await connection.execute(
        "SELECT count(*) FROM element_instances WHERE element_id = $1 AND state = 'COMPLETED'", (element,)
    )
    return found.rows[0][0]


MANY = 3_000


def many(*before, count=MANY):
    """A loop whose instances all complete at once, and are compensated then, after `before`."""
    inner = sub("m", start("i"), done("b", script("ub", "=item", "last")), end("j"), "i > b > j")
    inner = inner.replace(task("b"), '<manualTask id="b"/>')
    return in_line(loop(inner, item="item", collection=f"=for i in 1..{count} return i"), *before, T, task("z"))


@pytest.mark.long
async def test_very_many_are_compensated_page_by_page(migrated, connection):
    """In the order of completion, though a node that keeps nothing in memory does it."""
    serial = Serial()
    serial.deploy(many())
    await pin_clock(connection)
    consumer, observer = make_consumer(migrated, serial.resources, cache_bytes=0, poll_s=0.05)
    await append(connection, [*serial.commands, ("<default>", CreateInstance("p"))])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.until(lambda: "z" in observer.jobs)
        nursery.cancel_scope.cancel()
    assert await counted(connection, "ub") == MANY
    values = "SELECT value FROM variables WHERE name = 'last'"
    assert (await connection.execute(values)).rows == [("1",)]
    assert (await connection.execute(LEFT)).rows == []
    order = """SELECT array_agg(v.value::int ORDER BY e.element_instance_key) FROM element_instances e
        JOIN variables v ON v.scope_key = e.path[2] AND v.name = 'item' WHERE e.element_id = 'ub'"""
    assert (await connection.execute(order)).rows[0][0] == list(range(MANY, 0, -1))


@pytest.mark.long
async def test_one_command_may_need_several_pages(migrated, connection, monkeypatch):
    """A quantum may be larger than a page. The node keeps nothing in memory, so each attempt loads one page more."""
    count = MANY // 4
    monkeypatch.setattr(compensations, "REGISTRATIONS_A_PAGE", compensations.REGISTRATIONS_A_PAGE // 4)
    monkeypatch.setattr(compensations, "REGISTRATIONS_INSIDE", compensations.REGISTRATIONS_INSIDE // 4)
    serial = Serial()
    serial.deploy(many(task("y"), count=count))
    await pin_clock(connection)
    consumer, observer = make_consumer(migrated, serial.resources, cache_bytes=0, poll_s=0.05, quantum_items=500)
    await append(connection, [*serial.commands, ("<default>", CreateInstance("p"))])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.until(lambda: "y" in observer.jobs)
        (key,) = (await connection.execute("SELECT job_key FROM jobs")).rows[0]
        await append(connection, [("<default>", CompleteJob(key))])
        await observer.until(lambda: "z" in observer.jobs)
        nursery.cancel_scope.cancel()
    assert await counted(connection, "ub") == count
    assert 1 < consumer.stats.not_loaded < 10


@pytest.mark.long
async def test_handlers_that_wait_for_jobs_load_a_page_once(migrated, connection):
    """The rows that one handler has loaded stay for those after it."""
    serial = Serial()
    inner = sub("m", start("i"), done("b"), end("j"), "i > b > j").replace(task("b"), '<manualTask id="b"/>')
    serial.deploy(in_line(loop(inner, item="item", collection="=for i in 1..1200 return i"), task("y"), T))
    await pin_clock(connection)
    consumer, observer = make_consumer(migrated, serial.resources, poll_s=5)
    await append(connection, [*serial.commands, ("<default>", CreateInstance("p"))])
    consumer.partition_duty.wake()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.until(lambda: "y" in observer.jobs)
        for _ in range(30):
            (key,) = (await connection.execute("SELECT job_key FROM jobs WHERE ended_at IS NULL")).rows[0]
            last = await append(connection, [("<default>", CompleteJob(key))])
            consumer.partition_duty.wake()
            await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert await counted(connection, "ub") == 29
    assert consumer.stats.not_loaded <= 2


async def test_a_loop_of_transactions_is_cancelled_and_compensated(migrated, connection):
    """Other loops of this length are loaded in pages here. The node keeps nothing in memory between its batches."""
    serial = Serial()
    undo = script("ua", "=if undone = null then [item] else append(undone, item)", "undone")
    parts = (start("i"), done("a", undo).replace(task("a"), '<manualTask id="a"/>'), task("c"), final("no", CANCEL))
    inner = loop(transaction("tx", *parts, "i > a > c > no"), item="item", collection="=for i in 1..60 return i")
    caught = (boundary("bc", "tx", CANCEL), task("z"), end("e"), "bc > z > e")
    serial.deploy(model(start("s"), inner, *caught, end("k"), "s > tx > k"))
    await pin_clock(connection)
    settings = {"cache_bytes": 0, "poll_s": 0.05, "paged_from": 10, "quantum_items": 20}
    consumer, observer = make_consumer(migrated, serial.resources, **settings)
    await append(connection, [*serial.commands, ("<default>", CreateInstance("p", variables=raw({"undone": None})))])
    count = "SELECT count(*) FROM jobs WHERE ended_at IS NULL"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())

        async def all_wait():
            return (await connection.execute(count)).rows[0][0] == 60

        await eventually(all_wait, within_s=60)
        (key,) = (await connection.execute("SELECT min(job_key) FROM jobs")).rows[0]
        await append(connection, [("<default>", CompleteJob(key))])
        await observer.until(lambda: "z" in observer.jobs)
        nursery.cancel_scope.cancel()
    assert await counted(connection, "ua") == 60
    (undone,) = (await connection.execute("SELECT value FROM variables WHERE name = 'undone'")).rows[0]
    assert sorted(json.loads(undone)) == list(range(1, 61))
    assert (await connection.execute(LEFT)).rows == []
    states = "SELECT DISTINCT state FROM element_instances WHERE element_id = 'tx'"
    assert (await connection.execute(states)).rows == [("TERMINATED",)]


@pytest.mark.long
async def test_many_compensations_can_be_cancelled(migrated, connection):
    serial = Serial()
    serial.deploy(many())
    await pin_clock(connection)
    consumer, observer = make_consumer(migrated, serial.resources, cache_bytes=0, poll_s=0.05)
    await append(connection, [*serial.commands, ("<default>", CreateInstance("p"))])
    key = "SELECT max(process_instance_key) FROM process_instances"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await eventually(partial(counted, connection, "ub"), within_s=120)
        (cancel,) = (await connection.execute(key)).rows[0]
        last = await append(connection, [("<default>", CancelInstance(cancel))])
        await observer.reached(last)
        await observer.until(lambda: bool(observer.ended))
        nursery.cancel_scope.cancel()
    assert 0 < await counted(connection, "ub") < MANY
    assert (await connection.execute("SELECT DISTINCT state FROM process_instances")).rows == [("TERMINATED",)]
