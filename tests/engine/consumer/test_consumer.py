"""The log consumer on PostgreSQL: what it leaves in the tables is what a serial run in memory comes to."""

from random import Random

import pytest
import trio

from tests.core.engine import raw
from tests.core.models import ONE_TASK
from tests.engine.consumer.serial_runs import (
    Serial,
    append,
    beat,
    dump,
    event_log,
    expected_event_log,
    make_consumer,
    mixed_runs,
    pin_clock,
    save_serially,
    work_off,
)
from vivero.core.records.codec import decode_events
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.core.replay import Recorded, replay
from vivero.core.state.state import State
from vivero.storage.postgres.queries import label
from vivero.storage.state import save
from vivero.storage.state.saved_rows import RowsByType
from vivero.storage.work import activation
from vivero.storage.work.activation import ActivationRequest


@pytest.fixture
def serial(seed):
    """A serial run of three random processes whose commands are mixed."""
    return mixed_runs(range(seed, seed + 3), Random(seed))


async def test_a_log_is_worked_off_to_what_a_serial_run_comes_to(migrated, connection, second, serial):
    _, observer = await work_off(migrated, connection, serial)
    await save_serially(second, serial)
    assert await dump(connection, without={"version"}) == await dump(second, without={"version"})
    assert await event_log(connection) == expected_event_log(serial)
    positions = [logged.position for logged in serial.memory.log]
    assert observer.received == positions, "each command is answered once, in order"
    for logged in serial.memory.log:
        assert observer.outcomes[logged.position].rejection == logged.handled[0].rejection
    roots = [row for (table, _), row in serial.rows.items() if table == "Instance" and row["parent_instance"] is None]
    states = [row["state"] for row in roots]
    assert sorted(end.state for end in observer.ended) == sorted(state for state in states if state != "ACTIVATED")


@pytest.mark.long
@pytest.mark.parametrize("commands", [1, 7])
async def test_evicting_everything_changes_nothing(migrated, connection, second, serial, commands):
    """One command at a time, each when the one before is committed and everything has been evicted."""
    await pin_clock(connection)
    consumer, observer = make_consumer(migrated, serial.resources, cache_bytes=0, batch_commands=commands, poll_s=5)
    log = serial.commands
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        for first in range(0, len(log), commands):
            last = await append(connection, log[first : first + commands])
            consumer.partition_duty.wake()
            await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert consumer.stats.evicted > len(log) / commands / 6  # what ended, or was still on its way, is not evicted
    await save_serially(second, serial)
    assert await dump(connection, without={"version"}) == await dump(second, without={"version"})
    assert await event_log(connection) == expected_event_log(serial)


async def test_the_replay_of_the_event_log_gives_the_tables(migrated, connection, second, serial):
    await work_off(migrated, connection, serial, batch_commands=9)
    ends = [
        to
        for (to,) in (
            await connection.execute("SELECT to_pos FROM batches WHERE to_pos > 1::bigint << 51 ORDER BY 1")
        ).rows
    ]
    assert len(ends) >= len(serial.commands) / 9
    rows = await connection.execute(
        "SELECT position, to_epoch_ms(processed_at), events::text FROM event_log ORDER BY position, seq"
    )
    batches = {end: [] for end in ends}
    for position, now, events in rows.rows:
        batches[next(end for end in ends if end >= position)].append(Recorded(position, now, decode_events(events)))
    state = State(1)
    statements = []

    def saved():
        statements.append(list(save.statements_of(state, RowsByType(state), [], [], 0)))
        State.begin_batch(state)

    state.begin_batch = saved
    replay(state, batches.values())
    for calls in statements:
        await second.pipeline([("BEGIN", ()), *calls, ("COMMIT", ())])
    assert await dump(connection) == await dump(second)


@pytest.mark.parametrize("cache_bytes", [0, 48_000_000])
async def test_statements_per_batch_do_not_depend_on_its_size(migrated, connection, monkeypatch, cache_bytes):
    """Creations, and then what ends them, in batches of 4, 40 and 400 commands: reads and writes alike."""
    monkeypatch.setattr("vivero.engine.consumer.batch.COMPUTE_S", 60)
    serial = Serial()
    serial.deploy(ONE_TASK)
    base = await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources, cache_bytes=cache_bytes, poll_s=5)
    counter = Counter(consumer)
    statements = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(base)
        for size in (4, 40, 400):
            for log in (create(serial, size), finish(serial)):
                before, batches = counter.statements, consumer.stats.batches
                last = await append_at_once(connection, log)
                consumer.partition_duty.wake()
                await observer.reached(last)
                assert consumer.stats.batches == batches + 1
                statements.append(counter.statements - before)
        nursery.cancel_scope.cancel()
    assert (consumer.stats.evicted > 0) == (cache_bytes == 0)
    assert statements == statements[:2] * 3
    assert max(statements) <= 21


_CREATED = "fence event_log new_instances new_elements new_variables new_jobs element_count_changes"
_COMPLETED = "fence event_log instances new_elements elements new_variables ended_jobs element_count_changes"
CREATED, COMPLETED = ([f"save.{name}" for name in names.split()] for names in (_CREATED, _COMPLETED))


async def test_one_command_takes_what_it_changes_and_one_pipeline(migrated, connection):
    """A tree in memory is not loaded, and there is no statement without rows, no BEGIN, no COMMIT."""
    serial = Serial()
    serial.deploy(ONE_TASK)
    base = await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources, poll_s=1_000)
    counter = Counter(consumer)
    asked = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(base)
        for commands in (create(serial, 1), create(serial, 1), finish(serial)[:1]):
            counter.names.clear()
            last = await append(connection, commands)
            consumer.partition_duty.wake()
            await observer.reached(last)
            asked.append(list(counter.names))
        nursery.cancel_scope.cancel()
    assert asked[1:] == [[CREATED], [COMPLETED]]


