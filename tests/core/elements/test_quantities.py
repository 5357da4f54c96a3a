"""Start and completion quantities of activities (BPMN 2.0.2 §10.3.1, §13.3.2); whole and in quanta of one item."""

import pytest

from tests.core.engine import Engine, rebuilt
from tests.core.event_models import LIMITS, boundary, ended, error, inc, loop, model, run, states
from tests.core.models import end, flow, par, start, sub, task


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def needs(activity, number):
    return activity.replace(' id="', f' startQuantity="{number}" id="', 1)


def gives(activity, number):
    return activity.replace(' id="', f' completionQuantity="{number}" id="', 1)


def joined(number, names="ab"):
    """The tasks of `names` all lead to `t`."""
    flows = [f"f > {name} > t" for name in names]
    return model(start(), par("f"), *map(task, names), needs(task("t"), number), end(), "start > f", *flows, "t > end")


def test_it_begins_when_so_many_tokens_are_there(engine):
    key = run(engine, joined(2))
    engine.complete("a")
    assert engine.jobs == ["b"]
    rebuilt(engine)
    engine.complete("b")
    assert engine.jobs == ["t"]
    engine.complete("t")
    assert ended(engine, key) == "COMPLETED"
    assert states(engine, "t") == ["COMPLETED"]


def test_the_tokens_may_come_on_one_flow(engine):
    run(engine, model(start(), gives(task("a"), 2), needs(task("t"), 2), "start > a > t"))
    engine.complete("a")
    assert engine.jobs == ["t"]


def test_surplus_tokens_stay(engine):
    run(engine, joined(2, "abc"))
    for name in "abc":
        engine.complete(name)
    assert engine.jobs == ["t"]
    assert engine.element("p").tokens == {"t": 1, "c-t": 1}


def test_too_few_tokens_are_a_deadlock(engine):
    """betsy's `Token_StartQuantity_Two`: the instance stands still."""
    key = run(engine, model(start(), needs(task("t"), 2), "start > t"))
    assert engine.jobs == []
    assert [(element, message) for element, _, message in engine.incidents] == [("p", "Deadlock: tokens wait at [t]")]
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"


@pytest.mark.parametrize("number", [1, 2, 7, 1000])
def test_it_puts_so_many_tokens_on_its_flow(engine, number):
    run(engine, model(start(), gives(task("a"), number), task("t"), "start > a > t"))
    engine.complete("a")
    assert engine.jobs == ["t"] * number


def test_it_puts_them_on_each_flow_that_it_takes(engine):
    flows = (flow("a", "t", "=yes"), flow("a", "u", "=not(yes)"), "a > v")
    run(engine, model(start(), gives(task("a"), 2), task("t"), task("u"), task("v"), "start > a", *flows))
    engine.complete("a", yes=True)
    assert engine.jobs == ["t", "t", "v", "v"]


def test_of_a_loop_the_body_counts(engine):
    many = gives(needs(loop(task("t"), "=[1, 2]"), 2), 3)
    run(engine, model(start(), gives(task("a"), 2), many, task("u"), "start > a > t > u"))
    engine.complete("a")
    assert engine.jobs == ["t", "t"]
    engine.complete("t")
    engine.complete("t")
    assert engine.jobs == ["u"] * 3


def test_boundary_events_give_one_token(engine):
    parts = (boundary("b", "t", error("A")), task("aside"), "b > aside")
    run(engine, model(start(), gives(task("t"), 2), end(), "start > t > end", *parts))
    engine.throw("t", "A")
    assert engine.jobs == ["aside"]


def test_a_sub_process_waits_for_several_tokens(engine):
    inner = needs(sub("s", start("i"), task("x"), "i > x"), 2)
    run(engine, model(start(), par("f"), task("a"), task("b"), inner, "start > f > a > s", "f > b > s"))
    engine.complete("b")
    assert engine.jobs == ["a"]
    engine.complete("a")
    assert engine.jobs == ["x"]


def test_an_inclusive_join_waits_for_tokens_that_wait_before_an_activity(engine):
    """They count as tokens on their flow."""
    parts = (par("f"), task("a"), task("b"), task("c"), needs(task("t"), 2), inc("j"), task("after"))
    flows = ("start > f > a > t > j", "f > b > t", "f > c > j > after")
    run(engine, model(start(), *parts, *flows))
    engine.complete("a")
    engine.complete("c")
    assert engine.jobs == ["b"]
    engine.complete("b")
    engine.complete("t")
    assert engine.jobs == ["after"]


def test_more_tokens_begin_it_again(engine):
    key = run(engine, model(start(), gives(task("a"), 4), needs(task("t"), 2), end(), "start > a > t > end"))
    engine.complete("a")
    assert engine.jobs == ["t", "t"]
    engine.complete("t")
    engine.complete("t")
    assert ended(engine, key) == "COMPLETED"
