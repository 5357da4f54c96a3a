"""Commands of items of batch operations declare what they need: a batch of the log takes them together.

A command that lacks something ends the batch before it, and each would be a transaction of its own.
"""

import pytest
import trio

from tests.core.event_models import model
from tests.core.models import end, start, task
from tests.engine.consumer.serial_runs import Serial, append, beat, make_consumer, pin_clock
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.jobs import FailJob
from vivero.engine.batch_operations.items import JobUpdatePlan, MigrationPlan, ModificationPlan, command_of
from vivero.storage.work.batch_operations import (
    CANCEL_PROCESS_INSTANCE,
    MIGRATE_PROCESS_INSTANCE,
    MODIFY_PROCESS_INSTANCE,
    RESOLVE_INCIDENT,
    RESUME_PROCESS_INSTANCE,
    SUSPEND_PROCESS_INSTANCE,
    UPDATE_JOB,
)

FILE = model(start(), task("one", inputs=[("=k", "x")]), task("two", inputs=[("=k", "y")]), end(), "start > one > two")
INSTANCES = 12


def target_of(serial):
    (key,) = serial.deploy(FILE.replace(b'type="two"', b'type="three"'))
    return key


ITEMS = {
    MIGRATE_PROCESS_INSTANCE: lambda serial: MigrationPlan(target_of(serial), (("one", "one"),)),
    MODIFY_PROCESS_INSTANCE: lambda _: ModificationPlan((("one", "two"),)),
    UPDATE_JOB: lambda _: JobUpdatePlan(priority=7),
    **dict.fromkeys(
        (CANCEL_PROCESS_INSTANCE, SUSPEND_PROCESS_INSTANCE, RESUME_PROCESS_INSTANCE, RESOLVE_INCIDENT), lambda _: None
    ),
}


@pytest.mark.parametrize("type", ITEMS)
async def test_items_are_handled_together_after_everything_was_evicted(migrated, connection, type):
    serial = Serial()
    serial.deploy(FILE)
    keys = [serial.start("p", k=number) for number in range(INSTANCES)]
    if type == RESUME_PROCESS_INSTANCE:
        for key in keys:
            serial.accepted(command_of(SUSPEND_PROCESS_INSTANCE, key))
    if type in (RESOLVE_INCIDENT, UPDATE_JOB):
        keys = list(serial.state.jobs)
    if type == RESOLVE_INCIDENT:
        for job in keys:
            serial.accepted(FailJob(job, 0))
        keys = list(serial.state.incidents)
    plan = ITEMS[type](serial)
    items = [(DEFAULT_TENANT, command_of(type, key, plan)) for key in keys]
    await pin_clock(connection)
    consumer, observer = make_consumer(migrated, serial.resources, cache_bytes=0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(await append(connection, serial.commands))
        lacked, batches = consumer.stats.not_loaded, consumer.stats.batches
        last = await append(connection, items)
        consumer.partition_duty.wake()
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert [outcome.rejection for position, outcome in observer.outcomes.items() if position > last - INSTANCES] == (
        [None] * INSTANCES
    )
    assert consumer.stats.not_loaded == lacked
    assert consumer.stats.batches - batches < INSTANCES / 2
