"""Limits of executions on a node and on all; executions that may not be added, or are ended by hand."""

from contextlib import contextmanager
from uuid import uuid4

import pytest
import trio

from tests.eventually import eventually, eventually_rows
from vivero.engine.jobs.definitions import job, scheduled
from vivero.engine.jobs.retries import RetrySettings
from vivero.engine.jobs.type_settings import JobTypeSettings
from vivero.storage.background import job_executions

QUICK = {"poll_interval": "PT0.02S"}


async def add(connection, type, count=1):
    for _ in range(count):
        await job_executions.add(connection, str(uuid4()), type, None, None)


@pytest.fixture
def held():
    """A job whose runs wait until they are let go, one by one; it notes how many run at once."""
    return Held("held")


class Held:
    def __init__(self, type) -> None:
        self.job = job(type)(self._run)
        self.waiting, self.most = [], 0

    async def _run(self, _execution):
        gate = trio.Event()
        self.waiting.append(gate)
        self.most = max(self.most, len(self.waiting))
        await gate.wait()

    def let_go(self):
        self.waiting.pop(0).set()


async def test_long_runs_hold_no_free_places_back(connection, dispatcher, nursery, held, beat):
    """As many as the minimum run for ever. Later ones have the places beside them, and no more."""
    await add(connection, "held", 2)
    made = dispatcher(held.job, min_concurrent=2, max_concurrent=5, poll_interval="PT1H")
    nursery.start_soon(made.run, beat)
    await eventually(lambda: len(held.waiting), accept=lambda found: found == 2)
    await add(connection, "held", 4)
    made.wake()
    await eventually(lambda: len(held.waiting), accept=lambda found: found == 5)
    held.let_go()
    await eventually(lambda: made.figures.started, accept=lambda found: found == 6)
    assert held.most == 5


@pytest.mark.long
@pytest.mark.parametrize(
    ("settings", "most"),
    [
        (JobTypeSettings(max_concurrent=2), 4),
        (JobTypeSettings(max_in_cluster=3), 3),
        (JobTypeSettings(max_concurrent=2, max_in_cluster=3), 3),
        (JobTypeSettings(max_in_cluster=1), 1),
    ],
)
async def test_limits_of_a_type_on_a_node_and_on_all(connection, dispatcher, nursery, held, beat, settings, most):
    """Two nodes pull at once, again and again, and never have more than that together."""
    await add(connection, "held", 20)
    nodes = [dispatcher(held.job, node=name, types={"held": settings}, **QUICK) for name in "ab"]
    for node in nodes:
        nursery.start_soon(node.run, beat)
    for done in range(20):
        await eventually(lambda done=done: len(held.waiting) == min(most, 20 - done))
        held.let_go()
    assert held.most == most


async def test_a_node_sees_what_another_is_about_to_pull_under_a_limit_of_all_nodes(connection, connect, nursery):
    """Else both would see a free place, and each would take another execution."""
    await add(connection, "held", 5)
    batch = job_executions.PullLimits({"held": 5}, 5, {"held": 2})
    first, second = await connect(), await connect()
    nodes = [await job_executions.register(each, name, []) for each, name in ((first, "a"), (second, "b"))]
    pulled = []

    async def pull_second():
        pulled.append(await job_executions.exchange(second, nodes[1], job_executions.Outcomes(), batch))

    async with first.transaction():
        runs, *_ = await job_executions.exchange(first, nodes[0], job_executions.Outcomes(), batch)
        assert len(runs) == 2
        nursery.start_soon(pull_second)
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 4713 AND NOT granted"
        await eventually_rows(connection, [(1,)], waits)
    await eventually(lambda: pulled)
    assert pulled[0][0] == []
    first.close()
    second.close()


async def test_other_types_do_not_wait_for_one_at_its_limit(connection, dispatcher, nursery, held, beat):
    other = Held("other")
    await add(connection, "held", 5)
    await add(connection, "other", 3)
    made = dispatcher(held.job, other.job, types={"held": JobTypeSettings(max_concurrent=1)}, **QUICK)
    nursery.start_soon(made.run, beat)
    await eventually(lambda: len(other.waiting), accept=lambda found: found == 3)
    assert len(held.waiting) == 1


async def test_a_batch_size_bounds_one_pull(connection, dispatcher, nursery, held, beat):
    await add(connection, "held", 6)
    made = dispatcher(held.job, types={"held": JobTypeSettings(batch_size=2)}, **QUICK)
    nursery.start_soon(made.run, beat)
    await eventually(lambda: len(held.waiting), accept=lambda found: found == 6)
    assert made.figures.turns >= 3, "two at once"


