"""The dispatcher on PostgreSQL: runs, retries, schedules, heartbeats, nodes that die or freeze."""

import asyncio
import threading
from uuid import uuid4

import pytest
import trio

from tests.eventually import eventually, eventually_rows
from vivero.engine.jobs.definitions import RescheduleIn, job, scheduled
from vivero.engine.jobs.retries import RetrySettings
from vivero.storage.background import job_executions

MESSAGE = "regexp_replace(error, '.*\\n', '')"
"""The last line of an error, which has no calls."""
SOON = RetrySettings(max_attempts=3, initial_interval_s=0)


async def add(connection, type, payload=None, due_ms=None):
    id = str(uuid4())
    await job_executions.add(connection, id, type, payload, due_ms)
    return id


@pytest.fixture
async def mid_period(connection):
    """Stops the engine's clock between two times of every schedule, and gives settings for which that is quick."""
    await connection.execute("UPDATE clock SET pinned_at = '2026-11-21T01:02:03Z', revision = revision + 1")
    return {"poll_interval": "PT0.02S"}


async def test_each_kind_of_function_runs_and_its_execution_is_gone(connection, dispatcher, nursery, until, beat):
    seen = []

    async def in_trio(execution):
        await trio.lowlevel.checkpoint()
        seen.append(("trio", execution.payload))

    async def in_asyncio(execution):
        await asyncio.sleep(0)
        seen.append(("asyncio", execution.payload))

    def in_thread(execution):
        assert threading.current_thread() is not threading.main_thread()
        seen.append(("thread", execution.payload))

    jobs = [job("t")(in_trio), job("a", runs="asyncio")(in_asyncio), job("p")(in_thread)]
    for type in "tap":
        await add(connection, type, f'{{"for": "{type}"}}')
    nursery.start_soon(dispatcher(*jobs).run, beat)
    await until([])
    assert sorted(seen, key=repr) == [
        ("asyncio", {"for": "a"}), ("thread", {"for": "p"}), ("trio", {"for": "t"})
    ]  # fmt: skip


async def test_what_is_of_no_known_type_or_not_due_waits(connection, dispatcher, nursery, until, beat):
    await add(connection, "unknown")
    await add(connection, "known", due_ms=4_000_000_000_000)
    await add(connection, "known")

    @job("known")
    async def known(_execution): ...

    nursery.start_soon(dispatcher(known).run, beat)
    await until([("unknown", "pending", 0), ("known", "pending", 0)])


async def test_failures_are_retried_and_the_last_one_stays_with_its_error(connection, dispatcher, nursery, until, beat):
    keys = []

    @job("broken", retry=SOON)
    async def broken(execution):
        keys.append((execution.attempt, execution.idempotency_key))
        raise RuntimeError("no paper\0")

    id = await add(connection, "broken")
    nursery.start_soon(dispatcher(broken).run, beat)
    await until([("broken", "failed", 3, "RuntimeError: no paper\ufffd")], f"job_type, state, attempt_index, {MESSAGE}")
    assert keys == [(0, f"{id}-0"), (1, f"{id}-0"), (2, f"{id}-0")]


async def test_a_payload_that_does_not_fit_here_is_tried_again_and_fits_a_newer_server(
    connection, dispatcher, nursery, until, beat
):
    """In a rolling deployment, an old node may be the first to get the payload of a new function."""
    later, seen = RetrySettings(max_attempts=2, initial_interval_s=3600), []

    @job("typed", retry=later)
    async def old(execution, invoice: str): ...

    @job("typed", retry=later)
    async def new(execution, invoice: int):
        seen.append((execution.attempt, invoice))

    await add(connection, "typed", '{"invoice": 5}')
    node, error = dispatcher(old), "BadPayload: the payload does not fit: Expected `str`, got `int` - at `$.invoice`"
    async with trio.open_nursery() as until_stopped:
        until_stopped.start_soon(node.run, beat)
        await until([("pending", 1, error)], f"state, attempt_index, {MESSAGE}")
        node.drain()
    await connection.execute("UPDATE job_executions SET execute_at = clock_now()")
    nursery.start_soon(dispatcher(new, node="b").run, beat)
    await until([])
    assert seen == [(1, 5)]


@pytest.mark.parametrize("result", ["text", 5, True])
async def test_a_result_that_means_nothing_is_a_failure(connection, dispatcher, nursery, until, beat, result):
    @job("odd", retry=RetrySettings(max_attempts=1))
    async def odd(_execution):
        return result

    await add(connection, "odd")
    nursery.start_soon(dispatcher(odd).run, beat)
    await until([("odd", "failed", 1)])


async def test_a_handler_that_exits_ends_its_attempt_and_not_the_program(connection, dispatcher, nursery, until, beat):
    @job("leaves", retry=RetrySettings(max_attempts=1))
    def leaves(_execution):
        raise SystemExit(3)

    await add(connection, "leaves")
    nursery.start_soon(dispatcher(leaves).run, beat)
    await until([("leaves", "failed", 1, "SystemExit: 3")], f"job_type, state, attempt_index, {MESSAGE}")


