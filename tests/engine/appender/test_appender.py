"""The appender on PostgreSQL, mostly as a supervised child: what it promises to those who hand it commands."""

import gc
import random
from functools import partial

import msgspec
import pytest
import trio
import trio.testing

from tests.eventually import GUARD_S, eventually, eventually_blocked, eventually_rows
from vivero.core.records.catalogue import Deploy
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.engine.appender.calls import Append, PendingCommand
from vivero.engine.appender.forwarding import LogProgress
from vivero.engine.appender.settings import AppenderSettings
from vivero.engine.appender.task import Appender
from vivero.engine.outcomes.admission import Draining, InDoubt, Overloaded, Unavailable, ValueRejected
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.children import Child
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.supervision.supervisor import Supervisor
from vivero.storage.log.command_log import Appended
from vivero.storage.postgres import driver
from vivero.storage.postgres.errors import ConnectFailed, Outage, StorageBug
from vivero.storage.postgres.queries import label

ZERO = 1 << 51
"""The position before the first."""

FIFTH = ZERO + 5
"""The position of the fifth command."""

SECONDS = 20.0
"""Patience of callers that are expected to succeed."""


def complete(key, tenant="t", **more):
    return Append(CompleteJob(key=key), tenant, key=key, **more)


def create(process_id="p", **more):
    return Append(CreateInstance(process_id=process_id), "t", **more)


def died(message):
    pytest.fail(f"the process would have ended: {message}")


def supervised(appender, settings=None):
    child = Child("appender", appender.run, close=appender.close, drain=appender.drain)
    return Supervisor([child], settings, died)


@pytest.fixture
async def appender(connect, nursery):
    """An appender at work."""
    appender = Appender(connect)
    nursery.start_soon(supervised(appender).run)
    return appender


async def rows(connection, columns="position, key"):
    return (await connection.execute(f"SELECT {columns} FROM command_log ORDER BY position")).rows


async def hold_partition(connection, partition=1):
    """Keep every append to a partition waiting, until the connection is closed."""
    await connection.execute("SELECT pg_advisory_lock(4711, $1)", (partition,))


async def collect(answers, number, append):
    """Put what an append gives or raises under its number."""
    try:
        answers[number] = await append
    except Exception as error:
        answers[number] = error


def overheard(connect, asked):
    """Connects as `connect`; each statement's name and parameters go into `asked`."""

    async def listening():
        own = await connect()
        execute = own.execute

        async def heard(query, parameters=(), **options):
            asked.append((label(query), parameters))
            return await execute(query, parameters, **options)

        own.execute = heard
        return own

    return listening


# Appended commands


async def test_an_append_without_a_key_is_one_statement(connect, connection, nursery):
    """With a key it is one as well, of another function. (What else is asked now and then is not about an append.)"""
    asked = []
    appender = Appender(overheard(connect, asked), AppenderSettings(poll_s=1e6))
    nursery.start_soon(supervised(appender).run)
    await appender.append(create(), deadline_s=SECONDS)
    await appender.append(create(idempotency=("k", b"a" * 32)), deadline_s=SECONDS)
    assert [name for name, _ in asked if name.startswith("command_log.append")] == [
        "command_log.append_fresh",
        "command_log.append",
    ]


async def test_a_command_is_in_the_log_when_the_append_returns(appender, connection):
    answer = await appender.append(complete(7), deadline_s=SECONDS)
    assert await rows(connection, "position, tenant_id, intent, key, payload, trace") == [
        (answer.position, "t", "JOB:COMPLETE", 7, b'{"key":7}', None)
    ]
    assert (answer.replayed, answer.same_body) == (False, True)
    assert await rows(connection, "to_epoch_ms(at)") == [(answer.at_ms,)]


async def test_a_command_that_is_appended_is_freed_without_the_collector(appender):
    """It lives for half a second under load. The collector would take it for something that stays."""
    gc.disable()
    try:
        async with trio.open_nursery() as callers:
            for key in range(20):
                callers.start_soon(partial(appender.append, complete(key, tenant="freed"), deadline_s=SECONDS))
        await appender.append(complete(20), deadline_s=SECONDS)  # the earlier calls are forgotten now
        assert sum(isinstance(each, PendingCommand) and each.entry.tenant == "freed" for each in gc.get_objects()) == 0
    finally:
        gc.enable()


