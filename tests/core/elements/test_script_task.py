"""Script tasks with an expression; whole and in quanta of one item."""

import pytest

from tests.core.bench import Bench
from tests.core.event_models import (
    LIMITS,
    ended,
    loop,
    model,
    run,
    script,
)
from tests.core.models import start, sub, task


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def bench(request):
    return Bench(LIMITS[request.param])


def test_a_script_makes_a_variable(bench):
    key = run(bench, model(start(), script("x", "={sum: a + 1}", "result"), "start > x"), a=1)
    assert ended(bench, key) == "COMPLETED"
    assert bench.variables("p") == {"a": 1, "result": {"sum": 2}}
    assert bench.rows
    assert not any(table == "Job" for table, _ in bench.rows)


def test_the_result_stays_inside_when_outputs_are_mapped(bench):
    run(bench, model(start(), script("x", "=a + 1", "result", outputs=[("=result * 2", "b")]), "start > x"), a=1)
    assert bench.variables("p") == {"a": 1, "b": 4}
    assert bench.variables("x") == {"result": 2}


def test_a_script_goes_to_the_scope_that_has_the_variable(bench):
    inner = sub("s", start("i"), script("x", "=n + 1", "n"), task("t"), "i > x > t", inputs=[("=10", "n")])
    run(bench, model(start(), inner, "start > s"), n=1)
    assert bench.variables("s") == {"n": 11}
    assert bench.variables("p") == {"n": 1}


def test_a_script_that_fails_is_an_incident_that_resolving_runs_again(bench):
    key = run(bench, model(start(), script("x", "=assert(a, a > 0)", "r"), "start > x"), a=0)
    ((element, type_, message),) = bench.incidents
    assert (element, type_) == ("x", "EXTRACT_VALUE_ERROR")
    assert "assert(a, a > 0)" in message
    bench.set(key, a=5)
    bench.resolve()
    assert ended(bench, key) == "COMPLETED"
    assert bench.variables("p") == {"a": 5, "r": 5}


def test_a_script_of_what_is_missing_gives_null(bench):
    run(bench, model(start(), script("x", "=missing.name", "r"), "start > x"))
    assert bench.variables("p") == {"r": None}


def test_a_script_loops(bench):
    run(
        bench,
        model(start(), loop(script("x", "=item * item", "r"), item="item", output="=r", into="squares"), "start > x"),
        items=[1, 2, 3],
    )
    assert bench.variables("p")["squares"] == [1, 4, 9]
