"""Deferred work goes on between commands, as batches that move no cursor (docs/adr/0009).

Whatever is lost on the way, the work is done once: the event log gives the tables again, and the end is that of a
serial run in memory.
"""

from dataclasses import replace

import pytest
import trio

from tests.core.event_models import loop, model, script
from tests.core.models import process, start, task
from tests.engine.consumer.serial_runs import (
    PINNED_MS,
    Serial,
    append,
    beat,
    dump,
    flaky,
    keep_leading,
    make_consumer,
    pin_clock,
    save_serially,
)
from tests.eventually import eventually
from vivero.core.dispatch import COMMANDS
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.execution.step import Processor, StepLimits
from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.codec import decode_events
from vivero.core.records.instances import CancelInstance, ContinueWork, CreateInstance
from vivero.core.replay import Recorded, replay
from vivero.core.state import batches, eviction, loop_rows
from vivero.core.state.state import State
from vivero.engine.cluster import partition_duty
from vivero.engine.consumer import committer, loader, term
from vivero.engine.consumer.batch import QUANTUM_ROUNDS
from vivero.engine.consumer.quanta import Quanta
from vivero.storage.cluster import leadership
from vivero.storage.log import command_log
from vivero.storage.postgres import driver
from vivero.storage.postgres.errors import SteppedDown
from vivero.storage.state import load, pages, save

ITEMS = list(range(30))
KEYS = {
    *("version", "created_position", "request", "work", "element_instance_key", "scope_key", "part_key", "root_key"),
    *(
        "path",
        "variable_key",
        "process_instance_key",
        "definition_key",
        "process_definition_key",
        "body_key",
        "job_key",
    ),
}
"""Depends on how the work is cut, or on which keys were set aside."""

REFUSED = """
CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.loop_index = 17 THEN RAISE EXCEPTION 'not this one' USING ERRCODE = '22000'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refused BEFORE INSERT ON element_instances FOR EACH ROW EXECUTE FUNCTION refused();
"""


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Pages and rows of a few items, so that a loop of thirty takes many quanta."""
    monkeypatch.setattr(pages, "CHILDREN_A_PAGE", 4)
    monkeypatch.setattr(pages, "CHILDREN_AHEAD", 10)
    monkeypatch.setattr(loop_rows, "ITEMS_PER_ROW", 4)


def long_loop(activity=None):
    """A serial run of a paged loop that has begun, and of a small process."""
    serial = Serial(StepLimits(quantum_items=6, paged_from=0))
    body = loop(activity or task("work"), item="item", output="=item * 2", into="results")
    serial.deploy(model(start(), body, task("after"), "start > work > after"))
    serial.deploy(process(start("s"), script("once", "=1", "r"), "s > once", id="small"))
    serial.key = serial.start("p", items=ITEMS)
    return serial


def asked(serial):
    return [one for one in serial.commands if not isinstance(one[1], ContinueWork)]


def consuming(dsn, serial, **settings):
    """Quanta of as many items as the serial run's; nothing looks into the log by itself."""
    return make_consumer(dsn, serial.resources, quantum_items=6, paged_from=0, **{"poll_s": 60} | settings)


async def count(connection, what, *parameters):
    return (await connection.execute(f"SELECT count(*) FROM {what}", parameters)).rows[0][0]


async def test_a_quantum_waits_for_commands_that_are_being_appended(migrated, connection, monkeypatch):
    """And for no others: the loop goes on as soon as nothing is coming."""
    monkeypatch.setattr(partition_duty, "EXPECT_S", 30)
    serial = long_loop()
    consumer, observer = consuming(migrated, serial)
    appended, committed = [], {}
    tell = observer.committed

    def note(partition, watermark, outcomes, ended):
        committed.setdefault(watermark, consumer.stats.quanta)
        tell(partition, watermark, outcomes, ended)

    async def add():
        own = await driver.connect(migrated, name="vivero test appender")
        position = await append(own, [(DEFAULT_TENANT, CreateInstance("small"))])
        own.close()
        appended.append(position)
        consumer.partition_duty.wake()

    def coming():
        under_way = not consumer.partition_duty.term._committer._under_way.is_set()
        asked_for.append(consumer.stats.quanta + under_way)
        if len(asked_for) == 3:  # what is under way then is a quantum
            nursery.start_soon(add)
        return len(asked_for) == 3

    asked_for, observer.committed, consumer.coming = [], note, coming
    await append(connection, asked(serial))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await eventually(lambda: count_is(connection, 30, "jobs"), every_s=0)
        nursery.cancel_scope.cancel()
    (position,) = appended
    assert committed[position] == asked_for[2]
    assert consumer.stats.quanta > asked_for[2]