async def test_a_call_is_flushed_if_somebody_is_told_of_one_of_its_commands(connect, connection, nursery):
    asked = []
    appender = Appender(overheard(connect, asked), AppenderSettings(call_count=2, poll_s=1e6))
    async with trio.open_nursery() as callers:
        for flush in (False, False, False, True):
            callers.start_soon(partial(appender.append, complete(1, flush=flush), deadline_s=SECONDS))
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(supervised(appender).run)
    calls = [parameters for name, parameters in asked if name == "command_log.append_fresh"]
    assert sorted((len(msgspec.json.decode(entries)), flush) for _, _, entries, flush, *_ in calls) == [
        (2, False),
        (2, True),
    ]


async def test_it_is_busy_from_when_something_waits_until_it_is_in_the_log(connect, connection, nursery):
    appender = Appender(connect)
    assert not appender.busy
    async with trio.open_nursery() as callers:
        callers.start_soon(partial(appender.append, complete(1), deadline_s=SECONDS))
        await trio.testing.wait_all_tasks_blocked()
        assert appender.busy
        await hold_partition(connection)
        nursery.start_soon(supervised(appender).run)
        await eventually_blocked(await connect())
        assert appender.busy
        await connection.execute("SELECT pg_advisory_unlock(4711, 1)")
    assert not appender.busy


async def test_many_requests_share_a_call(appender, connection):
    answers = {}
    async with trio.open_nursery() as callers:
        for number in range(200):
            callers.start_soon(collect, answers, number, appender.append(complete(number), deadline_s=SECONDS))
    assert sorted(answer.position for answer in answers.values()) == list(range(ZERO + 1, ZERO + 201))
    assert dict(await rows(connection, "key, position")) == {n: answer.position for n, answer in answers.items()}
    calls = (await connection.execute("SELECT count(DISTINCT append_id) FROM command_log")).rows[0][0]
    assert calls <= 10


@pytest.mark.parametrize("settings", [AppenderSettings(call_count=7), AppenderSettings(call_bytes=2_000)])
async def test_calls_are_bounded(connect, connection, nursery, settings):
    appender = Appender(connect, settings)
    async with trio.open_nursery() as callers:
        for number in range(50):
            callers.start_soon(partial(appender.append, complete(number), deadline_s=SECONDS))
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(supervised(appender).run)
    sizes = await rows_of_calls(connection)
    assert sum(sizes) == 50
    assert max(sizes) <= 10


async def rows_of_calls(connection):
    query = "SELECT count(*) FROM command_log GROUP BY append_id"
    return [row[0] for row in (await connection.execute(query)).rows]


async def test_partitions_get_calls_of_their_own(appender, connection):
    await connection.script("SELECT make_partition(2)")
    answers = {}
    async with trio.open_nursery() as callers:
        for number in range(40):
            append = appender.append(complete(number, partition=1 + number % 2), deadline_s=SECONDS)
            callers.start_soon(collect, answers, number, append)
    assert await rows(connection, "key, partition_id, position") == sorted(
        [(number, 1 + number % 2, answer.position) for number, answer in answers.items()], key=lambda row: row[2]
    )


async def test_an_idempotency_key_is_answered_with_the_first_position(appender, connection):
    first = await appender.append(create(idempotency=("k", b"a" * 32)), deadline_s=SECONDS)
    again = await appender.append(create(idempotency=("k", b"a" * 32)), deadline_s=SECONDS)
    other = await appender.append(create("q", idempotency=("k", b"b" * 32)), deadline_s=SECONDS)
    assert again == Appended(first.position, True, True, None)
    assert other == Appended(first.position, True, False, None)
    assert (appender.stats.commands, appender.stats.replays) == (1, 2)
    assert len(await rows(connection)) == 1


async def test_work_goes_before_new(connect, connection, nursery):
    appender, answers = Appender(connect), {}
    async with trio.open_nursery() as callers:
        for number, item in enumerate(
            [create(), Append(Deploy(resources=()), "t"), complete(1), Append(CancelInstance(key=1), "t")]
        ):
            callers.start_soon(collect, answers, number, appender.append(item, deadline_s=SECONDS))
            await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(supervised(appender).run)
    assert [answers[number].position for number in range(4)] == [ZERO + n for n in (3, 4, 1, 2)]


