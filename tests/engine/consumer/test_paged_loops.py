"""Paged loops: loaded whole, in pages, or not at all forgotten, a run comes to the same rows.

The serial run is in memory and forgets nothing; the consumer forgets everything before each batch (in random runs also
only much), and loads pages of two inner instances. Both give out the same keys, so that what they leave can be compared
as it is.
"""

from functools import partial
from random import Random

import msgspec
import pytest
import trio

from tests.core import message_models
from tests.core.compensation_models import CANCEL, done, transaction
from tests.core.engine import raw
from tests.core.event_models import ad_hoc, boundary, call, error, final, loop, model, script
from tests.core.listener_models import Attended, listening
from tests.core.models import end, flow, process, start, sub, task, xor
from tests.core.modification_models import activate, modify, move, terminate
from tests.engine.consumer import serial_runs
from tests.engine.consumer.serial_runs import (
    PINNED_MS,
    Serial,
    append,
    beat,
    dump,
    make_consumer,
    mixed_runs,
    pin_clock,
    save_serially,
)
from tests.eventually import eventually
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.execution.step import Processor, StepLimits
from vivero.core.needs import Need, NeedKind
from vivero.core.records.ad_hoc import ActivateAdHocElements, ElementToActivate
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.instances import ContinueWork, CreateInstance
from vivero.core.records.jobs import CompleteJob, FailJob
from vivero.core.records.messages import PublishMessage
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.core.records.timers import FireTimer, TriggerTimer
from vivero.core.records.user_tasks import CompleteUserTask
from vivero.core.shared import suspended_work
from vivero.core.state import batches, eviction, loop_rows
from vivero.core.state.instance_tree import LoopPages
from vivero.core.state.state import State
from vivero.storage.log import command_log
from vivero.storage.postgres import driver
from vivero.storage.state import load, pages, row_bound

OF_QUANTA = {"version", "created_position", "request", "work"}
"""Depends on how the work was cut into commands."""
KEYS = OF_QUANTA | {
    *("element_instance_key", "scope_key", "part_key", "root_key", "path", "variable_key", "process_instance_key"),
    *("definition_key", "process_definition_key", "body_key", "job_key"),
}
"""Depends on how many inner instances are made at once."""
DEFERRED = (
    "SELECT count(*)::int FROM process_instances WHERE ended_at IS NULL AND work IS NOT NULL AND work::text <> '[]'"
)
CACHES = {"nothing": 0, "little": 30_000}
"""The bytes that a consumer keeps from batch to batch."""
ITEMS = {"items": [1, 2, 3, 4, 5, 6, 7]}


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(pages, "CHILDREN_A_PAGE", 2)
    monkeypatch.setattr(pages, "CHILDREN_AHEAD", 3)


@pytest.fixture
def same_end(databases, second, monkeypatch):
    """Checks that consumers come to what a serial run has come to, with small loads, whatever they forget."""
    monkeypatch.setattr(row_bound, "ROWS_A_LOAD", 2)

    async def check(serial, commands=1, without=OF_QUANTA, caches=("nothing",)):
        limits = {"quantum_items": serial.limits.quantum_items, "paged_from": serial.limits.paged_from}
        await save_serially(second, serial)
        expected = await dump(second, without=without)
        for kept in caches:
            with databases.one() as dsn:
                connection = await driver.connect(dsn, name="vivero test")
                await worked(dsn, connection, serial, commands, cache_bytes=CACHES[kept], poll_s=5, **limits)
                found = await dump(connection, without=without)
                connection.close()
            for table in expected:
                assert sorted(found[table]) == sorted(expected[table]), (kept, table)

    return check


async def worked(dsn, connection, serial, commands, **settings):
    """Clients' commands of the serial run, so many at a time, and what follows from them through the log."""
    await pin_clock(connection)
    consumer, observer = make_consumer(dsn, serial.resources, **settings)
    asked = [one for one in serial.commands if not isinstance(one[1], ContinueWork)]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        for first in range(0, len(asked), commands):
            last = await append(connection, asked[first : first + commands])
            while last is not None:
                consumer.partition_duty.wake()
                await observer.reached(last)
                last = await command_log.forward(connection, 1, 100)
            await eventually(partial(goes_on, consumer, connection), "no work is deferred")
        nursery.cancel_scope.cancel()
    return consumer