async def count_is(connection, number, what):
    return await count(connection, what) == number


async def test_a_loop_begins_and_ends_without_a_further_command(migrated, connection, second):
    """The one that would go on with it stays in the inbox, where a new term finds it."""
    serial = long_loop()
    serial.cancel(serial.key)
    await pin_clock(connection)
    consumer, observer = consuming(migrated, serial)
    *before, (tenant, cancel) = asked(serial)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        last = await append(connection, before)
        consumer.partition_duty.wake()
        await observer.until(lambda: observer.jobs.get("work") == len(ITEMS))
        last = await append(connection, [(tenant, cancel)])
        consumer.partition_duty.wake()
        await observer.until(lambda: last in observer.outcomes)
        nursery.cancel_scope.cancel()
    assert observer.watermark == last
    assert consumer.stats.quanta > 10
    assert observer.inbox_notices == 0, "nobody is told to hurry"
    assert await count(connection, "command_log WHERE intent = $1", ContinueWork.intent) == 0
    assert await count(connection, "inbox WHERE intent = $1", ContinueWork.intent) == 2
    assert await count(connection, "batches") <= len(before) + 2
    await save_serially(second, serial)
    found, expected = await dump(connection, without=KEYS), await dump(second, without=KEYS)
    for table in expected:
        assert sorted(found[table]) == sorted(expected[table]), table


async def test_their_rows_stand_behind_those_of_the_last_command(migrated, connection):
    serial = long_loop()
    await pin_clock(connection)
    consumer, observer = consuming(migrated, serial)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        last = await append(connection, asked(serial))
        consumer.partition_duty.wake()
        await observer.until(lambda: observer.jobs.get("work") == len(ITEMS))
        nursery.cancel_scope.cancel()
    rows = await connection.execute("SELECT seq, request FROM event_log WHERE position = $1 ORDER BY seq", (last,))
    assert [seq for seq, _ in rows.rows] == list(range(len(rows.rows)))
    assert len(rows.rows) > 10
    assert {request for _, request in rows.rows[1:]} == {last}, "what they go back to"


async def test_whoever_fails_each_quantum_is_done_once(migrated, connection, second):
    """Commits fail, terms end; the command in the inbox goes on. The events give the tables again."""
    serial = long_loop()
    serial.cancel(serial.key)
    await pin_clock(connection)
    await connection.script(flaky("UPDATE ON process_instances"))
    consumer, observer = consuming(migrated, serial, poll_s=0.05)
    errors = []

    async def worked_off():
        if await command_log.forward(connection, 1, 100):
            consumer.partition_duty.wake()
        return await count(connection, "process_instances WHERE ended_at IS NULL") == 0

    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep_leading, consumer, errors)
        commands = asked(serial)
        await append(connection, commands[:-1])
        consumer.partition_duty.wake()
        await eventually(lambda: jobs_made(connection), every_s=0)
        last = await append(connection, commands[-1:])
        consumer.partition_duty.wake()
        await eventually(worked_off, every_s=0)
        await observer.until(lambda: last in observer.outcomes)
        nursery.cancel_scope.cancel()
    assert len(errors) > 5
    assert len(observer.terms) == len(errors) + 1
    await save_serially(second, serial)
    found, expected = await dump(connection, without=KEYS), await dump(second, without=KEYS)
    for table in expected:
        assert sorted(found[table]) == sorted(expected[table]), table
    await events_give_the_tables(connection)


async def jobs_made(connection):
    """All of them, although terms end: what is in the inbox moves on meanwhile."""
    await command_log.forward(connection, 1, 100)
    return await count(connection, "jobs") == len(ITEMS)


async def events_give_the_tables(connection):
    state, ended = State(1), set()
    rows = await connection.execute("SELECT position, events FROM event_log ORDER BY position, seq")
    replay(state, [[Recorded(position, PINNED_MS, decode_events(events)) for position, events in rows.rows]])
    known = await connection.execute("SELECT element_instance_key FROM element_instances WHERE ended_at IS NULL")
    assert set(state.elements) - ended == {key for (key,) in known.rows}