async def test_only_the_refused_command_fails(connect, connection, nursery):
    appender, answers = Appender(connect), {}
    async with trio.open_nursery() as callers:
        for number in range(64):
            item = complete(number, tenant="a\0b" if number in (17, 40) else "t")
            callers.start_soon(collect, answers, number, appender.append(item, deadline_s=SECONDS))
            await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(supervised(appender).run)
    stats = appender.stats
    assert (stats.commands, stats.replays, stats.rejected, stats.repeated) == (62, 0, 2, 0)
    assert stats.calls <= 1 + 2 * 2 * 6  # two culprits among 64 are found by halving
    refused = [number for number, answer in answers.items() if isinstance(answer, ValueRejected)]
    assert sorted(refused) == [17, 40]
    stored = await rows(connection, "key, position")
    assert [key for key, _ in stored] == [number for number in range(64) if number not in (17, 40)]
    assert all(answers[key].position == position for key, position in stored)


async def test_the_reader_of_the_log_is_woken(connect, nursery):
    woken = []
    appender = Appender(connect, appended=lambda partition, position: woken.append((partition, position)))
    nursery.start_soon(supervised(appender).run)
    first = await appender.append(create(idempotency=("k", b"a" * 32)), deadline_s=SECONDS)
    await appender.append(create(idempotency=("k", b"a" * 32)), deadline_s=SECONDS)
    second = await appender.append(create(), deadline_s=SECONDS)
    assert woken == [(1, first.position), (1, second.position)]
    assert appender.last_position(1) == second.position


# Refused commands


async def test_a_full_channel_refuses_new_and_lets_work_wait(connect, connection, nursery):
    appender, answers = Appender(connect, AppenderSettings(work_channel=2, new_channel=2)), {}
    async with trio.open_nursery() as callers:
        for number, item in enumerate([create(), create(), complete(1), complete(2), complete(3)]):
            callers.start_soon(collect, answers, number, appender.append(item, deadline_s=SECONDS))
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(Overloaded, match="2 requests wait"):
            await appender.append(create(), deadline_s=SECONDS)
        nursery.start_soon(supervised(appender).run)
    assert {type(answer) for answer in answers.values()} == {Appended}
    assert len(await rows(connection)) == 5


async def test_new_is_refused_when_the_engine_is_behind(connect, nursery):
    consumed = LogProgress(ZERO, 0.0)
    settings = AppenderSettings(lag_commands=3, lag_s=0.5)
    appender = Appender(connect, settings, progress_of=lambda partition: consumed)
    nursery.start_soon(supervised(appender).run)
    for _ in range(4):
        last = await appender.append(create(), deadline_s=SECONDS)
    with pytest.raises(Overloaded, match="4 commands behind"):
        await appender.append(create(), deadline_s=SECONDS)
    await appender.append(complete(1), deadline_s=SECONDS)
    consumed = LogProgress(ZERO, 10.0)  # works off five in half a second
    await appender.append(create(), deadline_s=SECONDS)
    with pytest.raises(Overloaded):
        await appender.append(create(), deadline_s=SECONDS)
    consumed = LogProgress(last.position, 0.0)
    await appender.append(create(), deadline_s=SECONDS)


@pytest.mark.parametrize(("idle", "skipped"), [("0 s", 1_000_000), ("1 day", 5_662_310_400)])
async def test_positions_that_a_crash_skipped_are_not_a_lag(connect, connection, nursery, idle, skipped):
    """More are skipped if the last command of the database was long ago."""
    consumed = LogProgress(ZERO, 0.0)
    appender = Appender(connect, AppenderSettings(lag_commands=1), progress_of=lambda partition: consumed)
    await crash(connection, idle)
    nursery.start_soon(supervised(appender).run)
    last = await appender.append(create(), deadline_s=SECONDS)
    assert last.position > ZERO + skipped
    assert appender.admits_new()
    await appender.append(create(), deadline_s=SECONDS)
    with pytest.raises(Overloaded, match="2 commands behind"):
        await appender.append(create(), deadline_s=SECONDS)