async def goes_on(consumer, connection):
    """Forward what work that is deferred in memory has sent meanwhile. Whether none is left."""
    if await command_log.forward(connection, 1, 100) is not None:
        consumer.partition_duty.wake()
    return (await connection.execute(DEFERRED)).rows == [(0,)]


def paged(quantum_items=500):
    return Serial(StepLimits(quantum_items, paged_from=0))


def looped(activity=None, *rest, **settings):
    given = {"item": "item", "output": "=item * 2", "into": "results"} | settings
    return model(start(), loop(activity or task("work"), **given), task("after"), "start > work > after", *rest)


def begun(file, *others, quantum_items=500, **variables):
    serial = paged(quantum_items)
    serial.deploy(*others, file)
    serial.key = serial.start("p", **(variables or ITEMS))
    return serial


async def test_each_job_completes_and_the_results_are_collected(same_end):
    serial = begun(looped())
    for _ in range(7):
        serial.complete("work")
    assert serial.variables("p")["results"] == [2, 4, 6, 8, 10, 12, 14]
    serial.complete("after")
    assert not serial.state.elements
    await same_end(serial)


async def test_in_batches_of_several_commands(same_end):
    serial = begun(looped())
    for _ in range(7):
        serial.complete("work")
    await same_end(serial, commands=3)


@pytest.mark.parametrize("quantum_items", [1, 3, 500])
async def test_it_begins_in_quanta(same_end, quantum_items):
    """Work that was put off is about inner instances, which are loaded with it."""
    serial = begun(looped(), quantum_items=quantum_items)
    serial.complete("work")
    await same_end(serial)


async def test_a_completion_condition_sees_all_results_so_far(same_end):
    serial = begun(looped(until="=results = [2, 4, 6, null, null, null, null]"))
    for _ in range(3):
        assert serial.jobs
        serial.complete("work")
    assert serial.jobs == ["after"]
    await same_end(serial)


@pytest.mark.parametrize("sequential", [False, True])
async def test_a_turn_sees_all_results_so_far(same_end, sequential):
    look = sub("work", start("in"), task("first"), script("look", "=results", "seen"), "in > first > look")
    serial = begun(looped(look, output="=seen", sequential=sequential), **ITEMS)
    while "first" in serial.jobs:
        serial.complete("first")
    assert serial.jobs == ["after"]
    await same_end(serial)


async def test_one_after_the_other(same_end):
    serial = begun(looped(sequential=True))
    for _ in range(4):
        serial.complete("work")
    assert len(serial.jobs) == 1
    await same_end(serial)


@pytest.mark.parametrize("quantum_items", [1, 500])
@pytest.mark.parametrize("sequential", [False, True])
async def test_scripts_wait_for_nothing(same_end, monkeypatch, quantum_items, sequential):
    """Items are loaded in pages, and inner instances made page by page."""
    monkeypatch.setattr(loop_rows, "ITEMS_PER_ROW", 2)
    file = looped(script("work", "=item + 1", "r"), output="=r", sequential=sequential)
    serial = begun(file, quantum_items=quantum_items)
    assert serial.variables("p")["results"] == [2, 3, 4, 5, 6, 7, 8]
    await same_end(serial, without=KEYS)


@pytest.mark.parametrize("quantum_items", [1, 500])
async def test_a_cancelled_instance_ends_page_by_page(same_end, quantum_items):
    serial = begun(looped(sub("work", start("in"), task("deep"), "in > deep")), quantum_items=quantum_items)
    serial.complete("deep")
    serial.cancel(serial.key)
    assert not serial.state.elements
    await same_end(serial)


async def test_a_completion_condition_ends_the_rest(same_end):
    serial = begun(looped(until="=numberOfCompletedInstances = 2"))
    serial.complete("work")
    serial.complete("work")
    assert serial.jobs == ["after"]
    assert serial.variables("p")["results"] == [2, 4, None, None, None, None, None]
    await same_end(serial)


