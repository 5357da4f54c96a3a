"""Instances that are terminated when an element has ended; whole and in quanta of one item."""

import pytest

from tests.core.engine import Engine, raw
from tests.core.event_models import LIMITS, boundary, call, error, loop, model, on, script, states
from tests.core.models import end, par, process, start, sub, task
from vivero.core.records.codec import decode_command, encode_command
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CreateInstance


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def begin(engine, *after, **variables):
    return engine.run(CreateInstance("p", variables=raw(variables), terminate_after=after))


def made(engine, *after, **variables):
    handled = begin(engine, *after, **variables)
    assert handled.rejection is None, handled.rejection
    return handled.response.process_instance_key


def gone(engine, key):
    return engine.state_of(key) == "TERMINATED" and not engine.state.elements


def test_nothing_follows_the_element(engine):
    engine.deploy(process(start(), task("a"), task("b"), end(), "start > a > b > end"))
    key = made(engine, "a")
    assert engine.jobs == ["a"]
    engine.complete("a", x=1)
    assert gone(engine, key)
    assert (states(engine, "a"), states(engine, "b")) == (["COMPLETED"], [])
    assert engine.variables_of(key) == {"x": 1}


def test_without_the_instruction_the_same_process_goes_on(engine):
    engine.deploy(process(start(), task("a"), task("b"), end(), "start > a > b > end"))
    made(engine)
    engine.complete("a")
    assert engine.jobs == ["b"]


def test_the_last_element_too_terminates_and_does_not_complete(engine):
    engine.deploy(process(start(), task("a"), end(), "start > a > end"))
    key = made(engine, "end")
    engine.complete("a")
    assert gone(engine, key)


def test_any_of_several_is_enough_and_what_runs_beside_ends(engine):
    engine.deploy(process(start(), task("a"), task("b"), task("c"), "start > a", "start > b", "start > c"))
    key = made(engine, "a", "b")
    engine.complete("c")
    engine.fail("a")
    engine.complete("b")
    assert gone(engine, key)
    assert (states(engine, "a"), engine.incidents) == (["TERMINATED"], [])


def test_deep_in_scopes_nothing_follows_in_any_of_them(engine):
    """Elements that would run without a wait in an outer scope do not run, even if the scope is empty."""
    inner = sub("inner", start("i2"), task("a"), "i2 > a")
    outer = sub("outer", start("i1"), inner, script("s1", "=1", "r1"), "i1 > inner > s1")
    engine.deploy(process(start(), outer, script("s2", "=1", "r2"), end(), "start > outer > s2 > end"))
    key = made(engine, "a")
    engine.complete("a")
    assert gone(engine, key)
    assert (states(engine, "s1"), states(engine, "s2")) == ([], [])
    assert (states(engine, "inner"), states(engine, "outer")) == (["TERMINATED"], ["TERMINATED"])
    assert engine.variables_of(key) == {}


def test_deep_in_scopes_its_own_flow_is_not_followed(engine):
    inner = sub("s", start("i"), task("a"), script("x", "=1", "r"), "i > a > x")
    engine.deploy(process(start(), inner, end(), "start > s > end"))
    key = made(engine, "a")
    engine.complete("a")
    assert gone(engine, key)
    assert states(engine, "x") == []


def test_a_scope_itself(engine):
    engine.deploy(process(start(), sub("s", start("i"), task("a"), "i > a"), task("b"), "start > s > b"))
    key = made(engine, "s")
    engine.complete("a")
    assert gone(engine, key)
    assert (states(engine, "s"), states(engine, "b")) == (["COMPLETED"], [])


def test_an_element_that_is_interrupted_has_ended(engine):
    parts = (start(), task("a"), boundary("b", "a", error("A")), task("after"), end(), "start > a > end", "b > after")
    engine.deploy(model(*parts))
    key = made(engine, "a")
    engine.throw("a", "A")
    assert gone(engine, key)
    assert (states(engine, "b"), states(engine, "after")) == ([], [])


def test_an_element_in_a_scope_that_is_interrupted_from_within(engine):
    handler = on(error("A"), "h", task("late"), "h-start > late")
    engine.deploy(model(start(), task("a"), task("b"), "start > a", "start > b", handler))
    key = made(engine, "b")
    engine.throw("a", "A")
    assert gone(engine, key)
    assert states(engine, "late") == []


def test_a_gateway_and_a_join(engine):
    engine.deploy(process(start(), task("a"), task("b"), par("j"), task("c"), "start > a > j > c", "start > b > j"))
    key = made(engine, "j")
    engine.complete("a")
    engine.complete("b")
    assert gone(engine, key)
    assert (states(engine, "j"), states(engine, "c")) == (["COMPLETED"], [])


@pytest.mark.parametrize("sequential", [True, False])
def test_of_a_loop_the_whole_and_not_an_instance(engine, sequential):
    engine.deploy(model(start(), loop(task("a"), "=[1, 2]", sequential=sequential), task("b"), "start > a > b"))
    key = made(engine, "a")
    engine.complete("a")
    assert engine.jobs == ["a"]
    engine.complete("a")
    assert gone(engine, key)
    assert states(engine, "b") == []


def test_within_an_instance_of_a_loop(engine):
    activity = loop(sub("s", start("i"), task("a"), "i > a"), "=[1, 2, 3]")
    engine.deploy(model(start(), activity, task("b"), "start > s > b"))
    key = made(engine, "a")
    engine.complete("a")
    assert gone(engine, key)
    assert sorted(states(engine, "a")) == ["COMPLETED", "TERMINATED", "TERMINATED"]


def test_called_processes_end_with_it_and_have_elements_of_their_own(engine):
    """The same id in a called process is another element."""
    called = model(start("s"), task("a"), end("e"), "s > a > e", id="c")
    engine.deploy(called, model(start(), call("k", "c"), task("a"), task("b"), "start > k > a > b"))
    key = made(engine, "a")
    engine.complete("a")
    assert engine.jobs == ["a"]
    engine.complete("a")
    assert gone(engine, key)


def test_who_calls_is_terminated_with_what_it_has_called(engine):
    called = model(start("s"), task("deep"), end("e"), "s > deep > e", id="c")
    engine.deploy(called, model(start(), call("k", "c"), task("a"), "start > k", "start > a"))
    key = made(engine, "a")
    engine.complete("a")
    assert gone(engine, key)
    assert states(engine, "deep") == ["TERMINATED"]


def test_cancelling_before(engine):
    engine.deploy(process(start(), task("a"), "start > a"))
    key = made(engine, "a")
    engine.cancel(key)
    assert gone(engine, key)


def test_an_element_that_is_not_there_is_refused(engine):
    """camunda/camunda#53526: others take it, and nothing ever happens."""
    engine.deploy(process(start(), task("a"), "start > a"))
    rejection = begin(engine, "a", "nowhere").rejection
    assert rejection.code is RejectionCode.INVALID_ARGUMENT
    assert rejection.reason == (
        "Expected to create instance of process with runtime instructions but no element found with id 'nowhere'."
    )
    assert engine.elements == []


def test_the_command_survives_the_log():
    command = CreateInstance("p", terminate_after=("a", "b"))
    assert decode_command(command.intent, encode_command(command)) == command