async def test_without_an_engine_new_queues_up_to_the_backlog(connect, nursery):
    appender = Appender(connect, AppenderSettings(backlog=3, lag_commands=1))
    nursery.start_soon(supervised(appender).run)
    for _ in range(3):
        await appender.append(create(), deadline_s=SECONDS)
    with pytest.raises(Overloaded, match="3 commands wait for an engine"):
        await appender.append(create(), deadline_s=SECONDS)
    await appender.append(complete(1), deadline_s=SECONDS)


async def test_the_backlog_is_known_after_a_restart_and_read_again(connect, connection, nursery):
    await connection.script(
        """INSERT INTO command_log
           SELECT 1, nextval('log_position_1'), gen_random_uuid(), 0, now(), 't', 'X:Y', NULL, NULL, '{}', NULL
           FROM generate_series(1, 5)"""
    )
    appender = Appender(connect, AppenderSettings(backlog=5, poll_s=0.01))
    nursery.start_soon(supervised(appender).run)
    await appender.append(complete(1), deadline_s=SECONDS)
    assert await until_refused(appender, True) >= FIFTH + 1
    await connection.script("INSERT INTO batches VALUES (1, 1::bigint << 51, (1::bigint << 51) + 1000000, 1, 0)")
    await until_refused(appender, False)


async def crash(connection, idle="0 s"):
    """The state after the recovery from a crash of a database whose last command was so long ago."""
    await connection.script(
        f"TRUNCATE since_recovery, appenders; UPDATE schema_migrations SET applied_at = now() - interval '{idle}'"
    )


async def test_what_waits_is_counted_across_a_jump(connect, connection, nursery):
    """After a crash positions jump by as much as may wait: without an engine nothing new would come in."""
    await connection.script(f"SELECT setval('log_position_1', {FIFTH})")
    await crash(connection)
    appender = Appender(connect, AppenderSettings(backlog=4, poll_s=0.01))
    nursery.start_soon(supervised(appender).run)
    assert (await appender.append(complete(1), deadline_s=SECONDS)).position > FIFTH + 1_000_000
    await until_refused(appender, False)
    await until_refused(appender, True)
    assert len(await rows(connection)) == 4


async def test_a_jump_is_made_once_whatever_is_refused(connect, connection, nursery):
    """A value that PostgreSQL refuses undoes its append, not the jump: each jump is a tenth of a log partition."""
    await connection.script(f"SELECT setval('log_position_1', {FIFTH})")
    await crash(connection)
    appender = Appender(connect)
    nursery.start_soon(supervised(appender).run)
    for _ in range(3):
        with pytest.raises(ValueRejected):
            await appender.append(complete(1, tenant="a\0b"), deadline_s=SECONDS)
    assert (await appender.append(complete(1), deadline_s=SECONDS)).position < ZERO + 1_000_100


async def test_a_standby_is_an_outage(connection, connect, nursery):
    """Not a fault of ours, of which too many end the program."""
    await connection.script("CREATE FUNCTION pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'")
    appender = Appender(partial(connect, settings={"search_path": "public,pg_catalog"}))
    with pytest.raises(Outage, match="standby"):
        await appender.run(Beat(SupervisionSettings()))


async def until_refused(appender, refused):
    """Try until `new` is refused, or is not; the highest position then."""

    async def is_refused():
        try:
            await appender.append(create(), deadline_s=SECONDS)
        except Overloaded:
            return True
        return False

    await eventually(is_refused, accept=lambda answer: answer == refused, every_s=0)
    return appender.last_position(1)


async def test_draining_finishes_what_was_taken_and_takes_nothing_more(connect, connection, nursery):
    appender, holder, answers = Appender(connect), await connect(), {}
    supervisor = supervised(appender)
    await hold_partition(holder)
    nursery.start_soon(supervisor.run)
    async with trio.open_nursery() as callers:
        for number in range(30):
            callers.start_soon(collect, answers, number, appender.append(create(), deadline_s=SECONDS))
        await eventually_blocked(connection)
        callers.start_soon(supervisor.stop, "appender", SECONDS)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(Draining):
            await appender.append(complete(1), deadline_s=SECONDS)
        holder.close()
    assert {type(answer) for answer in answers.values()} == {Appended}
    assert len(await rows(connection)) == 30
    assert supervisor.health()[0].last_error is None


