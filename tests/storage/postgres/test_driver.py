"""The contract of the driver, against a real PostgreSQL and through a proxy that misbehaves on request."""

import inspect
import os
import socket
from contextlib import ExitStack
from functools import partial
from uuid import UUID

import psycopg
import pytest
import trio
from psycopg import generators, waiting
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.eventually import eventually, eventually_rows
from vivero.storage.postgres import driver, session
from vivero.storage.postgres.driver import connect
from vivero.storage.postgres.errors import (
    ConnectFailed,
    ConnectionLost,
    DataPoison,
    DeadlineExceeded,
    InvalidDsn,
    SteppedDown,
    StorageBug,
    StorageError,
)
from vivero.storage.postgres.sql_files import statement
from vivero.storage.postgres.values import Texts

ADD = statement("add", "SELECT $1::bigint + $2::bigint", "Something to compute.")
PARTS = statement("parts", "SELECT $1::bigint, $2::text, $3::bytea, $4::json, $5::boolean", "One of each type.")
SLEEP = statement("sleep", "SELECT pg_sleep($1)", "Something that takes time.")


@pytest.fixture
async def connection(database):
    connection = await connect(database, name="test")
    yield connection
    connection.close()


@pytest.fixture
async def other(database):
    connection = await connect(database, name="test-other")
    yield connection
    connection.close()


async def alive(connection):
    return (await connection.execute(ADD, (40, 2))).rows == [(42,)]


async def until_sleeping(other, connection):
    """Until the backend of `connection` is in pg_sleep."""
    sleeping = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'"
    await eventually_rows(other, [(1,)], sleeping, connection.backend_pid)


@pytest.fixture
def cancelled(nursery):
    """Runs a call, waits for something to happen, cancels the call; gives an event for the end of it."""

    async def cancel(call, happened):
        scope, ended = trio.CancelScope(), trio.Event()

        async def run():
            with scope:
                await call()
            assert scope.cancelled_caught
            ended.set()

        nursery.start_soon(run)
        await happened()
        scope.cancel()
        return ended

    return cancel


# Parts of psycopg beyond its documented API


def test_psycopg_still_has_what_the_driver_drives():
    assert psycopg.__version__.startswith("3.3."), "the range in pyproject.toml"
    assert psycopg.pq.__impl__ in {"binary", "c"}
    for name in ("connect", "cancel", "send", "execute", "fetch_many", "notifies"):
        assert callable(getattr(generators, name)), name
    assert (waiting.Wait.R, waiting.Wait.W, waiting.Wait.RW) == (1, 2, 3)
    assert (waiting.Ready.R, waiting.Ready.W, waiting.Ready.RW) == (1, 2, 3)


# Values


async def test_values_come_back_as_python_values(connection):
    result = await connection.execute(PARTS, (2**62, "añ\n'\"\\", b"\x00\xff", b'{"a":1}', True))
    assert result.rows == [(2**62, "añ\n'\"\\", b"\x00\xff", b'{"a":1}', True)]
    assert (result.count, result.tag) == (1, "SELECT 1")


async def test_null_is_none_in_both_directions(connection):
    assert (await connection.execute(PARTS, (None,) * 5)).rows == [(None,) * 5]


async def test_json_comes_as_bytes_and_other_types_as_themselves(connection):
    sql = (
        "SELECT '{\"a\": 1}'::jsonb, '[1]'::json, $1::uuid, 1.5::float8, 2.50::numeric::text, $2::bigint[], $3::text[]"
    )
    token = UUID("00000000-0000-4000-8000-000000000001")
    texts = ["a,b", 'quote " and \\', "", "NULL", "{}", None]
    (row,) = (await connection.execute(sql, (token, [1, None, -3], texts))).rows
    assert row == (b'{"a": 1}', b"[1]", token, 1.5, "2.50", [1, None, -3], texts)
    whole, encoded = "SELECT $1::text[], $2::text[], $3::text[]", Texts([None, None])
    assert (await connection.execute(whole, (texts[:-1], encoded, [""]))).rows == [(texts[:-1], [None, None], [""])]