async def test_an_error_ends_the_loop_at_its_boundary(same_end):
    serial = begun(looped(None, boundary("caught", "work", error("A")), task("repair"), "caught > repair"))
    serial.complete("work")
    serial.throw("work", "A")
    assert serial.jobs == ["repair"]
    serial.complete("repair")
    await same_end(serial)


@pytest.mark.long
@pytest.mark.parametrize("quantum_items", [1, 3, 500])
@pytest.mark.parametrize("handler", [task("ua"), script("ua", "=undone + item", "undone")], ids=["job", "script"])
async def test_a_transaction_is_cancelled_page_by_page_and_undone_in_its_body(same_end, quantum_items, handler):
    """An inner instance that completed before is undone, too, and so is what completed in those that are cancelled.

    These end together, so that their order depends on the pages.
    """
    decides = (xor("x", default="x-ok"), end("ok"), final("no", CANCEL), flow("x", "no", "=no"))
    inner = transaction("work", start("i"), done("a", handler), task("c"), *decides, "i > a > c > x > ok")
    around = (boundary("bc", "work", CANCEL), task("repair"), "bc > repair")
    serial = begun(looped(inner, *around), quantum_items=quantum_items, **ITEMS, no=False, undone=0)
    for _ in range(5):
        serial.complete("a")
    serial.complete("c", no=False)
    serial.complete("c", no=True)
    while "ua" in serial.jobs:
        serial.complete("ua", undone=serial.variables("p")["undone"] + 1)
    assert serial.variables("p")["undone"] > 0
    assert serial.jobs == ["repair"]
    serial.complete("repair")
    assert not serial.state.elements
    await same_end(serial, without=KEYS | {"compensation"})


async def test_items_are_taken_in_when_an_incident_is_resolved(same_end):
    """The stage that takes the item in failed, and runs again when the item is long forgotten."""
    activity = task("work", inputs=[("=assert(factor, factor != null) * item", "x")])
    serial = begun(looped(activity, output="=x"), items=[1, 2, 3])
    assert [type for _, type, _ in serial.incidents] == ["IO_MAPPING_ERROR"] * 3
    serial.set(serial.key, factor=3)
    for incident in list(serial.state.incidents):
        serial.resolve(incident)
    serial.fail("work", message="boom")
    serial.update("work", retries=1)
    serial.resolve()
    for _ in range(3):
        serial.complete("work")
    assert serial.variables("p")["results"] == [3, 6, 9]
    await same_end(serial)


async def test_a_result_that_cannot_be_told_is_an_incident_until_it_can(same_end):
    serial = begun(looped(task("work", type="=kind"), output="=item"), items=[1, 2, 3])
    assert len(serial.state.incidents) == 3, "the type of the job is missing"
    serial.set(serial.key, kind="paint")
    for incident in list(serial.state.incidents):
        serial.resolve(incident)
    for _ in range(3):
        serial.complete("work")
    assert serial.variables("p")["results"] == [1, 2, 3]
    await same_end(serial)


async def test_a_loop_in_a_loop(same_end):
    inner = loop(task("deep"), collection="=[item, item]", item="twice", output="=twice", into="pairs")
    serial = begun(looped(sub("work", start("in"), inner, "in > deep"), output="=pairs"), items=[1, 2, 3])
    for _ in range(4):
        serial.complete("deep")
    assert len(serial.jobs) == 2
    serial.set(next(e.key for e in serial.state.elements.values() if e.element == "deep" and e.index == 1), x=1)
    await same_end(serial)


async def test_a_loop_in_a_loop_is_cancelled(same_end):
    inner = loop(task("deep"), collection="=[item, item, item]", item="twice")
    serial = begun(looped(sub("work", start("in"), inner, "in > deep")), items=[1, 2, 3])
    serial.complete("deep")
    serial.cancel(serial.key)
    assert not serial.state.elements
    await same_end(serial)


