"""Terminate end events; whole and in quanta of one item."""

import pytest

from tests.core.bench import Bench
from tests.core.event_models import (
    LIMITS,
    TERMINATE,
    call,
    ended,
    escalation,
    final,
    loop,
    model,
    on,
    run,
    script,
    states,
    throw,
)
from tests.core.models import par, start, sub, task


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def bench(request):
    return Bench(LIMITS[request.param])


FORK = (par("f"), task("a"), task("b"), sub("deep", start("d"), task("c"), "d > c"), final("stop", TERMINATE))
PATHS = ("f > a > stop", "f > b", "f > deep")


def test_a_terminate_end_event_of_the_process_completes_it(bench):
    key = run(bench, model(start(), *FORK, "start > f", *PATHS))
    assert bench.jobs == ["a", "b", "c"]
    bench.complete("a")
    assert ended(bench, key) == "COMPLETED"
    assert (states(bench, "b"), states(bench, "deep"), states(bench, "stop")) == (
        ["TERMINATED"],
        ["TERMINATED"],
        ["COMPLETED"],
    )
    assert sorted(row["state"] for (table, _), row in bench.rows.items() if table == "Job") == [
        "CANCELED",
        "CANCELED",
        "COMPLETED",
    ]


def test_in_a_sub_process_it_ends_that_alone_and_the_path_goes_on(bench):
    key = run(
        bench,
        model(
            start(),
            par("g"),
            task("beside"),
            sub("s", start("i"), *FORK, "i > f", *PATHS),
            task("after"),
            "start > g > s > after",
            "g > beside",
        ),
    )
    bench.complete("a")
    assert bench.jobs == ["after", "beside"]
    assert states(bench, "s") == ["COMPLETED"]
    bench.complete("after")
    bench.complete("beside")
    assert ended(bench, key) == "COMPLETED"


def test_in_a_called_process_it_ends_that_alone_and_its_variables_come_back(bench):
    child = model(start("cs"), *FORK, "cs > f", *PATHS, id="called")
    run(bench, child, model(start(), call("x", "called"), task("after"), "start > x > after"))
    bench.complete("a", result=1)
    assert bench.jobs == ["after"]
    assert states(bench, "x") == ["COMPLETED"]
    assert bench.variables("p") == {"result": 1}


def test_in_an_event_sub_process_it_ends_that_alone(bench):
    handler = on(escalation("A"), "h", *FORK, "h-start > f", *PATHS, interrupting=False)
    run(bench, model(start(), throw("tell", escalation("A")), task("main"), "start > tell > main", handler))
    bench.complete("a")
    assert bench.jobs == ["main"]
    assert states(bench, "h") == ["COMPLETED"]


def test_in_a_loop_it_ends_one_inner_instance(bench):
    inner = sub("s", start("i"), par("f"), task("a"), task("b"), final("stop", TERMINATE), "i > f > a > stop", "f > b")
    run(bench, model(start(), loop(inner), task("after"), "start > s > after"), items=[1, 2])
    bench.complete("a")
    assert bench.jobs == ["a", "b"]
    bench.complete("a")
    assert bench.jobs == ["after"]


def test_two_terminate_end_events_at_once_complete_the_scope_once(bench):
    stops = [final("x", TERMINATE), final("y", TERMINATE)]
    run(
        bench,
        model(
            start(), sub("s", start("i"), par("f"), *stops, "i > f > x", "f > y"), task("after"), "start > s > after"
        ),
    )
    assert bench.jobs == ["after"]


def test_the_outputs_of_a_terminated_scope_are_mapped(bench):
    inner = (start("i"), script("set", "=41 + 1", "answer", outputs=[("=answer", "local")]), final("stop", TERMINATE))
    run(
        bench,
        model(
            start(),
            sub("s", *inner, "i > set > stop", inputs=[("=null", "local")], outputs=[("=local", "out")]),
            task("t"),
            "start > s > t",
        ),
    )
    assert bench.variables("p") == {"out": 42}
