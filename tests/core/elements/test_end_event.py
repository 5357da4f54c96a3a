"""Terminate end events; whole and in quanta of one item."""

import pytest

from tests.core.engine import Engine
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
def engine(request):
    return Engine(LIMITS[request.param])


FORK = (par("f"), task("a"), task("b"), sub("deep", start("d"), task("c"), "d > c"), final("stop", TERMINATE))
PATHS = ("f > a > stop", "f > b", "f > deep")


def test_a_terminate_end_event_of_the_process_completes_it(engine):
    key = run(engine, model(start(), *FORK, "start > f", *PATHS))
    assert engine.jobs == ["a", "b", "c"]
    engine.complete("a")
    assert ended(engine, key) == "COMPLETED"
    assert (states(engine, "b"), states(engine, "deep"), states(engine, "stop")) == (
        ["TERMINATED"],
        ["TERMINATED"],
        ["COMPLETED"],
    )
    assert sorted(row["state"] for (table, _), row in engine.rows.items() if table == "Job") == [
        "CANCELED",
        "CANCELED",
        "COMPLETED",
    ]


def test_in_a_sub_process_it_ends_that_alone_and_the_path_goes_on(engine):
    key = run(
        engine,
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
    engine.complete("a")
    assert engine.jobs == ["after", "beside"]
    assert states(engine, "s") == ["COMPLETED"]
    engine.complete("after")
    engine.complete("beside")
    assert ended(engine, key) == "COMPLETED"


def test_in_a_called_process_it_ends_that_alone_and_its_variables_come_back(engine):
    child = model(start("cs"), *FORK, "cs > f", *PATHS, id="called")
    run(engine, child, model(start(), call("x", "called"), task("after"), "start > x > after"))
    engine.complete("a", result=1)
    assert engine.jobs == ["after"]
    assert states(engine, "x") == ["COMPLETED"]
    assert engine.variables("p") == {"result": 1}


def test_in_an_event_sub_process_it_ends_that_alone(engine):
    handler = on(escalation("A"), "h", *FORK, "h-start > f", *PATHS, interrupting=False)
    run(engine, model(start(), throw("tell", escalation("A")), task("main"), "start > tell > main", handler))
    engine.complete("a")
    assert engine.jobs == ["main"]
    assert states(engine, "h") == ["COMPLETED"]


def test_in_a_loop_it_ends_one_inner_instance(engine):
    inner = sub("s", start("i"), par("f"), task("a"), task("b"), final("stop", TERMINATE), "i > f > a > stop", "f > b")
    run(engine, model(start(), loop(inner), task("after"), "start > s > after"), items=[1, 2])
    engine.complete("a")
    assert engine.jobs == ["a", "b"]
    engine.complete("a")
    assert engine.jobs == ["after"]


def test_two_terminate_end_events_at_once_complete_the_scope_once(engine):
    stops = [final("x", TERMINATE), final("y", TERMINATE)]
    run(
        engine,
        model(
            start(), sub("s", start("i"), par("f"), *stops, "i > f > x", "f > y"), task("after"), "start > s > after"
        ),
    )
    assert engine.jobs == ["after"]


def test_the_outputs_of_a_terminated_scope_are_mapped(engine):
    inner = (start("i"), script("set", "=41 + 1", "answer", outputs=[("=answer", "local")]), final("stop", TERMINATE))
    run(
        engine,
        model(
            start(),
            sub("s", *inner, "i > set > stop", inputs=[("=null", "local")], outputs=[("=local", "out")]),
            task("t"),
            "start > s > t",
        ),
    )
    assert engine.variables("p") == {"out": 42}
