"""A command that comes between the quanta of another: whatever was deferred belongs to a state that is no more."""

import pytest

from tests.core.engine import Engine, raw
from tests.core.event_models import inc, loop
from tests.core.message_models import event_sub, model
from tests.core.models import end, flow, par, start, task, xor
from tests.core.quanta import run_next, run_rest, run_until, set_quantum
from tests.core.randomised.blocks import Edge, Fork, Par, Sub, Task
from tests.core.randomised.blocks_bpmn import to_bpmn
from vivero.core.execution.step import StepLimits
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.messages import PublishMessage
from vivero.core.records.timers import FireTimer

VARIABLES = {"v0": 0, "v1": 1, "v2": 2, "v3": 0}


@pytest.mark.parametrize("quanta", range(1, 8))
def test_a_scope_does_not_end_while_a_later_quantum_is_to_enter_a_boundary_event(quanta):
    """The host of the event has ended, and nothing else is left in the scope when another command lets it settle."""
    host = Sub("s", Par("p1", (Task("a1"), Task("a2"))))
    ways = (Edge(host, (("b1", "timer", Task("late")),)), Task("b"))
    engine = Engine(StepLimits(quantum_items=1))
    engine.deploy(to_bpmn(Fork(Task("f"), ways)))
    key = engine.start(**VARIABLES)
    engine.complete("f")
    only_first_quanta(engine, FireTimer(next(iter(engine.state.timers))), quanta)
    set_quantum(engine, 500)  # as if the first command had been large, and this one small
    engine.complete("b")
    assert engine.jobs == ["late"]
    engine.complete("late")
    assert engine.state_of(key) == "COMPLETED"


def only_first_quanta(engine, command, quanta):
    """Run a command; but of its deferred work only so many quanta: the next command comes in between."""
    memory = engine.memory
    to_inbox = memory.processor.notices.to_inbox
    memory.handle(command, "<default>", None)
    for _ in range(quanta - 1):
        if to_inbox:
            following = to_inbox.pop(0)
            memory.handle(following.command, following.tenant, following.request)


@pytest.mark.parametrize("quanta", range(1, 6))
def test_a_token_that_arrives_after_the_last_child_has_ended_is_seen(quanta):
    """The token of `a` is on its way to a parallel join when `b` ends; nothing else comes to that join."""
    engine = between_tasks(par("j"), quanta)
    assert engine.incidents == [("p", "UNKNOWN", "Deadlock: tokens wait at [j]")]


@pytest.mark.parametrize("quanta", range(1, 6))
def test_an_inclusive_join_runs_when_its_token_arrives_after_the_last_child_has_ended(quanta):
    assert between_tasks(inc("j"), quanta).jobs == ["after"]


def between_tasks(join, quanta):
    """Two tasks of which only one leads to the join: the other completes while the first one's work is deferred."""
    engine = Engine(StepLimits(quantum_items=1))
    parts = (start(), par("f"), task("a"), task("b"), xor("x", default="x-e"), join, task("after"), end("e"), end("e2"))
    flows = ("start > f > a > j > after > e2", "f > b > x > e", flow("x", "j", "=false"))
    engine.deploy(model(*parts, *flows))
    engine.start()
    jobs = {job.type: job.key for job in engine.state.jobs.values()}
    only_first_quanta(engine, CompleteJob(jobs["a"], {}), quanta)
    set_quantum(engine, 500)
    engine.complete("b")
    return engine


@pytest.mark.parametrize("quanta", range(1, 24))
def test_what_is_to_end_takes_no_further_step(quanta):
    """A deferred stage of an element does not run after its instance is cancelled."""
    engine = Engine(StepLimits(quantum_items=1))
    engine.deploy(to_bpmn(Par("p1", (Task("a", mapped="v0"), Sub("s", Task("b"), local="v1")))))
    only_first_quanta(engine, CreateInstance("p", variables=raw(VARIABLES)), quanta)
    (key,) = engine.state.trees
    jobs = engine.jobs
    engine.cancel(key)
    assert engine.state_of(key) == "TERMINATED"
    assert engine.elements == []
    created = [row["element"] for (table, _), row in engine.rows.items() if table == "Job"]
    assert len(created) == len(jobs)


def test_a_cancelled_tree_does_not_take_up_what_it_had_deferred(engine):
    """Tokens on their way and conditions to check are dropped at once, however small the quanta are."""
    tasks = [task(f"t{number}") for number in range(60)]
    engine.deploy(model(start(), par("fork"), *tasks, "start > fork", *(f"fork > t{number}" for number in range(60))))
    set_quantum(engine, 1)
    run_until(engine, CreateInstance("p", variables=raw({})), lambda: len(arrivals(engine)) > 50)
    while len(arrivals(engine)) > 30:
        run_next(engine)
    (key,) = engine.state.trees
    engine.memory.handle(CancelInstance(key), "<default>", None)
    quanta = 0
    while engine.memory.processor.notices.to_inbox:
        run_next(engine)
        quanta += 1
    assert engine.state_of(key) == "TERMINATED"
    assert quanta < 20


def test_a_token_on_its_way_is_gone_when_its_scope_is_interrupted(engine):
    """The scope is interrupted and emptied before the quantum comes that was to move the token."""
    ways = ("start > before > fork > one", "fork > two")
    aside = event_sub("aside", task("instead"), "aside-start > instead")
    engine.deploy(model(start(), task("before"), par("fork"), task("one"), task("two"), aside, *ways))
    key = engine.start(k="x")
    set_quantum(engine, 1)
    run_until(engine, CompleteJob(engine.job("before").key), lambda: len(arrivals(engine)) == 2)
    set_quantum(engine, 500)
    engine.memory.handle(PublishMessage("hello", "x"), "<default>", None)
    assert arrivals(engine) == []
    assert engine.element("p").then is None, "the scope is open again"
    run_rest(engine)
    assert engine.jobs == ["instead"]
    engine.complete("instead")
    assert engine.state_of(key) == "COMPLETED"


def arrivals(engine):
    """The flows whose tokens a later quantum is to move."""
    return [flow for tree in engine.state.trees.values() for _, stage, flow in tree.work if stage == "arrive"]


def test_work_that_gets_no_further_is_left_to_its_command():
    """A paged loop of which nothing more is in memory: one quantum finds that out, and the next is not tried."""
    engine = Engine(StepLimits(quantum_items=12, paged_from=0))
    engine.deploy(model(start(), loop(task("work")), "start > work"))
    processor, to_inbox = engine.memory.processor, engine.memory.processor.notices.to_inbox
    engine.memory.handle(CreateInstance("p", variables=raw({"items": list(range(50))})), "<default>", None)
    (body,) = engine.state.paged.values()
    body.pages.items = {index: body.pages.item(index) for index in range(body.loop.next)}
    body.pages.rows = []
    assert processor.deferred() == body.tree.key
    first = processor.run_deferred(body.tree.key, 1)
    assert first
    while processor.deferred() is not None and len(first) < 20:
        first += processor.run_deferred(body.tree.key, 1)
    assert len(first) < 20
    assert body.tree.work
    assert to_inbox, "the command that goes on is under way"