async def test_times_are_utc_whatever_the_server_thinks(connection):
    (row,) = (await connection.execute("SELECT '2026-01-02T03:04:05+02'::timestamptz::text, now()")).rows
    assert row[0] == "2026-01-02 01:04:05+00"
    assert (await connection.execute("SELECT $1::timestamptz = now()", (row[1],))).rows == [(False,)]


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
@pytest.mark.harmless
async def test_text_that_postgresql_cannot_hold_is_data_poison_and_sends_nothing(connection, text):
    for value in (text, ["fine", text]):
        with pytest.raises(DataPoison):
            await connection.execute("SELECT $1::text", (value,))
    assert await alive(connection)


async def test_a_type_without_a_parameter_form_is_refused(connection):
    with pytest.raises(TypeError, match="dict"):
        await connection.execute("SELECT $1::text", ({},))
    assert await alive(connection)


async def test_parameters_of_ten_megabytes_pass_in_both_forms(connection):
    data = bytes(range(256)) * 40_000
    text = "x" * len(data)
    (row,) = (await connection.execute("SELECT $1::bytea, $2::text, length($2::text)", (data, text))).rows
    assert row[0] == data
    assert row[1] == text
    assert row[2] == len(text)


async def test_session_is_read_committed_with_the_name_and_settings_asked_for(database):
    connection = await connect(database, name="vivero:writer", settings={"lock_timeout": "7s", "my.words": "a b\\c"})
    (row,) = (
        await connection.execute(
            "SELECT current_setting('transaction_isolation'), current_setting('application_name'),"
            " current_setting('lock_timeout'), current_setting('my.words')"
        )
    ).rows
    assert row == ("read committed", "vivero:writer", "7s", "a b\\c")
    connection.close()


# Statements


async def test_a_named_statement_is_prepared_once_and_text_never(connection):
    for _ in range(3):
        await connection.execute(ADD, (1, 2))
        await connection.execute("SELECT 1")
        await connection.execute(PARTS, (None,) * 5, prepare=False)
    assert (await connection.execute("SELECT name FROM pg_prepared_statements")).rows == [("add_1",)]


async def test_two_statements_of_the_same_name_do_not_mix(connection):
    other = statement("add", "SELECT 'other'", "Same name, other text.")
    assert (await connection.execute(ADD, (1, 2))).rows == [(3,)]
    assert (await connection.execute(other)).rows == [("other",)]
    assert (await connection.execute(ADD, (1, 2))).rows == [(3,)]


async def test_counts_and_tags_of_changes(connection):
    await connection.script("CREATE TABLE t (n int); CREATE TABLE u (n int)")
    inserted = await connection.execute("INSERT INTO t SELECT generate_series(1, 3)")
    assert (inserted.rows, inserted.count, inserted.tag) == ([], 3, "INSERT 0 3")
    assert (await connection.execute("DELETE FROM t WHERE n > $1", (9,))).count == 0


async def test_an_error_names_statement_state_and_detail_and_leaves_the_connection_usable(connection):
    await connection.script("CREATE TABLE t (n int PRIMARY KEY); INSERT INTO t VALUES (1)")
    insert = statement("insert_t", "INSERT INTO t VALUES ($1)", "Fails.")
    with pytest.raises(DataPoison, match=r"insert_t: .*\[23505\].*\(n\)=\(1\)") as caught:
        await connection.execute(insert, (1,))
    assert caught.value.diagnosis.constraint == "t_pkey"
    assert not caught.value.in_doubt
    assert await alive(connection)


@pytest.mark.parametrize("sql", ["COPY (SELECT 1) TO STDOUT", ""])
@pytest.mark.harmless
async def test_what_is_no_plain_statement_is_a_bug(connection, sql):
    with pytest.raises(StorageBug):
        await connection.execute(sql)
    assert connection.closed or await alive(connection)


