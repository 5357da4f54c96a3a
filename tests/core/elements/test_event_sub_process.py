"""Event sub-processes, started by escalations and errors: what ends, what goes on, when the scope completes."""

import pytest

from tests.core.engine import Engine
from tests.core.event_models import LIMITS, ended, error, escalation, final, model, on, run, states, throw
from tests.core.models import end, par, start, sub, task


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def beside(*handlers):
    """A process in which `tell` escalates A while `other` waits; then `main`."""
    return model(
        start(),
        par("f"),
        task("other"),
        task("before"),
        throw("tell", escalation("A")),
        task("main"),
        "start > f > other",
        "f > before > tell > main",
        *handlers,
    )


HANDLED = task("handled") + end("h-end")


def test_an_interrupting_one_ends_everything_else_first_and_then_the_scope_completes(engine):
    key = run(engine, beside(on(escalation("A"), "h", HANDLED, "h-start > handled > h-end")))
    engine.complete("before")
    assert engine.jobs == ["handled"]
    assert (states(engine, "other"), states(engine, "tell"), states(engine, "main")) == (
        ["TERMINATED"],
        ["TERMINATED"],
        [],
    )
    assert engine.element("p").tokens == {"h": 1}
    engine.complete("handled")
    assert ended(engine, key) == "COMPLETED"
    assert states(engine, "h") == ["COMPLETED"]


def test_a_non_interrupting_one_runs_beside_and_the_scope_waits_for_it(engine):
    key = run(engine, beside(on(escalation("A"), "h", HANDLED, "h-start > handled > h-end", interrupting=False)))
    engine.complete("before")
    assert engine.jobs == ["handled", "main", "other"]
    engine.complete("main")
    engine.complete("other")
    assert engine.jobs == ["handled"]
    engine.complete("handled")
    assert ended(engine, key) == "COMPLETED"


def test_a_non_interrupting_one_runs_as_often_as_it_is_called(engine):
    key = run(
        engine,
        model(
            start(),
            par("f"),
            throw("t1", escalation("A")),
            throw("t2", escalation("A")),
            "start > f > t1",
            "f > t2",
            on(escalation("A"), "h", HANDLED, "h-start > handled > h-end", interrupting=False),
        ),
    )
    assert engine.jobs == ["handled", "handled"]
    engine.complete("handled")
    engine.complete("handled")
    assert ended(engine, key) == "COMPLETED"


def test_one_can_start_after_the_main_path_has_ended_while_another_runs(engine):
    key = run(
        engine,
        model(
            start(),
            throw("tell", escalation("A")),
            end(),
            "start > tell > end",
            on(
                escalation("A"),
                "h",
                task("late"),
                throw("t2", escalation("B")),
                "h-start > late > t2",
                interrupting=False,
            ),
            on(escalation("B"), "g", task("later"), "g-start > later", interrupting=False),
        ),
    )
    assert states(engine, "end") == ["COMPLETED"]
    engine.complete("late")
    assert engine.jobs == ["later"]
    engine.complete("later")
    assert ended(engine, key) == "COMPLETED"


def test_an_interrupting_one_also_ends_those_that_run_beside(engine):
    key = run(
        engine,
        model(
            start(),
            throw("tell", escalation("A")),
            task("work"),
            "start > tell > work",
            on(escalation("A"), "side", task("aside"), "side-start > aside", interrupting=False),
            on(error("A"), "h", task("handled"), "h-start > handled"),
        ),
    )
    assert engine.jobs == ["aside", "work"]
    engine.throw("aside", "A")
    assert engine.jobs == ["handled"]
    assert (states(engine, "side"), states(engine, "work")) == (["TERMINATED"], ["TERMINATED"])
    engine.complete("handled")
    assert ended(engine, key) == "COMPLETED"


def test_one_trigger_wins_and_later_ones_find_an_interrupted_scope(engine):
    run(
        engine,
        model(
            start(),
            task("work"),
            "start > work",
            on(
                error("A"),
                "h",
                task("handled"),
                throw("again", escalation("B")),
                task("on"),
                "h-start > handled > again > on",
            ),
            on(escalation("B"), "g", task("never"), "g-start > never"),
        ),
    )
    engine.throw("work", "A")
    engine.complete("handled")
    assert engine.jobs == ["on"], "nobody hears it any more, so the path goes on"


def test_in_a_sub_process_the_path_behind_it_goes_on(engine):
    key = run(
        engine,
        model(
            start(),
            sub(
                "s",
                start("i"),
                final("x", escalation("A")),
                "i > x",
                on(escalation(), "h", end("h-end"), "h-start > h-end"),
            ),
            task("after"),
            "start > s > after",
        ),
    )
    assert engine.jobs == ["after"]
    assert states(engine, "s") == ["COMPLETED"]
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"


def test_one_may_contain_another(engine):
    inner = on(error("B"), "inner", task("deep"), "inner-start > deep")
    key = run(
        engine,
        model(
            start(),
            task("work"),
            "start > work",
            on(error("A"), "outer", task("first"), "outer-start > first", inner),
        ),
    )
    engine.throw("work", "A")
    engine.throw("first", "B")
    assert engine.jobs == ["deep"]
    engine.complete("deep")
    assert ended(engine, key) == "COMPLETED"


def test_its_variables_are_its_own_and_its_start_event_maps_what_comes(engine):
    run(
        engine,
        model(
            start(),
            task("work"),
            "start > work",
            on(error("A"), "h", task("t", outputs=[("=why", "answer")]), "h-start > t", outputs=[("=reason", "why")]),
        ),
    )
    engine.throw("work", "A", reason="none", other=1)
    assert engine.variables("p") == {"why": "none"}
    engine.complete("t")
    assert engine.variables("p") == {"why": "none", "answer": "none"}


def test_tokens_that_wait_for_a_join_are_gone_when_the_scope_is_interrupted(engine):
    key = run(
        engine,
        model(
            start(),
            par("f"),
            par("j"),
            task("a"),
            task("b"),
            "start > f > a > j",
            "f > b > j",
            on(error(), "h", task("t"), "h-start > t"),
        ),
    )
    engine.complete("a")
    assert engine.element("p").tokens == {"a-j": 1, "b": 1}
    engine.throw("b", "X")
    assert engine.element("p").tokens == {"h": 1}
    engine.complete("t")
    assert ended(engine, key) == "COMPLETED"


@pytest.mark.parametrize("at", ["other", "handled"])
def test_cancel_ends_it(engine, at):
    key = run(
        engine, beside(on(escalation("A"), "h", HANDLED, "h-start > handled > h-end", interrupting=at == "handled"))
    )
    engine.complete("before")
    assert at in engine.jobs
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"
    assert states(engine, "h") == ["TERMINATED"]
