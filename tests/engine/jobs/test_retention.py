"""Retention deletes trees that ended long ago, the oldest first and in pieces. Open and recent ones stay."""

from dataclasses import replace
from uuid import uuid4

import pytest

from tests.core.engine import raw
from tests.core.message_models import model, receive
from tests.core.models import end, start
from tests.engine.consumer.serial_runs import PINNED_MS, Serial, dump, pin_clock, save_serially
from vivero.core.records.messages import PublishMessage
from vivero.engine.retention.chore_settings import RetentionSettings
from vivero.engine.retention.chores import DAY_MS, KEYS_MARGIN_MS
from vivero.storage.access import audit_log
from vivero.storage.log import command_log
from vivero.storage.state import message_channels
from vivero.storage.work import timers

PURGES = {
    "subscriptions": message_channels.purge_subscriptions,
    "message_correlations": message_channels.purge_correlations,
    "timers": timers.purge,
}
CHORES = ("ended-subscriptions", "message-correlations", "ended-timers")

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
        serial.memory.now = PINNED_MS + number * DAY_MS
        serial.run(PublishMessage("hello", str(number), 0, None, raw({})))
    await save_serially(connection, serial)
    await pin_clock(connection, PINNED_MS + 5 * DAY_MS)


async def counts(connection):
    return {table: (await connection.execute(f"SELECT count(*) FROM {table}")).rows[0][0] for table in PURGES}


def of_each(count, open=1):
    """Rows of each table; what is open is in two of them."""
    return {"subscriptions": count + open, "message_correlations": count, "timers": count + open}


@pytest.fixture
def retain(do_chore):
    """Does all chores that delete ended rows."""

    async def do(days):
        for name in CHORES:
            await do_chore(name, retention=RetentionSettings(ended_days=days, rows=1, pause_s=0))

    return do


async def test_each_statement_deletes_a_bounded_number_the_oldest_first(history, connection):
    assert await counts(connection) == of_each(5)
    for deleted, left in ((2, 3), (1, 2), (0, 2)):
        for purge in PURGES.values():
            assert await purge(connection, int(2.5 * DAY_MS), 2) == deleted
        assert await counts(connection) == of_each(left)
    kept = await connection.execute("SELECT correlation_key FROM message_correlations ORDER BY 1")
    assert [key for (key,) in kept.rows] == ["3", "4"]


async def test_what_ended_long_ago_is_deleted_and_nothing_else_changes(history, connection, retain):
    before = await dump(connection)
    await retain(2.5)
    assert await counts(connection) == of_each(2)
    after = await dump(connection)
    for table in PURGES:
        assert set(after[table]) < set(before[table]), "nothing was changed"
    assert {table: rows for table, rows in after.items() if table not in PURGES} == {
        table: rows for table, rows in before.items() if table not in PURGES
    }
    kept = await connection.execute("SELECT correlation_key FROM message_correlations ORDER BY 1")
    assert [key for (key,) in kept.rows] == ["3", "4"]


async def test_what_ended_stays_to_the_millisecond(history, connection, retain):
    await retain(5)
    assert await counts(connection) == of_each(5)
    await pin_clock(connection, PINNED_MS + 5 * DAY_MS + 1)
    await retain(5)
    assert await counts(connection) == of_each(4)


async def test_zero_days_keep_everything(history, connection, retain):
    await pin_clock(connection, PINNED_MS + 50_000 * DAY_MS)
    await retain(0)
    assert await counts(connection) == of_each(5)


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


async def keys(connection):
    return [key for (key,) in (await connection.execute("SELECT key FROM idempotency_keys ORDER BY key")).rows]


async def test_idempotency_keys_go_when_they_have_expired(history, connection, do_chore):
    """With a margin, and whatever stays for ever besides."""
    before = await counts(connection)
    session = await command_log.begin(connection, uuid4(), 1)
    for number in range(3):
        await pin_clock(connection, PINNED_MS + number)
        entry = command_log.LogEntry("<default>", "JOB:COMPLETE", b"{}", key=f"key-{number}", sha="00" * 32)
        await command_log.append(connection, session, 1, uuid4(), None, [entry])
    settings = RetentionSettings(ended_days=0, rows=1, pause_s=0)

    await pin_clock(connection, PINNED_MS + DAY_MS + KEYS_MARGIN_MS)
    await do_chore("idempotency-keys", retention=settings)
    assert await keys(connection) == ["key-0", "key-1", "key-2"]
    await pin_clock(connection, PINNED_MS + DAY_MS + KEYS_MARGIN_MS + 2)
    await do_chore("idempotency-keys", retention=settings)
    assert await keys(connection) == ["key-2"]
    assert await counts(connection) == before