async def test_a_script_stops_at_its_first_error_and_changes_nothing(connection):
    with pytest.raises(StorageBug, match="42703"):
        await connection.script("CREATE TABLE t (n int); SELECT missing; CREATE TABLE u (n int)")
    assert (await connection.execute("SELECT to_regclass('t') IS NULL")).rows == [(True,)]


async def test_a_plan_that_a_migration_made_invalid_is_a_conflict_not_a_bug(connection, other):
    await connection.script("CREATE TABLE t (n int)")
    star = statement("star", "SELECT * FROM t", "Its row type changes.")
    await connection.execute(star)
    await other.script("ALTER TABLE t ADD COLUMN m int")
    with pytest.raises(StorageError) as caught:
        await connection.execute(star)
    assert type(caught.value).__name__ == "Conflict"


# Transactions


async def test_transaction_commits(connection, other):
    await connection.script("CREATE TABLE t (n int)")
    async with connection.transaction():
        await connection.execute("INSERT INTO t VALUES (1)")
        assert connection.in_transaction
        assert not connection.reusable
        assert (await other.execute("SELECT * FROM t")).rows == []
    assert connection.reusable
    assert (await other.execute("SELECT * FROM t")).rows == [(1,)]


async def test_transaction_rolls_back_what_raised(connection):
    await connection.script("CREATE TABLE t (n int)")

    async def fail():
        async with connection.transaction():
            await connection.execute("INSERT INTO t VALUES (1)")
            raise KeyError

    with pytest.raises(KeyError):
        await fail()
    assert connection.reusable
    assert (await connection.execute("SELECT * FROM t")).rows == []


async def test_cancelled_transaction_is_rolled_back(connection):
    await connection.script("CREATE TABLE t (n int)")
    with trio.CancelScope() as scope:
        async with connection.transaction():
            await connection.execute("INSERT INTO t VALUES (1)")
            scope.cancel()
            await trio.lowlevel.checkpoint()
    assert scope.cancelled_caught
    assert connection.reusable
    assert (await connection.execute("SELECT * FROM t")).rows == []


# Pipelines


async def test_pipeline_gives_every_result_and_says_when_all_is_sent(connection):
    said = []
    calls = [("BEGIN", ()), (ADD, (1, 2)), ("SELECT $1::text", ("x",)), (ADD, (3, 4)), ("COMMIT", ())]
    results = await connection.pipeline(calls, sent=lambda: said.append("sent"))
    assert [result.rows for result in results] == [[], [(3,)], [("x",)], [(7,)], []]
    assert said == ["sent"]
    assert connection.reusable
    assert [r.rows for r in await connection.pipeline(calls)] == [[], [(3,)], [("x",)], [(7,)], []]
    assert (await connection.execute("SELECT name FROM pg_prepared_statements")).rows == [("add_1",)]


async def test_pipeline_of_nothing(connection):
    assert await connection.pipeline([]) == []
    assert await alive(connection)


async def test_sent_comes_before_the_answers(connection, other):
    """The next batch is computed while this one commits: `sent` must not wait for a statement that is stuck."""
    await other.execute("SELECT pg_advisory_lock(1)")
    lock = "SELECT pg_advisory_xact_lock(1)"
    async with trio.open_nursery() as nursery:

        async def commit(task_status):
            await connection.pipeline([("BEGIN", ()), (lock, ()), ("COMMIT", ())], sent=task_status.started)

        await nursery.start(commit)
        await eventually_rows(other, [(1,)], "SELECT count(*) FROM pg_locks WHERE NOT granted")
        await other.execute("SELECT pg_advisory_unlock(1)")


async def test_first_error_of_a_pipeline_wins_with_its_index_and_nothing_stays(connection):
    await connection.script("CREATE TABLE t (n int PRIMARY KEY)")
    insert = statement("insert_t", "INSERT INTO t VALUES ($1)", "Fails at the second time.")
    late = statement("late", "SELECT 1", "Never reached.")
    with pytest.raises(DataPoison) as caught:
        await connection.pipeline([(ADD, (1, 2)), (insert, (1,)), (insert, (1,)), (late, ()), ("SELECT 1/0", ())])
    assert (caught.value.index, caught.value.statement, caught.value.sqlstate) == (2, "insert_t", "23505")
    assert connection.reusable
    assert (await connection.execute("SELECT * FROM t")).rows == []
    assert (await connection.pipeline([(late, ()), (insert, (1,))]))[0].rows == [(1,)]