async def test_an_attempt_that_takes_too_long_is_cancelled(connection, dispatcher, nursery, until, beat):
    @job("slow", retry=RetrySettings(max_attempts=1), timeout="PT0.01S")
    async def slow(_execution):
        await trio.sleep_forever()

    await add(connection, "slow")
    nursery.start_soon(dispatcher(slow).run, beat)
    await until([("slow", "failed", 1)])


async def test_a_polling_job_goes_on_as_the_same_execution(connection, dispatcher, nursery, until, beat):
    keys = []

    @job("sync")
    async def sync(execution):
        keys.append(execution.idempotency_key)
        return RescheduleIn(0) if len(keys) < 3 else None

    id = await add(connection, "sync")
    nursery.start_soon(dispatcher(sync).run, beat)
    await until([])
    assert keys == [f"{id}-{number}" for number in range(3)]


async def test_a_transaction_commits_with_the_end_of_its_run_or_not_at_all(
    connection, dispatcher, nursery, until, beat
):
    await connection.script("CREATE TABLE ledger (id text, attempt int)")

    @job("books", retry=SOON)
    async def ledger(execution):
        await execution.execute("INSERT INTO ledger VALUES ($1, $2)", (execution.id, execution.attempt))
        if execution.attempt == 0:
            raise RuntimeError("not yet")
        return RescheduleIn("PT1H") if execution.payload else None

    once = await add(connection, "books")
    again = await add(connection, "books", "1")
    nursery.start_soon(dispatcher(ledger).run, beat)
    await until([(again, "pending", 0)], "id::text, state, attempt_index")
    written = (await connection.execute("SELECT id, attempt FROM ledger")).rows
    assert sorted(map(tuple, written)) == sorted([(once, 1), (again, 1)]), "the first attempts left nothing"


async def test_a_scheduled_job_has_one_execution_and_catches_up_once(
    connection, dispatcher, nursery, until, beat, mid_period
):
    runs = []

    @scheduled("hourly", every="PT1H")
    async def hourly(_execution):
        runs.append(1)

    first = dispatcher(hourly, **mid_period)
    async with trio.open_nursery() as inner:
        inner.start_soon(first.run, beat)
        await until([("hourly", "pending", 0)])
        first.drain()
    await connection.script("UPDATE job_executions SET execute_at = execute_at - interval '5 hours'")
    nursery.start_soon(dispatcher(hourly, node="b", **mid_period).run, beat)
    await until([("hourly", "pending", True)], "job_type, state, execute_at > clock_now()")
    assert len(runs) == 1, "five runs were missed, one is made up"


async def test_a_changed_schedule_begins_anew(connection, dispatcher, until, beat, mid_period):
    for period, seconds in (("PT1H", 3600), ("PT2H", 7200)):
        made = dispatcher(scheduled("report", every=period)(print), node=period, **mid_period)
        async with trio.open_nursery() as inner:
            inner.start_soon(made.run, beat)
            await until(
                [(period, True)],
                f"schedule, extract(epoch FROM execute_at)::bigint % {seconds} = 0 AND state = 'pending'",
            )
            made.drain()


async def test_a_scheduled_job_that_fails_for_good_goes_on_and_keeps_the_failure(
    connection, dispatcher, nursery, until, beat, mid_period
):
    @scheduled("report", every="PT1H", retry=RetrySettings(max_attempts=1))
    async def report(_execution):
        raise RuntimeError("no paper")

    made = dispatcher(report, **mid_period)
    async with trio.open_nursery() as inner:
        inner.start_soon(made.run, beat)
        await until([("report", "pending", 0)])
        made.drain()
    await connection.script("UPDATE job_executions SET execute_at = clock_now()")
    nursery.start_soon(dispatcher(report, node="b", **mid_period).run, beat)
    await eventually_rows(connection, [(2,)], "SELECT count(*) FROM job_executions")
    found = (await connection.execute("SELECT state, attempt_index, schedule FROM job_executions ORDER BY state")).rows
    assert list(map(tuple, found)) == [("failed", 1, None), ("pending", 0, "PT1H")]


async def test_runs_of_a_dead_node_are_recovered_as_an_attempt(connection, dispatcher, nursery, until, beat):
    seen = []

    @job("work", retry=SOON)
    async def work(execution):
        seen.append(execution.attempt)

    @job("hopeless", retry=RetrySettings(max_attempts=1))
    async def hopeless(_execution): ...

    await add(connection, "work")
    await add(connection, "hopeless")
    await connection.script(
        "UPDATE job_executions SET state = 'running', node = 'dead', lease = gen_random_uuid(),"
        " alive_at = clock_timestamp() - interval '1 min'"
    )
    nursery.start_soon(dispatcher(work, hopeless).run, beat)
    await until([("hopeless", "failed", 1)])
    assert seen == [1]


