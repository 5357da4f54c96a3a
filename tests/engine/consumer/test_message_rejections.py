"""Messages that the database rejects or that cannot be loaded leave no lock and no wait."""

from typing import Any

import pytest
import trio

from tests.core.engine import raw
from tests.core.message_models import message, model, receive, starts
from tests.core.models import end, start, task
from tests.engine.consumer.serial_runs import Serial, append, beat, make_consumer, pin_clock
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.codec import decode_command
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.messages import CorrelateMessage, PublishMessage
from vivero.engine.definitions.cache import UnreadableResource

STARTED = model(
    starts("begun", "b"), task("work"), end(), "begun > work > end", roots=(message("begin", None, "b"),), id="started"
)
WAITS = model(start(), receive(), end(), "start > receive > end", id="waits")
NUL = {"a\0b": 1}
"""A name that no column of text can hold. A value can: it is kept as JSON."""


@pytest.fixture
async def worked(migrated, connection):
    """Has commands worked off, and whatever they send for later; answers what the last one came to."""
    await pin_clock(connection)
    serial = Serial()
    serial.deploy(STARTED, WAITS)
    consumer, observer = make_consumer(migrated, serial.resources, poll_s=5)

    class Work:
        definitions = consumer.definitions

        async def __call__(self, *commands) -> Any:
            last = await append(connection, [(DEFAULT_TENANT, command) for command in commands])
            consumer.partition_duty.wake()
            await observer.reached(last)
            while sent := await _sent(connection):
                last_sent = await _append_sent(connection, sent)
                consumer.partition_duty.wake()
                await observer.reached(last_sent)
            return observer.outcomes.get(last)

    work = Work()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await work(*(command for _, command in serial.commands))
        yield work
        nursery.cancel_scope.cancel()


async def _sent(connection):
    return (await connection.execute("DELETE FROM inbox RETURNING tenant_id, intent, payload, request")).rows


async def _append_sent(connection, rows):
    for tenant, intent, payload, request in rows:
        last = await append(connection, [(tenant, decode_command(intent, bytes(payload)))])
        await connection.execute("UPDATE command_log SET request = $1 WHERE position = $2", (request, last))
    return last


async def locks(connection):
    return (await connection.execute("SELECT count(*) FROM start_locks")).rows[0][0]


@pytest.mark.parametrize("way", [PublishMessage, CorrelateMessage])
async def test_a_start_that_cannot_be_saved_leaves_no_lock(worked, connection, way):
    outcome = await worked(way("begin", "x", variables=raw(NUL)))
    if way is CorrelateMessage:
        assert outcome.rejection.code == "PROCESSING_ERROR"
    assert await locks(connection) == 0
    await worked(PublishMessage("begin", "x", variables=raw({"b": 1})))
    assert await locks(connection) == 1
    assert (await connection.execute("SELECT process_id, state FROM process_instances")).rows == [
        ("started", "ACTIVATED")
    ]


async def test_a_start_whose_model_cannot_be_read_leaves_no_lock(worked, connection):
    async def unreadable(sha256, _connection):
        raise UnreadableResource(sha256)

    models = worked.definitions
    readable, models.resource = models.resource, unreadable
    models.cold.update(models.resources)
    outcome = await worked(CorrelateMessage("begin", "x"))
    assert outcome.rejection.code == "PROCESSING_ERROR"
    assert await locks(connection) == 0
    models.resource = readable
    assert (await worked(CorrelateMessage("begin", "x"))).rejection is None
    assert await locks(connection) == 1


async def test_a_message_that_cannot_be_saved_with_its_instance_waits_in_an_incident(worked, connection):
    key = (await worked(CreateInstance("waits", variables=raw({"k": "x"})))).response
    outcome = await worked(CorrelateMessage("hello", "x", raw(NUL)))
    assert outcome.rejection.code == "PROCESSING_ERROR"
    rows = (await connection.execute("SELECT stage, state, process_instance_key FROM incidents")).rows
    assert [(stage, state) for stage, state, _ in rows] == [("command", "ACTIVE")]
    assert str(rows[0][2]).encode() in key
    await worked(CancelInstance(rows[0][2]))
    for table in ("channel_subscriptions", "start_locks"):
        assert (await connection.execute(f"SELECT count(*) FROM {table}")).rows == [(0,)]
