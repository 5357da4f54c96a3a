"""Conditional events: when conditions are evaluated, who sees which variable, and what an event ends."""

from xml.sax.saxutils import escape, quoteattr

import pytest

from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import LIMITS, boundary, call, catch, loop, model, on, script
from tests.core.listener_models import listening
from tests.core.models import end, par, process_element, start, sub, task
from vivero.core.execution.step import StepLimits
from vivero.core.records.conditionals import EvaluateConditionals
from vivero.core.records.instances import EventTriggered
from vivero.core.state.undo import undo


def when(condition, **filters):
    """The event definition. `filters`: of `zeebe:conditionalFilter`."""
    given = "".join(f" {name}={quoteattr(text)}" for name, text in filters.items())
    extension = f"<extensionElements><zeebe:conditionalFilter{given}/></extensionElements>" if filters else ""
    return (
        f"<conditionalEventDefinition>{extension}<condition>{escape(condition)}</condition>"
        "</conditionalEventDefinition>"
    )


def happened(engine, target):
    """The number of times that the event at `target` has happened."""
    events = (event for logged in engine.memory.log for handled in logged.handled for event in handled.events)
    return sum(isinstance(event, EventTriggered) and event.target == target for event in events)


def guarded(condition="=x > 10", *, interrupting=True, **filters):
    """A task with a conditional boundary event; behind that, the task `after`."""
    event = boundary("b", "work", when(condition, **filters), interrupting)
    return model(start(), task("work"), event, task("after"), end(), "start > work > end", "b > after")


@pytest.fixture(params=LIMITS)
def cut(request):
    """An engine, with whole commands and with commands cut into quanta."""
    return Engine(LIMITS[request.param])


# When conditions are evaluated ----------------------------------------------------------------------------------------


def test_a_catch_event_goes_on_when_its_condition_becomes_true(cut):
    cut.deploy(model(start(), catch("wait", when("=x > 10")), end(), "start > wait > end"))
    key = cut.start(x=1)
    assert cut.elements == ["p", "wait"]
    cut.set(key, x=10)
    assert cut.elements == ["p", "wait"]
    cut.set(key, x=11)
    assert cut.state_of(key) == "COMPLETED"


def test_a_condition_that_is_true_at_first_happens_at_once(cut):
    cut.deploy(guarded())
    cut.start(x=11)
    assert cut.jobs == ["after"]
    assert happened(cut, "b") == 1


def test_it_happens_before_the_scope_at_whose_boundary_it_is_has_begun(cut):
    event = boundary("b", "s", when("=x > 10"))
    inside = sub("s", start("i"), script("set", "=1", "never"), end("j"), "i > set > j")
    cut.deploy(model(start(), inside, event, task("after"), end(), "start > s > end", "b > after"))
    key = cut.start(x=11)
    assert cut.jobs == ["after"]
    assert cut.variables_of(key) == {"x": 11}


def test_an_interrupting_boundary_event_ends_its_host(cut):
    cut.deploy(guarded())
    key = cut.start()
    cut.set(key, x=11)
    assert cut.jobs == ["after"]


def test_a_boundary_event_beside_happens_each_time_that_its_condition_is_found_true(cut):
    """Not only when it becomes true: Camunda evaluates levels, not edges."""
    cut.deploy(guarded(interrupting=False))
    key = cut.start()
    for x in (11, 12, 3, 13):
        cut.set(key, x=x)
    assert cut.jobs == ["after"] * 3 + ["work"]


def test_a_variable_that_the_condition_does_not_read_changes_nothing(engine):
    engine.deploy(guarded(interrupting=False))
    key = engine.start(x=11)
    engine.set(key, y=1)
    assert happened(engine, "b") == 1


def test_one_command_that_changes_several_variables_triggers_once(cut):
    cut.deploy(guarded("=x > 10 or y > 5", interrupting=False))
    key = cut.start()
    cut.set(key, x=11, y=6)
    assert happened(cut, "b") == 1


def test_a_job_in_parallel_brings_what_is_waited_for(cut):
    fork = [par("fork"), task("other"), catch("wait", when("=x > 10")), task("after"), end(), end("end2")]
    cut.deploy(model(start(), *fork, "start > fork > other > end", "fork > wait > after > end2"))
    cut.start()
    cut.complete("other", x=11)
    assert cut.jobs == ["after"]


