"""A boundary event whose host has ended, and that a later quantum is to enter: till then no place holds its token.

What comes in between must neither take its scope for done or stuck nor join past it, and may interrupt it.
"""

import pytest

from tests.core.bench import Bench, raw, rebuilt
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
    ended: the bench, with large quanta from now on. After a stop the engine knows what its events tell, and nothing
    else."""

    def tell(*parts):
        bench = Bench()
        bench.deploy(model(start(), par("fork"), *EVENT, *FLOWS, *parts))
        bench.key = bench.start(k="x")
        happen(bench)
        assert "host" not in bench.elements
        if request.param == "after a stop":
            to_inbox = bench.engine.processor.notices.to_inbox
            rebuilt(bench)
            bench.engine.processor.notices.to_inbox += to_inbox
        set_quantum(bench, 500)
        return bench

    return tell


def happen(bench):
    set_quantum(bench, 1)
    run_until(bench, BroadcastSignal("alarm", raw({"n": 1})), lambda: is_pending(bench))


def is_pending(bench):
    return any(stage == "enter" for tree in bench.state.trees.values() for _, stage, _ in tree.work)


def ever(bench, id):
    """Whether there ever was an instance of the element."""
    return any(table == "Element" and row["element"] == id for (table, _), row in bench.rows.items())


def in_between(bench, command):
    """The command comes before the rest of what was fired."""
    rejection = bench.engine.handle(command, "<default>", None)[0].rejection
    assert rejection is None, rejection


def complete_beside(bench):
    in_between(bench, CompleteJob(bench.job("beside").key))
    assert is_pending(bench)


def test_the_scope_does_not_complete(told):
    bench = told(task("beside"))
    complete_beside(bench)
    assert bench.state_of(bench.key) == "ACTIVATED"
    run_rest(bench)
    assert bench.jobs == ["late"]
    bench.complete("late")
    assert bench.state_of(bench.key) == "COMPLETED"


def test_a_scope_whose_tokens_wait_before_a_join_is_not_stuck(told):
    bench = told(task("beside"), par("join"), task("after"), "beside > join > after", "late > join")
    complete_beside(bench)
    assert bench.element("p").tokens == {"beside-join": 1}
    run_rest(bench)
    assert (bench.jobs, bench.incidents) == (["late"], [])
    bench.complete("late")
    assert bench.jobs == ["after"]
    assert not [row for (table, _), row in bench.rows.items() if table == "Incident"]


def test_an_inclusive_join_waits_for_it(told):
    bench = told(task("beside"), inc("join"), task("after"), "beside > join > after", "late > join")
    complete_beside(bench)
    assert bench.jobs == []
    run_rest(bench)
    assert bench.jobs == ["late"]
    bench.complete("late")
    assert bench.jobs == ["after"]


def test_commands_that_let_the_scope_settle_time_and_again_change_nothing(told):
    bench = told(task("beside"), par("join"), "beside > join", "late > join", end("done"), "join > done")
    complete_beside(bench)
    for number in range(3):
        in_between(bench, SetVariables(bench.key, raw({"n": number})))
    run_rest(bench)
    bench.complete("late")
    assert bench.state_of(bench.key) == "COMPLETED"


def test_an_interruption_of_its_scope_drops_it(told):
    bench = told(task("beside"), ASIDE)
    in_between(bench, PublishMessage("hello", "x"))
    assert not is_pending(bench)
    run_rest(bench)
    assert bench.jobs == ["instead"]
    assert not ever(bench, "event")
    bench.complete("instead")
    assert bench.state_of(bench.key) == "COMPLETED"


def test_an_interruption_around_its_scope_drops_it():
    bench = Bench()
    inner = sub("s", start("is"), par("fork"), *EVENT, "is > fork > host", "fork > beside", task("beside"))
    bench.deploy(model(start(), inner, ASIDE, "start > s"))
    key = bench.start(k="x")
    happen(bench)
    in_between(bench, PublishMessage("hello", "x"))
    run_rest(bench)
    assert bench.jobs == ["instead"]
    assert not ever(bench, "late")
    bench.complete("instead")
    assert bench.state_of(key) == "COMPLETED"


@pytest.mark.parametrize("quanta", [1, 500])
def test_a_cancellation_drops_it(told, quanta):
    bench = told(task("beside"))
    set_quantum(bench, quanta)
    in_between(bench, CancelInstance(bench.key))
    run_rest(bench)
    assert bench.state_of(bench.key) == "TERMINATED"
    assert not bench.state.elements
    assert not ever(bench, "event")


def test_it_brings_what_the_event_brought(told):
    """Its variables are kept with the work."""
    bench = told(task("beside"))
    run_rest(bench)
    assert bench.jobs == ["beside", "late"]
    assert bench.variables_of(bench.key)["n"] == 1
