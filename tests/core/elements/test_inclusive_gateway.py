"""Inclusive gateways: which flows fork, and when a join goes on (BPMN 2.0.2 §13.4.3); whole and in quanta of one item.

Others test a join only when a token arrives, and stick when what they wait for ends elsewhere.
"""

import pytest

from tests.core.engine import Engine
from tests.core.event_models import (
    LIMITS,
    boundary,
    catch,
    ended,
    error,
    escalation,
    inc,
    link,
    loop,
    model,
    on,
    run,
    states,
    throw,
)
from tests.core.models import end, flow, par, start, sub, task, xor


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def forked(*parts, default=None, conditions=("=a", "=b", "=c")):
    """`fork` leads to the tasks a, b, c whose variables are true; the flows are `fork-a`, …"""
    flows = [
        flow("fork", name, None if f"fork-{name}" == default else condition)
        for name, condition in zip("abc", conditions, strict=True)
    ]
    return model(start(), inc("fork", default), task("a"), task("b"), task("c"), "start > fork", *flows, *parts)


JOINED = (inc("join"), task("after"), end(), "a > join", "b > join", "c > join", "join > after > end")


# ---- fork


@pytest.mark.parametrize("names", ["a", "bc", "abc"])
def test_every_true_condition_is_taken(engine, names):
    run(engine, forked(), **{name: name in names for name in "abc"})
    assert engine.jobs == sorted(names)


def test_the_default_flow_is_taken_only_when_no_other_is(engine):
    engine.deploy(forked(default="fork-c"))
    engine.start(a=False, b=True)
    assert engine.jobs == ["b"]
    engine.start(a=False, b=False)
    assert engine.jobs == ["b", "c"]


def test_without_any_flow_to_take_it_is_an_incident(engine):
    key = run(engine, forked(), a=False, b=False, c=False)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("fork", "CONDITION_ERROR")]
    engine.set(key, b=True)
    engine.resolve()
    assert engine.jobs == ["b"]


@pytest.mark.parametrize("wrong", [None, 7, "text"])
def test_a_condition_that_is_no_boolean_is_an_incident_and_no_branch_is_taken(engine, wrong):
    key = run(engine, forked(), a=True, b=wrong, c=True)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("fork", "EXTRACT_VALUE_ERROR")]
    assert engine.jobs == []
    engine.set(key, b=False)
    engine.resolve()
    assert engine.jobs == ["a", "c"]


def test_one_flow_without_a_condition_is_simply_taken(engine):
    run(engine, model(start(), inc("fork"), task("a"), "start > fork > a"))
    assert engine.jobs == ["a"]


# ---- join


@pytest.mark.parametrize("names", ["a", "ab", "cb", "abc"])
def test_a_join_waits_for_the_branches_that_were_taken_and_no_others(engine, names):
    key = run(engine, forked(*JOINED), **{name: name in names for name in "abc"})
    for name in names:
        assert "after" not in engine.jobs
        engine.complete(name)
    assert engine.jobs == ["after"]
    assert states(engine, "join") == ["COMPLETED"]
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"


def test_a_join_goes_on_when_what_it_waits_for_leaves_by_another_way(engine):
    """camunda/camunda#19460."""
    parts = (
        *JOINED[:3],
        xor("which", default="which-join"),
        end("away"),
        "a > join",
        "b > which > join",
        flow("which", "away", "=gone"),
    )
    key = run(engine, forked(*parts, "join > after"), a=True, b=True, c=False)
    engine.complete("a")
    assert engine.jobs == ["b"]
    engine.complete("b", gone=True)
    assert engine.jobs == ["after"]
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"


def test_a_join_goes_on_when_what_it_waits_for_leaves_by_a_boundary_event(engine):
    parts = (*JOINED, boundary("b-failed", "b", error("A")), task("aside"), "b-failed > aside")
    run(engine, forked(*parts), a=True, b=True, c=False)
    engine.complete("a")
    engine.throw("b", "A")
    assert engine.jobs == ["after", "aside"]


