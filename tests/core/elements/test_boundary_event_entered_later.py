"""A boundary event whose host has ended, and that a later quantum is to enter: till then no place holds its token.

What comes in between must neither take its scope for done or stuck nor join past it, and may interrupt it.
"""

import pytest

from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import inc
from tests.core.message_models import boundary, event_sub, model
from tests.core.models import end, par, start, sub, task
from tests.core.quanta import run_rest, run_until, set_quantum
from vivero.core.records.instances import CancelInstance, SetVariables
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.messages import PublishMessage
from vivero.core.records.signals import BroadcastSignal

HOST = sub("host", start("i"), par("f"), task("a1"), task("a2"), "i > f > a1", "f > a2")
"""Its end takes several quanta."""
EVENT = (HOST, boundary("host", "event", "signal"), task("late"), "event > late")
FLOWS = ("start > fork > host", "fork > beside")
ASIDE = event_sub("aside", task("instead"), "aside-start > instead")
"""A message interrupts everything else in its scope."""


@pytest.fixture(params=["at once", "after a stop"])
def told(request):
    """A function that starts a model, and lets its boundary event happen as far as it takes for its host to have
    ended: the engine, with large quanta from now on. After a stop the engine knows what its events tell, and nothing
    else."""

    def tell(*parts):
        engine = Engine()
        engine.deploy(model(start(), par("fork"), *EVENT, *FLOWS, *parts))
        engine.key = engine.start(k="x")
        happen(engine)
        assert "host" not in engine.elements
        if request.param == "after a stop":
            to_inbox = engine.memory.processor.notices.to_inbox
            rebuilt(engine)
            engine.memory.processor.notices.to_inbox += to_inbox
        set_quantum(engine, 500)
        return engine

    return tell


def happen(engine):
    set_quantum(engine, 1)
    run_until(engine, BroadcastSignal("alarm", raw({"n": 1})), lambda: is_pending(engine))


def is_pending(engine):
    return any(stage == "enter" for tree in engine.state.trees.values() for _, stage, _ in tree.work)


def ever(engine, id):
    """Whether there ever was an instance of the element."""
    return any(table == "Element" and row["element"] == id for (table, _), row in engine.rows.items())


def in_between(engine, command):
    """The command comes before the rest of what was fired."""
    rejection = engine.memory.handle(command, "<default>", None)[0].rejection
    assert rejection is None, rejection


def complete_beside(engine):
    in_between(engine, CompleteJob(engine.job("beside").key))
    assert is_pending(engine)


def test_the_scope_does_not_complete(told):
    engine = told(task("beside"))
    complete_beside(engine)
    assert engine.state_of(engine.key) == "ACTIVATED"
    run_rest(engine)
    assert engine.jobs == ["late"]
    engine.complete("late")
    assert engine.state_of(engine.key) == "COMPLETED"


def test_a_scope_whose_tokens_wait_before_a_join_is_not_stuck(told):
    engine = told(task("beside"), par("join"), task("after"), "beside > join > after", "late > join")
    complete_beside(engine)
    assert engine.element("p").tokens == {"beside-join": 1}
    run_rest(engine)
    assert (engine.jobs, engine.incidents) == (["late"], [])
    engine.complete("late")
    assert engine.jobs == ["after"]
    assert not [row for (table, _), row in engine.rows.items() if table == "Incident"]


def test_an_inclusive_join_waits_for_it(told):
    engine = told(task("beside"), inc("join"), task("after"), "beside > join > after", "late > join")
    complete_beside(engine)
    assert engine.jobs == []
    run_rest(engine)
    assert engine.jobs == ["late"]
    engine.complete("late")
    assert engine.jobs == ["after"]


def test_commands_that_let_the_scope_settle_time_and_again_change_nothing(told):
    engine = told(task("beside"), par("join"), "beside > join", "late > join", end("done"), "join > done")
    complete_beside(engine)
    for number in range(3):
        in_between(engine, SetVariables(engine.key, raw({"n": number})))
    run_rest(engine)
    engine.complete("late")
    assert engine.state_of(engine.key) == "COMPLETED"


def test_an_interruption_of_its_scope_drops_it(told):
    engine = told(task("beside"), ASIDE)
    in_between(engine, PublishMessage("hello", "x"))
    assert not is_pending(engine)
    run_rest(engine)
    assert engine.jobs == ["instead"]
    assert not ever(engine, "event")
    engine.complete("instead")
    assert engine.state_of(engine.key) == "COMPLETED"


def test_an_interruption_around_its_scope_drops_it():
    engine = Engine()
    inner = sub("s", start("is"), par("fork"), *EVENT, "is > fork > host", "fork > beside", task("beside"))
    engine.deploy(model(start(), inner, ASIDE, "start > s"))
    key = engine.start(k="x")
    happen(engine)
    in_between(engine, PublishMessage("hello", "x"))
    run_rest(engine)
    assert engine.jobs == ["instead"]
    assert not ever(engine, "late")
    engine.complete("instead")
    assert engine.state_of(key) == "COMPLETED"


@pytest.mark.parametrize("quanta", [1, 500])
def test_a_cancellation_drops_it(told, quanta):
    engine = told(task("beside"))
    set_quantum(engine, quanta)
    in_between(engine, CancelInstance(engine.key))
    run_rest(engine)
    assert engine.state_of(engine.key) == "TERMINATED"
    assert not engine.state.elements
    assert not ever(engine, "event")


def test_it_brings_what_the_event_brought(told):
    """Its variables are kept with the work."""
    engine = told(task("beside"))
    run_rest(engine)
    assert engine.jobs == ["beside", "late"]
    assert engine.variables_of(engine.key)["n"] == 1
