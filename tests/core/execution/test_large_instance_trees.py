"""Trees that grow without end or are very deep: they end from the outside in, soon, and little is put off."""

import pytest

from tests.core.engine import Engine, raw, recorded_batches, snapshot
from tests.core.event_models import TERMINATE, boundary, call, error, final, loop, model, on
from tests.core.models import flow, process, start, sub, task, xor
from tests.core.quanta import run_next
from vivero.core.execution.step import StepLimits
from vivero.core.records.instances import (
    CancelInstance,
    CreateInstance,
    ElementActivating,
    InstanceCreated,
    ResolveIncident,
    WorkDeferred,
)
from vivero.core.records.jobs import CompleteJob, ThrowJobError
from vivero.core.replay import replay
from vivero.core.shared import deferred_work
from vivero.core.state.instance_tree import MISSING, InstanceTree
from vivero.core.state.state import State

QUANTUM = 10
MOST_QUANTA = 10_000


def twice(*calls):
    """A process that calls itself twice, in parallel, for ever."""
    first, second = calls or (call("a", "twice"), call("b", "twice"))
    return process(start("in"), first, second, "in > a", "in > b", id="twice")


GROWING = {
    "two calls": twice(),
    "a loop of calls": process(start("in"), loop(call("a", "twice"), "=[1, 2]"), "in > a", id="twice"),
    "in a sub-process": twice(sub("a", start("a1"), call("a2", "twice"), "a1 > a2"), call("b", "twice")),
    "in an event sub-process": model(
        start("in"),
        final("e", error("A")),
        on(error("A"), "again", call("a", "twice"), call("b", "twice"), "again-start > a", "again-start > b"),
        "in > e",
        id="twice",
    ),
    "behind a boundary event": model(
        start("in"),
        sub("host", start("h"), final("e", error("A")), "h > e"),
        boundary("caught", "host", error("A")),
        *(call("a", "twice"), call("b", "twice"), "in > host", "caught > a", "caught > b"),
        id="twice",
    ),
}


LATER = "<timerEventDefinition><timeDuration>PT2H</timeDuration></timerEventDefinition>"
WAITS = on(LATER, "handler", task("handled"), "handler-start > handled", interrupting=False)


def chain(depth, *bottom):
    """A process that calls itself until it is as deep as that, where it does `bottom`, by default a task."""
    deeper = call("call", "chain", inputs=[("=n + 1", "n")])
    bottom = bottom or (task("bottom"),)
    parts = (start("in"), xor("x", default="x-call"), deeper, flow("x", "call"), flow("x", "bottom", f"=n >= {depth}"))
    return model(*parts, *bottom, "in > x", id="chain")


def begun(*files, id="p", quanta, quantum_items=QUANTUM, **variables):
    """An engine in which an instance has begun and was gone on with for at most so many quanta; the root's key."""
    engine = Engine(StepLimits(quantum_items=quantum_items), keeps_rows=False)
    for file in files:
        engine.deploy(file)
    engine.memory.handle(CreateInstance(id, variables=raw(variables)), "<default>", None)
    for _ in range(quanta):
        if engine.memory.processor.notices.to_inbox:
            run_next(engine)
    (root,) = engine.state.trees
    return engine, root


def finish(engine, command):
    """Run a command, and what is put off until nothing is; how many quanta that took, and all events."""
    position, quanta = len(engine.memory.log), 0
    assert engine.memory.handle(command, "<default>", None)[0].rejection is None
    while engine.memory.processor.notices.to_inbox:
        run_next(engine)
        quanta += 1
        assert quanta < MOST_QUANTA, "it goes on for ever"
    return quanta, [event for one in engine.memory.log[position:] for row in one.handled for event in row.events]


def entered(events):
    """The ids of elements and processes that began."""
    return [e.element if isinstance(e, ElementActivating) else e.process_id for e in events if isinstance(e, BEGUN)]


BEGUN = (ElementActivating, InstanceCreated)


@pytest.mark.parametrize("growing", GROWING)
def test_a_tree_that_grows_for_ever_is_cancelled_and_begins_nothing_more(growing):
    engine, root = begun(GROWING[growing], id="twice", quanta=80)
    alive = len(engine.state.elements)
    assert alive > 100
    quanta, events = finish(engine, CancelInstance(root))
    assert engine.ended[root][0] == "TERMINATED"
    assert entered(events) == []
    assert quanta < alive