async def test_error_while_preparing_within_a_pipeline_has_the_index_of_its_call(connection):
    broken = statement("broken", "SELECT missing, $1", "Cannot be prepared.")
    with pytest.raises(StorageBug) as caught:
        await connection.pipeline([(ADD, (1, 2)), (broken, (1,)), (ADD, (1, 2))])
    assert (caught.value.index, caught.value.statement) == (1, "broken")
    assert await alive(connection)


async def test_pipeline_parameter_that_cannot_be_sent_has_an_index_and_sends_nothing(connection):
    with pytest.raises(DataPoison) as caught:
        await connection.pipeline([(ADD, (1, 2)), ("SELECT $1::text", ("\0",))])
    assert caught.value.index == 1
    assert await alive(connection)


async def test_failing_fence_steps_down_and_its_commit_does_nothing(connection):
    await connection.script("CREATE TABLE t (n int)")
    fence = "DO $$ BEGIN RAISE EXCEPTION 'stale epoch' USING ERRCODE = 'VV001'; END $$"
    with pytest.raises(SteppedDown) as caught:
        await connection.pipeline([("BEGIN", ()), (fence, ()), ("INSERT INTO t VALUES (1)", ()), ("COMMIT", ())])
    assert caught.value.index == 1
    assert not connection.reusable
    await connection.execute("ROLLBACK")
    assert (await connection.execute("SELECT * FROM t")).rows == []


BOOM = """
CREATE TABLE t (n int);
CREATE FUNCTION boom() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.n = 13 THEN RAISE EXCEPTION 'thirteen' USING ERRCODE = '23514'; END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER boom AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION boom();
"""


async def test_a_commit_that_fails_at_the_sync_is_no_success(connection):
    """Without BEGIN each statement was fine, and the error comes after all their answers."""
    await connection.script(BOOM)
    insert = "INSERT INTO t VALUES ($1::int)"
    with pytest.raises(DataPoison, match="thirteen") as caught:
        await connection.pipeline([(insert, (1,)), (insert, (13,)), (ADD, (1, 2))])
    assert (caught.value.index, caught.value.statement) == (None, "commit")
    assert connection.reusable
    assert (await connection.pipeline([(insert, (2,)), ("SELECT n FROM t", ())]))[1].rows == [(2,)]


async def test_a_pipeline_in_two_halves(connection, other):
    """PostgreSQL has it before anybody waits, and nobody else uses the connection until its end."""
    await connection.script("CREATE TABLE t (n int)")
    connection.start_pipeline([("INSERT INTO t VALUES (1)", ()), (ADD, (1, 2))])
    await eventually_rows(other, [(1,)], "SELECT n FROM t")
    with pytest.raises(StorageBug, match="in use by 'pipeline'"):
        await connection.execute("SELECT 1")
    assert [result.rows for result in await connection.finish_pipeline()] == [[], [(3,)]]
    assert connection.reusable


async def test_the_first_half_of_a_pipeline_that_cannot_be_sent(connection):
    with pytest.raises(DataPoison) as caught:
        connection.start_pipeline([(ADD, (1, 2)), ("SELECT $1::text", ("\0",))])
    assert caught.value.index == 1
    assert await alive(connection)
    connection.abort()
    with pytest.raises(ConnectionLost):
        connection.start_pipeline([(ADD, (1, 2))])


async def test_the_second_half_of_a_pipeline_is_in_doubt_when_the_connection_goes(connection, other):
    connection.start_pipeline([("SELECT pg_sleep(60)", ())])
    await other.execute("SELECT pg_terminate_backend($1::int)", (connection.backend_pid,))
    with pytest.raises(ConnectionLost) as caught:
        await connection.finish_pipeline()
    assert caught.value.in_doubt
    assert connection.closed


