"""Event sub-processes, started by escalations and errors: what ends, what goes on, when the scope completes."""

import pytest

from tests.core.bench import Bench
from tests.core.event_models import LIMITS, ended, error, escalation, final, model, on, run, states, throw
from tests.core.models import end, par, start, sub, task


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def bench(request):
    return Bench(LIMITS[request.param])


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


def test_an_interrupting_one_ends_everything_else_first_and_then_the_scope_completes(bench):
    key = run(bench, beside(on(escalation("A"), "h", HANDLED, "h-start > handled > h-end")))
    bench.complete("before")
    assert bench.jobs == ["handled"]
    assert (states(bench, "other"), states(bench, "tell"), states(bench, "main")) == (
        ["TERMINATED"],
        ["TERMINATED"],
        [],
    )
    assert bench.element("p").tokens == {"h": 1}
    bench.complete("handled")
    assert ended(bench, key) == "COMPLETED"
    assert states(bench, "h") == ["COMPLETED"]


def test_a_non_interrupting_one_runs_beside_and_the_scope_waits_for_it(bench):
    key = run(bench, beside(on(escalation("A"), "h", HANDLED, "h-start > handled > h-end", interrupting=False)))
    bench.complete("before")
    assert bench.jobs == ["handled", "main", "other"]
    bench.complete("main")
    bench.complete("other")
    assert bench.jobs == ["handled"]
    bench.complete("handled")
    assert ended(bench, key) == "COMPLETED"


def test_a_non_interrupting_one_runs_as_often_as_it_is_called(bench):
    key = run(
        bench,
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
    assert bench.jobs == ["handled", "handled"]
    bench.complete("handled")
    bench.complete("handled")
    assert ended(bench, key) == "COMPLETED"


def test_one_can_start_after_the_main_path_has_ended_while_another_runs(bench):
    key = run(
        bench,
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
    assert states(bench, "end") == ["COMPLETED"]
    bench.complete("late")
    assert bench.jobs == ["later"]
    bench.complete("later")
    assert ended(bench, key) == "COMPLETED"


def test_an_interrupting_one_also_ends_those_that_run_beside(bench):
    key = run(
        bench,
        model(
            start(),
            throw("tell", escalation("A")),
            task("work"),
            "start > tell > work",
            on(escalation("A"), "side", task("aside"), "side-start > aside", interrupting=False),
            on(error("A"), "h", task("handled"), "h-start > handled"),
        ),
    )
    assert bench.jobs == ["aside", "work"]
    bench.throw("aside", "A")
    assert bench.jobs == ["handled"]
    assert (states(bench, "side"), states(bench, "work")) == (["TERMINATED"], ["TERMINATED"])
    bench.complete("handled")
    assert ended(bench, key) == "COMPLETED"


def test_one_trigger_wins_and_later_ones_find_an_interrupted_scope(bench):
    run(
        bench,
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
    bench.throw("work", "A")
    bench.complete("handled")
    assert bench.jobs == ["on"], "nobody hears it any more, so the path goes on"


def test_in_a_sub_process_the_path_behind_it_goes_on(bench):
    key = run(
        bench,
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
    assert bench.jobs == ["after"]
    assert states(bench, "s") == ["COMPLETED"]
    bench.complete("after")
    assert ended(bench, key) == "COMPLETED"


def test_one_may_contain_another(bench):
    inner = on(error("B"), "inner", task("deep"), "inner-start > deep")
    key = run(
        bench,
        model(
            start(),
            task("work"),
            "start > work",
            on(error("A"), "outer", task("first"), "outer-start > first", inner),
        ),
    )
    bench.throw("work", "A")
    bench.throw("first", "B")
    assert bench.jobs == ["deep"]
    bench.complete("deep")
    assert ended(bench, key) == "COMPLETED"


def test_its_variables_are_its_own_and_its_start_event_maps_what_comes(bench):
    run(
        bench,
        model(
            start(),
            task("work"),
            "start > work",
            on(error("A"), "h", task("t", outputs=[("=why", "answer")]), "h-start > t", outputs=[("=reason", "why")]),
        ),
    )
    bench.throw("work", "A", reason="none", other=1)
    assert bench.variables("p") == {"why": "none"}
    bench.complete("t")
    assert bench.variables("p") == {"why": "none", "answer": "none"}


def test_tokens_that_wait_for_a_join_are_gone_when_the_scope_is_interrupted(bench):
    key = run(
        bench,
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
    bench.complete("a")
    assert bench.element("p").tokens == {"a-j": 1, "b": 1}
    bench.throw("b", "X")
    assert bench.element("p").tokens == {"h": 1}
    bench.complete("t")
    assert ended(bench, key) == "COMPLETED"


@pytest.mark.parametrize("at", ["other", "handled"])
def test_cancel_ends_it(bench, at):
    key = run(
        bench, beside(on(escalation("A"), "h", HANDLED, "h-start > handled > h-end", interrupting=at == "handled"))
    )
    bench.complete("before")
    assert at in bench.jobs
    bench.cancel(key)
    assert ended(bench, key) == "TERMINATED"
    assert states(bench, "h") == ["TERMINATED"]