@pytest.mark.long
@pytest.mark.parametrize("quantum_items", [3, 500])
async def test_loops_in_a_loop_are_paged_by_what_is_loaded_with_them(same_end, quantum_items):
    """Loaded rows count like those made in memory: the same loops are paged."""
    serial = Serial(StepLimits(quantum_items, paged_from=20))
    inner = loop(task("deep"), collection="=[item, item, item]", item="twice")
    serial.deploy(looped(sub("work", start("in"), inner, task("then"), "in > deep > then")))
    serial.key = serial.start("p", **ITEMS)
    bodies = [e for e in serial.state.elements.values() if e.element == "deep" and e.loop is not None]
    assert {body.loop.paged for body in bodies} == {False, True}
    for _ in range(4):
        serial.complete("deep")
    serial.cancel(serial.key)
    assert not serial.state.elements
    await same_end(serial)


async def test_called_processes(same_end):
    serial = paged()
    serial.deploy(process(start("s"), task("deep"), "s > deep", id="called"))
    serial.deploy(looped(call("work", "called")))
    serial.key = serial.start("p", **ITEMS)
    for _ in range(3):
        serial.complete("deep")
    serial.cancel(serial.key)
    assert not serial.state.elements
    await same_end(serial)


WAITS = {
    "message": message_models.catch("caught", "message"),
    "signal": message_models.catch("caught", "signal"),
    "timer": "<intermediateCatchEvent id='caught'><timerEventDefinition><timeDuration>PT2H</timeDuration>"
    "</timerEventDefinition></intermediateCatchEvent>",
    "user task": "<userTask id='caught'><extensionElements><zeebe:userTask/></extensionElements></userTask>",
}


@pytest.mark.long
@pytest.mark.parametrize("wait", WAITS)
async def test_what_waits_in_a_part_is_found(same_end, wait):
    """By the key of a timer or user task, through a channel, or on a page of those who wait for a signal."""
    inner = sub("work", start("in"), WAITS[wait], task("deep"), "in > caught > deep", inputs=[("=item", "k")])
    body = loop(inner, item="item", output="=k", into="results")
    serial = begun(message_models.model(start(), body, task("after"), "start > work > after"), items=list("abcd"))
    if wait == "message":
        serial.publish("hello", "b")
        serial.publish("hello", "d")
    elif wait == "signal":
        serial.broadcast("alarm")
    elif wait == "timer":
        for timer in list(serial.state.timers)[1:]:
            serial.accepted(FireTimer(timer))
    else:
        for user_task in list(serial.state.user_tasks)[2:]:
            serial.accepted(CompleteUserTask(user_task))
    assert serial.jobs
    while "deep" in serial.jobs:
        serial.complete("deep")
    serial.cancel(serial.key)
    await same_end(serial)


SOON = WAITS["timer"].replace("PT2H", "PT0S")


@pytest.mark.long
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("wait", ["timer", "message"])
async def test_suspended_waits_go_on_page_by_page(same_end, monkeypatch, wait, again):
    """`again`: a second suspension comes while the waits go on."""
    monkeypatch.setattr(suspended_work, "WAITS_A_PAGE", 2)
    monkeypatch.setattr(load, "WAITS_A_PAGE", 2)
    event = SOON if wait == "timer" else WAITS[wait]
    inner = sub("work", start("in"), event, task("deep"), "in > caught > deep", inputs=[("=item", "k")])
    serial = begun(message_models.model(start(), loop(inner, item="item"), "start > work"), items=list("abcdefg"))
    serial.accepted(SuspendInstance(serial.key))
    due = [TriggerTimer(timer.key, timer.due_at) for timer in serial.state.timers.values()]
    for one in [PublishMessage("hello", key) for key in "badgfe"] if wait == "message" else due[1:]:
        serial.accepted(one)
    assert not serial.jobs
    serial.accepted(ResumeInstance(serial.key))
    if again:
        serial.accepted(SuspendInstance(serial.key))
        serial.accepted(ResumeInstance(serial.key))
    due = [TriggerTimer(timer.key, timer.due_at) for timer in serial.state.timers.values()]
    for one in [PublishMessage("hello", key) for key in "gfedcba"] if wait == "message" else due:
        serial.accepted(one)
    assert serial.jobs == ["deep"] * 7
    await same_end(serial)


# ---- ad-hoc sub-processes that begin many inner instances

SEVEN = '=for i in 1..7 return if i = 3 then "B" else "A"'
DEEP = sub("A", start("in"), task("deep"), "in > deep")


