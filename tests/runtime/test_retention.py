"""What ended long ago is deleted, the oldest first and in pieces; what is open, or ended lately, stays."""

from uuid import uuid4

import pytest
import trio

from tests.core.bench import raw
from tests.core.message_models import model, receive
from tests.core.models import end, start
from tests.runtime.consumer.bench import PINNED_MS, Serial, beat, dump, pin_clock, save_serially
from vivero.engine.core.records.messages import PublishMessage
from vivero.engine.runtime.retention import AUDIT, DAY_MS, KEYS, KEYS_MARGIN_MS, PURGES, Retention, RetentionSettings
from vivero.storage import log
from vivero.storage.postgres.errors import ConnectionLost
from vivero.storage.state import message_channels

LATE = (
    '<boundaryEvent id="late" attachedToRef="receive"><timerEventDefinition><timeDuration>P9D</timeDuration>'
    "</timerEventDefinition></boundaryEvent>"
)
WAITS = model(start(), receive(), LATE, end(), "start > receive > end", "late > end")


@pytest.fixture
async def history(connection):
    """Six instances wait for a message, with a timer. Five get it, one a day; one waits on."""
    serial = Serial()
    serial.deploy(WAITS)
    for number in range(6):
        serial.start(k=str(number))
    for number in range(5):
        serial.engine.now = PINNED_MS + number * DAY_MS
        serial.run(PublishMessage("hello", str(number), 0, None, raw({})))
    await save_serially(connection, serial)
    await pin_clock(connection, PINNED_MS + 5 * DAY_MS)


async def counts(connection):
    return {table: (await connection.execute(f"SELECT count(*) FROM {table}")).rows[0][0] for table in PURGES}


def of_each(count, open=1):
    """Rows of each table; what is open is in two of them."""
    return {"subscriptions": count + open, "message_correlations": count, "timers": count + open}


async def test_a_piece_at_a_time_the_oldest_first(history, connection, connect):
    before = await dump(connection)
    retention = Retention(connect, RetentionSettings(ended_days=2.5, rows=2))
    assert await counts(connection) == of_each(5)
    assert await retention.run_once(connection, beat()), "there may be more"
    assert await counts(connection) == of_each(3)
    assert not await retention.run_once(connection, beat())
    assert await counts(connection) == of_each(2)
    assert not await retention.run_once(connection, beat())
    assert retention.deleted == of_each(3, open=0) | {AUDIT: 0, KEYS: 0}
    after = await dump(connection)
    for table in PURGES:
        assert set(after[table]) < set(before[table]), "nothing was changed"
    assert {table: rows for table, rows in after.items() if table not in PURGES} == {
        table: rows for table, rows in before.items() if table not in PURGES
    }
    kept = await connection.execute("SELECT correlation_key FROM message_correlations ORDER BY 1")
    assert [key for (key,) in kept.rows] == ["3", "4"]


async def test_what_ended_stays_to_the_millisecond(history, connection, connect):
    retention = Retention(connect, RetentionSettings(ended_days=5))
    await retention.run_once(connection, beat())
    assert await counts(connection) == of_each(5)
    await pin_clock(connection, PINNED_MS + 5 * DAY_MS + 1)
    await retention.run_once(connection, beat())
    assert await counts(connection) == of_each(4)


@pytest.mark.parametrize("purge", [message_channels.purge_subscriptions, message_channels.purge_correlations])
async def test_nobody_is_waited_for(history, connection, connect, purge):
    """A row that another holds stays for the next time."""
    holder = await connect()
    async with holder.transaction():
        for table in ("subscriptions", "message_correlations"):
            await holder.execute(f"SELECT FROM {table} WHERE correlation_key IN ('0', '1') FOR UPDATE")
        assert await purge(connection, -DAY_MS, 10) == 3
    holder.close()
    assert await purge(connection, -DAY_MS, 10) == 2


async def test_the_task_deletes_all_there_is_and_then_needs_no_connection(history, connection, connect):
    opened, again = [], trio.Event()

    async def connecting():
        if opened:
            again.set()
        opened.append(await connect())
        return opened[-1]

    retention = Retention(connecting, RetentionSettings(ended_days=1, rows=1, every_s=0.01, pause_s=0))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(retention.run, beat())
        with trio.fail_after(20):
            await again.wait()
        nursery.cancel_scope.cancel()
    assert await counts(connection) == of_each(1)
    with pytest.raises(ConnectionLost):
        await opened[0].execute("SELECT 1")


async def keys(connection):
    return [key for (key,) in (await connection.execute("SELECT key FROM idempotency_keys ORDER BY key")).rows]


@pytest.mark.parametrize("days", [0, 30])
async def test_idempotency_keys_go_when_they_have_expired(history, connection, connect, days):
    """Whatever stays besides, and for ever."""
    before = await counts(connection)
    session = await log.begin(connection, uuid4(), 1)
    for number in range(3):
        await pin_clock(connection, PINNED_MS + number)
        entry = log.LogEntry("<default>", "JOB:COMPLETE", b"{}", key=f"key-{number}", sha="00" * 32)
        await log.append(connection, session, 1, uuid4(), None, [entry])
    retention = Retention(connect, RetentionSettings(ended_days=days, rows=1))

    await pin_clock(connection, PINNED_MS + DAY_MS + KEYS_MARGIN_MS)
    assert not await retention.run_once(connection, beat())
    assert await keys(connection) == ["key-0", "key-1", "key-2"]
    await pin_clock(connection, PINNED_MS + DAY_MS + KEYS_MARGIN_MS + 2)
    assert await retention.run_once(connection, beat()), "there may be more"
    assert await keys(connection) == ["key-1", "key-2"]
    await retention.run_once(connection, beat())
    assert not await retention.run_once(connection, beat())
    assert (await keys(connection), retention.deleted[KEYS]) == (["key-2"], 2)
    assert await counts(connection) == before


async def test_a_key_that_is_being_used_again_is_passed_over(history, connection, connect):
    entry = log.LogEntry("<default>", "JOB:COMPLETE", b"{}", key="again", sha="00" * 32)
    session = await log.begin(connection, uuid4(), 1)
    await log.append(connection, session, 1, uuid4(), None, [entry])
    await pin_clock(connection, PINNED_MS + 10 * DAY_MS)
    holder = await connect()
    async with holder.transaction():
        await holder.execute("SELECT FROM idempotency_keys FOR UPDATE")
        assert await log.purge_keys(connection, DAY_MS, 10) == 0
    holder.close()
    assert await log.purge_keys(connection, DAY_MS, 10) == 1


async def test_on_a_node_without_the_lock_of_the_chores_nothing_is_looked_for(autojump_clock):
    async def connect():
        raise AssertionError("nobody needs a connection")

    retention = Retention(connect, RetentionSettings(ended_days=1), lambda: False)
    with trio.move_on_after(1_000) as ended:
        await retention.run(beat())
    assert ended.cancelled_caught


@pytest.mark.parametrize("wrong", [{"ended_days": -1.0}, {"audit_days": -1.0}, {"rows": 0}])
def test_what_cannot_be_set(wrong):
    with pytest.raises(ValueError, match="ended_days and audit_days must not be negative"):
        RetentionSettings(**wrong)
