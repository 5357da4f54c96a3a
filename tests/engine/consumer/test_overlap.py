"""A batch is computed while the one before it commits: what that one changed is served from memory, not from tables.

Commits are held up by a deferred trigger that waits for a lock of the test's.
"""

from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from tests.core.engine import raw
from tests.core.models import ONE_TASK
from tests.engine.consumer.serial_runs import Serial, append, beat, make_consumer
from tests.engine.consumer.test_own_appends import appended
from tests.eventually import eventually
from vivero.core.records.catalogue import Deploy
from vivero.core.records.codec import decode_command, encode_command
from vivero.core.records.instances import CancelInstance, CreateInstance, SetVariables
from vivero.core.records.jobs import CompleteJob

TENANT = "<default>"
GATE = 4_712

HELD_UP = f"""
CREATE FUNCTION held_up() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_advisory_xact_lock_shared({GATE});
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER held_up AFTER INSERT ON batches DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION held_up();
"""


@pytest.fixture
def serial():
    """A deployment and an instance."""
    serial = Serial()
    serial.deploy(ONE_TASK)
    serial.key = serial.start(a=1)
    return serial


@asynccontextmanager
async def gate(connection):
    """No batch can commit in here."""
    await connection.execute(f"SELECT pg_advisory_lock({GATE})")
    yield
    await connection.execute(f"SELECT pg_advisory_unlock({GATE})")


async def computed(consumer, position):
    """Wait until the command at `position` has been handled, whether or not anything is committed."""

    def is_computed():
        term = consumer.partition_duty.term
        return term is not None and term._state.position >= position

    await eventually(is_computed, every_s=0)


async def run(migrated, connection, serial, first, second):
    """`first`, and while that commits, `second`, each a batch; with nothing kept in memory that need not be.

    The rejections of both, None for each that was processed.
    """
    await connection.script(HELD_UP)
    base = await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources, cache_bytes=0, batch_commands=1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(base)
        consumer.partition_duty.wake()
        await eventually(lambda: consumer.stats.evicted > 0)  # a turn that began before that commit has evicted nothing
        async with gate(connection):
            last = await append(connection, [(TENANT, first), (TENANT, second)])
            consumer.partition_duty.wake()
            await computed(consumer, last)
            assert observer.watermark == base, "nothing was committed meanwhile"
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    return [observer.outcomes[position].rejection for position in (last - 1, last)]


async def test_what_is_being_committed_is_not_evicted(migrated, connection, serial):
    changed = SetVariables(serial.key, raw({"a": 2}))
    rejections = await run(migrated, connection, serial, changed, CancelInstance(serial.key))
    assert rejections == [None, None]
    rows = await connection.execute("SELECT state, version FROM process_instances")
    assert rows.rows == [("TERMINATED", 3)], "created, changed, cancelled: a tree that was read again forgets one"


async def test_what_is_being_created_can_be_worked_on(migrated, connection, serial):
    """The new instance's job is in no table yet; its key is known from the serial run."""
    before = serial.state.next_key
    serial.start(a=2)
    job = next(key for key in serial.state.jobs if key > before)
    create = serial.memory.log.pop().command
    rejections = await run(migrated, connection, serial, create, CompleteJob(job))
    assert rejections == [None, None]


async def test_what_is_being_ended_is_not_read_again(migrated, connection, serial):
    """The tables still show it alive."""
    job = serial.job("work").key
    rejections = await run(migrated, connection, serial, CompleteJob(job), SetVariables(serial.key, raw({"a": 2})))
    assert rejections[0] is None
    assert rejections[1].code == "NOT_FOUND"
    assert (await connection.execute("SELECT state FROM process_instances")).rows == [("COMPLETED",)]
    assert (await connection.execute("SELECT value FROM variables")).rows == [("1",)]


async def test_what_is_being_ended_cannot_be_ended_again(migrated, connection, serial):
    job = serial.job("work").key
    rejections = await run(migrated, connection, serial, CompleteJob(job), CancelInstance(serial.key))
    assert rejections[1].code == "NOT_FOUND"
    assert (await connection.execute("SELECT state FROM process_instances")).rows == [("COMPLETED",)]


async def test_what_is_being_deployed_can_be_started(migrated, connection, serial):
    deploy = serial.commands[0][1]
    again = decode_command(Deploy.intent, encode_command(deploy).replace(b"p.bpmn", b"q.bpmn"))
    rejections = await run(migrated, connection, serial, again, CreateInstance("p"))
    assert rejections == [None, None]
    rows = await connection.execute("SELECT process_version FROM process_instances ORDER BY process_instance_key")
    assert rows.rows == [(1,), (2,)]


async def test_a_batch_is_computed_while_the_one_before_it_commits(migrated, connection, serial):
    """And only one: the third waits until the first is known."""
    await connection.script(HELD_UP)
    base = await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources, batch_commands=1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(base)
        async with gate(connection):
            last = await append(connection, [(TENANT, CreateInstance("p"))] * 3)
            consumer.partition_duty.wake()
            await computed(consumer, last - 1)
            with trio.move_on_after(0.05):
                await computed(consumer, last)
            assert consumer.partition_duty.term._state.position == last - 1
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert (await connection.execute("SELECT count(*) FROM process_instances")).rows == [(4,)]


@asynccontextmanager
async def two_segments(migrated, connection, serial, is_coming):
    """A consumer that has got two segments of its node, one after the other, during a commit; `is_coming` tells it of
    appends that are under way."""
    serial.start(a=2)
    serial.start(a=3)
    await connection.script(HELD_UP)
    consumer, observer = make_consumer(migrated, serial.resources, poll_s=1_000)
    consumer.coming = lambda: is_coming
    count = len(serial.commands)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        base = (await appended(connection, serial, 0, count - 2)).batch.rows[-1].position
        consumer.partition_duty.wake()
        await observer.reached(base)
        await eventually(lambda: not consumer.partition_duty.must_read_log, every_s=0)
        async with gate(connection):
            for number in (count - 2, count - 1):
                assert consumer.partition_duty.take(await appended(connection, serial, number, number + 1))
                await trio.testing.wait_all_tasks_blocked()
                await computed(consumer, base + 1)
            if is_coming:
                await computed(consumer, base + 2)
            yield consumer.partition_duty.term.suspicion.last - base
            assert observer.watermark == base, "nothing was committed meanwhile"
        await observer.reached(base + 2)
        nursery.cancel_scope.cancel()


async def test_the_commit_of_a_lone_batch_needs_no_task(migrated, connection, serial):
    """The term itself waits for it: a command that comes meanwhile is computed after the commit, and not lost."""
    async with two_segments(migrated, connection, serial, is_coming=False) as begun:
        assert begun == 1
    assert (await connection.execute("SELECT count(*) FROM process_instances")).rows == [(3,)]


async def test_a_batch_is_not_alone_while_commands_are_being_appended(migrated, connection, serial):
    async with two_segments(migrated, connection, serial, is_coming=True) as begun:
        assert begun == 2
    assert (await connection.execute("SELECT count(*) FROM process_instances")).rows == [(3,)]
