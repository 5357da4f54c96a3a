"""Expired messages are deleted in pieces, beside the log."""

import pytest
import trio

from tests.core.engine import raw
from tests.engine.consumer.serial_runs import append, beat, make_consumer, pin_clock
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.messages import PublishMessage
from vivero.engine.retention.chore_settings import ExpirySettings
from vivero.storage.state import message_channels

NOW_MS = 1_000_000


@pytest.fixture
async def published(migrated, connection):
    """Messages with these times to live (ms), published now; then the clock stands so much later."""
    await pin_clock(connection, NOW_MS)
    consumer, observer = make_consumer(migrated, {})

    async def publish(*times, later_ms):
        said = [
            (DEFAULT_TENANT, PublishMessage("hello", f"{number}:{ttl_ms}", ttl_ms, None, raw({"a": 1})))
            for number, ttl_ms in enumerate(times)
        ]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(consumer.run, beat())
            await observer.reached(await append(connection, said))
            nursery.cancel_scope.cancel()
        await pin_clock(connection, NOW_MS + later_ms)

    return publish


async def left(connection):
    """Times to live of what is there."""
    rows = (await connection.execute("SELECT correlation_key FROM messages ORDER BY message_key")).rows
    return [int(key.split(":")[1]) for (key,) in rows]


EXPIRY = ExpirySettings(messages=2, pause_s=0)


async def epoch(connection):
    return (await connection.execute("SELECT epoch FROM partitions WHERE id = 1")).rows[0][0]


async def test_each_statement_deletes_a_bounded_number_the_first_first(published, connection):
    await published(300, 100, 900, 401, 200, 400, later_ms=400)
    term = await epoch(connection)
    assert await message_channels.expire(connection, 1, term, 2) == 2
    assert await left(connection) == [300, 900, 401, 400]
    assert await message_channels.expire(connection, 1, term, 2) == 2
    assert await message_channels.expire(connection, 1, term, 2) == 0
    assert await left(connection) == [900, 401]


async def test_however_many_expire_at_one_moment_all_are_deleted(published, connection, do_chore):
    await published(*[100] * 7, 101, later_ms=100)
    await do_chore("expired-messages", expiry=EXPIRY)
    assert await left(connection) == [101]


async def test_a_batch_that_holds_a_message_is_not_waited_for(published, connection, connect, do_chore):
    await published(100, 200, later_ms=400)
    holder = await connect()
    async with holder.transaction():
        await holder.execute("UPDATE messages SET given = '{p}' WHERE deadline_ms = $1", (NOW_MS + 100,))
        await do_chore("expired-messages", expiry=EXPIRY)
        assert await left(connection) == [100]
    holder.close()
    await do_chore("expired-messages", expiry=EXPIRY)
    assert await left(connection) == []


async def test_another_partition_and_an_earlier_term_delete_nothing(published, connection, do_chore):
    await published(100, later_ms=400)
    await connection.script("INSERT INTO partitions (id, epoch) VALUES (2, 1)")
    await do_chore("expired-messages", partition=2)
    await do_chore("expired-messages", epoch=await epoch(connection) - 1)
    assert await left(connection) == [100]


@pytest.mark.parametrize("wrong", [{"messages": 0}, {"every_s": 0}])
def test_what_cannot_be_set(wrong):
    with pytest.raises(ValueError, match="messages must be at least 1"):
        ExpirySettings(**wrong)


async def test_pending_starts_are_given_up_by_the_owner_of_a_partition(migrated, connection, do_chore):
    """A start lock has no deadline, and stays."""
    await pin_clock(connection, NOW_MS)
    await connection.script(
        "INSERT INTO start_locks (process_instance_key, tenant_id, correlation_key, process_id, element_id, kept,"
        f" deadline_ms) VALUES (1, 't', 'k', 'p', 's', '[]', {NOW_MS}), (2, 't', 'k', 'q', 's', '[]', {NOW_MS + 1}),"
        " (3, 't', 'k', 'r', NULL, NULL, NULL); UPDATE partitions SET epoch = 5 WHERE id = 1"
    )
    await message_channels.expire(connection, 1, 4, 2)
    assert await locks(connection) == [1, 2, 3]
    await message_channels.expire(connection, 1, 5, 2)
    assert await locks(connection) == [2, 3]


async def locks(connection):
    rows = (await connection.execute("SELECT process_instance_key FROM start_locks ORDER BY 1")).rows
    return [key for (key,) in rows]
