"""Snapshot → state → snapshot is the same text, and a restored tree continues as if nothing had happened."""

import json
from collections import Counter
from random import Random

import pytest

from tests.core.engine import Engine, snapshot
from tests.core.event_models import LIMITS, loop, model, run
from tests.core.golden import recording, test_models, variants, variants_timers, variants_waits
from tests.core.models import end, par, process, start, task
from tests.core.randomised.random_model_checks import nothing
from tests.core.randomised.random_model_checks import play as play_model
from tests.core.randomised.runs import digest, play, recorded
from tests.rounds import drawn
from vivero.core.execution.step import StepLimits
from vivero.core.snapshots.codec import decode, encode
from vivero.core.snapshots.reader import add_tree
from vivero.core.snapshots.writer import snapshot_of
from vivero.core.state.eviction import evict_trees

COUNT = 6
GOLDEN = [
    (f"{prefix}_{name}", content)
    for prefix, module in (
        ("element", variants),
        ("timers", variants_timers),
        ("waits", variants_waits),
    )
    for name, content in module.VARIANTS.items()
]


def text_of(engine, tree):
    """The snapshot of a tree as text."""
    state = engine.state
    place = {"version": tree.revision, "at": engine.memory.now, "next_key": state.next_key}
    registrations = [row for row in state.registrations.by_key.values() if row.instance.tree is tree]
    return encode(snapshot_of(tree.root, state.catalogue, **place, registrations=registrations))


def restored(engine, whole=True):
    """Every tree is forgotten, and made anew from its snapshot. `whole`: the state is as before, row by row."""
    state, find = engine.state, engine.memory.find_model
    for tree in list(state.trees.values()):
        text, before = text_of(engine, tree), snapshot(state)
        evict_trees(state, [tree])
        assert text_of(engine, add_tree(state, decode(text), find)) == text
        if whole:
            assert without_order(snapshot(state)) == without_order(before)


def without_order(state):
    """A restored tree comes behind the others, and has no leases and no business ids of jobs: no step reads them."""
    unread = {"jobs": {"lease": None, "business_id": None}}
    rows = {
        name: sorted(({**row, **unread.get(name, {})} for row in rows), key=lambda row: row["key"])
        for name, rows in state["rows"].items()
    }
    by_key = sorted(state["variables"], key=lambda row: row["key"])
    items = sorted(map(str, state["items"]))
    registrations = state["registrations"]
    return state | {
        "rows": rows,
        "variables": by_key,
        "items": items,
        "links": dict(sorted(state["links"].items())),
        "registrations": {
            "rows": sorted(registrations["rows"], key=lambda row: row["key"]),
            "places": dict(sorted(registrations["places"].items())),
        },
    }


def left_by(engine):
    """The digest of a run, whatever the order of places in its rows: it means nothing, and a snapshot sorts them."""
    return digest(engine, order="deterministic")


class RestoredEngine(Engine):
    """After each command, all trees are made anew from their snapshots."""

    def run(self, command, tenant="<default>"):
        handled = super().run(command, tenant)
        restored(self)
        return handled


@pytest.mark.parametrize("limits", LIMITS)
def test_random_runs_go_on_from_each_snapshot(seed, limits):
    for number in range(seed, seed + COUNT):
        run = recorded(number)
        broken, whole = (play(run, kind(LIMITS[limits])) for kind in (RestoredEngine, Engine))
        assert left_by(broken) == left_by(whole), f"VIVERO_SEED={number}"


def test_the_order_in_which_tokens_came_means_nothing():
    """The text of a snapshot, a join, and the rows of a cancelled instance do not depend on it."""
    flows = "start > fork", *(f"fork > {name} > join" for name in "zab"), "join > end"
    file = model(start(), par("fork"), *map(task, "zab"), par("join"), end(), *flows)
    for ends in (lambda engine, key: engine.complete("b"), lambda engine, key: engine.cancel(key)):
        engines = RestoredEngine(), Engine()
        for engine in engines:
            engine.deploy(file)
            key = engine.start()
            engine.complete("z")
            engine.complete("a")
            tokens = json.loads(text_of(engine, engine.state.trees[key]))["elements"][0]["tokens"]
            assert list(tokens) == ["a-join", "b", "z-join"]
            ends(engine, key)
            assert not engine.state.elements
        broken, whole = engines
        assert broken.trace == whole.trace
        assert left_by(broken) == left_by(whole)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param(name, content, id=name, marks=pytest.mark.long if number % 10 else ())
        for number, (name, content) in enumerate(GOLDEN)
    ],
)
def test_golden_runs_go_on_from_each_snapshot(name, content, golden):
    golden(name, recording.text_of(content, RestoredEngine))


@pytest.mark.parametrize("run", test_models.RUNS, ids=lambda run: run.__name__)
def test_golden_models_go_on_from_each_snapshot(run):
    whole, broken = Engine(), RestoredEngine()
    run(whole)
    run(broken)
    assert broken.trace == whole.trace


@pytest.mark.parametrize("paged_from", [0, 500])
def test_a_paged_loop_is_written_like_any_other(paged_from):
    items = list(range(250))
    engine = Engine(StepLimits(paged_from=paged_from))
    engine.deploy(model(start(), loop(task("t"), "=items"), end(), "start > t > end"))
    key = engine.start(items=items)
    assert bool(engine.state.paged) == (paged_from == 0)
    engine.complete("t")
    body = json.loads(text_of(engine, engine.state.trees[key]))["elements"][1]
    assert body["loop"] == {"items": items, "next": 250, "completed": 1}
    restored(engine, whole=False)
    assert not engine.state.paged
    for _ in items[1:]:
        engine.complete("t")
    assert not engine.state.elements


def test_an_instance_and_a_task_that_are_restored_are_late_at_the_same_time():
    properties = '<zeebe:properties><zeebe:property name="vivero.due" value="PT4H"/></zeebe:properties>'
    due = f"<extensionElements>{properties}</extensionElements>"
    of_task = f'<userTask id="t"><extensionElements><zeebe:userTask/>{properties}</extensionElements></userTask>'
    engine = Engine()
    key = run(engine, process(due, start(), of_task, "start > t"))
    (task,) = engine.state.user_tasks.values()
    late_at = engine.state.elements[key].due_at, task.due_at
    restored(engine)
    (task,) = engine.state.user_tasks.values()
    assert (engine.state.elements[key].due_at, task.due_at) == late_at
    assert None not in late_at


@pytest.mark.parametrize("limits", LIMITS)
def test_models_without_structure_go_on_from_each_snapshot(seed, limits):
    """Random graphs, with deadlocks, incidents and loops; those that spin are left out."""
    seen = Counter()
    for number in drawn(seed, COUNT, lambda: seen["compared"] > COUNT // 4):
        digests = set()
        for at_rest in (nothing, restored):
            engine, spins = play_model(Random(number), 9, LIMITS[limits], at_rest=at_rest)
            if spins:
                break
            digests.add(left_by(engine))
        else:
            seen["compared"] += 1
            assert len(digests) == 1, f"VIVERO_SEED={number}"
    assert seen["compared"] > COUNT // 4
