"""The snapshot of a tree from the database is the one from memory, and the library continues it."""

import gc
import json
from functools import partial

import msgspec
import pytest

from tests.core.engine import Engine
from tests.core.event_models import call, catch, loop, model, script
from tests.core.golden.recording import ROOTS
from tests.core.models import end, process_element, start, task
from tests.core.randomised.runs import play, recorded
from vivero.core.execution.step import StepLimits
from vivero.core.snapshots.codec import encode
from vivero.core.snapshots.writer import snapshot_of
from vivero.core.state.instance_tree import Element, Incident, Instance, Job, Subscription, Timer, UserTask, Variable
from vivero.library import Models, complete, publish
from vivero.library import read as read_library
from vivero.storage.postgres import driver
from vivero.storage.state import saved_rows, snapshots
from vivero.storage.state.snapshots import CalledInstance, TooLarge, read_snapshot

PERSON = '<userTask id="person"><extensionElements><zeebe:userTask/></extensionElements></userTask>'
TIMER = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
CALLED = process_element(start("b"), task("inner"), "b > inner", id="called")
EVERYTHING = model(
    start(),
    *(task("failed"), PERSON, catch("late", TIMER), catch("told", '<messageEventDefinition messageRef="hello"/>')),
    *(call("c", "called"), loop(task("each"), "=[1, 2, 3]", "i", "=i", "out"), end()),
    *("start > failed", "start > person", "start > late", "start > told", "start > c", "start > each > end"),
    beside=(CALLED, ROOTS),
)


TABLES = (
    *("process_instances", "element_instances", "variables", "loop_items", "element_counts"),
    *("jobs", "timers", "incidents", "user_tasks", "subscriptions", "channel_subscriptions", "messages"),
    *("process_definitions", "deployments", "start_subscriptions", "message_correlations"),
)
TOLD = model(
    *(start(), task("t"), catch("told", '<messageEventDefinition messageRef="hello"/>'), end()),
    "start > t > told > end",
    beside=(ROOTS,),
)


@pytest.fixture
async def connection(database):
    connection = await partial(driver.connect, database, name="vivero test")()
    yield connection
    connection.close()


class SavedEngine(Engine):
    """A database can save the changes of each batch."""

    def watch(self, state):
        super().watch(state)
        self.calls, next_batch = [], state.begin_batch

        def keep():
            self.calls += saved_rows.statements_for_rows(state)
            next_batch()

        state.begin_batch = keep

    async def save(self, connection):
        while self.calls:
            query, parameters = self.calls.pop(0)
            await connection.execute(query, parameters)

    def snapshot(self, key):
        """The snapshot in memory."""
        tree = self.state.trees[key]
        return snapshot_of(tree.root, self.state.catalogue, version=tree.revision, at=0)


@pytest.fixture
def saved():
    return SavedEngine()


def moment(engine):
    """The snapshots of all trees, and what has changed since the last moment."""
    calls, engine.calls = engine.calls, []
    return [engine.snapshot(key) for key in engine.state.trees], calls


def without_time(snapshot):
    return msgspec.json.format(encode(msgspec.structs.replace(snapshot, at=0)), indent=1)


async def test_the_database_gives_what_is_in_memory(saved, connection):
    saved.deploy(EVERYTHING)
    key = saved.start(a=1, order={"x": [1, "ü"]})
    saved.fail("failed", message="boom", retries=0)
    saved.complete("each", r=7)
    await saved.save(connection)
    read = await read_snapshot(connection, key, ["<default>"])
    assert without_time(read) == without_time(saved.snapshot(key))
    assert read.at == saved.memory.now
    assert len(read.elements) > 9


async def test_random_trees(connection, seed):
    """At each quiet point, everything that is stored is in the snapshot."""
    checked = 0
    for number in range(seed, seed + 40):
        run, engine = recorded(number), SavedEngine()
        moments = []
        play(run, engine, lambda engine, moments=moments: moments.append(moment(engine)))
        await connection.execute(f"TRUNCATE {', '.join(TABLES)}")
        for trees, calls in moments:
            for query, parameters in calls:
                await connection.execute(query, parameters)
            for tree in trees:
                read = await read_snapshot(connection, int(tree.elements[0].key), ["<default>"])
                assert without_time(read) == without_time(tree), f"VIVERO_SEED={number}"
                checked += 1
        if checked > 12:
            return
    raise AssertionError(f"{checked} trees in 40 runs")