def tools(tool=DEEP, **settings):
    scope = ad_hoc("h", tool, task("B"), output="=x", into="xs", **({"active": SEVEN} | settings))
    return model(start(), scope, task("after"), "start > h > after")


def inner_instances(serial):
    return [element for element in serial.state.elements.values() if element.element == "h#innerInstance"]


async def test_an_ad_hoc_sub_process_begins_and_collects_in_pages(same_end):
    serial = begun(tools())
    assert all(element.part.head is element for element in inner_instances(serial))
    serial.complete("B", x=0)
    for x in range(1, 7):
        serial.complete("deep", x=x)
    assert serial.variables("p")["xs"] == [0, 1, 2, 3, 4, 5, 6]
    serial.complete("after")
    assert not serial.state.elements
    await same_end(serial)


@pytest.mark.parametrize("quantum_items", [1, 3])
async def test_an_ad_hoc_sub_process_goes_on_in_quanta(same_end, quantum_items):
    serial = begun(tools(script("A", "=1", "x"), active='=for i in 1..7 return "A"'), quantum_items=quantum_items)
    assert serial.variables("p")["xs"] == [1] * 7
    await same_end(serial, without=KEYS)


@pytest.mark.long
@pytest.mark.parametrize("quantum_items", [1, 500])
async def test_an_ad_hoc_sub_process_is_cancelled_page_by_page(same_end, quantum_items):
    serial = begun(tools(), quantum_items=quantum_items)
    serial.cancel(serial.key)
    assert not serial.state.elements
    await same_end(serial, without=KEYS)


async def test_a_true_condition_ends_the_rest_of_an_ad_hoc_sub_process(same_end):
    serial = begun(tools(until="=count(xs) = 2"))
    serial.complete("B", x=1)
    serial.complete("deep", x=2)
    assert serial.jobs == ["after"]
    assert serial.variables("p")["xs"] == [1, 2]
    await same_end(serial)


async def test_a_request_ends_everything_in_an_ad_hoc_sub_process_first(same_end):
    serial = begun(tools())
    serial.complete("deep", x=1)
    elements = (ElementToActivate("A", raw({"n": 1})), ElementToActivate("B"))
    serial.accepted(ActivateAdHocElements(serial.element("h").key, elements, cancel_remaining=True))
    assert serial.jobs == ["B", "deep"]
    serial.complete("B", x=2)
    serial.complete("deep", x=3)
    assert serial.variables("p")["xs"] == [1, 2, 3]
    await same_end(serial)


@pytest.mark.long
async def test_random_runs(same_end, monkeypatch, seed):
    """A command at a time: what ends page by page goes on behind the batch, and others would get their keys before."""
    monkeypatch.setattr(serial_runs, "Serial", paged)
    await same_end(mixed_runs(range(seed, seed + 4), Random(seed)), caches=CACHES)


# ---- listeners


@pytest.mark.long
@pytest.mark.parametrize("sequential", [False, True])
async def test_each_inner_instance_tells_its_listeners(same_end, sequential):
    """The item is forgotten when the element begins, the row of its job when it has been told."""
    serial = begun(listening(looped(sequential=sequential), work=["start a", "end z"]))
    for _ in range(21):
        assert set(serial.jobs) == {"work"}
        serial.complete("work")
    assert serial.variables("p")["results"] == [2, 4, 6, 8, 10, 12, 14]
    assert serial.jobs == ["after"]
    await same_end(serial)


async def test_listeners_that_fail_are_told_again(same_end):
    serial = begun(listening(looped(), work=["start a", "start =kind", "end z 1"]), items=[1, 2, 3])
    for _ in range(3):
        serial.complete("work")
    assert len(serial.state.incidents) == 3, "the type of the second one is missing"
    serial.set(serial.key, kind="b")
    for incident in list(serial.state.incidents):
        serial.resolve(incident)
    for _ in range(9):
        serial.complete("work")
    serial.fail("work", message="boom")
    assert serial.incidents == [("work", "EXECUTION_LISTENER_NO_RETRIES", "boom")]
    serial.update("work", retries=1)
    serial.resolve()
    for _ in range(3):
        serial.complete("work")
    assert serial.jobs == ["after"]
    await same_end(serial)


