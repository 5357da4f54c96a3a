"""Inclusive gateways: which flows fork, and when a join goes on (BPMN 2.0.2 §13.4.3); whole and in quanta of one item.

Others test a join only when a token arrives, and stick when what they wait for ends elsewhere.
"""

import pytest

from tests.core.bench import Bench
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
def bench(request):
    return Bench(LIMITS[request.param])


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
def test_every_true_condition_is_taken(bench, names):
    run(bench, forked(), **{name: name in names for name in "abc"})
    assert bench.jobs == sorted(names)


def test_the_default_flow_is_taken_only_when_no_other_is(bench):
    bench.deploy(forked(default="fork-c"))
    bench.start(a=False, b=True)
    assert bench.jobs == ["b"]
    bench.start(a=False, b=False)
    assert bench.jobs == ["b", "c"]


def test_without_any_flow_to_take_it_is_an_incident(bench):
    key = run(bench, forked(), a=False, b=False, c=False)
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("fork", "CONDITION_ERROR")]
    bench.set(key, b=True)
    bench.resolve()
    assert bench.jobs == ["b"]


@pytest.mark.parametrize("wrong", [None, 7, "text"])
def test_a_condition_that_is_no_boolean_is_an_incident_and_no_branch_is_taken(bench, wrong):
    key = run(bench, forked(), a=True, b=wrong, c=True)
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("fork", "EXTRACT_VALUE_ERROR")]
    assert bench.jobs == []
    bench.set(key, b=False)
    bench.resolve()
    assert bench.jobs == ["a", "c"]


def test_one_flow_without_a_condition_is_simply_taken(bench):
    run(bench, model(start(), inc("fork"), task("a"), "start > fork > a"))
    assert bench.jobs == ["a"]


# ---- join


@pytest.mark.parametrize("names", ["a", "ab", "cb", "abc"])
def test_a_join_waits_for_the_branches_that_were_taken_and_no_others(bench, names):
    key = run(bench, forked(*JOINED), **{name: name in names for name in "abc"})
    for name in names:
        assert "after" not in bench.jobs
        bench.complete(name)
    assert bench.jobs == ["after"]
    assert states(bench, "join") == ["COMPLETED"]
    bench.complete("after")
    assert ended(bench, key) == "COMPLETED"


def test_a_join_goes_on_when_what_it_waits_for_leaves_by_another_way(bench):
    """camunda/camunda#19460."""
    parts = (
        *JOINED[:3],
        xor("which", default="which-join"),
        end("away"),
        "a > join",
        "b > which > join",
        flow("which", "away", "=gone"),
    )
    key = run(bench, forked(*parts, "join > after"), a=True, b=True, c=False)
    bench.complete("a")
    assert bench.jobs == ["b"]
    bench.complete("b", gone=True)
    assert bench.jobs == ["after"]
    bench.complete("after")
    assert ended(bench, key) == "COMPLETED"


def test_a_join_goes_on_when_what_it_waits_for_leaves_by_a_boundary_event(bench):
    parts = (*JOINED, boundary("b-failed", "b", error("A")), task("aside"), "b-failed > aside")
    run(bench, forked(*parts), a=True, b=True, c=False)
    bench.complete("a")
    bench.throw("b", "A")
    assert bench.jobs == ["after", "aside"]


def test_a_join_waits_for_a_boundary_event_that_leads_to_it(bench):
    parts = (*JOINED, boundary("b-failed", "b", error("A")), task("aside"), "b-failed > aside > join")
    run(bench, forked(*parts), a=True, b=True, c=False)
    bench.complete("a")
    bench.throw("b", "A")
    assert bench.jobs == ["aside"]
    bench.complete("aside")
    assert bench.jobs == ["after"]


def test_a_join_waits_for_what_may_come_by_a_link(bench):
    parts = (*JOINED[:3], throw("t", link("L")), catch("k", link("L")), "a > join", "b > t", "k > join", "join > after")
    run(bench, forked(*parts), a=True, b=True, c=False)
    bench.complete("a")
    assert bench.jobs == ["b"]
    bench.complete("b")
    assert bench.jobs == ["after"]


def test_a_flow_that_is_taken_twice_joins_twice(bench):
    """camunda/camunda#19464: the second token of one flow is not the one that is missing."""
    merge = (xor("m"), task("x"), "a > m", "b > m", "m > x > join")
    key = run(bench, forked(inc("join"), task("after"), *merge, "c > join", "join > after"), a=True, b=True, c=True)
    bench.complete("a")
    bench.complete("b")
    bench.complete("x")
    bench.complete("x")
    assert bench.element("p").tokens == {"x-join": 2, "c": 1}
    assert bench.jobs == ["c"], "c can still come, to a flow that is empty"
    bench.complete("c")
    assert bench.jobs == ["after", "after"], "one from each flow, and then the one that is left"
    bench.complete("after")
    bench.complete("after")
    assert ended(bench, key) == "COMPLETED"


def test_a_token_that_can_come_to_a_filled_flow_as_well_is_not_waited_for(bench):
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
    run(bench, forked(*parts), a=True, b=True, c=False)
    bench.complete("a")
    assert bench.jobs == ["b", "late"]
    bench.complete("b", other=False)
    assert bench.jobs == ["late", "late"]


def test_a_join_waits_while_an_incident_upstream_is_open(bench):
    key = run(bench, forked(*JOINED), a=True, b=True, c=False)
    bench.fail("b")
    bench.complete("a")
    assert bench.jobs == ["b"]
    bench.update("b", retries=1)
    bench.resolve()
    bench.complete("b")
    assert bench.jobs == ["after"]
    bench.complete("after")
    assert ended(bench, key) == "COMPLETED"


