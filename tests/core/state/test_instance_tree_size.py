"""Limits of the live rows of a tree and of those that are loaded together, and their counts."""

import pytest

from tests.core.engine import Engine, raw
from tests.core.event_models import call, loop, model, script
from tests.core.models import flow, process, start, sub, task
from tests.core.quanta import run_next
from tests.core.randomised.runs import play, recorded
from vivero.core.execution.step import StepLimits
from vivero.core.records.instances import CreateInstance, LoopStarted
from vivero.core.state import eviction
from vivero.core.state.instance_tree import still_to_come
from vivero.core.state.subtrees import descendants

TWICE = process(start("in"), call("a", "twice"), call("b", "twice"), "in > a", "in > b", id="twice")
LOOPED = process(start("in"), loop(call("a", "twice"), "=[1, 2, 3]"), "in > a", id="twice")
FORKED = model(
    start("in"), script("fork", "=1", "x"), task("work"), "in > fork > work", flow("fork", "fork"), id="twice"
)
NESTED = model(
    start(), loop(sub("outer", start("in"), loop(task("work"), "=items"), "in > work"), "=items"), "start > outer"
)


def assert_counted(engine):
    """Everything that lives is in memory here."""
    for tree in engine.state.trees.values():
        alive = list(descendants(tree.root))
        trunk = [element for element in alive if element.part is None]
        assert tree.rows == len(trunk) + sum(map(still_to_come, trunk))
        assert tree.in_parts == sum(part.rows for part in engine.state.parts.values() if part.head.tree is tree)
    for part in engine.state.parts.values():
        inside = [element for element in descendants(part.head) if element.part is part]
        assert part.rows == len(inside) + sum(map(still_to_come, inside))


def grown(file, most_quanta=5_000, **limits):
    """An engine with an instance of the process that has gone on until nothing was left to do."""
    engine = Engine(StepLimits(**limits), keeps_rows=False)
    engine.deploy(file)
    engine.memory.handle(CreateInstance("twice"), "<default>", None)
    quanta = 0
    while engine.memory.processor.notices.to_inbox:
        run_next(engine)
        quanta += 1
        assert quanta < most_quanta, "it grows for ever"
    assert_counted(engine)
    return engine


@pytest.mark.parametrize("quantum_items", [1, 25])
def test_calls_stop_where_what_is_loaded_together_is_full(quantum_items):
    engine = grown(TWICE, max_part_rows=100, quantum_items=quantum_items)
    assert 100 <= len(engine.state.elements) < 200
    told = {
        (element, type_, message.partition("(")[2].partition(")")[0]) for element, type_, message in engine.incidents
    }
    assert told == {(id, "CALLED_ELEMENT_ERROR", "consumer.max_part_rows") for id in "ab"}


def test_calls_in_a_part_stop_by_all_that_is_loaded_with_it():
    """The trunk and the parts around it come with a part: they count, however small the part is."""
    engine = Engine(StepLimits(max_part_rows=100, paged_from=0), keeps_rows=False)
    tasks = [task(f"t{number}") for number in range(60)]
    engine.deploy(TWICE)
    outer = loop(sub("outer", start("in"), loop(call("run", "twice"), "=[1]"), "in > run"), "=[1]")
    engine.deploy(model(start(), *tasks, outer, "start > outer", *(f"start > t{number}" for number in range(60))))
    engine.run(CreateInstance("p"))
    (tree,) = engine.state.trees.values()
    (innermost,) = (part for part in engine.state.parts.values() if part.head.element == "run")
    assert {message.partition("(")[2].partition(")")[0] for *_, message in engine.incidents} == {
        "consumer.max_part_rows"
    }
    assert tree.rows + innermost.rows >= 98, "the part between them has two rows"
    assert innermost.rows < 60
    assert_counted(engine)


def test_calls_in_paged_loops_stop_where_the_tree_is_full():
    engine = grown(LOOPED, max_tree_rows=300, paged_from=0)
    assert 300 <= len(engine.state.elements) < 600
    assert all(
        "at most 300 including called processes are allowed (consumer.max_tree_rows)" in message
        for _, _, message in engine.incidents
    )


def test_a_flow_that_leads_back_to_its_fork_stops():
    engine = grown(FORKED, max_part_rows=100)
    assert 200 <= len(engine.state.elements) < 210
    assert {type_ for _, type_, _ in engine.incidents} == {"UNKNOWN"}


def test_it_goes_on_when_there_is_room_again():
    """The bound counts what lives, and not what ever was."""
    called = process(start("in"), task("work"), "in > work", id="called")
    engine = Engine(StepLimits(max_part_rows=7))
    engine.deploy(called)
    engine.deploy(model(start(), loop(call("run", "called"), "=[1, 2, 3]"), "start > run"))
    key = engine.start()
    ((_, type_, _),) = engine.incidents
    assert (type_, engine.jobs) == ("CALLED_ELEMENT_ERROR", ["work", "work"])
    engine.complete("work")
    engine.resolve()
    assert (engine.incidents, engine.jobs) == ([], ["work", "work"])
    for _ in range(2):
        engine.complete("work")
    assert engine.state_of(key) == "COMPLETED"


def test_loops_in_a_loop_are_paged_when_the_tree_is_large():
    """None of them is long; what is loaded together stays small."""
    engine = Engine(StepLimits(paged_from=50), keeps_rows=False)
    engine.deploy(NESTED)
    engine.run(CreateInstance("p", variables=raw({"items": list(range(30))})))
    paged = [
        e.paged for one in engine.memory.log for row in one.handled for e in row.events if isinstance(e, LoopStarted)
    ]
    assert len(engine.jobs) == 900
    assert (len(paged), paged.count(True)) == (31, 30)
    assert_counted(engine)
    (tree,) = engine.state.trees.values()
    assert tree.rows < 100
    engine.cancel(tree.key)
    assert not engine.state.elements


def test_a_part_that_holds_others_is_forgotten_after_them():
    """Its own rows are few, and whatever is in it would have to be read again with it."""
    engine = Engine(StepLimits(paged_from=0), keeps_rows=False)
    engine.deploy(NESTED)
    engine.run(CreateInstance("p", variables=raw({"items": [1, 2, 3]})))
    state, forgotten = engine.state, []
    assert len(state.parts) == 12
    while state.parts:
        before = dict(state.parts)
        eviction.evict(state, state.weight - 1)
        forgotten.append([part.head.element for key, part in before.items() if key not in state.parts])
    assert sorted(one for one in forgotten if one) == [["outer"]] * 3 + [["work"]] * 9, "one at a time"


@pytest.mark.long
@pytest.mark.parametrize("paged_from", [0, 10, 500])
def test_rows_are_counted_whatever_happens(paged_from, seed):
    for number in range(seed, seed + 25):
        engine = play(recorded(number), Engine(StepLimits(paged_from=paged_from)), assert_counted)
        assert not engine.state.elements