def test_a_join_waits_for_a_boundary_event_that_leads_to_it(engine):
    parts = (*JOINED, boundary("b-failed", "b", error("A")), task("aside"), "b-failed > aside > join")
    run(engine, forked(*parts), a=True, b=True, c=False)
    engine.complete("a")
    engine.throw("b", "A")
    assert engine.jobs == ["aside"]
    engine.complete("aside")
    assert engine.jobs == ["after"]


def test_a_join_waits_for_what_may_come_by_a_link(engine):
    parts = (*JOINED[:3], throw("t", link("L")), catch("k", link("L")), "a > join", "b > t", "k > join", "join > after")
    run(engine, forked(*parts), a=True, b=True, c=False)
    engine.complete("a")
    assert engine.jobs == ["b"]
    engine.complete("b")
    assert engine.jobs == ["after"]


def test_a_flow_that_is_taken_twice_joins_twice(engine):
    """camunda/camunda#19464: the second token of one flow is not the one that is missing."""
    merge = (xor("m"), task("x"), "a > m", "b > m", "m > x > join")
    key = run(engine, forked(inc("join"), task("after"), *merge, "c > join", "join > after"), a=True, b=True, c=True)
    engine.complete("a")
    engine.complete("b")
    engine.complete("x")
    engine.complete("x")
    assert engine.element("p").tokens == {"x-join": 2, "c": 1}
    assert engine.jobs == ["c"], "c can still come, to a flow that is empty"
    engine.complete("c")
    assert engine.jobs == ["after", "after"], "one from each flow, and then the one that is left"
    engine.complete("after")
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"


def test_a_token_that_can_come_to_a_filled_flow_as_well_is_not_waited_for(engine):
    """The clause of the specification that others leave out."""
    parts = (
        inc("join"),
        xor("m"),
        xor("which", default="which-join"),
        task("late"),
        "a > m",
        "m > join",
        "b > which",
        flow("which", "join"),
        flow("which", "m", "=other"),
        "join > late",
    )
    run(engine, forked(*parts), a=True, b=True, c=False)
    engine.complete("a")
    assert engine.jobs == ["b", "late"]
    engine.complete("b", other=False)
    assert engine.jobs == ["late", "late"]


def test_a_join_waits_while_an_incident_upstream_is_open(engine):
    key = run(engine, forked(*JOINED), a=True, b=True, c=False)
    engine.fail("b")
    engine.complete("a")
    assert engine.jobs == ["b"]
    engine.update("b", retries=1)
    engine.resolve()
    engine.complete("b")
    assert engine.jobs == ["after"]
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"


def test_a_join_behind_parallel_and_exclusive_gateways(engine):
    parts = (par("f"), inc("join"), xor("x", default="x-a"), task("a"), task("b"), task("after"))
    flows = ("start > f > x", "f > b > join", "a > join", flow("x", "a"), flow("x", "away", "=away"), "join > after")
    model_ = model(start(), end("away"), *parts, *flows)
    engine.deploy(model_)
    engine.start(away=False)
    engine.complete("b")
    assert engine.jobs == ["a"]
    engine.complete("a")
    assert engine.jobs == ["after"]
    engine.complete("after")
    engine.start(away=True)
    assert engine.jobs == ["b"]
    engine.complete("b")
    assert engine.jobs == ["after"]


def test_a_join_in_a_loop_does_not_wait_for_itself(engine):
    """A token that leaves the join could come back to it, but only through it."""
    key = run(
        engine,
        model(
            start(),
            inc("join"),
            task("work"),
            xor("again", default="again-end"),
            end(),
            "start > join > work > again",
            flow("again", "end"),
            flow("again", "join", "=more"),
        ),
    )
    for more in (True, True, False):
        assert engine.jobs == ["work"]
        engine.complete("work", more=more)
    assert ended(engine, key) == "COMPLETED"
    assert states(engine, "join") == ["COMPLETED"] * 3


def test_two_joins_one_behind_the_other(engine):
    parts = (inc("j1"), inc("j2"), task("after"), "a > j1", "b > j1", "j1 > j2", "c > j2", "j2 > after")
    run(engine, forked(*parts), a=True, b=True, c=True)
    for name in "acb":
        assert "after" not in engine.jobs
        engine.complete(name)
    assert engine.jobs == ["after"]