def test_a_script_in_parallel_brings_it(cut):
    fork = [par("fork"), task("t"), script("s", "=11", "x"), catch("wait", when("=x > 10")), task("after")]
    cut.deploy(model(start(), *fork, end(), "start > fork > t > s > end", "fork > wait > after"))
    cut.start()
    cut.complete("t")
    assert cut.jobs == ["after"]


def test_output_mappings_in_parallel_bring_it(cut):
    other = task("other", outputs=[("=y", "x")])
    fork = [par("fork"), other, catch("wait", when("=x > 10")), task("after"), end()]
    cut.deploy(model(start(), *fork, "start > fork > other > end", "fork > wait > after"))
    cut.start()
    cut.complete("other", y=11)
    assert cut.jobs == ["after"]


def test_what_the_host_maps_in_is_seen_once(cut):
    """The condition is evaluated when the host begins to wait, and not once more for the mapping."""
    host = task("work", inputs=[("=11", "x")])
    event = boundary("b", "work", when("=x > 10"), interrupting=False)
    cut.deploy(model(start(), host, event, task("after"), end(), "start > work > end", "b > after"))
    cut.start()
    assert happened(cut, "b") == 1


@pytest.mark.parametrize("outputs", [(), [("=y", "x")]])
def test_what_the_host_brings_when_it_completes_comes_too_late_for_its_boundary(cut, outputs):
    event = boundary("b", "work", when("=x > 10"))
    parts = [start(), task("work", outputs=outputs), event, task("after"), task("next"), end()]
    cut.deploy(model(*parts, "start > work > next > end", "b > after"))
    cut.start()
    cut.complete("work", **({"y": 11} if outputs else {"x": 11}))
    assert cut.jobs == ["next"]
    assert happened(cut, "b") == 0


def test_what_an_end_listener_waits_behind_comes_too_late_as_well(cut):
    """The activity completes, and rests at its listener."""
    host = task("work", outputs=[("=y", "x")])
    parts = [start(), host, boundary("b", "work", when("=x > 10")), task("after"), task("next"), end()]
    cut.deploy(listening(model(*parts, "start > work > next > end", "b > after"), work=["end listener"]))
    key = cut.start()
    cut.complete("work", y=11)
    cut.set(key, x=12)
    assert happened(cut, "b") == 0
    cut.complete("work")
    assert cut.jobs == ["next"]


@pytest.mark.parametrize(("changes", "count"), [("create", 1), ("update", 1), ("create, update", 2), ("", 2)])
def test_the_filter_says_which_changes_count(engine, changes, count):
    engine.deploy(guarded("=x > 10", interrupting=False, variableEvents=changes))
    key = engine.start()
    engine.set(key, x=11)
    engine.set(key, x=12)
    assert happened(engine, "b") == count


def test_the_filter_does_not_keep_the_condition_from_being_evaluated_at_first(engine):
    engine.deploy(guarded("=x > 10", variableEvents="update"))
    engine.start(x=11)
    assert engine.jobs == ["after"]


def test_the_filter_may_name_fewer_variables_than_the_condition_reads(engine):
    engine.deploy(guarded("=x > y", interrupting=False, variableNames="x"))
    key = engine.start(x=1, y=2)
    engine.set(key, y=0)
    assert happened(engine, "b") == 0
    engine.set(key, x=1)
    assert happened(engine, "b") == 1


@pytest.mark.parametrize("condition", ["=x > 10", '=assert(x, false) = "x"', "=x.y > 1", "=x", "=if x then 1 else 2"])
def test_a_condition_that_is_no_boolean_or_cannot_be_evaluated_is_not_true(engine, condition):
    engine.deploy(guarded(condition))
    key = engine.start(x="text")
    engine.set(key, x=None)
    assert (engine.jobs, engine.incidents, happened(engine, "b")) == (["work"], [], 0)


def test_a_condition_that_takes_too_long_is_not_true_and_is_charged():
    engine = Engine(StepLimits(stage_steps=500))
    engine.deploy(guarded("=count(for a in 1..x return a) > 10"))
    key = engine.start(x=1)
    engine.set(key, x=100_000)
    assert (engine.jobs, engine.incidents) == (["work"], [])
    assert engine.memory.processor.view.budget.steps >= 500


# The variables that each sees -----------------------------------------------------------------------------------------