async def test_a_node_whose_settings_pause_a_type_leaves_it_to_others(connection, dispatcher, nursery, held, beat):
    await add(connection, "held", 3)
    paused = dispatcher(held.job, node="a", types={"held": JobTypeSettings(paused=True)}, **QUICK)
    nursery.start_soon(paused.run, beat)
    await eventually(lambda: paused.figures.turns, accept=lambda found: found > 3)
    assert held.waiting == []
    nursery.start_soon(dispatcher(held.job, node="b", **QUICK).run, beat)
    await eventually(lambda: len(held.waiting), accept=lambda found: found == 3)


async def test_a_cancelled_run_ends_at_the_next_heartbeat_and_writes_nothing(
    connection, dispatcher, nursery, until, beat
):
    await connection.script("CREATE TABLE ledger (id text)")
    began, ended = trio.Event(), trio.Event()

    @job("long")
    async def long(execution):
        await execution.execute("INSERT INTO ledger VALUES ($1)", (execution.id,))
        began.set()
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    await add(connection, "long")
    made = dispatcher(long, keep_alive_interval="PT0.1S", **QUICK)
    nursery.start_soon(made.run, beat)
    with trio.fail_after(20):
        await began.wait()
        [found], _ = await job_executions.search(connection)
        assert await job_executions.cancel(connection, found)
        await ended.wait()
    await until([("long", "failed", 0, "cancelled")], "job_type, state, attempt_index, error")
    await eventually(lambda: made.running, accept=lambda found: found == 0)
    assert (await connection.execute("SELECT count(*) FROM ledger")).rows == [(0,)]


async def test_runs_of_a_schedule_never_overlap_and_a_long_one_delays_the_next(connection, dispatcher, nursery, beat):
    """Three nodes, a period of a hundredth of a second, and runs during which all nodes look for work."""
    at_once, most, runs, nodes = 0, 0, [], []

    @scheduled("often", every="PT0.01S")
    async def often(execution):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        turns = [node.figures.turns for node in nodes]
        await eventually(lambda: all(node.figures.turns > turn + 1 for node, turn in zip(nodes, turns, strict=True)))
        at_once -= 1
        runs.append(execution.occurrence)

    nodes += [dispatcher(often, node=node, **QUICK) for node in "abc"]
    for node in nodes:
        nursery.start_soon(node.run, beat)
    await eventually(lambda: len(runs), accept=lambda found: found == 5)
    assert most == 1
    assert runs == [0, 1, 2, 3, 4], "what a run covers is not made up afterwards"


async def test_an_execution_is_added_if_the_run_succeeds(connection, dispatcher, nursery, until, beat, rows):
    @job("parent", retry=RetrySettings(max_attempts=2, initial_interval_s=0))
    async def parent(execution):
        first = await execution.add("child", {"attempt": execution.attempt}, unique_key="k")
        assert await execution.add("child", unique_key="k") == first
        if execution.attempt == 0:
            raise RuntimeError("not yet")

    await add(connection, "parent")
    nursery.start_soon(dispatcher(parent, **QUICK).run, beat)
    await until([("child", 1, "k")], "job_type, (payload->>'attempt')::int, unique_key")


async def test_spans_surround_the_parts_of_a_run(connection, dispatcher, nursery, until, beat):
    told = []

    @contextmanager
    def spans(name, run):
        told.append(f"{name} {run.type} {run.attempt}")
        try:
            yield
        except BaseException as error:
            told.append(f"{name} raised {type(error).__name__}")
            raise
        told.append(f"{name} ended")

    @job("mail", retry=RetrySettings(max_attempts=2, initial_interval_s=0))
    async def mail(execution):
        if execution.payload or execution.attempt == 0:
            raise RuntimeError("no paper")

    async def told_of(payload):
        told.clear()
        await job_executions.add(connection, str(uuid4()), "mail", payload, None)
        made.wake()
        await until([] if payload is None else [("mail", "failed", 2)])
        return list(told)

    made = dispatcher(mail, spans=spans, **QUICK)
    nursery.start_soon(made.run, beat)
    failed = ["job.dispatch mail 0", "job.execute mail 0", "job.execute raised RuntimeError",
              "job.retry mail 0", "job.retry ended", "job.dispatch ended",
              "job.dispatch mail 1", "job.execute mail 1"]  # fmt: skip
    good = ["job.execute ended", "job.complete mail 1", "job.complete ended", "job.dispatch ended"]
    bad = ["job.execute raised RuntimeError", "job.fail mail 1", "job.fail ended", "job.dispatch ended"]
    assert await told_of(None) == failed + good
    assert await told_of("1") == failed + bad