@pytest.mark.parametrize("told", [2, 9, 16])
async def test_a_loop_that_is_cancelled_tells_nobody_any_more(same_end, told):
    """While start listeners have their turn, the workers, end listeners."""
    serial = begun(listening(looped(), work=["start a", "end z"]))
    for _ in range(told):
        first = min(serial.state.jobs.values(), key=lambda job: (STAGES[job.listener_event], job.key))
        serial.run(CompleteJob(first.key))
    serial.cancel(serial.key)
    assert not serial.state.elements
    await same_end(serial)


STAGES = {"START": 0, "UNSPECIFIED": 1, "END": 2}


class Listened(Attended, Serial):
    """A serial run in which everything has listeners, whose jobs are done at once."""


@pytest.mark.long
@pytest.mark.parametrize("paged_from", [0, *(pytest.param(rows, marks=pytest.mark.long) for rows in (8, 500))])
async def test_random_runs_with_listeners(same_end, monkeypatch, paged_from, seed):
    monkeypatch.setattr(serial_runs, "Serial", lambda: Listened(StepLimits(paged_from=paged_from)))
    await same_end(mixed_runs(range(seed, seed + 3), Random(seed)), caches=CACHES)


# ---- batches on their way


@pytest.fixture
async def under_way(connection):
    """Runs commands as one batch whose commit is not known yet, on a state that has loaded what they need."""
    serial = begun(looped())
    await save_serially(connection, serial)
    state = State(1)
    processor = Processor(state, serial.limits, serial.memory.find_model)
    jobs = [job.key for job in serial.state.jobs.values()]

    async def run(*commands):
        await load.fill(connection, state, [Need(NeedKind.JOB, command.key) for command in commands])
        for position, command in enumerate(commands, 100):
            processor.process(CommandRecord(position, DEFAULT_TENANT, command), PINNED_MS)
        pinned = batches.close(state)
        state.begin_batch()
        eviction.evict(state, 0)
        return pinned

    return run, state, jobs


async def test_an_inner_instance_that_has_ended_is_not_read_again(connection, under_way):
    """The tables still show it until the commit."""
    run, state, jobs = under_way
    pinned = await run(CompleteJob(jobs[2]))
    await load.fill(connection, state, [Need(NeedKind.JOB, jobs[2])])
    assert jobs[2] not in state.jobs
    assert not state.parts
    batches.committed(state, pinned)
    assert not state.ended


async def test_what_a_batch_has_changed_is_not_forgotten_before_its_commit(connection, under_way):
    run, state, jobs = under_way
    pinned = await run(FailJob(jobs[1], 1), FailJob(jobs[4], 1))
    assert sorted(state.jobs) == [jobs[1], jobs[4]]
    await load.fill(connection, state, [Need(NeedKind.JOB, jobs[1])])
    assert state.jobs[jobs[1]].state == "FAILED"
    batches.committed(state, pinned)
    assert eviction.evict(state, 0)
    assert not state.parts
    assert not state.elements
    assert state.weight == 0


class Counting:
    """A connection that counts how often it is asked."""

    def __init__(self, connection) -> None:
        self.connection, self.asked = connection, 0

    async def execute(self, *arguments):
        self.asked += 1
        return await self.connection.execute(*arguments)

    async def pipeline(self, calls):
        self.asked += 1
        return await self.connection.pipeline(calls)


async def test_all_parts_around_a_part_are_found_at_once(connection):
    """A process that calls itself in a loop: each instance is a part in that of its caller."""
    serial, asked = paged(), {}
    inside = loop(call("again", "deep", inputs=[("=n - 1", "n")]), "=if n > 0 then [1] else []")
    serial.deploy(model(start(), inside, task("bottom"), "start > again > bottom", id="deep"))
    roots = {depth: serial.start("deep", n=depth) for depth in (2, 12)}
    await save_serially(connection, serial)
    for depth, root in roots.items():
        (job,) = (job for job in serial.state.jobs.values() if job.element.tree.key == root)
        state, reader = State(1), Counting(connection)
        await load.fill(reader, state, [Need(NeedKind.JOB, job.key)])
        assert (state.jobs[job.key].element.instance.depth, len(state.parts)) == (depth + 1, depth)
        asked[depth] = reader.asked
    assert asked[12] == asked[2]