# Cancellation, deadlines, doubt


async def test_a_cancelled_request_does_not_cancel_its_append(connect, connection, nursery):
    appender, holder = Appender(connect), await connect()
    await hold_partition(holder)
    nursery.start_soon(supervised(appender).run)
    async with trio.open_nursery() as callers:
        callers.start_soon(partial(appender.append, complete(1), deadline_s=SECONDS))
        await eventually_blocked(connection)
        callers.start_soon(partial(appender.append, complete(2), deadline_s=SECONDS))  # in the channel
        await trio.testing.wait_all_tasks_blocked()
        callers.cancel_scope.cancel()
    holder.close()
    await appender.append(complete(3), deadline_s=SECONDS)
    assert [key for _, key in await rows(connection)] == [1, 2, 3]


async def test_a_deadline_before_the_call_withdraws_the_command(connect, connection, nursery):
    appender = Appender(connect)
    for deadline_s in (0, -3.5):
        with pytest.raises(Overloaded, match="before the deadline"):
            await appender.append(complete(1), deadline_s=deadline_s)
    nursery.start_soon(supervised(appender).run)
    await appender.append(complete(2), deadline_s=SECONDS)
    assert [key for _, key in await rows(connection)] == [2]


async def test_a_command_withdrawn_while_its_call_is_prepared_is_not_written(connect, connection, nursery):
    """The partition is new to the appender, and asking for its last position takes too long."""
    polled, holder = trio.Event(), await connect()
    appender = Appender(connect, AppenderSettings(poll_s=1e6), led_partitions=lambda: polled.set() or ())
    nursery.start_soon(supervised(appender).run)
    await polled.wait()
    await connection.execute("SELECT make_partition(2)")
    await appender.append(complete(1), deadline_s=SECONDS)
    async with holder.transaction():
        await holder.execute("LOCK TABLE command_log IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Overloaded, match="before the deadline"):
            await appender.append(complete(2, partition=2), deadline_s=0.2)
    await appender.append(complete(3, partition=2), deadline_s=SECONDS)
    assert [key for _, key in await rows(connection)] == [1, 3]
    holder.close()


async def test_a_deadline_during_the_call_leaves_it_in_doubt(connect, connection, nursery):
    appender, holder, answers = Appender(connect), await connect(), {}
    nursery.start_soon(supervised(appender).run)
    await appender.append(complete(0), deadline_s=SECONDS)
    await hold_partition(holder)
    async with trio.open_nursery() as callers:
        with trio.CancelScope() as scope:
            callers.start_soon(collect, answers, 1, appender.append(complete(1), deadline_s=0.3))
            await eventually_blocked(connection)
    assert not scope.cancelled_caught
    assert isinstance(answers[1], InDoubt)
    holder.close()
    await appender.append(complete(2), deadline_s=SECONDS)
    assert [key for _, key in await rows(connection)] == [0, 1, 2]


@pytest.mark.parametrize("kind", ["raise", "cancel", "hang"])
async def test_a_call_outlives_the_child_that_made_it(connect, connection, nursery, kind):
    appender, holder, answers = Appender(connect), await connect(), {}
    supervisor = supervised(appender, SupervisionSettings(hang_after_s=0.3))
    await hold_partition(holder)
    nursery.start_soon(supervisor.run)
    async with trio.open_nursery() as callers:
        callers.start_soon(collect, answers, 1, appender.append(complete(1), deadline_s=SECONDS))
        await eventually_blocked(connection)
        assert supervisor.chaos("appender", kind)
        await trio.testing.wait_all_tasks_blocked()
        holder.close()
    assert isinstance(answers[1], Appended)
    assert await rows(connection) == [(answers[1].position, 1)]
    await eventually(lambda: supervisor.health()[0].restarts)
    with trio.fail_after(SECONDS):
        await appender.append(complete(2), deadline_s=SECONDS)
    assert len(await rows(connection)) == 2


async def test_a_killed_backend_costs_nothing(connect, connection, nursery):
    appender, holder, answers = Appender(connect), await connect(), {}
    supervisor = supervised(appender)
    await hold_partition(holder)
    nursery.start_soon(supervisor.run)
    kill = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    async with trio.open_nursery() as callers:
        for number in range(5):
            callers.start_soon(collect, answers, number, appender.append(complete(number), deadline_s=SECONDS))
        await eventually_blocked(connection)
        await connection.execute(kill)
        await eventually_blocked(connection)
        await connection.execute(kill)
        await eventually_blocked(connection)
        holder.close()
    assert dict(await rows(connection, "key, position")) == {n: answer.position for n, answer in answers.items()}
    assert supervisor.health()[0].restarts == 2
    assert (appender.stats.commands, appender.stats.repeated) == (5, 2)


async def test_killed_backends_under_load_lose_and_double_nothing(migrated, connect, connection, nursery, seed):
    draw, answers, kills = random.Random(seed), {}, []
    appender = Appender(partial(driver.connect, migrated, name="vivero appender"))
    nursery.start_soon(supervised(appender, SupervisionSettings(max_delay_s=0.05)).run)

    async def caller(first):
        for number in range(first, first + 60):
            key = f"k{number % 300}" if number % 3 else None
            item = complete(number, idempotency=None if key is None else (key, b"a" * 32))
            answers[number] = await appender.append(item, deadline_s=SECONDS)
            if draw.random() < 0.05:
                kills.append(await kill())

    async def kill():
        own = await connect()
        query = (
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'vivero appender'"
        )
        killed = (await own.execute(query)).rows[0][0]
        own.close()
        return killed

    async with trio.open_nursery() as callers:
        for number in range(0, 600, 60):
            callers.start_soon(caller, number)
    stored = dict(await rows(connection, "key, position"))
    fresh = {number: answer.position for number, answer in answers.items() if not answer.replayed}
    assert sum(kills) > 3, "the faults did not bite"
    assert stored == fresh
    assert len(await rows(connection)) == len(stored), "a command is in the log twice"
    for number, answer in answers.items():
        if answer.replayed:
            assert answer.position in fresh.values(), number


@pytest.mark.long
async def test_chaos_under_load_loses_and_doubles_nothing(connect, connection, nursery, seed):
    draw, appender, answers, hurt = random.Random(seed), Appender(connect), {}, []
    supervisor = supervised(appender, SupervisionSettings(max_failures=1000, max_delay_s=0.05, hang_after_s=0.2))
    nursery.start_soon(supervisor.run)

    async def caller(first):
        for number in range(first, first + 60):
            answers[number] = await appender.append(complete(number), deadline_s=SECONDS)
            if draw.random() < 0.06:
                hurt.append(supervisor.chaos("appender", draw.choice(["raise", "cancel", "raise", "cancel", "hang"])))

    async with trio.open_nursery() as callers:
        for number in range(0, 600, 60):
            callers.start_soon(caller, number)
    assert sum(hurt) > 5, "the faults did not bite"
    assert dict(await rows(connection, "key, position")) == {n: answer.position for n, answer in answers.items()}
    assert len(await rows(connection)) == len(answers) == 600
    assert supervisor.health()[0].restarts > 5


@pytest.mark.usefixtures("autojump_clock")
async def test_no_postgresql_is_unavailable_never_doubt(nursery):
    async def connect():
        raise ConnectFailed("connection refused")

    appender = Appender(connect, AppenderSettings(outage_patience_s=0.2))
    nursery.start_soon(supervised(appender).run)
    await trio.testing.wait_all_tasks_blocked()
    with pytest.raises(Unavailable, match="before the deadline"):
        await appender.append(create(), deadline_s=0.25)
    with pytest.raises(Unavailable, match="has not been available for"):
        await appender.append(complete(1), deadline_s=SECONDS)


async def test_work_resumes_when_postgresql_does(connect, connection, nursery):
    up = False

    async def sometimes():
        if not up:
            raise ConnectFailed("connection refused")
        return await connect()

    appender, answers = Appender(sometimes), {}
    nursery.start_soon(supervised(appender, SupervisionSettings(max_delay_s=0.05)).run)
    async with trio.open_nursery() as callers:
        for number in range(20):
            callers.start_soon(collect, answers, number, appender.append(complete(number), deadline_s=SECONDS))
        await trio.testing.wait_all_tasks_blocked()
        up = True
    assert {type(answer) for answer in answers.values()} == {Appended}
    assert len(await rows(connection)) == 20


async def test_a_bug_fails_the_call_and_counts(connect, connection, nursery):
    await connection.script("ALTER TABLE definitions_seq RENAME COLUMN n TO gone")
    appender = Appender(connect)
    supervisor = supervised(appender)
    nursery.start_soon(supervisor.run)
    with pytest.raises(Unavailable, match="append_fresh"):
        await appender.append(complete(1), deadline_s=SECONDS)
    await connection.script("ALTER TABLE definitions_seq RENAME COLUMN gone TO n")
    await appender.append(complete(2), deadline_s=SECONDS)
    assert [key for _, key in await rows(connection)] == [2]
    assert StorageBug.__name__ in supervisor.health()[0].last_error


# The inbox


async def fill_inbox(connection, count, partition=1):
    await connection.execute(
        "INSERT INTO inbox (target_partition, tenant_id, intent, key, payload)"
        " SELECT $1, 't', 'X:Y', n, '{}' FROM generate_series(1, $2) n",
        (partition, count),
    )


async def test_the_inbox_is_forwarded_when_told(connect, connection, nursery):
    woken = trio.Event()
    appender = Appender(
        connect,
        AppenderSettings(forward_count=100, poll_s=1000),
        appended=lambda partition, position: woken.set() if position == ZERO + 250 else None,
        led_partitions=lambda: (1,),
    )
    nursery.start_soon(supervised(appender).run)
    await trio.testing.wait_all_tasks_blocked()
    await fill_inbox(connection, 250)
    appender.inbox_filled(1)
    with trio.fail_after(GUARD_S):
        await woken.wait()
    assert await rows(connection) == [(ZERO + n, n) for n in range(1, 251)]


async def test_the_inboxes_of_owned_partitions_are_polled(connect, connection, nursery):
    await connection.script("SELECT make_partition(2)")
    appender = Appender(connect, AppenderSettings(poll_s=0.01), led_partitions=lambda: (2,))
    nursery.start_soon(supervised(appender).run)
    await appender.append(complete(1), deadline_s=SECONDS)
    await fill_inbox(connection, 3, partition=1)
    await fill_inbox(connection, 4, partition=2)
    await eventually_rows(connection, [(4,)], "SELECT count(*) FROM command_log WHERE partition_id = 2")
    assert (await connection.execute("SELECT target_partition, count(*) FROM inbox GROUP BY 1")).rows == [(1, 3)]


async def test_an_empty_inbox_costs_no_call_of_its_own(connect, connection, nursery):
    asked = []
    appender = Appender(overheard(connect, asked), AppenderSettings(poll_s=0.01), led_partitions=lambda: (1,))
    nursery.start_soon(supervised(appender).run)
    await eventually(lambda: [name for name, _ in asked].count("command_log.look"), accept=lambda looks: looks > 3)
    assert {name for name, _ in asked} == {"command_log.begin_appends", "command_log.look", "command_log.cursor"}
    await fill_inbox(connection, 3, partition=1)
    await eventually(lambda: [name for name, _ in asked].count("command_log.forward"), accept=lambda calls: calls > 1)


async def test_what_others_appended_is_noticed_by_the_poll(connect, connection, nursery):
    noticed = trio.Event()
    appender = Appender(
        connect,
        AppenderSettings(poll_s=0.01),
        appended=lambda partition, position: position == ZERO + 2 and noticed.set(),
    )
    other = Appender(connect)
    nursery.start_soon(supervised(appender).run)
    nursery.start_soon(supervised(other).run)
    await appender.append(complete(1), deadline_s=SECONDS)
    await other.append(complete(2), deadline_s=SECONDS)
    with trio.fail_after(GUARD_S):
        await noticed.wait()


async def test_run_once_says_whether_there_was_anything_to_do(connect, connection):
    appender, answers = Appender(connect), {}
    beat = Beat(SupervisionSettings())
    await appender.begin(connection)
    assert not await appender.run_once(connection, beat)
    async with trio.open_nursery() as callers:
        callers.start_soon(collect, answers, 1, appender.append(complete(1), deadline_s=SECONDS))
        await trio.testing.wait_all_tasks_blocked()
        assert await appender.run_once(connection, beat)
    assert answers[1].position == ZERO + 1
    assert not await appender.run_once(connection, beat)