def test_a_local_variable_of_another_branch_is_not_seen(engine):
    fork = [par("fork"), task("a"), task("b"), boundary("on-a", "a", when("=x > 10")), task("after"), end()]
    engine.deploy(model(start(), *fork, "start > fork > a > end", "fork > b > end", "on-a > after"))
    engine.start()
    engine.set(engine.element("b").key, local=True, x=11)
    assert engine.jobs == ["a", "b"]
    engine.set(engine.element("a").key, local=True, x=11)
    assert engine.jobs == ["after", "b"]


def test_a_variable_that_a_local_one_hides_concerns_nobody_behind_it(engine):
    host = task("work", inputs=[("=20", "x")])
    event = boundary("b", "work", when("=x > 10"), interrupting=False)
    engine.deploy(model(start(), host, event, task("after"), end(), "start > work > end", "b > after"))
    key = engine.start(x=1)
    assert happened(engine, "b") == 1
    engine.set(key, x=30)
    assert happened(engine, "b") == 1, "it sees the local x, which has not changed"


def test_the_outermost_scope_comes_first_and_what_it_interrupts_no_more(cut):
    inner = sub("s", start("i"), task("work"), boundary("in", "work", when("=x > 10")), end("j"), "i > work > j")
    outer = boundary("out", "s", when("=x > 10"))
    cut.deploy(model(start(), inner, outer, task("after"), end(), "start > s > end", "out > after"))
    key = cut.start()
    cut.set(key, x=11)
    assert cut.jobs == ["after"]
    assert (happened(cut, "in"), happened(cut, "out")) == (0, 1)


def test_a_condition_below_a_scope_that_is_to_end_is_not_evaluated(cut):
    """The sub-process is told to end first, and what is in it one after the other."""
    inner = [start("i"), task("work"), boundary("in", "work", when("=x > 10"), interrupting=False), end("j")]
    deep = sub("s", start("k"), sub("m", *inner, "i > work > j"), end("l"), "k > m > l")
    outer = boundary("out", "s", when("=x > 10"))
    cut.deploy(model(start(), deep, outer, task("after"), end(), "start > s > end", "out > after"))
    key = cut.start()
    cut.set(key, x=11)
    assert (cut.jobs, happened(cut, "in")) == (["after"], 0)


def test_beside_the_outer_one_the_inner_one_happens_too(cut):
    inner = sub("s", start("i"), task("work"), boundary("in", "work", when("=x > 10")), end("j"), "i > work > j")
    outer = boundary("out", "s", when("=x > 10"), interrupting=False)
    cut.deploy(model(start(), inner, outer, task("after"), end(), "start > s > end", "out > after"))
    key = cut.start()
    cut.set(key, x=11)
    assert cut.jobs == ["after"]
    assert (happened(cut, "in"), happened(cut, "out")) == (1, 1)


def test_a_called_process_sees_its_own_variables_alone(engine):
    parts = [start("i"), catch("wait", when("=x > 10")), end("j"), "i > wait > j"]
    child = process_element(*parts, id="child")
    caller = [start(), call("c", "child", propagateAllParentVariables="false"), end(), "start > c > end"]
    engine.deploy(model(*caller, beside=(child,)))
    key = engine.start()
    engine.set(key, x=11)
    assert engine.elements == ["c", "child", "p", "wait"]
    engine.set(engine.element("child").key, x=11)
    assert engine.state_of(key) == "COMPLETED"


def test_in_a_loop_each_inner_instance_has_its_own(cut):
    inner = sub("s", start("i"), catch("wait", when("=x > 10")), end("j"), "i > wait > j")
    cut.deploy(model(start(), loop(inner, "=[1, 2, 3]"), end(), "start > s > end"))
    key = cut.start()
    one = next(e for e in cut.state.elements.values() if e.element == "s" and e.index == 1)
    cut.set(one.key, local=True, x=11)
    assert cut.elements.count("wait") == 2
    cut.set(key, x=11)
    assert cut.state_of(key) == "COMPLETED"


def test_at_the_body_of_a_loop_what_one_instance_brings_may_end_all(cut):
    event = boundary("b", "work", when("=x > 10"))
    host = loop(task("work"), "=[1, 2]")
    cut.deploy(model(start(), host, event, task("after"), end(), "start > work > end", "b > after"))
    cut.start()
    cut.complete("work", x=11)
    assert cut.jobs == ["after"]


# Event sub-processes and gateways -------------------------------------------------------------------------------------


