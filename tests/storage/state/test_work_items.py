"""Work items of large trees: each batch writes what it changes of them, whatever waits already."""

from collections import Counter
from functools import partial

import pytest

from tests.core.event_models import call, loop, model
from tests.core.models import end, start, task
from tests.storage.state.test_snapshots import SavedEngine
from vivero.core.apply.work_items import append_work, take_work
from vivero.core.execution.step import StepLimits
from vivero.core.records.instances import CancelInstance
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.core.state import work_rows
from vivero.core.state.state import State
from vivero.storage.postgres import driver
from vivero.storage.state import load

CALLED = model(start(), task("t"), end(), "start > t > end", id="q")
CALLING = model(start(), loop(call("c", "q")), end(), "start > c > end")
WHOLE = StepLimits(quantum_items=20, paged_from=10**6)
"""Small quanta, and no loop in parts."""
WITH_WORK = {"save.new_instances", "save.instances", "save.work_items"}


@pytest.fixture
async def connection(database):
    connection = await partial(driver.connect, database, name="vivero test")()
    yield connection
    connection.close()


def suspended(count):
    """An engine with a suspended instance that has called many others, which have all ended; the key."""
    engine = SavedEngine(WHOLE)
    engine.deploy(CALLED, CALLING)
    key = engine.start(items=list(range(count)))
    engine.accepted(SuspendInstance(key))
    for job in list(engine.state.jobs):
        engine.accepted(CompleteJob(job))
    return engine, key


def written(engine):
    """Bytes of the instances and of the work items in the statements so far."""
    return sum(map(_size, (parameters for statement, parameters in engine.calls if statement.name in WITH_WORK)))


def _size(value):
    return len(value) if isinstance(value, bytes) else sum(map(_size, value)) if isinstance(value, list | tuple) else 8


@pytest.fixture
def few(monkeypatch):
    """Rows of few items, so that few instances need several of them."""
    monkeypatch.setattr(work_rows, "ITEMS_PER_ROW", 5)
    monkeypatch.setattr(work_rows, "MOST_LATEST", 10)
    monkeypatch.setattr("vivero.core.apply.work_items.ITEMS_PER_ROW", 5)


@pytest.mark.usefixtures("few")
def test_twice_as_many_items_cost_twice_the_bytes():
    """From the start to the end, with each batch of one command. The square of them would be four times as many."""
    totals = []
    for count in (50, 100):
        engine, key = suspended(count)
        assert engine.state.instance(key).suspended_rows >= count // 5
        engine.accepted(ResumeInstance(key))
        assert not engine.state.trees
        totals.append(written(engine))
    assert totals[1] < 2.2 * totals[0]


async def loaded(connection, key):
    """The instance as the tables have it."""
    state = State(1)
    await load.load_parts(connection, state, {key: key})
    return state.instance(key)


def items_of(instance):
    return [list(item) for item in (*instance.suspended_work, *instance.tree.work)]


async def rows(connection):
    return (await connection.execute("SELECT count(*)::int FROM work_items")).rows[0][0]


@pytest.mark.usefixtures("few")
async def test_the_tables_have_all_items_whenever_they_change(connection):
    engine, key = suspended(60)
    await engine.save(connection)
    instance = engine.state.instance(key)
    stored = await loaded(connection, key)
    assert items_of(stored) == items_of(instance)
    assert len(instance.suspended_work) == 120
    assert stored.suspended_rows == instance.suspended_rows == await rows(connection) > 2
    assert stored.tree.weight == instance.tree.weight, "a resumption takes that of the items away again"

    seen, handle = set(), engine.memory.handle
    pending = [(ResumeInstance(key), "<default>", None)]
    while pending:
        handle(*pending.pop(0))
        pending += engine.memory.take_inbox()
        await engine.save(connection)
        if key in engine.state.trees:
            instance, stored = engine.state.instance(key), await loaded(connection, key)
            assert items_of(stored) == items_of(instance)
            assert await rows(connection) == instance.suspended_rows + instance.tree.work_rows
            assert bool(instance.tree.work) is bool(instance.tree.latest_work)
            seen.add(instance.tree.work_rows)
    assert len(seen) > 2, "rows go one after the other"
    assert key not in engine.state.trees
    assert await rows(connection) == 0


@pytest.mark.usefixtures("few")
async def test_a_cancelled_instance_leaves_no_rows(connection):
    engine, key = suspended(12)
    engine.accepted(CancelInstance(key))
    await engine.save(connection)
    assert await rows(connection) == 0


@pytest.mark.usefixtures("few")
async def test_items_of_an_earlier_version_move_to_rows_when_they_change(connection):
    """All of them are in the row of the instance."""
    engine, key = suspended(12)
    await engine.save(connection)
    instance = engine.state.instance(key)
    before, instance.suspended_rows = items_of(instance), 0
    engine.state.edit(instance)
    engine.state.begin_batch()
    await connection.execute("DELETE FROM work_items")
    await engine.save(connection)
    stored = await loaded(connection, key)
    assert (items_of(stored), stored.suspended_rows) == (before, 0)

    engine.accepted(ResumeInstance(key))
    await engine.save(connection)
    assert await rows(connection) == 0
    assert not engine.state.trees


def test_a_row_is_written_when_it_is_full_and_the_latest_item_is_in_none():
    engine = SavedEngine()
    engine.deploy(CALLED)
    state, tree = engine.state, engine.state.trees[engine.start("q")]
    written, most = Counter(), 0
    for change in (*[50] * 20, *[-50] * 20):
        state.begin_batch()
        if change > 0:
            append_work(state, tree, ((tree.key, "settle", 0),) * change)
        else:
            take_work(state, tree, -change)
        written.update(number for row in state.fresh for number in range(row.first, row.rows()))
        most = max(most, len(tree.latest_work))
        assert bool(tree.latest_work) is bool(tree.work)
        assert work_rows.ITEMS_PER_ROW * tree.work_rows + len(tree.latest_work) == len(tree.work)
    assert written == Counter(range(8)), "each once, on the way up"
    assert (most, tree.work_rows) == (work_rows.MOST_LATEST, 0)