async def test_a_cancelled_second_half_closes_the_connection(connection):
    connection.start_pipeline([(SLEEP, (60,))])
    with trio.CancelScope() as scope:
        scope.cancel()
        await connection.finish_pipeline()
    assert connection.closed


async def test_half_a_pipeline_larger_than_all_buffers_is_sent_by_the_other(connection):
    text = "x" * 3_000_000
    connection.start_pipeline([("SELECT $1::text", (text,)) for _ in range(5)])
    assert all(result.rows == [(text,)] for result in await connection.finish_pipeline())


async def test_pipeline_larger_than_all_buffers_in_both_directions_does_not_deadlock(connection):
    text = "x" * 3_000_000
    results = await connection.pipeline([("SELECT $1::text", (text,)) for _ in range(5)])
    assert all(result.rows == [(text,)] for result in results)


# One task at a time


async def test_a_second_task_on_the_same_connection_is_a_bug_and_disturbs_nobody(connection):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(connection.execute, SLEEP, (0.1,))
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(StorageBug, match="in use by 'sleep'"):
            await connection.execute("SELECT 1")
    assert await alive(connection)


# Cancellation


async def test_a_call_in_a_cancelled_scope_sends_nothing(connection):
    await connection.script("CREATE TABLE t (n int)")
    with trio.CancelScope() as scope:
        scope.cancel()
        await connection.execute("INSERT INTO t VALUES (1)")
    assert connection.reusable
    assert (await connection.execute("SELECT * FROM t")).rows == []


async def test_cancelled_query_is_cancelled_on_the_server_and_the_connection_reused(
    connection, other, cancelled, monkeypatch
):
    monkeypatch.setattr(session, "SETTLE_S", 10)
    ended = await cancelled(
        partial(connection.execute, SLEEP, (60,), deadline=trio.current_time() + 100),
        partial(until_sleeping, other, connection),
    )
    with trio.fail_after(10):
        await ended.wait()
    assert connection.reusable
    assert await alive(connection)


async def test_cancelled_query_that_ends_by_itself_had_its_effect_and_the_connection_is_reused(
    connection, other, cancelled, monkeypatch
):
    monkeypatch.setattr(session, "SETTLE_GRACE_S", 10)
    monkeypatch.setattr(session, "SETTLE_S", 10)
    await connection.script("CREATE TABLE t (n int)")
    await other.execute("SELECT pg_advisory_lock(1)")
    ended = await cancelled(
        partial(connection.execute, "INSERT INTO t SELECT 1 FROM pg_advisory_xact_lock(1)"),
        partial(eventually_rows, other, [(1,)], "SELECT count(*) FROM pg_locks WHERE NOT granted"),
    )
    await other.execute("SELECT pg_advisory_unlock(1)")
    await ended.wait()
    assert (await connection.execute("SELECT * FROM t")).rows == [(1,)]


async def test_cancelled_query_that_cannot_be_cancelled_closes_the_connection(database, other, proxy, cancelled):
    connection = await connect(proxy.dsn(database))

    async def swallowed():
        await until_sleeping(other, connection)
        proxy.swallow = True

    ended = await cancelled(partial(connection.execute, SLEEP, (60,)), swallowed)
    began = trio.current_time()
    await ended.wait()
    assert connection.closed
    assert session.SETTLE_S <= trio.current_time() - began < session.SETTLE_S + 2


async def test_cancelled_inside_a_transaction_leaves_a_connection_that_says_so(connection, other, cancelled):
    await connection.execute("BEGIN")
    ended = await cancelled(
        partial(connection.execute, SLEEP, (60,)),
        partial(until_sleeping, other, connection),
    )
    await ended.wait()
    assert not connection.reusable
    connection.close()
    assert connection.closed


async def test_cancelled_pipeline_closes_the_connection_and_commits_nothing(connection, other, cancelled):
    await connection.script("CREATE TABLE t (n int)")
    ended = await cancelled(
        partial(connection.pipeline, [("INSERT INTO t VALUES (1)", ()), (SLEEP, (60,))]),
        partial(until_sleeping, other, connection),
    )
    await ended.wait()
    assert connection.closed
    with pytest.raises(ConnectionLost, match="closed"):
        await connection.execute("SELECT 1")
    assert (await other.execute("SELECT * FROM t")).rows == []


