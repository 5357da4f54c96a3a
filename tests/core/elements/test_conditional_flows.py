"""Conditional and default flows out of activities (BPMN 2.0.2 §8.4.13, §13.3.1); whole and in quanta of one item."""

import pytest

from tests.core.engine import Engine, rebuilt
from tests.core.event_models import LIMITS, boundary, call, ended, error, loop, model, run, states
from tests.core.listener_models import listening
from tests.core.models import end, flow, process_element, start, sub, task


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


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
def test_every_true_condition_is_taken(engine, names):
    run(engine, forked())
    engine.complete("t", a="a" in names, b="b" in names)
    assert engine.jobs == sorted(names)


@pytest.mark.parametrize(("a", "jobs"), [(True, ["a"]), (False, ["b"])])
def test_the_default_flow_is_taken_if_no_condition_is_true(engine, a, jobs):
    run(engine, forked(default="t-b"))
    engine.complete("t", a=a)
    assert engine.jobs == jobs


@pytest.mark.parametrize(("a", "jobs"), [(True, ["a", "c"]), (False, ["b", "c"])])
def test_a_flow_without_condition_is_always_taken_and_does_not_count(engine, a, jobs):
    """betsy's `SequenceFlow_ConditionalDefault_Normal`: the unconditional flow and the default flow."""
    run(engine, forked(default="t-b", free="c"))
    engine.complete("t", a=a)
    assert engine.jobs == jobs


def test_a_flow_without_condition_is_enough(engine):
    run(engine, forked(free="c"))
    engine.complete("t", a=False, b=False)
    assert engine.jobs == ["c"]


def test_without_any_flow_to_take_it_is_an_incident(engine):
    key = run(engine, forked())
    engine.complete("t", a=False, b=False)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("t", "CONDITION_ERROR")]
    assert engine.element("t").state == "COMPLETING"
    rebuilt(engine)
    engine.set(key, b=True)
    engine.resolve()
    assert engine.jobs == ["b"]
    assert states(engine, "t") == ["COMPLETED"]


def test_a_single_condition_that_is_false_is_an_incident(engine):
    key = run(engine, model(start(), task("t"), task("a"), "start > t", flow("t", "a", "=a")))
    engine.complete("t", a=False)
    assert [type_ for _, type_, _ in engine.incidents] == ["CONDITION_ERROR"]
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"


@pytest.mark.parametrize("wrong", [None, 7, "text"])
def test_a_condition_that_is_no_boolean_is_an_incident_and_no_flow_is_taken(engine, wrong):
    key = run(engine, forked(free="c"))
    engine.complete("t", a=True, b=wrong)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("t", "EXTRACT_VALUE_ERROR")]
    assert engine.jobs == []
    engine.set(key, b=False)
    engine.resolve()
    assert engine.jobs == ["a", "c"]


def test_the_condition_of_a_default_flow_is_never_evaluated(engine):
    run(engine, forked(default="t-b", conditions=("=a", "=assert(false, false)")))
    engine.complete("t", a=False)
    assert engine.jobs == ["b"]


def test_conditions_see_what_the_output_mappings_let_out(engine):
    """And not what is local to the activity."""
    activity = task("t", inputs=[("=true", "a")], outputs=[("=result > 1", "b")])
    run(engine, forked(activity), a=False)
    engine.complete("t", result=2)
    assert engine.jobs == ["b"]


def test_conditions_see_what_an_end_listener_sets(engine):
    run(engine, listening(forked(), t=["end last"]), a=False, b=False)
    engine.complete("t")
    assert engine.jobs == ["t"], "the listener"
    engine.complete("t", b=True)
    assert engine.jobs == ["b"]


def test_after_an_interrupting_boundary_event_nothing_is_evaluated(engine):
    parts = (boundary("failed", "t", error("A")), task("aside"), "failed > aside")
    run(engine, forked(conditions=("=assert(false, false)",) * 2, parts=parts))
    engine.throw("t", "A")
    assert engine.jobs == ["aside"]
    assert engine.incidents == []


def test_a_boundary_event_still_catches_while_no_flow_can_be_taken(engine):
    """The activity has not completed."""
    inner = sub("t", start("i"), task("x"), "i > x")
    timer = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
    key = run(engine, forked(inner, parts=(boundary("late", "t", timer), task("aside"), "late > aside")))
    engine.complete("x", a=False, b=False)
    engine.fire_at(key, "p/t", "late")
    assert engine.jobs == ["aside"]
    assert engine.incidents == []


@pytest.mark.parametrize(("output", "jobs"), [(5, ["a"]), (0, ["b"])])
def test_a_loop_chooses_once_and_sees_its_results(engine, output, jobs):
    many = loop(task("t"), "=[1, 2]", "item", output="=result", into="results")
    run(engine, forked(many, conditions=("=sum(results) > 5", "=sum(results) <= 5")), results="an earlier variable")
    engine.complete("t", result=output)
    engine.complete("t", result=output)
    assert engine.jobs == jobs


def test_a_call_activity_chooses_with_the_variables_that_it_got(engine):
    called = process_element(start("cs"), task("x"), "cs > x", id="called")
    engine.deploy(model(start("s2"), id="other", beside=(called,)))
    run(engine, forked(call("t", "called")))
    engine.complete("x", a=False, b=True)
    assert engine.jobs == ["b"]


def test_a_join_waits_for_the_flows_that_were_chosen(engine):
    parts = ('<inclusiveGateway id="j"/>', task("after"), end(), "a > j", "b > j", "j > after > end")
    key = run(engine, forked(parts=parts))
    engine.complete("t", a=True, b=False)
    engine.complete("a")
    assert engine.jobs == ["after"]
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"


def test_a_parallel_gateway_ignores_conditions(engine):
    """Other tools write them there. The deployment warns."""
    parts = ('<parallelGateway id="f"/>', task("a"), task("b"), "start > f > a", flow("f", "b", "${juel}"))
    run(engine, model(start(), *parts))
    assert engine.jobs == ["a", "b"]
