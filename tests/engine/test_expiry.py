"""Expired messages are deleted in pieces, by commands of the log."""

import trio
from consumer_bench import append, beat, make_consumer, pin_clock
from core_bench import raw

from engine.appender import Appended
from engine.core.memory import DEFAULT_TENANT
from engine.core.records import ExpireMessages, PublishMessage
from engine.expiry import Expiry, ExpirySettings


class Appender:
    """Takes what is to be appended, and puts it into the log."""

    def __init__(self, connection) -> None:
        self.connection = connection
        self.commands = []
        self.last = 0

    async def append(self, item, *, deadline_s):
        self.commands.append(item.command)
        self.last = await append(self.connection, [(item.tenant, item.command)])
        return Appended(self.last)


async def count(connection):
    return (await connection.execute("SELECT count(*) FROM messages")).rows[0][0]


async def test_what_has_expired_is_deleted_piece_by_piece(migrated, connection, connect):
    await pin_clock(connection, 1_000_000)
    said = [
        (DEFAULT_TENANT, PublishMessage("hello", f"k{ttl_ms}", ttl_ms, None, raw({"a": 1})))
        for ttl_ms in (100, 200, 300, 300, 400, 900)
    ]
    consumer, ears = make_consumer(migrated, {})
    appender = Appender(connection)
    expiry = Expiry(connect, appender, ExpirySettings(messages=2))
    reader = await connect()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await ears.reached(await append(connection, said))
        assert await count(connection) == 6
        assert not await expiry.run_once(reader, beat()), "nothing has expired"
        await pin_clock(connection, 1_000_400)
        left = []
        while await expiry.run_once(reader, beat()):
            consumer.wake()
            await ears.reached(appender.last)
            left.append(await count(connection))
        nursery.cancel_scope.cancel()
    reader.close()
    assert left == [4, 2, 1]
    assert appender.commands == [ExpireMessages(1_000_000 + ttl_ms) for ttl_ms in (200, 300, 400)]


async def test_a_command_that_is_under_way_is_not_appended_again_at_once(connection, connect):
    await pin_clock(connection, 1_000_000)
    await connection.execute(
        "INSERT INTO messages (message_key, partition_id, tenant_id, name, correlation_key, deadline_ms, variables,"
        " given) VALUES (1, 1, 't', 'n', 'k', 5, '{}', '{}'), (2, 2, 't', 'n', 'k', 3, '{}', '{}')"
    )
    appender = Appender(connection)
    expiry = Expiry(connect, appender)
    assert [await expiry.run_once(connection, beat()) for _ in range(3)] == [True, False, True]
    assert appender.commands == [ExpireMessages(5)] * 2, "lost ones come again after a while"
