"""Expired messages are deleted in pieces, beside the log."""

import pytest
import trio

from tests.core.bench import raw
from tests.runtime.consumer.bench import append, beat, make_consumer, pin_clock
from vivero.engine.core.records.base import DEFAULT_TENANT
from vivero.engine.core.records.messages import PublishMessage
from vivero.engine.runtime.expiry import Expiry, ExpirySettings

NOW_MS = 1_000_000


@pytest.fixture
async def published(migrated, connection):
    """Messages with these times to live (ms), published now; then the clock stands so much later."""
    await pin_clock(connection, NOW_MS)
    consumer, ears = make_consumer(migrated, {})

    async def publish(*times, later_ms):
        said = [
            (DEFAULT_TENANT, PublishMessage("hello", f"{number}:{ttl_ms}", ttl_ms, None, raw({"a": 1})))
            for number, ttl_ms in enumerate(times)
        ]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(consumer.run, beat())
            await ears.reached(await append(connection, said))
            nursery.cancel_scope.cancel()
        await pin_clock(connection, NOW_MS + later_ms)

    return publish


async def left(connection):
    """Times to live of what is there."""
    rows = (await connection.execute("SELECT correlation_key FROM messages ORDER BY message_key")).rows
    return [int(key.split(":")[1]) for (key,) in rows]


async def test_what_has_expired_is_deleted_piece_by_piece_the_first_first(published, connection, connect):
    await published(300, 100, 900, 401, 200, 400, later_ms=400)
    expiry = Expiry(connect, ExpirySettings(messages=2))
    assert await expiry.run_once(connection, beat()), "there may be more"
    assert await left(connection) == [300, 900, 401, 400]
    assert await expiry.run_once(connection, beat())
    assert not await expiry.run_once(connection, beat())
    assert await left(connection) == [900, 401]
    assert expiry.deleted == 4


async def test_however_many_expire_at_one_moment_each_piece_is_small(published, connection, connect):
    await published(*[100] * 7, 101, later_ms=100)
    expiry = Expiry(connect, ExpirySettings(messages=3))
    counts = []
    while await expiry.run_once(connection, beat()):
        counts.append(expiry.deleted)
    assert counts == [3, 6]
    assert await left(connection) == [101]


async def test_a_batch_that_holds_a_message_is_not_waited_for(published, connection, connect):
    await published(100, 200, later_ms=400)
    holder = await connect()
    async with holder.transaction():
        await holder.execute("UPDATE messages SET given = '{p}' WHERE deadline_ms = $1", (NOW_MS + 100,))
        await Expiry(connect).run_once(connection, beat())
        assert await left(connection) == [100]
    holder.close()
    await Expiry(connect).run_once(connection, beat())
    assert await left(connection) == []


async def test_another_partition_looks_after_its_own(published, connection, connect):
    await published(100, later_ms=400)
    assert not await Expiry(connect, partitions=lambda: (2,)).run_once(connection, beat())
    assert await left(connection) == [100]


async def test_the_task_deletes_all_there_is(published, connection, connect):
    await published(*[100] * 5, 900, later_ms=400)
    done = trio.Event()

    class Counting(Expiry):
        async def run_once(self, connection, beat):
            busy = await super().run_once(connection, beat)
            if not busy:
                done.set()
            return busy

    async with trio.open_nursery() as nursery:
        nursery.start_soon(Counting(connect, ExpirySettings(messages=2, pause_s=0)).run, beat())
        with trio.fail_after(20):
            await done.wait()
        nursery.cancel_scope.cancel()
    assert await left(connection) == [900]


async def test_a_node_without_the_lock_of_the_chores_deletes_nothing(published, connection, connect):
    await published(100, later_ms=400)
    asked = trio.Event()

    def partitions():
        asked.set()
        return ()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(Expiry(connect, partitions=partitions).run, beat())
        with trio.fail_after(20):
            await asked.wait()
        nursery.cancel_scope.cancel()
    assert await left(connection) == [100]


def test_what_cannot_be_set():
    with pytest.raises(ValueError, match="messages must be at least 1"):
        ExpirySettings(messages=0)
