"""A consumer works what its own node has appended without reading it back, and misses nothing of others."""

from random import Random
from uuid import uuid4

import trio
import trio.testing

from tests.core.message_models import model
from tests.core.models import end, start, task
from tests.engine.consumer.serial_runs import Serial, beat, dump, make_consumer, pin_clock, save_serially
from tests.eventually import eventually
from vivero.core.records.codec import encode_command
from vivero.core.records.instances import CreateInstance
from vivero.storage.log import command_log

PROCESS = model(start(), task("work"), end(), "start > work > end", id="p")


async def appended(connection, serial, first, last):
    """Append the serial run's commands of that range as one group; its segment."""
    entries = [
        command_log.LogEntry(tenant, command.intent, encode_command(command))
        for tenant, command in serial.commands[first:last]
    ]
    session = await command_log.begin(connection, uuid4(), 1)
    return (await command_log.append_segment(connection, session, 1, uuid4(), None, entries))[1]


def serial_run(instances):
    serial = Serial()
    serial.deploy(PROCESS)
    for _ in range(instances):
        serial.start("p")
    return serial


ZERO = 1 << 51
"""The position before the first."""


async def test_commands_of_this_node_are_not_read_back(migrated, connection):
    await pin_clock(connection)
    serial = serial_run(20)
    consumer, observer = make_consumer(migrated, serial.resources, poll_s=1_000)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await appended(connection, serial, 0, 1)
        consumer.partition_duty.wake()
        await observer.reached(ZERO + 1)
        reads = consumer.stats.reads + 1  # the one that finds nothing more
        for number in range(1, len(serial.commands)):
            segment = await appended(connection, serial, number, number + 1)
            assert consumer.partition_duty.take(segment)
            await observer.reached(segment.batch.rows[-1].position)
        assert consumer.stats.reads <= reads
        assert consumer.stats.commands == 21
        nursery.cancel_scope.cancel()


async def test_nothing_of_others_is_missed_or_overtaken(migrated, connection, second):
    await pin_clock(connection)
    random = Random(7)
    serial = serial_run(150)
    consumer, observer = make_consumer(migrated, serial.resources, poll_s=1_000, batch_commands=7)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.until(lambda: observer.terms)
        first = 0
        while first < len(serial.commands):
            last = min(first + random.randrange(1, 10), len(serial.commands))
            segment = await appended(connection, serial, first, last)
            if random.random() < 0.6 and last < len(serial.commands):
                consumer.partition_duty.take(segment)
            elif random.random() < 0.5 or last == len(serial.commands):
                consumer.partition_duty.wake()
            first = last
        await observer.reached(segment.batch.rows[-1].position)
        nursery.cancel_scope.cancel()
    await save_serially(second, serial)
    assert await dump(connection) == await dump(second)


async def test_what_is_read_ahead_may_end_within_a_segment(migrated, connection):
    """The rest of that segment needs nobody to wake the consumer."""
    await pin_clock(connection)
    serial = serial_run(15)
    consumer, observer = make_consumer(migrated, serial.resources, poll_s=1_000, batch_commands=7)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await appended(connection, serial, 0, 1)
        await observer.until(lambda: observer.terms)
        consumer.partition_duty.wake()

        async def knows_that_there_is_no_more():
            await trio.testing.wait_all_tasks_blocked(0.01)
            return observer.watermark >= ZERO + 1 and not consumer.partition_duty.must_read_log

        await eventually(knows_that_there_is_no_more, every_s=0)
        sizes = [7, 4, 4]
        firsts = [1 + sum(sizes[:number]) for number in range(len(sizes))]
        segments = [
            await appended(connection, serial, first, first + size) for first, size in zip(firsts, sizes, strict=True)
        ]
        for segment in segments:
            assert consumer.partition_duty.take(segment)
        await observer.reached(ZERO + 16)
        nursery.cancel_scope.cancel()


async def test_a_consumer_that_does_not_lead_takes_nothing(migrated, connection):
    serial = serial_run(1)
    consumer, _ = make_consumer(migrated, serial.resources)
    assert not consumer.partition_duty.take(await appended(connection, serial, 0, 1))


async def test_a_tail_tells_what_is_new_and_behind_what_it_stands(migrated, connection):
    def create(key=None):
        command = CreateInstance("p")
        payload = encode_command(command)
        return command_log.LogEntry("t", command.intent, payload, key=key, sha=None if key is None else "00" * 32)

    session = await command_log.begin(connection, uuid4(), 1)
    _, segment = await command_log.append_segment(connection, session, 1, uuid4(), None, [create(), create("k")])
    assert (segment.behind, [row.position for row in segment.batch.rows]) == (ZERO, [ZERO + 1, ZERO + 2])
    assert segment.batch.rows[0].payload == encode_command(CreateInstance("p"))
    _, segment = await command_log.append_segment(connection, session, 1, uuid4(), None, [create("k"), create()])
    assert (segment.behind, len(segment.batch.rows)) == (ZERO + 2, 1)
    assert (await command_log.append_segment(connection, session, 1, uuid4(), None, [create("k")]))[1] is None
    known, again = segment.batch.rows[-1].position, uuid4()
    await command_log.append_segment(connection, session, 1, again, None, [create()])
    assert (await command_log.append_segment(connection, session, 1, again, known, [create()]))[1] is None
