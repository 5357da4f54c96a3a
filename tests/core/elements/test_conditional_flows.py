"""Conditional and default flows out of activities (BPMN 2.0.2 §8.4.13, §13.3.1); whole and in quanta of one item."""

import pytest

from tests.core.bench import Bench, rebuilt
from tests.core.event_models import LIMITS, boundary, call, ended, error, loop, model, run, states
from tests.core.listener_models import listening
from tests.core.models import end, flow, process_element, start, sub, task


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def bench(request):
    return Bench(LIMITS[request.param])


def with_default(activity, default):
    """The activity with a default flow."""
    return activity if default is None else activity.replace(' id="', f' default="{default}" id="', 1)


def forked(activity=None, default=None, conditions=("=a", "=b"), free=(), parts=()):
    """The activity `t` leads to the tasks a and b on conditions, and to those of `free` always."""
    flows = [
        flow("t", name, None if f"t-{name}" == default else condition)
        for name, condition in zip("ab", conditions, strict=True)
    ]
    behind = [task(name) for name in ("a", "b", *free)]
    activity = with_default(activity or task("t"), default)
    return model(start(), activity, *behind, "start > t", *flows, *(f"t > {name}" for name in free), *parts)


@pytest.mark.parametrize("names", ["a", "b", "ab"])
def test_every_true_condition_is_taken(bench, names):
    run(bench, forked())
    bench.complete("t", a="a" in names, b="b" in names)
    assert bench.jobs == sorted(names)


@pytest.mark.parametrize(("a", "jobs"), [(True, ["a"]), (False, ["b"])])
def test_the_default_flow_is_taken_if_no_condition_is_true(bench, a, jobs):
    run(bench, forked(default="t-b"))
    bench.complete("t", a=a)
    assert bench.jobs == jobs


@pytest.mark.parametrize(("a", "jobs"), [(True, ["a", "c"]), (False, ["b", "c"])])
def test_a_flow_without_condition_is_always_taken_and_does_not_count(bench, a, jobs):
    """betsy's `SequenceFlow_ConditionalDefault_Normal`: the unconditional flow and the default flow."""
    run(bench, forked(default="t-b", free="c"))
    bench.complete("t", a=a)
    assert bench.jobs == jobs


def test_a_flow_without_condition_is_enough(bench):
    run(bench, forked(free="c"))
    bench.complete("t", a=False, b=False)
    assert bench.jobs == ["c"]


def test_without_any_flow_to_take_it_is_an_incident(bench):
    key = run(bench, forked())
    bench.complete("t", a=False, b=False)
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("t", "CONDITION_ERROR")]
    assert bench.element("t").state == "COMPLETING"
    rebuilt(bench)
    bench.set(key, b=True)
    bench.resolve()
    assert bench.jobs == ["b"]
    assert states(bench, "t") == ["COMPLETED"]


def test_a_single_condition_that_is_false_is_an_incident(bench):
    key = run(bench, model(start(), task("t"), task("a"), "start > t", flow("t", "a", "=a")))
    bench.complete("t", a=False)
    assert [type_ for _, type_, _ in bench.incidents] == ["CONDITION_ERROR"]
    bench.cancel(key)
    assert ended(bench, key) == "TERMINATED"


@pytest.mark.parametrize("wrong", [None, 7, "text"])
def test_a_condition_that_is_no_boolean_is_an_incident_and_no_flow_is_taken(bench, wrong):
    key = run(bench, forked(free="c"))
    bench.complete("t", a=True, b=wrong)
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("t", "EXTRACT_VALUE_ERROR")]
    assert bench.jobs == []
    bench.set(key, b=False)
    bench.resolve()
    assert bench.jobs == ["a", "c"]


def test_the_condition_of_a_default_flow_is_never_evaluated(bench):
    run(bench, forked(default="t-b", conditions=("=a", "=assert(false, false)")))
    bench.complete("t", a=False)
    assert bench.jobs == ["b"]


def test_conditions_see_what_the_output_mappings_let_out(bench):
    """And not what is local to the activity."""
    activity = task("t", inputs=[("=true", "a")], outputs=[("=result > 1", "b")])
    run(bench, forked(activity), a=False)
    bench.complete("t", result=2)
    assert bench.jobs == ["b"]


def test_conditions_see_what_an_end_listener_sets(bench):
    run(bench, listening(forked(), t=["end last"]), a=False, b=False)
    bench.complete("t")
    assert bench.jobs == ["t"], "the listener"
    bench.complete("t", b=True)
    assert bench.jobs == ["b"]


def test_after_an_interrupting_boundary_event_nothing_is_evaluated(bench):
    parts = (boundary("failed", "t", error("A")), task("aside"), "failed > aside")
    run(bench, forked(conditions=("=assert(false, false)",) * 2, parts=parts))
    bench.throw("t", "A")
    assert bench.jobs == ["aside"]
    assert bench.incidents == []


def test_a_boundary_event_still_catches_while_no_flow_can_be_taken(bench):
    """The activity has not completed."""
    inner = sub("t", start("i"), task("x"), "i > x")
    timer = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
    key = run(bench, forked(inner, parts=(boundary("late", "t", timer), task("aside"), "late > aside")))
    bench.complete("x", a=False, b=False)
    bench.fire_at(key, "p/t", "late")
    assert bench.jobs == ["aside"]
    assert bench.incidents == []


@pytest.mark.parametrize(("output", "jobs"), [(5, ["a"]), (0, ["b"])])
def test_a_loop_chooses_once_and_sees_its_results(bench, output, jobs):
    many = loop(task("t"), "=[1, 2]", "item", output="=result", into="results")
    run(bench, forked(many, conditions=("=sum(results) > 5", "=sum(results) <= 5")), results="an earlier variable")
    bench.complete("t", result=output)
    bench.complete("t", result=output)
    assert bench.jobs == jobs


def test_a_call_activity_chooses_with_the_variables_that_it_got(bench):
    called = process_element(start("cs"), task("x"), "cs > x", id="called")
    bench.deploy(model(start("s2"), id="other", beside=(called,)))
    run(bench, forked(call("t", "called")))
    bench.complete("x", a=False, b=True)
    assert bench.jobs == ["b"]


def test_a_join_waits_for_the_flows_that_were_chosen(bench):
    parts = ('<inclusiveGateway id="j"/>', task("after"), end(), "a > j", "b > j", "j > after > end")
    key = run(bench, forked(parts=parts))
    bench.complete("t", a=True, b=False)
    bench.complete("a")
    assert bench.jobs == ["after"]
    bench.complete("after")
    assert ended(bench, key) == "COMPLETED"


def test_a_parallel_gateway_ignores_conditions(bench):
    """Other tools write them there. The deployment warns."""
    parts = ('<parallelGateway id="f"/>', task("a"), task("b"), "start > f > a", flow("f", "b", "${juel}"))
    run(bench, model(start(), *parts))
    assert bench.jobs == ["a", "b"]