async def test_cancelled_while_a_pipeline_is_being_sent_closes_the_connection(database, proxy, cancelled):
    connection = await connect(proxy.dsn(database))
    proxy.stall = True
    ended = await cancelled(
        partial(connection.pipeline, [("SELECT $1::text", ("x" * 20_000_000,))], sent=pytest.fail),
        partial(trio.testing.wait_all_tasks_blocked, 0.01),
    )
    await ended.wait()
    assert connection.closed


async def test_abort_from_another_task_frees_a_call_at_once(connection):
    async with trio.open_nursery() as nursery:

        async def wait():
            with pytest.raises(ConnectionLost) as caught:
                await connection.execute(SLEEP, (60,))
            assert caught.value.in_doubt

        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        connection.abort()
    assert connection.closed


async def test_abort_from_another_task_frees_a_pipeline_that_is_being_sent(database, proxy):
    connection = await connect(proxy.dsn(database))
    proxy.stall = True
    async with trio.open_nursery() as nursery:

        async def wait():
            with pytest.raises(ConnectionLost):
                await connection.pipeline([("SELECT $1::text", ("x" * 20_000_000,))])

        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked(0.01)
        connection.abort()


# Deadlines


async def test_deadline_behind_a_black_hole_frees_the_call_and_closes(database, proxy):
    connection = await connect(proxy.dsn(database))
    proxy.swallow = True
    started = trio.current_time()
    with pytest.raises(DeadlineExceeded) as caught:
        await connection.execute("SELECT 1", deadline=started + 0.1)
    assert caught.value.in_doubt
    assert 0.1 <= trio.current_time() - started < 2
    assert connection.closed


async def test_deadline_of_a_pipeline_that_is_stuck_in_sending(database, proxy):
    connection = await connect(proxy.dsn(database))
    proxy.stall = True
    started = trio.current_time()
    with pytest.raises(DeadlineExceeded):
        await connection.pipeline([("SELECT $1::text", ("x" * 20_000_000,))], deadline=started + 0.2, sent=pytest.fail)
    assert trio.current_time() - started < 2
    assert connection.closed


async def test_every_call_has_a_deadline_even_if_none_was_given(database, proxy):
    connection = await connect(proxy.dsn(database), call_timeout_s=0.5)
    proxy.swallow = True
    with pytest.raises(DeadlineExceeded):
        await connection.execute("SELECT 1")


async def test_answer_that_is_lost_is_in_doubt(database, other, proxy):
    await other.script("CREATE TABLE t (n int)")
    connection = await connect(proxy.dsn(database))
    proxy.drop_answers = True
    with pytest.raises(ConnectionLost) as caught:
        await connection.execute("INSERT INTO t VALUES (1)")
    assert caught.value.in_doubt
    assert (await other.execute("SELECT * FROM t")).rows == [(1,)]


# The end of a connection


async def test_killed_backend_is_a_lost_connection(connection, other):
    await other.execute("SELECT pg_terminate_backend($1)", (connection.backend_pid,))
    with pytest.raises(ConnectionLost) as caught:
        await connection.execute("SELECT 1")
    assert caught.value.sqlstate == "57P01"
    assert connection.closed


async def test_backend_killed_within_a_pipeline(connection, other):
    async with trio.open_nursery() as nursery:

        async def wait():
            with pytest.raises(ConnectionLost):
                await connection.pipeline([("BEGIN", ()), (SLEEP, (60,)), ("COMMIT", ())])

        nursery.start_soon(wait)
        await until_sleeping(other, connection)
        await other.execute("SELECT pg_terminate_backend($1)", (connection.backend_pid,))
    assert connection.closed