async def test_a_quantum_that_cannot_be_saved_is_found_and_harms_nobody_else(migrated, connection):
    serial = long_loop()
    await pin_clock(connection)
    await connection.script(REFUSED)
    consumer, observer = consuming(migrated, serial, poll_s=0.05)
    create = [(DEFAULT_TENANT, CreateInstance("small"))]

    async def rejected():
        if consumer.stats.poisoned and await command_log.forward(connection, 1, 100):
            consumer.partition_duty.wake()
        return await count(connection, "event_log WHERE rejection IS NOT NULL") == 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await append(connection, asked(serial))
        consumer.partition_duty.wake()
        await eventually(rejected, every_s=0)
        last = await append(connection, create)
        consumer.partition_duty.wake()
        await observer.until(lambda: last in observer.outcomes)
        nursery.cancel_scope.cancel()
    assert observer.outcomes[last].rejection is None
    assert consumer.stats.poisoned > 2, "a quantum, and the command that goes on with it in company and alone"
    assert await count(connection, "element_instances WHERE loop_index > 16") == 0
    assert await count(connection, "jobs") > 10


def lacking(monkeypatch, times):
    """A core whose deferred work lacks one thing after the other, so many times."""
    handler, tried = COMMANDS[ContinueWork], []

    def handle(command, view):
        tried.append(command)
        if len(tried) <= times:
            raise NotLoaded(Need(NeedKind.INSTANCE, len(tried)))
        return handler.handle(command, view)

    monkeypatch.setitem(COMMANDS, ContinueWork, replace(handler, handle=handle))


async def test_a_quantum_that_has_loaded_something_lets_commands_go_first(migrated, connection, monkeypatch):
    """It lacks something once. A command comes meanwhile, and the quantum has its turn after that."""
    monkeypatch.setattr(Quanta, "due", False)  # otherwise it can be its turn although commands wait
    serial = long_loop()
    await pin_clock(connection)
    consumer, observer = consuming(migrated, serial)
    lacking(monkeypatch, 1)
    fill, order, appended = loader.Loader.fill, [], []

    async def filled(self, needs):
        left_out = await fill(self, needs)
        if needs == [Need(NeedKind.INSTANCE, 1)]:
            own = await driver.connect(migrated, name="vivero test appender")
            appended.append(await append(own, [(DEFAULT_TENANT, CreateInstance("small"))]))
            own.close()
            consumer.partition_duty.wake()
        return left_out

    def committed(partition, watermark, outcomes, ended):
        order.append(watermark)
        tell(partition, watermark, outcomes, ended)

    tell, observer.committed = observer.committed, committed
    monkeypatch.setattr(loader.Loader, "fill", filled)
    last = await append(connection, asked(serial))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        consumer.partition_duty.wake()
        await observer.until(lambda: observer.jobs.get("work") == len(ITEMS))
        nursery.cancel_scope.cancel()
    assert appended
    assert order.count(last) == 1, "no quantum is committed between the commands"
    assert order.count(appended[0]) > 5
    assert observer.inbox_notices == 0, "it was not given up"


@pytest.mark.parametrize(("times", "jobs"), [(QUANTUM_ROUNDS - 1, 30), (QUANTUM_ROUNDS + 9, 30), (10**9, 0)])
async def test_work_that_lacks_one_thing_after_the_other_goes_on_or_is_an_incident(
    migrated, connection, monkeypatch, times, jobs
):
    """A quantum that lacks too much leaves the work to its command, which is told to hurry."""
    monkeypatch.setattr(term, "MOST_LOADS", 20)
    serial = long_loop()
    lacking(monkeypatch, times)
    await pin_clock(connection)
    consumer, observer = consuming(migrated, serial)

    async def settled():
        if observer.inbox_notices and await command_log.forward(connection, 1, 100):
            consumer.partition_duty.wake()
        return await count(connection, "jobs") == len(ITEMS) or await count(connection, "incidents") > 0

    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await append(connection, asked(serial))
        consumer.partition_duty.wake()
        await eventually(settled, every_s=0)
        nursery.cancel_scope.cancel()
    assert (observer.inbox_notices == 0) is (times < QUANTUM_ROUNDS)
    found = await connection.execute("SELECT process_instance_key, message FROM incidents")
    key = serial.key
    told = "the command needs more than 20 loads, the next one for INSTANCE"
    assert [(instance, told in message) for instance, message in found.rows] == ([] if jobs else [(key, True)])