def test_two_joins_that_wait_for_each_other_are_not_waited_for_for_ever(engine):
    """Each can reach the other: by the letter of the specification both wait. Nothing moves, and nothing breaks."""
    parts = (inc("j1"), inc("j2"), task("x"), task("y"), par("f1"), par("f2"))
    flows = ("a > j1", "b > j2", "j1 > f1 > x", "f1 > j2", "j2 > f2 > y", "f2 > j1")
    key = run(engine, forked(*parts, *flows), a=True, b=True, c=False)
    engine.complete("a")
    engine.complete("b")
    assert engine.jobs == []
    assert engine.element("p").tokens == {"a-j1": 1, "b-j2": 1}
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"


def test_joins_of_different_scopes_do_not_see_each_other(engine):
    inner = sub(
        "s", start("i"), par("f"), task("x"), task("y"), inc("j"), task("in"), "i > f > x > j", "f > y > j", "j > in"
    )
    run(
        engine,
        model(
            start(),
            par("g"),
            inner,
            task("b"),
            inc("join"),
            task("after"),
            "start > g > s > join",
            "g > b > join",
            "join > after",
        ),
    )
    engine.complete("b")
    engine.complete("x")
    assert engine.jobs == ["y"]
    engine.complete("y")
    assert engine.jobs == ["in"]
    engine.complete("in")
    assert engine.jobs == ["after"]


def test_a_join_in_each_inner_instance_of_a_loop(engine):
    inner = sub(
        "s", start("i"), par("f"), task("x"), task("y"), inc("j"), task("in"), "i > f > x > j", "f > y > j", "j > in"
    )
    run(engine, model(start(), loop(inner), task("after"), "start > s > after"), items=[1, 2])
    engine.complete("x")
    engine.complete("y")
    assert engine.jobs == ["in", "x", "y"]
    engine.complete("x")
    engine.complete("y")
    engine.complete("in")
    engine.complete("in")
    assert engine.jobs == ["after"]


def test_a_join_waits_for_a_loop(engine):
    parts = (par("f"), loop(task("each")), task("b"), inc("join"), task("after"))
    run(engine, model(start(), *parts, "start > f > each > join", "f > b > join", "join > after"), items=[1, 2])
    engine.complete("b")
    engine.complete("each")
    assert engine.jobs == ["each"]
    engine.complete("each")
    assert engine.jobs == ["after"]


def test_a_join_does_not_wait_for_an_event_sub_process(engine):
    handler = on(escalation("A"), "h", task("aside"), "h-start > aside", interrupting=False)
    parts = (par("f"), throw("tell", escalation("A")), task("b"), inc("join"), task("after"), handler)
    run(engine, model(start(), *parts, "start > f > tell > join", "f > b > join", "join > after"))
    engine.complete("b")
    assert engine.jobs == ["after", "aside"]


def test_an_interrupted_scope_joins_nothing_any_more(engine):
    handler = on(error("A"), "h", task("t"), "h-start > t")
    run(engine, forked(*JOINED, handler), a=True, b=True, c=False)
    engine.complete("a")
    engine.throw("b", "A")
    assert engine.jobs == ["t"]
    assert states(engine, "join") == []


def test_a_gateway_that_joins_and_forks(engine):
    parts = (
        inc("both"),
        task("x"),
        task("y"),
        "a > both",
        "b > both",
        flow("both", "x", "=n > 1"),
        flow("both", "y", "=n > 2"),
    )
    run(engine, forked(*parts), a=True, b=True, c=False, n=3)
    engine.complete("a")
    engine.complete("b")
    assert engine.jobs == ["x", "y"]


def test_a_join_whose_fork_fails_has_consumed_its_tokens(engine):
    parts = (
        inc("both"),
        task("x"),
        task("y"),
        "a > both",
        "b > both",
        flow("both", "x", "=n > 1"),
        flow("both", "y", "=n > 2"),
    )
    key = run(engine, forked(*parts), a=True, b=True, c=False, n=0)
    engine.complete("a")
    engine.complete("b")
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("both", "CONDITION_ERROR")]
    assert engine.element("p").tokens == {"both": 1}
    engine.set(key, n=2)
    engine.resolve()
    assert engine.jobs == ["x"]