async def test_an_idle_connection_knows_that_its_end_has_come(connection, other):
    assert not connection.has_input
    await other.execute("SELECT pg_terminate_backend($1, 5000)", (connection.backend_pid,))
    await eventually(lambda: connection.has_input)


async def test_close_twice_and_use_after_close(database):
    connection = await connect(database)
    connection.close()
    connection.close()
    connection.abort()
    assert not connection.in_transaction
    with pytest.raises(ConnectionLost) as caught:
        await connection.execute("SELECT 1")
    assert not caught.value.in_doubt


async def test_close_ends_the_session_on_the_server(database, other):
    connection = await connect(database)
    connection.close()
    await eventually_rows(other, [(0,)], "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", connection.backend_pid)


# Notifications


async def test_notifications_arrive_while_waiting(connection, other):
    await connection.execute("LISTEN news")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(other.execute, "SELECT pg_notify($1, $2)", ("news", "1:7")))
        (notification,) = await connection.notifications(5)
    assert notification == ("news", "1:7", other.backend_pid)


async def test_notifications_that_came_with_an_answer_are_not_lost(connection, other):
    await connection.execute("LISTEN news")
    await other.execute("NOTIFY news, 'a'")
    await connection.execute("SELECT 1")
    assert [n.payload for n in await connection.notifications(5)] == ["a"]


async def test_no_notification_in_time_is_no_error(connection):
    await connection.execute("LISTEN news")
    assert await connection.notifications(0.01) == []
    assert await alive(connection)


async def test_lost_connection_ends_the_wait_for_notifications(connection, other):
    await connection.execute("LISTEN news")
    async with trio.open_nursery() as nursery:

        async def wait():
            with pytest.raises(ConnectionLost):
                await connection.notifications(60)

        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        await other.execute("SELECT pg_terminate_backend($1)", (connection.backend_pid,))


# Connecting


async def test_connecting_to_nobody(tmp_path, unused_port):
    with pytest.raises(ConnectFailed, match="Connection refused"):
        await connect(f"host=127.0.0.1 port={unused_port()} user=nobody dbname=nothing")
    with pytest.raises(ConnectFailed, match="No such file"):
        await connect(f"host={tmp_path} user=nobody dbname=nothing")


async def test_connecting_to_an_unknown_database_or_as_an_unknown_role(database):
    with pytest.raises(ConnectFailed, match='database "nowhere" does not exist'):
        await connect(make_conninfo(database, dbname="nowhere"))
    with pytest.raises(ConnectFailed, match='role "nobody-at-all" does not exist'):
        await connect(make_conninfo(database, user="nobody-at-all"))


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://user:secret@[::1/db",
        "host=a,b port=1,2,3 password=secret",
        "secret",
        "host=a connect_timeout=secret",
    ],
)
async def test_a_dsn_that_cannot_be_read_is_refused_without_repeating_it(dsn):
    with pytest.raises(InvalidDsn) as caught:
        await connect(dsn)
    assert "secret@" not in str(caught.value)
    assert "password" not in str(caught.value).replace("user:password@", "")


async def test_connecting_to_a_silent_server_ends_at_the_deadline(proxy):
    proxy.swallow = True
    started = trio.current_time()
    with pytest.raises(ConnectFailed, match=f"no answer from 127.0.0.1 port {proxy.port} within"):
        await connect(f"host=127.0.0.1 port={proxy.port} user=u dbname=d", deadline=started + 0.1)
    assert trio.current_time() - started < 2


async def test_a_cancelled_connect_leaves_nothing(proxy):
    proxy.swallow = True
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connect, f"host=127.0.0.1 port={proxy.port} user=u dbname=d")
            await trio.testing.wait_all_tasks_blocked(0.01)
            assert proxy.connections == 1
            scope.cancel()
    assert scope.cancelled_caught


async def test_several_hosts_the_first_that_answers_is_taken(database, proxy, unused_port):
    proxy.swallow = True
    host = conninfo_to_dict(database)["host"]
    port = conninfo_to_dict(database).get("port", "5432")
    dsn = make_conninfo(database, host=f"127.0.0.1,127.0.0.1,{host}", port=f"{unused_port()},{proxy.port},{port}")
    connection = await connect(dsn, deadline=trio.current_time() + 5)
    assert await alive(connection)
    connection.close()