async def test_commands_are_done_while_a_loop_without_end_goes_on(migrated, connection):
    """Neither waits for the other: the loop needs no command of its own, and each command has its turn."""
    serial = long_loop()
    endless = process(start("s"), script("again", "=1", "r"), "s > again > again", id="endless")
    serial.deploy(endless)
    await pin_clock(connection)
    consumer, observer = consuming(migrated, serial)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        last = await append(connection, [*asked(serial), (DEFAULT_TENANT, CreateInstance("endless"))])
        consumer.partition_duty.wake()
        await observer.reached(last)
        for _ in range(10):
            quanta = consumer.stats.quanta
            last = await append(connection, [(DEFAULT_TENANT, CreateInstance("small"))])
            consumer.partition_duty.wake()
            await observer.until(lambda last=last: last in observer.outcomes)
            await eventually(lambda quanta=quanta: more_quanta(consumer, quanta), every_s=0)
        query = "SELECT process_instance_key FROM process_instances WHERE process_id = 'endless'"
        (key,) = (await connection.execute(query)).rows[0]
        last = await append(connection, [(DEFAULT_TENANT, CancelInstance(key))])
        consumer.partition_duty.wake()
        await observer.until(lambda: last in observer.outcomes)
        nursery.cancel_scope.cancel()
    assert await count(connection, "command_log WHERE intent = $1", ContinueWork.intent) == 0