async def test_a_run_that_was_taken_away_is_cancelled_and_writes_nothing(connection, dispatcher, nursery, beat):
    await connection.script("CREATE TABLE ledger (id text)")
    ended = trio.Event()
    began = trio.Event()

    @job("long")
    async def long(execution):
        await execution.execute("INSERT INTO ledger VALUES ($1)", (execution.id,))
        began.set()
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    await add(connection, "long")
    made = dispatcher(long, keep_alive_interval="PT0.1S")
    nursery.start_soon(made.run, beat)
    with trio.fail_after(20):
        await began.wait()
        await connection.script("UPDATE job_executions SET lease = gen_random_uuid(), node = 'other'")
        await ended.wait()
    assert (await connection.execute("SELECT count(*) FROM ledger")).rows[0][0] == 0
    assert made.figures.lost == 1


async def test_a_run_that_goes_on_after_its_lease_is_lost_is_lost_once(connection, dispatcher, nursery, beat):
    """It cannot be cancelled at that moment, as a thread that has just returned."""
    began, gate = trio.Event(), trio.Event()

    @job("ends")
    async def ends(_execution):
        with trio.CancelScope(shield=True):
            began.set()
            await gate.wait()

    await add(connection, "ends")
    made = dispatcher(ends, keep_alive_interval="PT0.1S")
    nursery.start_soon(made.run, beat)
    await began.wait()
    await connection.script("UPDATE job_executions SET lease = gen_random_uuid(), node = 'other'")
    await eventually(lambda: made.figures.lost)
    gate.set()
    await eventually(lambda: made.running == 0)
    turns = made.figures.turns
    await eventually(lambda: made.figures.turns, accept=lambda found: found > turns + 1)
    assert (made.figures.lost, made.figures.completed) == (1, 0)


async def test_what_ends_after_its_lease_is_lost_does_not_count(connection, dispatcher, nursery, beat):
    """A frozen node wakes up: another node has the execution by now."""
    await connection.script("CREATE TABLE ledger (id text)")

    @job("frozen")
    async def frozen(execution):
        await execution.execute("INSERT INTO ledger VALUES ($1)", (execution.id,))
        await connection.script("UPDATE job_executions SET lease = gen_random_uuid(), node = 'other'")

    await add(connection, "frozen")
    made = dispatcher(frozen)
    nursery.start_soon(made.run, beat)
    await eventually(lambda: made.figures.lost)
    assert (await connection.execute("SELECT count(*) FROM ledger")).rows[0][0] == 0
    assert (await connection.execute("SELECT node FROM job_executions")).rows[0][0] == "other"


async def test_a_stop_hands_back_what_runs_without_counting_an_attempt(connection, dispatcher, until, beat):
    began = trio.Event()

    @job("long")
    async def long(_execution):
        began.set()
        await trio.sleep_forever()

    await add(connection, "long")
    made = dispatcher(long, drain="PT0S")
    with trio.fail_after(20):
        async with trio.open_nursery() as inner:
            inner.start_soon(made.run, beat)
            await began.wait()
            made.drain()
    await until([("long", "pending", 0)])
    assert (await connection.execute("SELECT session FROM job_dispatchers")).rows == [(2,)], "it may pull no more"
    assert await job_executions.known_types(connection) == ["long"], "it may only be restarted"


async def test_after_a_lost_connection_runs_go_back_at_once(connection, dispatcher, until, beat):
    began = []

    @job("long")
    async def long(_execution):
        began.append(1)
        if len(began) == 1:
            await trio.sleep_forever()

    await add(connection, "long")
    made = dispatcher(long)
    with trio.fail_after(20):
        async with trio.open_nursery() as inner:
            inner.start_soon(made.run, beat)
            await eventually(lambda: began)
            inner.cancel_scope.cancel()
        async with trio.open_nursery() as inner:
            inner.start_soon(made.run, beat)
            await until([])
            inner.cancel_scope.cancel()
    assert len(began) == 2


async def test_two_nodes_share_the_work_and_do_nothing_twice(connection, dispatcher, nursery, until, beat):
    seen = []

    @job("work")
    async def work(execution):
        seen.append(execution.id)
        await trio.lowlevel.checkpoint()

    added = [await add(connection, "work") for _ in range(200)]
    nodes = [dispatcher(work, node=name) for name in "ab"]
    for node in nodes:
        nursery.start_soon(node.run, beat)
    await until([])
    assert sorted(seen) == sorted(added)


async def test_paused_types_wait(connection, dispatcher, nursery, until, beat):
    @job("work")
    async def work(_execution): ...

    @job("other")
    async def other(_execution): ...

    await connection.script("INSERT INTO paused_job_types VALUES ('work')")
    await add(connection, "work")
    await add(connection, "other")
    made = dispatcher(work, other)
    nursery.start_soon(made.run, beat)
    await until([("work", "pending", 0)])
    await connection.script("DELETE FROM paused_job_types")
    made.wake()
    await until([])
