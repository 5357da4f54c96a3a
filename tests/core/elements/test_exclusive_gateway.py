"""Exclusive gateways: the first true flow in the order of the file, or the default flow."""

import pytest

from tests.core.event_models import run
from tests.core.models import end, flow, process, start, task, xor


def choice(**gateway):
    return process(
        start(),
        xor("which", **gateway),
        task("a"),
        task("b"),
        task("c"),
        "start > which",
        flow("which", "a", "=x > 10"),
        flow("which", "b", "=x > 5"),
        flow("which", "c", None if gateway else "=x > 1"),
    )


@pytest.mark.parametrize(("x", "taken"), [(11, "a"), (6, "b"), (2, "c")])
def test_an_exclusive_gateway_takes_the_first_true_flow_in_the_order_of_the_file(engine, x, taken):
    run(engine, choice(), x=x)
    assert engine.jobs == [taken]


@pytest.mark.parametrize(("x", "taken"), [(11, "a"), (6, "b"), (5, "c")])
def test_an_exclusive_gateway_takes_its_default_flow_when_no_condition_is_true(engine, x, taken):
    run(engine, choice(default="which-c"), x=x)
    assert engine.jobs == [taken]


def test_a_default_flow_is_not_taken_early_wherever_it_stands(engine):
    model = process(
        start(), xor("g", default="g-a"), task("a"), task("b"), "start > g", flow("g", "a"), flow("g", "b", "=true")
    )
    run(engine, model)
    assert engine.jobs == ["b"]


def test_an_exclusive_gateway_without_a_way_out_is_an_incident(engine):
    run(engine, choice(), x=0)
    assert engine.incidents == [
        ("which", "CONDITION_ERROR", "Expected at least one condition to evaluate to true, or to have a default flow")
    ]
    assert engine.element("which").state == "COMPLETING"


def test_an_exclusive_gateway_with_nothing_behind_it_ends_its_token(engine):
    assert engine.state_of(run(engine, process(start(), xor("g"), "start > g"))) == "COMPLETED"


def test_an_exclusive_gateway_passes_each_token_on_by_itself(engine):
    run(engine, process(start(), xor("g"), task("a"), flow("start", "g", id="x"), flow("start", "g", id="y"), "g > a"))
    assert engine.jobs == ["a", "a"]


def test_a_loop_goes_round_until_its_condition_ends_it(engine):
    model = process(
        start(),
        xor("again"),
        task("work"),
        xor("enough", default="enough-again"),
        end(),
        "start > again > work > enough",
        flow("enough", "end", "=n >= 3"),
        flow("enough", "again"),
    )
    key = run(engine, model)
    for n in (1, 2, 3):
        assert engine.jobs == ["work"]
        engine.complete("work", n=n)
    assert engine.state_of(key) == "COMPLETED"
    works = [row for (table, _), row in engine.rows.items() if table == "Element" and row["element"] == "work"]
    assert len(works) == 3