async def test_what_commands_take_counts_while_work_waits_and_their_commits_alone(migrated, connection, monkeypatch):
    """Their earlier time would let quanta follow each other while commands wait, and make each other longer."""
    noted = []

    class Noting(Quanta):
        def note_commands(self, began, now, deferred):
            assert began <= now
            noted.append(deferred)
            super().note_commands(began, now, deferred)

        def note_commit(self, took_s):
            noted.append("commit")
            super().note_commit(took_s)

    monkeypatch.setattr(term, "Quanta", Noting)
    serial = long_loop()
    await pin_clock(connection)
    consumer, observer = consuming(migrated, serial, batch_commands=1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        *deployments, create = asked(serial)
        await append(connection, [*deployments, create])
        consumer.partition_duty.wake()
        await observer.until(lambda: observer.jobs.get("work") == len(ITEMS))
        nursery.cancel_scope.cancel()
    assert consumer.stats.quanta > 10
    assert noted.count("commit") == len(deployments) + 1
    assert [one for one in noted if one != "commit"] == [False] * len(deployments) + [True]


async def more_quanta(consumer, than):
    return consumer.stats.quanta > than


@pytest.mark.parametrize("lacked", [0, 3])
async def test_what_is_read_for_a_quantum_does_not_make_the_next_one_shorter(migrated, connection, monkeypatch, lacked):
    """On a clock of the processor that only reading moves, before a quantum or in it."""
    used, worked = [0.0], []
    fill = load.fill

    class Noting(Quanta):
        def fit(self, now, worked_s, took_s, full):
            worked.append(worked_s)
            super().fit(now, worked_s, took_s, full)

    async def read(*given):
        used[0] += 1.0
        return await fill(*given)

    monkeypatch.setattr(term, "Quanta", Noting)
    monkeypatch.setattr(term, "thread_time", lambda: used[0])
    monkeypatch.setattr(loader, "thread_time", lambda: used[0])
    monkeypatch.setattr(load, "fill", read)
    serial = long_loop()
    lacking(monkeypatch, lacked)
    await pin_clock(connection)
    consumer, observer = consuming(migrated, serial)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await append(connection, asked(serial))
        consumer.partition_duty.wake()
        await observer.until(lambda: observer.jobs.get("work") == len(ITEMS))
        nursery.cancel_scope.cancel()
    assert used[0] > consumer.stats.quanta > 10
    assert set(worked) == {0.0}


async def test_no_keys_are_given_out_between_commands_that_were_not_set_aside(migrated, connection, monkeypatch):
    """Then the command goes on with the work: it saves the next key."""
    monkeypatch.setattr(committer, "RESERVED_KEYS", 0)
    serial = long_loop()
    await pin_clock(connection)
    consumer, observer = consuming(migrated, serial)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        last = await append(connection, asked(serial))
        while last is not None:
            consumer.partition_duty.wake()
            await observer.reached(last)
            last = await command_log.forward(connection, 1, 100)
        nursery.cancel_scope.cancel()
    assert consumer.stats.quanta == 0
    assert observer.jobs == {"work": len(ITEMS)}


# ---- the fence


def between(claim, used_to, *calls, epoch=None, position=None, told=True):
    """A batch between commands, of nothing but its fence and these statements."""
    at = claim.position if position is None else position
    fence = save.fence_between(claim.partition, epoch or claim.epoch, at, used_to, told)
    return [("BEGIN", ()), fence, *calls, ("COMMIT", ())]


MARK = ("INSERT INTO resources (sha256, bytes) VALUES ('mark', '')", ())


async def test_the_fence_lets_the_owner_through_again_and_again(connect, connection):
    writer = await connect()
    claim = await leadership.claim(writer, 1, "a")
    await writer.pipeline(between(claim, claim.next_key))
    await writer.pipeline(between(claim, claim.next_key, MARK))
    assert await count(connection, "resources") == 1
    assert await count(connection, "batches") == 1


@pytest.mark.parametrize("wrong", ["epoch", "position", "keys"])
async def test_a_quantum_of_another_owner_or_place_writes_nothing_and_steps_down(connect, connection, wrong):
    writer = await connect()
    claim = await leadership.claim(writer, 1, "a")
    if wrong == "epoch":
        await leadership.claim(await connect(), 1, "a")
    elif wrong == "position":
        await connection.execute(
            "INSERT INTO batches VALUES (1, $2::bigint, $2::bigint + 9, $1, 1)", (claim.next_key, claim.position)
        )
    used_to = claim.next_key + (wrong == "keys")
    with pytest.raises(SteppedDown):
        await writer.pipeline(between(claim, used_to, MARK))
    assert await count(connection, "resources") == 0


async def test_the_flush_is_left_to_the_next_batch_only_where_nobody_is_told(connect):
    writer = await connect()
    claim = await leadership.claim(writer, 1, "a")
    await writer.execute("SET synchronous_commit = on")
    ask = ("SELECT current_setting('synchronous_commit')", ())
    quiet = await writer.pipeline(between(claim, claim.next_key, ask, told=False))
    told = await writer.pipeline(between(claim, claim.next_key, ask))
    after = await writer.execute(*ask)
    assert [quiet[2].rows, told[2].rows, after.rows] == [[("off",)], [("on",)], [("on",)]]


async def test_the_lease_is_extended_without_a_flush(connect):
    """Batches wait for it."""
    writer = await connect()
    claim = await leadership.claim(writer, 1, "a")
    await writer.execute("SET synchronous_commit = on")
    async with writer.transaction():
        await leadership.renew(writer, claim)
        inside = await writer.execute("SELECT current_setting('synchronous_commit')")
    after = await writer.execute("SELECT current_setting('synchronous_commit')")
    assert (inside.rows, after.rows) == ([("off",)], [("on",)])


# ---- what is in memory


@pytest.fixture
async def terminating(connection):
    """A paged loop in the tables, whose cancellation has just begun; nothing of it is in memory."""
    serial = long_loop()
    await save_serially(connection, serial)
    state = State(1)
    processor = Processor(state, StepLimits(1, paged_from=0), serial.memory.find_model)
    await load.fill(connection, state, batch_needs(CancelInstance(serial.key)))
    processor.process(CommandRecord(1_000, DEFAULT_TENANT, CancelInstance(serial.key)), PINNED_MS)
    return serial, state


def batch_needs(command):
    return list(COMMANDS[type(command)].needs(command, DEFAULT_TENANT))


async def test_a_child_that_was_forgotten_is_read_again(connection, terminating):
    """Pages go on behind the last one, but not behind what is in memory no more."""
    serial, state = terminating
    (body,) = state.paged.values()
    await load.fill(connection, state, batch_needs(ContinueWork(serial.key)))
    first = list(body.children)
    assert len(first) == 4
    batches.close(state)
    state.begin_batch()
    for key in first[1:]:
        eviction.evict_part(state, state.parts[key])
    await load.fill(connection, state, batch_needs(ContinueWork(serial.key)))
    assert set(first) < set(body.children)