def test_an_event_sub_process_that_interrupts_takes_over(cut):
    handler = on(when("=x > 10"), "e", task("handle"), end("f"), "e-start > handle > f")
    cut.deploy(model(start(), task("work"), handler, end(), "start > work > end"))
    key = cut.start()
    cut.set(key, x=11)
    assert cut.jobs == ["handle"]
    cut.set(key, x=12)
    cut.complete("handle")
    assert cut.state_of(key) == "COMPLETED"


def test_an_event_sub_process_beside_starts_each_time(cut):
    handler = on(when("=x > 10"), "e", task("handle"), end("f"), "e-start > handle > f", interrupting=False)
    cut.deploy(model(start(), task("work"), handler, end(), "start > work > end"))
    key = cut.start(x=11)
    cut.set(key, x=12)
    assert cut.jobs == ["handle", "handle", "work"]


def test_behind_a_gateway_the_first_condition_that_is_true_wins(cut):
    gateway = '<eventBasedGateway id="g"/>'
    waits = [catch("one", when("=x > 10")), catch("two", when("=x > 10")), task("a"), task("b"), end()]
    cut.deploy(model(start(), gateway, *waits, "start > g > one > a > end", "g > two > b > end"))
    key = cut.start()
    cut.set(key, x=11)
    assert cut.jobs == ["a"]
    assert (happened(cut, "one"), happened(cut, "two")) == (1, 0)
    ends = [row["state"] for (table, _), row in cut.rows.items() if table == "Subscription"]
    assert ends == ["CORRELATED", "DELETED"], "the other one has not happened"


def test_a_gateway_whose_condition_is_true_already_goes_on_there(cut):
    gateway = '<eventBasedGateway id="g"/>'
    waits = [catch("one", when("=x > 10")), catch("two", when("=x > 0")), task("a"), task("b"), end()]
    cut.deploy(model(start(), gateway, *waits, "start > g > one > a > end", "g > two > b > end"))
    cut.start(x=1)
    assert cut.jobs == ["b"]


# Ends, many, and again ------------------------------------------------------------------------------------------------


def test_what_has_ended_waits_no_more(engine):
    engine.deploy(guarded())
    key = engine.start()
    engine.cancel(key)
    assert engine.state_of(key) == "TERMINATED"
    assert not engine.state.subscriptions
    assert not engine.state.watching, "nothing is left in the index of an instance that has ended"
    assert engine.set(key, x=11).rejection is not None


def test_a_condition_in_a_scope_that_is_cancelled_starts_nothing():
    """Cut into quanta of one item: children are told after the parent, and nothing begins in between."""
    engine = Engine(LIMITS["quanta"])
    inner = sub("s", start("i"), task("work"), boundary("in", "work", when("=x > 10")), end("j"), "i > work > j")
    engine.deploy(model(start(), inner, end(), "start > s > end"))
    key = engine.start()
    engine.cancel(key)
    assert engine.state_of(key) == "TERMINATED"
    assert happened(engine, "in") == 0


def test_many_subscriptions_of_one_variable_take_several_quanta():
    engine = Engine(StepLimits(quantum_items=20))
    inner = sub("s", start("i"), catch("wait", when("=x > 10")), end("j"), "i > wait > j")
    engine.deploy(model(start(), loop(inner, "=for i in 1..100 return i"), end(), "start > s > end"))
    key = engine.start()
    commands = len(engine.memory.log)
    engine.set(key, x=11)
    assert engine.state_of(key) == "COMPLETED"
    assert len(engine.memory.log) - commands > 5
    assert happened(engine, "wait") == 100


def test_an_event_that_makes_its_own_condition_true_again_goes_on_in_later_quanta():
    engine = Engine(StepLimits(quantum_items=20))
    again = [boundary("b", "work", when("=x < 100"), interrupting=False), script("more", "=x + 1", "x")]
    engine.deploy(model(start(), task("work"), *again, end(), "start > work > end", "b > more"))
    key = engine.start(x=0)
    assert (engine.variables_of(key), happened(engine, "b")) == ({"x": 100}, 100)
    assert len(engine.memory.log) > 5


def test_a_loop_with_a_condition_inside_has_no_pages():
    """A change of a variable around it must find all subscriptions in memory."""
    engine = Engine(StepLimits(paged_from=5))
    inner = sub("s", start("i"), catch("wait", when("=x > 10")), end("j"), "i > wait > j")
    engine.deploy(model(start(), loop(inner, "=for i in 1..20 return i"), end(), "start > s > end"))
    key = engine.start()
    assert not engine.state.paged
    engine.set(key, x=11)
    assert engine.state_of(key) == "COMPLETED"


