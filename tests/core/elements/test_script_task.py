"""Script tasks with an expression; whole and in quanta of one item."""

import pytest

from tests.core.engine import Engine
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
def engine(request):
    return Engine(LIMITS[request.param])


def test_a_script_makes_a_variable(engine):
    key = run(engine, model(start(), script("x", "={sum: a + 1}", "result"), "start > x"), a=1)
    assert ended(engine, key) == "COMPLETED"
    assert engine.variables("p") == {"a": 1, "result": {"sum": 2}}
    assert engine.rows
    assert not any(table == "Job" for table, _ in engine.rows)


def test_the_result_stays_inside_when_outputs_are_mapped(engine):
    run(engine, model(start(), script("x", "=a + 1", "result", outputs=[("=result * 2", "b")]), "start > x"), a=1)
    assert engine.variables("p") == {"a": 1, "b": 4}
    assert engine.variables("x") == {"result": 2}


def test_a_script_goes_to_the_scope_that_has_the_variable(engine):
    inner = sub("s", start("i"), script("x", "=n + 1", "n"), task("t"), "i > x > t", inputs=[("=10", "n")])
    run(engine, model(start(), inner, "start > s"), n=1)
    assert engine.variables("s") == {"n": 11}
    assert engine.variables("p") == {"n": 1}


def test_a_script_that_fails_is_an_incident_that_resolving_runs_again(engine):
    key = run(engine, model(start(), script("x", "=assert(a, a > 0)", "r"), "start > x"), a=0)
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("x", "EXTRACT_VALUE_ERROR")
    assert "assert(a, a > 0)" in message
    engine.set(key, a=5)
    engine.resolve()
    assert ended(engine, key) == "COMPLETED"
    assert engine.variables("p") == {"a": 5, "r": 5}


def test_a_script_of_what_is_missing_gives_null(engine):
    run(engine, model(start(), script("x", "=missing.name", "r"), "start > x"))
    assert engine.variables("p") == {"r": None}


def test_a_script_loops(engine):
    run(
        engine,
        model(start(), loop(script("x", "=item * item", "r"), item="item", output="=r", into="squares"), "start > x"),
        items=[1, 2, 3],
    )
    assert engine.variables("p")["squares"] == [1, 4, 9]