async def test_records_of_the_audit_log_go_by_the_databases_time(connection, do_chore):
    await connection.script(
        "INSERT INTO audit_log (at, actor_type, actor_id, category, entity_type, entity_key, operation, result)"
        " SELECT now() - age * interval '1 day', 'USER', 'ann', 'ADMIN', 'USER', 'bob', 'DELETE', 'SUCCESS'"
        " FROM unnest(ARRAY[12, 11, 9]) AS age"
    )
    await pin_clock(connection, 0)
    await do_chore("audit-log", retention=RetentionSettings(audit_days=10, rows=1, pause_s=0))
    assert await audit_log.purge(connection, -DAY_MS, 10) == 1, "the new one was left"


async def test_failed_executions_go_by_the_engines_clock(connection, do_chore):
    """Neither what waits or runs, nor what failed lately."""
    await connection.script(
        "INSERT INTO job_executions (job_type, state, failed_at, created_at)"
        " SELECT 'mail', 'failed', from_epoch_ms(days * 86400000), 'epoch' FROM unnest(ARRAY[1, 2, 5]) AS days;"
        "INSERT INTO job_executions (job_type, created_at, execute_at) VALUES ('waits', 'epoch', 'epoch')"
    )
    await pin_clock(connection, 12 * DAY_MS)
    left = "SELECT job_type, to_epoch_ms(failed_at) / 86400000 FROM job_executions WHERE schedule IS NULL ORDER BY 2"
    await do_chore("failed-executions", retention=RetentionSettings(failed_jobs_days=0, rows=1, pause_s=0))
    assert len((await connection.execute(left)).rows) == 4
    await do_chore("failed-executions", retention=RetentionSettings(failed_jobs_days=9, rows=1, pause_s=0))
    assert (await connection.execute(left)).rows == [("mail", 5), ("waits", None)]


async def test_what_usage_metrics_keep_of_deleted_rows_becomes_days_and_ends(connection, do_chore):
    """Quarters of an hour of 62 days ago become a day, once for each assignee. Then all go, numbers, too."""
    await connection.script(
        "INSERT INTO deleted_assignees SELECT from_epoch_ms(minutes * 60000), 't', usage_assignee(name)"
        " FROM unnest(ARRAY[0, 15, 1425, 1440, 1455]) AS minutes, unnest(ARRAY['ann', 'bob']) AS name;"
        "INSERT INTO deleted_usage SELECT 'processInstances', from_epoch_ms(minutes * 60000), 't', 1"
        " FROM unnest(ARRAY[15, 1455]) AS minutes"
    )
    left = "SELECT DISTINCT to_epoch_ms(period) / 60000 FROM deleted_assignees ORDER BY 1"
    count = "SELECT (SELECT count(*) FROM deleted_assignees), (SELECT count(*) FROM deleted_usage)"
    settings = RetentionSettings(usage_days=700, rows=1, pause_s=0)
    await pin_clock(connection, 63 * DAY_MS)
    await do_chore("usage-days", retention=settings)
    assert (await connection.execute(left)).rows == [(0,), (1440,), (1455,)], "the second day is too young"
    await do_chore("usage-metrics", retention=settings)
    assert (await connection.execute(count)).rows == [(6, 2)]
    await pin_clock(connection, 701 * DAY_MS)
    for days, rows in ((0, (6, 2)), (700, (4, 1))):
        await do_chore("usage-metrics", retention=replace(settings, usage_days=days))
        assert (await connection.execute(count)).rows == [rows]


async def test_a_key_that_is_being_used_again_is_passed_over(history, connection, connect):
    entry = command_log.LogEntry("<default>", "JOB:COMPLETE", b"{}", key="again", sha="00" * 32)
    session = await command_log.begin(connection, uuid4(), 1)
    await command_log.append(connection, session, 1, uuid4(), None, [entry])
    await pin_clock(connection, PINNED_MS + 10 * DAY_MS)
    holder = await connect()
    async with holder.transaction():
        await holder.execute("SELECT FROM idempotency_keys FOR UPDATE")
        assert await command_log.purge_keys(connection, DAY_MS, 10) == 0
    holder.close()
    assert await command_log.purge_keys(connection, DAY_MS, 10) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"ended_days": -1.0},
        {"audit_days": -1.0},
        {"failed_jobs_days": -1.0},
        {"usage_days": -1.0},
        {"usage_days": float("nan")},
        {"rows": 0},
        {"every_s": 0},
    ],
)
def test_what_cannot_be_set(wrong):
    with pytest.raises(ValueError, match="failed_jobs_days and usage_days must not be negative"):
        RetentionSettings(**wrong)