async def test_several_hosts_all_failures_are_told(unused_port):
    first, second = unused_port(), unused_port()
    with pytest.raises(ConnectFailed) as caught:
        await connect(f"host=127.0.0.1,localhost port={first},{second} user=u dbname=d")
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)


async def test_the_dsns_own_connect_timeout_holds(proxy):
    proxy.swallow = True
    started = trio.current_time()
    with pytest.raises(ConnectFailed, match=r"within 0\.1 s"):
        await connect(f"host=127.0.0.1 port={proxy.port} user=u dbname=d connect_timeout=0.1")
    assert trio.current_time() - started < 2


async def test_no_descriptor_outlives_its_connection(database, proxy):
    """Closed, aborted, refused, cancelled and lost connections: each leaves nothing open."""

    async def use_up():
        (await connect(database)).close()
        (await connect(database)).abort()
        with pytest.raises(ConnectFailed):
            await connect(make_conninfo(database, dbname="nowhere"))
        lost = await connect(database)
        with pytest.raises(ConnectionLost):
            await lost.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connect, f"host=127.0.0.1 port={proxy.port} user=u dbname=d")
            await trio.testing.wait_all_tasks_blocked(0.01)
            nursery.cancel_scope.cancel()

    proxy.swallow = True
    await use_up()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        await use_up()
    # The proxy closes its ends in its own time.
    await eventually(lambda: len(os.listdir("/proc/self/fd")), accept=lambda number: number <= before)


class CancelAtStep(trio.abc.Instrument):
    """Cancels a scope while the task waits for the n-th time."""

    def __init__(self, task, scope, step) -> None:
        self._task, self._scope, self._left = task, scope, step

    def after_task_step(self, task):
        if task is self._task:
            self._left -= 1
            if self._left == 0:
                self._scope.cancel()


@pytest.mark.parametrize("kind", ["execute", "pipeline", "transaction", "script"])
@pytest.mark.harmless
async def test_cancelled_at_any_step_a_connection_is_clean_or_closed(database, kind):
    """A later call never sees an answer, an error or a transaction of the cancelled one."""
    fresh = iter(range(1_000_000))

    async def call(connection):
        number = next(fresh)
        query = statement("fresh", f"SELECT {number}::bigint + $1::bigint", "Must be prepared first.")
        match kind:
            case "execute":
                await connection.execute(query, (1,))
            case "pipeline":
                await connection.pipeline([("BEGIN", ()), (query, (1,)), (query, (2,)), ("COMMIT", ())])
            case "script":
                await connection.script(f"SELECT {number}; SELECT {number}")
            case "transaction":
                async with connection.transaction():
                    await connection.execute(query, (1,))
                    await connection.execute(query, (2,))

    outcomes = set()
    connection = await connect(database)
    for step in range(1, 25):
        if connection.closed:
            connection = await connect(database)
        with trio.CancelScope() as scope:
            instrument = CancelAtStep(trio.lowlevel.current_task(), scope, step)
            trio.lowlevel.add_instrument(instrument)
            try:
                await call(connection)
            finally:
                trio.lowlevel.remove_instrument(instrument)
        outcomes.add((scope.cancelled_caught, connection.closed))
        if not connection.closed:
            assert connection.reusable
            assert await alive(connection)
    connection.close()
    assert (False, False) in outcomes
    assert any(cancelled for cancelled, _ in outcomes)


def test_the_public_names_of_the_driver():
    assert inspect.iscoroutinefunction(driver.connect)
    assert set(driver.__all__) == {
        "Call",
        "Connect",
        "Connection",
        "Notification",
        "Params",
        "Query",
        "QueryResult",
        "connect",
    }


@pytest.fixture
def unused_port():
    """Tells ports at which nobody listens, nor can as long as the test runs."""
    with ExitStack() as taken:

        def make():
            probe = taken.enter_context(socket.socket())
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

        yield make