INTERRUPTIONS = {
    "a boundary event": ([], [boundary("caught", "host", error("A")), task("after"), "caught > after"]),
    "an event sub-process around": ([], [on(error("A"), "caught", task("after"), "caught-start > after")]),
    "an event sub-process in its scope": ([on(error("A"), "caught", task("after"), "caught-start > after")], []),
    "an end event that terminates": ([final("over", TERMINATE), "alarm > over"], [task("after"), "host > after"]),
    "an end event with an error": (
        [final("over", error("A")), "alarm > over"],
        [boundary("caught", "host", error("A")), task("after"), "caught > after"],
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("growing", GROWING)
@pytest.mark.parametrize("how", INTERRUPTIONS)
def test_what_interrupts_it_from_above_ends_it(how, growing):
    inside, around = INTERRUPTIONS[how]
    host = sub("host", start("h"), task("alarm"), call("run", "twice"), "h > alarm", "h > run", *inside)
    engine, _ = begun(GROWING[growing], model(start(), host, "start > host", *around), quanta=80)
    job = engine.job("alarm").key
    _, events = finish(engine, CompleteJob(job) if "over" in "".join(inside) else ThrowJobError(job, "A"))
    assert engine.jobs == ["after"]
    assert set(entered(events)) <= {"over", "caught", "caught-start", "after"}


def test_what_others_do_below_a_cancelled_ancestor_begins_nothing():
    """A job there is completed, and an incident resolved, before their turn to end has come."""
    inner = process(start("in"), task("work"), task("next"), xor("x"), flow("x", "no", "=false"), task("no"),
                    "in > work > next", "in > x", id="inner")  # fmt: skip
    engine, root = begun(inner, process(start(), loop(call("run", "inner")), "start > run"), quanta=500, items=[1] * 60)
    assert (len(engine.state.jobs), len(engine.state.incidents)) == (60, 60)
    engine.memory.handle(CancelInstance(root), "<default>", None)
    job, incident = list(engine.state.jobs)[-1], list(engine.state.incidents)[-1]
    position = len(engine.memory.log)
    engine.memory.handle(CompleteJob(job), "<default>", None)
    _, events = finish(engine, ResolveIncident(incident))
    events += [e for one in engine.memory.log[position:] for row in one.handled for e in row.events]
    assert engine.ended[root][0] == "TERMINATED"
    assert entered(events) == []


DEPTH = 300


def put_off(engine):
    """The longest list of work that was saved."""
    return max(
        (
            len(event.items)
            for one in engine.memory.log
            for row in one.handled
            for event in row.events
            if isinstance(event, WorkDeferred)
        ),
        default=0,
    )


def test_a_deep_tree_ends_in_few_quanta_that_put_little_off():
    engine, root = begun(chain(DEPTH), id="chain", quanta=MOST_QUANTA, n=1)
    assert engine.state.elements[engine.job("bottom").element.key].instance.depth == DEPTH
    quanta, _ = finish(engine, CancelInstance(root))
    assert engine.ended[root][0] == "TERMINATED"
    assert quanta * QUANTUM < DEPTH * 10
    assert put_off(engine) < QUANTUM


def test_only_the_end_of_the_root_is_told():
    """Nobody waits for the end of a called instance, and what is told must be flushed first."""
    engine, root = begun(chain(DEPTH), id="chain", quanta=MOST_QUANTA, n=1)
    finish(engine, CancelInstance(root))
    assert [end.key for end in engine.memory.processor.notices.ended] == [root]


def test_a_quantum_writes_what_it_has_taken_up_however_much_there_is(monkeypatch):
    monkeypatch.setattr(deferred_work, "ITEMS_RESUMED", 30)
    monkeypatch.setattr(deferred_work, "ITEMS_RESUMED_OF_MANY", 10)
    engine, root = begun(GROWING["two calls"], id="twice", quanta=400)
    assert len(engine.state.trees[root].work) > 200
    assert put_off(engine) < 60
    finish(engine, CancelInstance(root))
    assert engine.ended[root][0] == "TERMINATED"


def test_a_quantum_takes_up_more_ends_of_elements_than_other_work():
    ends = tuple((key, "terminate", 0) for key in range(500))
    others = tuple((key, "activate", 0) for key in range(500))
    tree = InstanceTree(1, MISSING)
    for work, expected in ((ends, ends[-200:]), (others, others[-50:]), ((*others, *ends[:199]), ends[149:199])):
        tree.work = work
        assert deferred_work.next_work(tree) == expected
    tree.work, tree.loaded_work = ends, 7
    assert deferred_work.next_work(tree) == ends[-7:]


@pytest.mark.parametrize("quantum_items", [3, QUANTUM, 25])
def test_what_waits_ends_with_its_element_in_whatever_order_work_is_taken_up(monkeypatch, quantum_items):
    """The last of much work are scopes that settle; that they are to be terminated was put off before that."""
    monkeypatch.setattr(deferred_work, "ITEMS_RESUMED", 6)
    monkeypatch.setattr(deferred_work, "ITEMS_RESUMED_OF_MANY", 3)
    inner = loop(sub("inner", start("in"), task("work"), "in > work", WAITS), "=items")
    engine, root = begun(
        model(start(), inner, "start > inner"), quanta=MOST_QUANTA, quantum_items=quantum_items, items=[1] * 40
    )
    assert len(engine.state.timers) == 40
    finish(engine, CancelInstance(root))
    assert engine.ended[root][0] == "TERMINATED"
    assert (engine.state.timers, engine.state.jobs, engine.state.elements) == ({}, {}, {})


def test_all_of_much_work_is_done(monkeypatch):
    """A quantum that does all that it has taken up leaves the rest to the next one."""
    monkeypatch.setattr(deferred_work, "ITEMS_RESUMED", 3)
    monkeypatch.setattr(deferred_work, "ITEMS_RESUMED_OF_MANY", 2)
    tasks = [task(f"t{number}") for number in range(40)]
    engine, _ = begun(model(start(), *tasks, *(f"start > t{number}" for number in range(40))), quanta=MOST_QUANTA)
    assert len(engine.jobs) == 40


def test_an_error_from_the_depth_is_caught_at_the_top():
    parts = (call("run", "chain"), boundary("caught", "run", error("A")), task("after"))
    top = model(start(), *parts, "start > run", "caught > after")
    engine, _ = begun(chain(DEPTH, final("bottom", error("A"))), top, quanta=MOST_QUANTA, n=1)
    assert engine.jobs == ["after"]
    assert put_off(engine) < QUANTUM


@pytest.mark.parametrize("quantum_items", [1, QUANTUM, 500])
def test_a_replay_comes_to_the_same(quantum_items):
    engine, root = begun(GROWING["two calls"], id="twice", quanta=100 // quantum_items, quantum_items=quantum_items)
    engine.memory.handle(CancelInstance(root), "<default>", None)
    for _ in range(3):
        if engine.memory.processor.notices.to_inbox:
            run_next(engine)
    state = State(1, engine.state.next_key)
    replay(state, recorded_batches(engine))
    assert snapshot(state)["rows"] == snapshot(engine.state)["rows"]