def test_a_loop_with_a_condition_inside_that_is_too_long_is_an_incident():
    engine = Engine(StepLimits(paged_from=5, max_part_rows=10))
    inner = sub("s", start("i"), catch("wait", when("=x > 10")), end("j"), "i > wait > j")
    engine.deploy(model(start(), loop(inner, "=for i in 1..20 return i"), end(), "start > s > end"))
    engine.start()
    [(element, type_, message)] = engine.incidents
    assert (element, type_) == ("s", "EXTRACT_VALUE_ERROR")
    assert "consumer.max_part_rows" in message


def test_after_a_replay_conditions_are_watched_again(engine):
    engine.deploy(guarded())
    key = engine.start(x=1)
    rebuilt(engine)
    assert not engine.state.variable_changes
    engine.set(key, x=11)
    assert engine.jobs == ["after"]


def test_a_command_that_is_undone_leaves_no_changes_behind(engine):
    engine.deploy(guarded())
    key = engine.start(x=1)
    state = engine.state
    state.variable_changes.append((state.elements[key], "x", False))
    undo(state)
    assert state.variable_changes == []


def test_what_is_true_at_a_job_that_fails_is_seen_in_its_scope(engine):
    """Variables of a failure are local to the element; its boundary sees them."""
    engine.deploy(guarded())
    engine.start()
    engine.fail("work", retries=1, x=11)
    assert engine.jobs == ["after"]


# Processes that start by a condition ----------------------------------------------------------------------------------


def starting(condition="=x > 10", id="p", prefix=""):
    begin = f'<startEvent id="{prefix}begin">{when(condition)}</startEvent>'
    return model(
        begin, task(f"{prefix}work"), end(f"{prefix}end"), f"{prefix}begin > {prefix}work > {prefix}end", id=id
    )


def evaluate(engine, definition=None, **variables):
    """The process instances that start, by the key of their definition."""
    reply = engine.accepted(EvaluateConditionals(raw(variables), definition)).response
    return {one.process_definition_key: one.process_instance_key for one in reply.process_instances}


def test_a_process_starts_when_its_condition_is_true_with_the_variables_that_come(cut):
    [definition] = cut.deploy(starting())
    assert evaluate(cut, x=10) == {}
    started = evaluate(cut, x=11, y=[1])
    assert list(started) == [definition]
    assert cut.variables_of(started[definition]) == {"x": 11, "y": [1]}
    assert cut.jobs == ["work"]


def test_all_processes_of_the_tenant_start_or_those_of_one_definition(engine):
    [one] = engine.deploy(starting(id="one", prefix="a"), name="one.bpmn")
    [two] = engine.deploy(starting("=x > 0", id="two", prefix="b"), name="two.bpmn")
    assert set(evaluate(engine, x=11)) == {one, two}
    assert set(evaluate(engine, x=1)) == {two}
    assert set(evaluate(engine, definition=one, x=11)) == {one}
    assert engine.run(EvaluateConditionals(raw({"x": 11})), tenant="other").response.process_instances == ()


def test_the_latest_version_starts(engine):
    [first] = engine.deploy(starting())
    [second] = engine.deploy(starting("=x > 20"))
    assert evaluate(engine, x=11) == {}
    assert evaluate(engine, definition=first, x=21) == {}
    assert set(evaluate(engine, x=21)) == {second}


def test_a_definition_that_is_not_there_is_not_found(engine):
    rejection = engine.run(EvaluateConditionals(raw({}), 4711)).rejection
    assert (rejection.code, "4711" in rejection.reason) == ("NOT_FOUND", True)


def test_a_condition_that_cannot_be_evaluated_starts_nothing(engine):
    engine.deploy(starting('=assert(x, false) = "x"'))
    assert evaluate(engine, x=1) == {}


def test_conditions_that_take_too_long_together_are_rejected():
    engine = Engine(StepLimits(stage_steps=500))
    engine.deploy(starting("=count(for a in 1..x return a) > 10"))
    rejection = engine.run(EvaluateConditionals(raw({"x": 100_000}))).rejection
    assert (rejection.code, "more than 500 steps" in rejection.reason) == ("INVALID_ARGUMENT", True)
    assert len(evaluate(engine, x=11)) == 1