async def test_a_paged_loop_is_read_whole(connection):
    saved = SavedEngine(StepLimits(paged_from=10))
    saved.deploy(
        model(start(), loop(task("t"), "=for i in 1..250 return i", "i", "=i * 2", "out"), end(), "start > t > end")
    )
    key = saved.start()
    for _ in range(3):
        saved.complete("t")
    await saved.save(connection)
    read = json.loads(without_time(await read_snapshot(connection, key, ["<default>"])))
    in_memory = json.loads(without_time(saved.snapshot(key)))
    assert read == in_memory
    body = read["elements"][1]
    assert (len(read["elements"]), body["loop"]["results"]) == (249, {"0": 2, "1": 4, "2": 6})


@pytest.mark.long
async def test_a_tree_that_was_read_is_freed_without_the_garbage_collector(saved, connection):
    """Trees of 10,000 elements would be freed together, and hold the event loop for as long."""
    saved.deploy(EVERYTHING)
    key = saved.start(items=list(range(100)))
    await saved.save(connection)
    rows = {Instance, Element, Job, Subscription, Timer, UserTask, Incident, Variable}
    await read_snapshot(connection, key)  # what is made once is there now
    gc.collect()
    gc.freeze()  # the search below is among what is made from here on, and not among all that earlier tests have left
    gc.disable()
    try:
        assert await read_snapshot(connection, key) is not None
        before = sum(type(one) in rows for one in gc.get_objects())
        gc.collect()
        assert before - sum(type(one) in rows for one in gc.get_objects()) == 0
    finally:
        gc.enable()


async def test_the_library_continues_the_snapshot_of_a_server(saved, connection):
    saved.deploy(TOLD)
    key = saved.start(a=1)
    await saved.save(connection)
    text = encode(await read_snapshot(connection, key, ["<default>"]))
    models = Models({"p.bpmn": TOLD})
    result = complete(models, text, read_library(text).jobs[0].key, {"b": 2})
    result = publish(models, result.snapshot, "hello", "x", {"c": 3})
    assert (result.instance.state, result.instance.variables) == ("COMPLETED", {"a": 1, "b": 2, "c": 3})
    assert result.instance.key == key


async def test_an_ended_instance_keeps_its_variables(saved, connection):
    saved.deploy(model(start(), script("s", "=a + 1", "b"), end(), "start > s > end"))
    key = saved.start(a=1)
    await saved.save(connection)
    instance = read_library(encode(await read_snapshot(connection, key, ["<default>"])))
    assert (instance.state, instance.variables, instance.elements) == ("COMPLETED", {"a": 1, "b": 2}, ())
    assert instance.version == 1


async def test_only_roots_have_snapshots(saved, connection):
    saved.deploy(EVERYTHING)
    key = saved.start()
    await saved.save(connection)
    called = next(one.key for one in saved.state.elements.values() if one.element == "called")
    with pytest.raises(CalledInstance) as raised:
        await read_snapshot(connection, called, ["<default>"])
    assert raised.value.root == key
    assert await read_snapshot(connection, 7, ["<default>"]) is None
    assert await read_snapshot(connection, key, ["another"]) is None


@pytest.mark.parametrize(
    ("limit", "value", "says"),
    [("MOST_ELEMENTS", 5, "more than 5 live elements"), ("MOST_CHARACTERS", 10, "have more than 10 characters")],
)
async def test_what_is_too_large_is_told(saved, connection, monkeypatch, limit, value, says):
    saved.deploy(EVERYTHING)
    key = saved.start(a="x" * 100)
    await saved.save(connection)
    monkeypatch.setattr(snapshots, limit, value)
    with pytest.raises(TooLarge, match=says):
        await read_snapshot(connection, key, ["<default>"])


async def test_all_reads_see_one_moment(saved, connection, database, monkeypatch):
    """Between two reads of a snapshot a batch commits: the snapshot has nothing of it."""
    saved.deploy(EVERYTHING)
    key = saved.start(a=1)
    await saved.save(connection)
    before = without_time(saved.snapshot(key))
    other = await partial(driver.connect, database, name="vivero test")()
    whole = snapshots._load_scopes

    async def disturbed(*arguments):
        saved.set(key, a=2)
        saved.complete("failed")
        await saved.save(other)
        await whole(*arguments)

    monkeypatch.setattr(snapshots, "_load_scopes", disturbed)
    assert without_time(await read_snapshot(connection, key, ["<default>"])) == before
    monkeypatch.undo()
    assert (
        without_time(await read_snapshot(connection, key, ["<default>"])) == without_time(saved.snapshot(key)) != before
    )
    other.close()
