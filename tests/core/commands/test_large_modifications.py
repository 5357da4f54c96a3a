"""Large modifications: all is checked, terminations begin in pages, and many activations follow in later quanta."""

from collections import deque

import pytest

from tests.core.engine import Engine, rebuilt
from tests.core.event_models import model
from tests.core.models import end, par, process, start, sub, task
from tests.core.modification_models import activate, command, modify, move, refused, terminate
from vivero.core.execution.step import StepLimits
from vivero.core.modifications import pages, plan, scopes
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance, ElementTerminated, ElementTerminating, WorkDeferred
from vivero.core.records.jobs import CompleteJob, JobCompleted
from vivero.core.records.modifications import SOURCE_PARENT, TERMINATE_PAGE
from vivero.core.state.instance_tree import TERMINATING

INSIDE = model(start(), sub("s", start("i"), task("a"), task("b"), "i > a"), task("c"), end(), "start > s > c > end")
COUNT = 60
"""More than one work item activates."""


@pytest.fixture(autouse=True)
def _few_at_once(monkeypatch):
    monkeypatch.setattr(scopes, "AT_ONCE", 2)


def crowded(limits):
    """An engine with COUNT jobs of `a` in the sub-process, and the keys of the instance and of the sub-process."""
    engine = Engine(limits)
    engine.deploy(INSIDE)
    key = engine.start()
    modify(engine, key, *[activate("a")] * (COUNT - 1))
    return engine, key, engine.element("s").key


def begun(engine, key, change):
    """Handle the first quantum of a modification, and give all that follows from it."""
    engine.memory.handle(change, "<default>", None)
    return deque(engine.memory.take_inbox())


def run_all(engine, on_the_way):
    while on_the_way:
        engine.memory.handle(*on_the_way.popleft())
        on_the_way += engine.memory.take_inbox()


@pytest.mark.parametrize("limits", [StepLimits(), StepLimits(quantum_items=1), StepLimits(quantum_items=7)])
def test_all_sources_move(limits):
    engine, key, _ = crowded(limits)
    modify(engine, key, move("a", "b", SOURCE_PARENT))
    assert engine.jobs == ["b"] * COUNT
    assert engine.incidents == []
    rebuilt(engine)


def test_equal_activations_are_planned_once(monkeypatch):
    """There may be 10,000, all of which are planned in one turn."""
    activated, planned = scopes.Scopes.activate, []

    def counted(self, target, ancestor, variables, times):
        planned.append((target.id, times))
        return activated(self, target, ancestor, variables, times)

    engine, key, _ = crowded(StepLimits())
    monkeypatch.setattr(scopes.Scopes, "activate", counted)
    modify(engine, key, activate("b"), activate("b"), move("a", "b"), activate("a"))
    assert planned == [("b", 2), ("a", 1), ("b", COUNT)]
    assert engine.jobs == ["a", *["b"] * (COUNT + 2)]
    rebuilt(engine)


def test_sources_take_no_command_after_the_first_quantum():
    engine, key, _ = crowded(StepLimits(quantum_items=1))
    jobs = list(engine.state.jobs)
    on_the_way = begun(engine, key, command(key, move("a", "b")))
    assert len(on_the_way) == 1
    sources = [one for one in engine.state.elements.values() if one.element == "a"]
    assert {one.state for one in sources} == {TERMINATING}
    handled = engine.memory.handle(CompleteJob(jobs[-1]), "<default>", None)[0]
    assert handled.rejection.code in (RejectionCode.NOT_FOUND, RejectionCode.INVALID_STATE)
    run_all(engine, on_the_way)
    assert engine.jobs == ["b"] * COUNT


@pytest.mark.parametrize("quanta", range(0, 60, 6))
def test_a_scope_does_not_complete_before_all_have_begun(quanta):
    """Everything that has begun in it completes meanwhile."""
    engine, key, scope = crowded(StepLimits(quantum_items=4))
    on_the_way = begun(engine, key, command(key, move("a", "b")))
    completed = 0
    for _ in range(quanta):
        if on_the_way:
            engine.memory.handle(*on_the_way.popleft())
            on_the_way += engine.memory.take_inbox()
    for job in [job for job in engine.state.jobs.values() if job.element.element == "b"]:
        engine.memory.handle(CompleteJob(job.key), "<default>", None)
        on_the_way += engine.memory.take_inbox()
        completed += 1
    run_all(engine, on_the_way)
    assert engine.jobs == (["b"] * (COUNT - completed) if completed < COUNT else ["c"])
    assert (scope in engine.state.elements) is (completed < COUNT)
    rebuilt(engine)


def test_a_cancellation_meanwhile_ends_all():
    engine, key, _ = crowded(StepLimits(quantum_items=1))
    on_the_way = begun(engine, key, command(key, move("a", "b")))
    engine.cancel(key)
    run_all(engine, on_the_way)
    assert (engine.state_of(key), engine.state.weight) == ("TERMINATED", 0)