def test_a_join_behind_parallel_and_exclusive_gateways(bench):
    parts = (par("f"), inc("join"), xor("x", default="x-a"), task("a"), task("b"), task("after"))
    flows = ("start > f > x", "f > b > join", "a > join", flow("x", "a"), flow("x", "away", "=away"), "join > after")
    model_ = model(start(), end("away"), *parts, *flows)
    bench.deploy(model_)
    bench.start(away=False)
    bench.complete("b")
    assert bench.jobs == ["a"]
    bench.complete("a")
    assert bench.jobs == ["after"]
    bench.complete("after")
    bench.start(away=True)
    assert bench.jobs == ["b"]
    bench.complete("b")
    assert bench.jobs == ["after"]


def test_a_join_in_a_loop_does_not_wait_for_itself(bench):
    """What leaves the join could come back to it, but only through it."""
    key = run(
        bench,
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
        assert bench.jobs == ["work"]
        bench.complete("work", more=more)
    assert ended(bench, key) == "COMPLETED"
    assert states(bench, "join") == ["COMPLETED"] * 3


def test_two_joins_one_behind_the_other(bench):
    parts = (inc("j1"), inc("j2"), task("after"), "a > j1", "b > j1", "j1 > j2", "c > j2", "j2 > after")
    run(bench, forked(*parts), a=True, b=True, c=True)
    for name in "acb":
        assert "after" not in bench.jobs
        bench.complete(name)
    assert bench.jobs == ["after"]


def test_two_joins_that_wait_for_each_other_are_not_waited_for_for_ever(bench):
    """Each can reach the other: by the letter of the specification both wait. Nothing moves, and nothing breaks."""
    parts = (inc("j1"), inc("j2"), task("x"), task("y"), par("f1"), par("f2"))
    flows = ("a > j1", "b > j2", "j1 > f1 > x", "f1 > j2", "j2 > f2 > y", "f2 > j1")
    key = run(bench, forked(*parts, *flows), a=True, b=True, c=False)
    bench.complete("a")
    bench.complete("b")
    assert bench.jobs == []
    assert bench.element("p").tokens == {"a-j1": 1, "b-j2": 1}
    bench.cancel(key)
    assert ended(bench, key) == "TERMINATED"


def test_joins_of_different_scopes_do_not_see_each_other(bench):
    inner = sub(
        "s", start("i"), par("f"), task("x"), task("y"), inc("j"), task("in"), "i > f > x > j", "f > y > j", "j > in"
    )
    run(
        bench,
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
    bench.complete("b")
    bench.complete("x")
    assert bench.jobs == ["y"]
    bench.complete("y")
    assert bench.jobs == ["in"]
    bench.complete("in")
    assert bench.jobs == ["after"]


def test_a_join_in_each_inner_instance_of_a_loop(bench):
    inner = sub(
        "s", start("i"), par("f"), task("x"), task("y"), inc("j"), task("in"), "i > f > x > j", "f > y > j", "j > in"
    )
    run(bench, model(start(), loop(inner), task("after"), "start > s > after"), items=[1, 2])
    bench.complete("x")
    bench.complete("y")
    assert bench.jobs == ["in", "x", "y"]
    bench.complete("x")
    bench.complete("y")
    bench.complete("in")
    bench.complete("in")
    assert bench.jobs == ["after"]


def test_a_join_waits_for_a_loop(bench):
    parts = (par("f"), loop(task("each")), task("b"), inc("join"), task("after"))
    run(bench, model(start(), *parts, "start > f > each > join", "f > b > join", "join > after"), items=[1, 2])
    bench.complete("b")
    bench.complete("each")
    assert bench.jobs == ["each"]
    bench.complete("each")
    assert bench.jobs == ["after"]


def test_a_join_does_not_wait_for_an_event_sub_process(bench):
    handler = on(escalation("A"), "h", task("aside"), "h-start > aside", interrupting=False)
    parts = (par("f"), throw("tell", escalation("A")), task("b"), inc("join"), task("after"), handler)
    run(bench, model(start(), *parts, "start > f > tell > join", "f > b > join", "join > after"))
    bench.complete("b")
    assert bench.jobs == ["after", "aside"]


def test_an_interrupted_scope_joins_nothing_any_more(bench):
    handler = on(error("A"), "h", task("t"), "h-start > t")
    run(bench, forked(*JOINED, handler), a=True, b=True, c=False)
    bench.complete("a")
    bench.throw("b", "A")
    assert bench.jobs == ["t"]
    assert states(bench, "join") == []


def test_a_gateway_that_joins_and_forks(bench):
    parts = (
        inc("both"),
        task("x"),
        task("y"),
        "a > both",
        "b > both",
        flow("both", "x", "=n > 1"),
        flow("both", "y", "=n > 2"),
    )
    run(bench, forked(*parts), a=True, b=True, c=False, n=3)
    bench.complete("a")
    bench.complete("b")
    assert bench.jobs == ["x", "y"]


def test_a_join_whose_fork_fails_has_consumed_its_tokens(bench):
    parts = (
        inc("both"),
        task("x"),
        task("y"),
        "a > both",
        "b > both",
        flow("both", "x", "=n > 1"),
        flow("both", "y", "=n > 2"),
    )
    key = run(bench, forked(*parts), a=True, b=True, c=False, n=0)
    bench.complete("a")
    bench.complete("b")
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("both", "CONDITION_ERROR")]
    assert bench.element("p").tokens == {"both": 1}
    bench.set(key, n=2)
    bench.resolve()
    assert bench.jobs == ["x"]
