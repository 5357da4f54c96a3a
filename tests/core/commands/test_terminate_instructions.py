"""Instances that are terminated when an element has ended; whole and in quanta of one item."""

import pytest

from tests.core.bench import Bench, raw
from tests.core.event_models import LIMITS, boundary, call, error, loop, model, on, script, states
from tests.core.models import end, par, process, start, sub, task
from vivero.core.records.codec import decode_command, encode_command
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CreateInstance


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def bench(request):
    return Bench(LIMITS[request.param])


def begin(bench, *after, **variables):
    return bench.run(CreateInstance("p", variables=raw(variables), terminate_after=after))


def made(bench, *after, **variables):
    handled = begin(bench, *after, **variables)
    assert handled.rejection is None, handled.rejection
    return handled.response.process_instance_key


def gone(bench, key):
    return bench.state_of(key) == "TERMINATED" and not bench.state.elements


def test_nothing_follows_the_element(bench):
    bench.deploy(process(start(), task("a"), task("b"), end(), "start > a > b > end"))
    key = made(bench, "a")
    assert bench.jobs == ["a"]
    bench.complete("a", x=1)
    assert gone(bench, key)
    assert (states(bench, "a"), states(bench, "b")) == (["COMPLETED"], [])
    assert bench.variables_of(key) == {"x": 1}


def test_without_the_instruction_the_same_process_goes_on(bench):
    bench.deploy(process(start(), task("a"), task("b"), end(), "start > a > b > end"))
    made(bench)
    bench.complete("a")
    assert bench.jobs == ["b"]


def test_the_last_element_too_terminates_and_does_not_complete(bench):
    bench.deploy(process(start(), task("a"), end(), "start > a > end"))
    key = made(bench, "end")
    bench.complete("a")
    assert gone(bench, key)


def test_any_of_several_is_enough_and_what_runs_beside_ends(bench):
    bench.deploy(process(start(), task("a"), task("b"), task("c"), "start > a", "start > b", "start > c"))
    key = made(bench, "a", "b")
    bench.complete("c")
    bench.fail("a")
    bench.complete("b")
    assert gone(bench, key)
    assert (states(bench, "a"), bench.incidents) == (["TERMINATED"], [])


def test_deep_in_scopes_nothing_follows_in_any_of_them(bench):
    """What would run without a wait in a scope around is not run: not even because the scope is empty."""
    inner = sub("inner", start("i2"), task("a"), "i2 > a")
    outer = sub("outer", start("i1"), inner, script("s1", "=1", "r1"), "i1 > inner > s1")
    bench.deploy(process(start(), outer, script("s2", "=1", "r2"), end(), "start > outer > s2 > end"))
    key = made(bench, "a")
    bench.complete("a")
    assert gone(bench, key)
    assert (states(bench, "s1"), states(bench, "s2")) == ([], [])
    assert (states(bench, "inner"), states(bench, "outer")) == (["TERMINATED"], ["TERMINATED"])
    assert bench.variables_of(key) == {}


def test_deep_in_scopes_its_own_flow_is_not_followed(bench):
    inner = sub("s", start("i"), task("a"), script("x", "=1", "r"), "i > a > x")
    bench.deploy(process(start(), inner, end(), "start > s > end"))
    key = made(bench, "a")
    bench.complete("a")
    assert gone(bench, key)
    assert states(bench, "x") == []


def test_a_scope_itself(bench):
    bench.deploy(process(start(), sub("s", start("i"), task("a"), "i > a"), task("b"), "start > s > b"))
    key = made(bench, "s")
    bench.complete("a")
    assert gone(bench, key)
    assert (states(bench, "s"), states(bench, "b")) == (["COMPLETED"], [])


def test_an_element_that_is_interrupted_has_ended(bench):
    parts = (start(), task("a"), boundary("b", "a", error("A")), task("after"), end(), "start > a > end", "b > after")
    bench.deploy(model(*parts))
    key = made(bench, "a")
    bench.throw("a", "A")
    assert gone(bench, key)
    assert (states(bench, "b"), states(bench, "after")) == ([], [])


def test_an_element_in_a_scope_that_is_interrupted_from_within(bench):
    handler = on(error("A"), "h", task("late"), "h-start > late")
    bench.deploy(model(start(), task("a"), task("b"), "start > a", "start > b", handler))
    key = made(bench, "b")
    bench.throw("a", "A")
    assert gone(bench, key)
    assert states(bench, "late") == []


def test_a_gateway_and_a_join(bench):
    bench.deploy(process(start(), task("a"), task("b"), par("j"), task("c"), "start > a > j > c", "start > b > j"))
    key = made(bench, "j")
    bench.complete("a")
    bench.complete("b")
    assert gone(bench, key)
    assert (states(bench, "j"), states(bench, "c")) == (["COMPLETED"], [])


@pytest.mark.parametrize("sequential", [True, False])
def test_of_a_loop_the_whole_and_not_an_instance(bench, sequential):
    bench.deploy(model(start(), loop(task("a"), "=[1, 2]", sequential=sequential), task("b"), "start > a > b"))
    key = made(bench, "a")
    bench.complete("a")
    assert bench.jobs == ["a"]
    bench.complete("a")
    assert gone(bench, key)
    assert states(bench, "b") == []


def test_within_an_instance_of_a_loop(bench):
    activity = loop(sub("s", start("i"), task("a"), "i > a"), "=[1, 2, 3]")
    bench.deploy(model(start(), activity, task("b"), "start > s > b"))
    key = made(bench, "a")
    bench.complete("a")
    assert gone(bench, key)
    assert sorted(states(bench, "a")) == ["COMPLETED", "TERMINATED", "TERMINATED"]


def test_called_processes_end_with_it_and_have_elements_of_their_own(bench):
    """The same id in a called process is another element."""
    called = model(start("s"), task("a"), end("e"), "s > a > e", id="c")
    bench.deploy(called, model(start(), call("k", "c"), task("a"), task("b"), "start > k > a > b"))
    key = made(bench, "a")
    bench.complete("a")
    assert bench.jobs == ["a"]
    bench.complete("a")
    assert gone(bench, key)


def test_who_calls_is_terminated_with_what_it_has_called(bench):
    called = model(start("s"), task("deep"), end("e"), "s > deep > e", id="c")
    bench.deploy(called, model(start(), call("k", "c"), task("a"), "start > k", "start > a"))
    key = made(bench, "a")
    bench.complete("a")
    assert gone(bench, key)
    assert states(bench, "deep") == ["TERMINATED"]


def test_cancelling_before(bench):
    bench.deploy(process(start(), task("a"), "start > a"))
    key = made(bench, "a")
    bench.cancel(key)
    assert gone(bench, key)


def test_an_element_that_is_not_there_is_refused(bench):
    """camunda/camunda#53526: others take it, and nothing ever happens."""
    bench.deploy(process(start(), task("a"), "start > a"))
    rejection = begin(bench, "a", "nowhere").rejection
    assert rejection.code is RejectionCode.INVALID_ARGUMENT
    assert rejection.reason == (
        "Expected to create instance of process with runtime instructions but no element found with id 'nowhere'."
    )
    assert bench.elements == []


def test_the_command_survives_the_log():
    command = CreateInstance("p", terminate_after=("a", "b"))
    assert decode_command(command.intent, encode_command(command)) == command