def test_a_quantum_that_begins_many_terminations_ends_none():
    """The effects of the command itself take the time of a quantum."""
    engine, key, _ = crowded(StepLimits(quantum_items=4))
    begun(engine, key, command(key, move("a", "b")))
    first = engine.memory.log[-1].handled[0].events
    assert sum(isinstance(event, ElementTerminating) for event in first) == COUNT
    assert not any(isinstance(event, ElementTerminated) for event in first)


# ---- pages of terminations

IN_PAGES = StepLimits(migration_page=7)
PAGES_OF_ALL = -(-COUNT // 7)


@pytest.mark.parametrize("quantum_items", [1, 4, 500])
def test_no_quantum_begins_more_terminations_than_a_page_and_nothing_ends_before_the_last(quantum_items):
    engine, key, _ = crowded(StepLimits(migration_page=7, quantum_items=quantum_items))
    before = len(engine.memory.log)
    modify(engine, key, move("a", "b"))
    quanta = [[event for one in logged.handled for event in one.events] for logged in engine.memory.log[before:]]
    begin = [sum(isinstance(event, ElementTerminating) for event in events) for events in quanta]
    assert begin[0] == 0, "the first quantum checks, and activates what is few"
    assert begin[1 : PAGES_OF_ALL + 1] == [7] * (COUNT // 7) + [COUNT % 7]
    ends = [number for number, events in enumerate(quanta) if any(isinstance(one, ElementTerminated) for one in events)]
    assert min(ends) > PAGES_OF_ALL
    assert engine.jobs == ["b"] * COUNT
    rebuilt(engine)


@pytest.mark.parametrize("quanta", range(PAGES_OF_ALL + 1))
def test_commands_wait_for_the_last_page_at_each_border(quanta):
    """A job that is to end cannot be completed, whichever page it is in, and a cancellation comes behind the pages."""
    engine, key, _ = crowded(IN_PAGES)
    jobs = [job.key for job in engine.state.jobs.values()]
    on_the_way = begun(engine, key, command(key, move("a", "b")))
    for _ in range(quanta):
        engine.memory.handle(*on_the_way.popleft())
        on_the_way += engine.memory.take_inbox()
    on_the_way.extendleft((one, "<default>", None) for one in (CancelInstance(key), *map(CompleteJob, jobs[::-1])))
    run_all(engine, on_the_way)
    done = [event for logged in engine.memory.log for one in logged.handled for event in one.events]
    assert not any(isinstance(event, JobCompleted) for event in done)
    assert (engine.state_of(key), engine.state.weight) == ("TERMINATED", 0)
    rebuilt(engine)


def test_what_has_ended_or_is_ending_is_passed_over():
    """After a bug, an incident keeps the pages, and commands no longer wait for them."""
    engine, key, scope = crowded(IN_PAGES)
    first, second, third = [one.key for one in engine.state.elements.values() if one.element == "a"][:3]
    view, instance = engine.memory.processor.view, engine.state.instance(key)
    engine.state.elements[second].state = TERMINATING
    given = [first - 1_000, first, second, third]
    effects = list(pages.terminate_page(instance, given, view, 3))
    rest = WorkDeferred(key, ((key, TERMINATE_PAGE, [third]),))
    assert effects == [ElementTerminating(first), rest]
    engine.state.elements[scope].state = TERMINATING
    assert list(pages.terminate_page(instance, given, view, 4)) == []


def test_scopes_end_with_what_is_in_them_in_pages():
    engine, key, scope = crowded(IN_PAGES)
    modify(engine, key, *[activate("c")] * 20)
    modify(engine, key, terminate("a"), terminate("c"), activate("c"))
    assert scope not in engine.state.elements
    assert engine.jobs == ["c"]
    modify(engine, key, terminate("c"))
    assert engine.state_of(key) == "TERMINATED"
    rebuilt(engine)


# ---- limits


def test_limits_count_what_begins_and_what_ends(engine, monkeypatch):
    monkeypatch.setattr(plan, "MAX_CHANGES", 3)
    engine.deploy(process(start(), par("f"), task("t"), task("u"), "start > f > t", "f > u"))
    key = engine.start()
    modify(engine, key, "t", "t", "t")
    (reason,) = refused(engine, key, terminate("t"))
    assert "terminates 4 element instances, at most 3 are allowed" in reason
    assert reason.endswith(
        "as the size exceeds the maximum batch size. Please reduce the size by splitting the modification into "
        "multiple commands."
    )
    (reason,) = refused(engine, key, *["u"] * 4)
    assert "activates 4 element instances, at most 3 are allowed" in reason


def test_new_scopes_and_variables_have_a_limit_of_their_own(engine, monkeypatch):
    monkeypatch.setattr(plan, "MAX_PLANNED", 2)
    engine.deploy(INSIDE)
    key = engine.start()
    one = activate("c", scope="", v=1)
    modify(engine, key, one, one, *["c"] * 5)
    (reason,) = refused(engine, key, one, one, one)
    assert "more than 2 activations make new scopes or set variables" in reason