@pytest.mark.parametrize(
    ("ahead", "expected"),
    [
        ([(1, 3), (2, 3), (3, 3), (4, 1)], [1, 2]),
        ([(1, 3), (2, 7), (3, 1), (4, 1)], [1, 2]),
        ([(1, 3), (2, 8), (3, 1), (4, 1)], [1]),
        ([(1, 50), (2, 1), (3, 1), (4, 1)], [1]),
        ([(1, 1), (2, 50), (3, 1), (4, 1)], [1]),
        ([(1, 1)], [1]),
        ([], []),
    ],
)
def test_a_page_has_few_inner_instances_and_few_rows(monkeypatch, ahead, expected):
    monkeypatch.setattr(pages, "ROWS_A_PAGE", 10)
    monkeypatch.setattr(pages, "LARGE_PART", 8)
    state, loop = State(1), LoopPages(7, ahead=ahead)
    assert pages._next_page(state, loop, set()) == expected
    assert (loop.read_to, loop.ahead) == (max(expected, default=0), ahead[len(expected) :])


@pytest.mark.long
@pytest.mark.parametrize("large", [1, 2, 100])
async def test_inner_instances_of_many_rows_end_one_by_one(same_end, monkeypatch, large):
    monkeypatch.setattr(pages, "ROWS_A_PAGE", 4)
    monkeypatch.setattr(pages, "LARGE_PART", large)
    tasks = [task(f"t{number}") for number in range(6)]
    serial = begun(
        looped(sub("work", start("in"), *tasks, *(f"in > {t}" for t in ("t0", "t1", "t2", "t3", "t4", "t5"))))
    )
    serial.complete("t3")
    serial.cancel(serial.key)
    assert not serial.state.elements
    await same_end(serial)


async def test_results_are_kept_until_they_are_saved(connection, under_way):
    run, state, jobs = under_way
    pinned = await run(CompleteJob(jobs[0]), CompleteJob(jobs[1]))
    (body,) = state.paged.values()
    assert body.pages.results == {0: "2", 1: "4"}
    batches.committed(state, pinned)
    eviction._evict_parts(state, 0)
    assert body.pages.results == {}


async def test_a_loop_over_a_million_items_is_an_incident_and_no_term_ends(migrated, connection):
    """Their rows would take longer to save than a commit may, in this term and in each that comes after it."""
    serial = Serial()
    serial.deploy(looped())
    consumer, observer = make_consumer(migrated, serial.resources, poll_s=5)
    items = msgspec.Raw(b"[" + b",".join([b"1"] * 1_000_000) + b"]")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        big, small = (CreateInstance("p", variables={"items": each}) for each in (items, msgspec.Raw(b"[1]")))
        await append(connection, serial.commands)
        last = await append(connection, [(DEFAULT_TENANT, big), (DEFAULT_TENANT, small)])
        consumer.partition_duty.wake()
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert (consumer.stats.terms, observer.outcomes[last].rejection) == (1, None)
    ((element, type_, message),) = (await connection.execute("SELECT element_id, type, message FROM incidents")).rows
    assert (element, type_) == ("work", "EXTRACT_VALUE_ERROR")
    assert message.endswith("at most 200000 are allowed, not 1000000.")
    assert (await connection.execute("SELECT count(*) FROM jobs")).rows == [(1,)]


async def test_a_modification_finds_the_inner_instances_that_are_not_in_memory(same_end):
    inside = sub("work", start("in"), task("deep"), task("deeper"), "in > deep > deeper")
    serial = begun(looped(inside))
    serial.complete("deep")
    modify(serial, serial.key, move("deep", "deeper", "sourceParent"), activate("after"))
    assert serial.jobs == ["after"] + ["deeper"] * 7
    modify(serial, serial.key, terminate(next(e.key for e in serial.state.elements.values() if e.index == 3)))
    modify(serial, serial.key, "-deeper")
    assert serial.jobs == ["after"]
    await same_end(serial)