def create(serial, count):
    before = len(serial.memory.log)
    for number in range(count):
        serial.start(a=number, b=[2])
    return serial.commands[before:]


def finish(serial):
    """Complete every other instance, cancel the rest."""
    before = len(serial.memory.log)
    for number, key in enumerate(list(serial.state.trees)):
        if number % 2:
            serial.cancel(key)
        else:
            serial.complete_at(key, "p/work", {"c": 3})
    return serial.commands[before:]


async def append_at_once(connection, commands):
    """In one transaction, so that a batch sees all or nothing."""
    async with connection.transaction():
        return await append(connection, commands)


class Counter:
    """Counts the statements of a consumer's connections, but for reading the log and for its lease."""

    def __init__(self, consumer) -> None:
        self.statements = 0
        self.names: list[list[str]] = []
        """The names of each pipeline."""
        connect = consumer._connect

        async def counted(name):
            connection = await connect(name)
            self._wrap(connection)
            return connection

        consumer._connect = counted

    def _wrap(self, connection):
        execute, pipeline, start = connection.execute, connection.pipeline, connection.start_pipeline

        async def counted_execute(query, *arguments, **options):
            name = getattr(query, "name", "")
            self.statements += name != "log_batches.read_batch" and not name.startswith("leadership.")
            return await execute(query, *arguments, **options)

        async def counted_pipeline(calls, **options):
            self._count(calls)
            return await pipeline(calls, **options)

        def counted_start(calls):
            self._count(calls)
            return start(calls)

        connection.execute, connection.pipeline = counted_execute, counted_pipeline
        connection.start_pipeline = counted_start

    def _count(self, calls):
        self.statements += len(calls)
        self.names.append([label(query) for query, _ in calls])


async def test_a_job_lost_to_a_new_lease_cannot_be_completed(migrated, connection):
    """The lease is read with each batch, although the tree is in memory all the time."""
    serial = Serial()
    serial.deploy(ONE_TASK)
    serial.start()
    job = serial.job("work").key
    await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached((1 << 51) + 2)
        first, second = [await lease(connection, job) for _ in range(2)]
        last = await append(connection, [("<default>", CompleteJob(job, lease=token)) for token in (first, second)])
        consumer.partition_duty.wake()
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert observer.outcomes[(1 << 51) + 3].rejection.code == "INVALID_STATE"
    assert observer.outcomes[(1 << 51) + 4].rejection is None


async def lease(connection, job):
    await connection.execute("UPDATE jobs SET ready = true WHERE job_key = $1", (job,))
    (given,) = (await activation.activate(connection, ActivationRequest("work", "<default>", 1, 60_000, "w"))).leases
    return given.token


async def test_a_model_that_is_not_in_memory_is_waited_for(migrated, connection):
    serial = Serial()
    serial.deploy(ONE_TASK)
    serial.start()
    await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources)
    consumer.definitions.cold.update(serial.resources)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached((1 << 51) + 2)
        nursery.cancel_scope.cancel()
    assert observer.outcomes[(1 << 51) + 2].rejection is None
    assert consumer.stats.not_loaded == 1


async def test_parsing_a_large_model_is_no_hang_on_a_slow_machine(migrated, connection):
    """10,000 nodes take two seconds of a processor, and so ten of a fifth of one. A thread cannot be cancelled."""
    serial = Serial()
    serial.deploy(ONE_TASK)
    serial.start()
    await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources)
    models, sign, excused_s = consumer.definitions, beat(), []
    models.cold.update(serial.resources)
    resource = models.resource

    async def slowly(sha256, reader):
        excused_s.append(next(after for after in range(3600) if not still_excused(sign, after)))
        return await resource(sha256, reader)

    models.resource = slowly
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, sign)
        await observer.reached((1 << 51) + 2)
        nursery.cancel_scope.cancel()
    assert excused_s
    assert min(excused_s) >= 30


def still_excused(sign, seconds):
    """Whether somebody who is silent for so long from now on would still wait, as far as is known."""
    return max(sign._deadlines) > trio.current_time() + seconds


async def test_a_model_that_cannot_be_had_rejects_its_command_only(migrated, connection):
    serial = Serial()
    serial.deploy(ONE_TASK)
    serial.start()
    last = await append(connection, [*serial.commands, ("<default>", CancelInstance(77))])
    consumer, observer = make_consumer(migrated, {})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert observer.outcomes[(1 << 51) + 1].rejection is None
    assert observer.outcomes[(1 << 51) + 2].rejection.code == "PROCESSING_ERROR"
    assert observer.outcomes[(1 << 51) + 3].rejection.code == "NOT_FOUND"


async def test_another_nodes_deployment_is_seen_with_the_next_batch(migrated, connection):
    """`definitions_seq` moved without us: what is known of definitions is dropped and read again."""
    serial = Serial()
    serial.deploy(ONE_TASK)
    await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached((1 << 51) + 1)
        async with connection.transaction():
            await connection.execute("UPDATE process_definitions SET state = 'DELETED'")
            await connection.execute("UPDATE definitions_seq SET n = n + 1")
        last = await append(connection, [("<default>", CreateInstance("p", variables=raw({})))])
        consumer.partition_duty.wake()
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert observer.outcomes[last].rejection.code == "NOT_FOUND"
