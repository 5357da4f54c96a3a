"""Call activities: which process, which variables, and what if it is not there; whole and in quanta of one item."""

import time

import pytest

from tests.core.engine import Engine, raw
from tests.core.event_models import LIMITS, boundary, call, ended, error, loop, model, run, script, states
from tests.core.models import end, file, process_element, start, sub, task
from vivero.core.elements import call_activity
from vivero.core.records.instances import CancelInstance, CreateInstance


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


CHILD = model(start("cs"), task("work"), end("ce"), "cs > work > ce", id="c")


def calling(*rest, chain="start > x > after", **attributes):
    return model(start(), call("x", "c", **attributes), task("after"), chain, *rest)


def instance_of(engine, process_id):
    return next(row for (table, _), row in engine.rows.items() if table == "Instance" and row["element"] == process_id)


# ---- life


def test_it_waits_for_the_called_process(engine):
    key = run(engine, CHILD, calling())
    child = instance_of(engine, "c")
    assert engine.jobs == ["work"]
    assert (child["parent_instance"], child["depth"], child["state"]) == (key, 2, "ACTIVATED")
    engine.complete("work")
    assert engine.jobs == ["after"]
    assert (instance_of(engine, "c")["state"], states(engine, "x")) == ("COMPLETED", ["COMPLETED"])
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"


def test_business_id_and_tags_are_inherited(engine):
    engine.deploy(CHILD, calling())
    engine.run(CreateInstance("p", business_id="order-7", tags=("red",)))
    child = instance_of(engine, "c")
    assert (child["business_id"], child["tags"]) == ("order-7", ("red",))


@pytest.mark.parametrize(
    ("given", "expected"),
    [("", None), (" ", None), ("monthly", "monthly"), ("007", "007"), ("=id", "mine"), ("=i", 256 * "i")],
)
def test_a_call_chooses_the_business_id(engine, given, expected):
    engine.deploy(CHILD, calling(businessId=given))
    engine.run(CreateInstance("p", business_id="order-7", variables=raw({"id": "mine", "i": 256 * "i"})))
    assert instance_of(engine, "c")["business_id"] == expected
    assert engine.job("work").business_id == expected


@pytest.mark.parametrize(
    ("value", "said"),
    [("", "but 'id' has 0"), (257 * "i", "but 'id' has 257"), (None, "was 'NULL'"), (7, "was 'NUMBER'")],
)
def test_a_business_id_that_is_not_possible_is_an_incident(engine, value, said):
    engine.deploy(CHILD, calling(businessId="=id"))
    key = engine.run(
        CreateInstance("p", business_id="order-7", variables=raw({"id": value}))
    ).response.process_instance_key
    ((element, type_, message),) = engine.incidents
    assert (element, type_, said in message) == ("x", "EXTRACT_VALUE_ERROR", True), message
    engine.set(key, id="mine")
    engine.resolve()
    assert instance_of(engine, "c")["business_id"] == "mine"


def test_each_call_of_a_loop_has_its_own_business_id(engine):
    engine.deploy(CHILD, model(start(), loop(call("x", "c", businessId="=item"), '=["a", "b"]', "item"), "start > x"))
    engine.start()
    assert sorted(job.business_id for job in engine.state.jobs.values()) == ["a", "b"]


def test_cancel_of_the_root_ends_the_called_process(engine):
    key = run(engine, CHILD, calling())
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"
    assert (instance_of(engine, "c")["state"], states(engine, "x")) == ("TERMINATED", ["TERMINATED"])


def test_a_called_process_cannot_be_cancelled_alone(engine):
    key = run(engine, CHILD, calling())
    rejection = engine.run(CancelInstance(instance_of(engine, "c")["key"])).rejection
    assert str(key) in rejection.reason
    assert engine.jobs == ["work"]


def test_a_boundary_event_ends_the_called_process(engine):
    run(engine, CHILD, calling(boundary("b", "x", error("A")), task("repair"), "b > repair"))
    engine.throw("work", "A")
    assert engine.jobs == ["repair"]
    assert instance_of(engine, "c")["state"] == "TERMINATED"


def test_a_process_that_ends_at_once_is_called_and_left(engine):
    quick = model(start("cs"), script("n", "=1", "n"), "cs > n", id="c")
    run(engine, quick, calling())
    assert engine.jobs == ["after"]
    assert engine.variables("p") == {"n": 1}


def test_calls_in_calls(engine):
    levels = [model(start("s0"), task("work"), "s0 > work", id="c0")]
    levels += [model(start(f"s{n}"), call(f"x{n}", f"c{n - 1}"), f"s{n} > x{n}", id=f"c{n}") for n in range(1, 30)]
    run(engine, *levels, model(start(), call("x", "c29"), end(), "start > x > end"))
    assert instance_of(engine, "c0")["depth"] == 31
    engine.complete("work", deep=True)
    assert not engine.state.elements
    assert engine.variables("p") == {"deep": True}


def test_an_endless_recursion_stops_with_an_incident(engine, monkeypatch):
    monkeypatch.setattr(call_activity, "MAX_DEPTH", 20)
    key = run(engine, model(start(), call("x", "p"), "start > x"))
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("x", "CALLED_ELEMENT_ERROR")
    assert "20" in message
    assert len(engine.elements) == 40
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"


def test_an_incident_in_the_called_process_leaves_the_caller_alone(engine):
    key = run(engine, CHILD, calling())
    engine.fail("work", message="broken")
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("work", "JOB_NO_RETRIES")]
    assert engine.state_of(key) == "ACTIVATED"
    engine.update("work", retries=1)
    engine.resolve()
    engine.complete("work")
    assert engine.jobs == ["after"]


# ---- which process


def test_a_process_that_is_not_there_is_an_incident_until_it_is_deployed(engine):
    run(engine, calling())
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("x", "CALLED_ELEMENT_ERROR")
    assert "'c'" in message
    engine.resolve()
    assert len(engine.incidents) == 1
    engine.deploy(CHILD)
    engine.resolve()
    assert (engine.incidents, engine.jobs) == ([], ["work"])


def test_the_process_id_may_be_computed_and_must_be_text(engine):
    key = run(engine, CHILD, model(start(), call("x", "=which"), "start > x"), which=7)
    message = "Expected result of the expression 'which' to be 'STRING', but was 'NUMBER'."
    assert engine.incidents == [("x", "EXTRACT_VALUE_ERROR", message)]
    engine.set(key, which="c")
    engine.resolve()
    assert engine.jobs == ["work"]


def child_version(number, tag=None):
    return process_element(start("cs"), task(f"work-{number}"), f"cs > work-{number}", id="c", tag=tag)


def test_latest_is_the_latest_when_the_call_happens(engine):
    first = model(start(), task("before"), call("x", "c"), "start > before > x")
    run(engine, file(child_version(1)), first)
    engine.deploy(file(child_version(2)))
    engine.complete("before")
    assert engine.jobs == ["work-2"]


def test_deployment_is_the_version_that_was_deployed_with_the_caller(engine):
    caller = process_element(start(), call("x", "c", bindingType="deployment"), "start > x")
    engine.deploy(file(child_version(1), caller))
    engine.deploy(file(child_version(2)), name="other.bpmn")
    engine.start()
    assert engine.jobs == ["work-1"]


def test_deployment_without_the_process_in_it_is_an_incident(engine):
    run(engine, CHILD, calling(bindingType="deployment"))
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("x", "CALLED_ELEMENT_ERROR")]


def test_a_version_tag_is_the_latest_version_that_carries_it(engine):
    engine.deploy(*(file(child_version(n, tag)) for n, tag in ((1, "old"), (2, "stable"), (3, "stable"), (4, None))))
    run(engine, calling(bindingType="versionTag", versionTag="stable"))
    assert engine.jobs == ["work-3"]


def test_a_version_tag_that_nothing_carries_is_an_incident(engine):
    engine.deploy(file(child_version(1, "old")))
    run(engine, calling(bindingType="versionTag", versionTag="new"))
    ((_, type_, message),) = engine.incidents
    assert type_ == "CALLED_ELEMENT_ERROR"
    assert "'new'" in message


# ---- variables


def test_everything_visible_goes_in_and_everything_comes_back(engine):
    outer = sub("s", start("i"), call("x", "c", inputs=[("=a + 1", "mapped")]), "i > x", inputs=[("=5", "local")])
    run(engine, CHILD, model(start(), outer, task("after"), "start > s > after"), a=1)
    assert engine.variables("c") == {"a": 1, "local": 5, "mapped": 2}
    engine.complete("work", new=1, a=9, local=6)
    assert engine.variables("s") == {"local": 6}
    assert engine.variables("p") == {"a": 9, "new": 1}


def test_only_the_inputs_go_in_when_the_parent_keeps_its_variables(engine):
    run(engine, CHILD, calling(inputs=[("=a + 1", "mapped")], propagateAllParentVariables="false"), a=1)
    assert engine.variables("c") == {"mapped": 2}


def test_nothing_comes_back_when_the_child_keeps_its_variables(engine):
    run(engine, CHILD, calling(propagateAllChildVariables="false"), a=1)
    engine.complete("work", new=1, a=9)
    assert engine.variables("p") == {"a": 1}


@pytest.mark.parametrize("flag", ["true", "false"])
def test_with_outputs_only_what_they_map_comes_back(engine, flag):
    run(engine, CHILD, calling(outputs=[("=new", "result")], propagateAllChildVariables=flag), a=1)
    engine.complete("work", new=1, a=9)
    assert engine.variables("p") == {"a": 1, "result": 1}


@pytest.mark.parametrize("flag", ["true", "false"])
def test_what_an_input_mapping_has_made_comes_back_by_an_output_mapping_alone(engine, flag):
    """It is the call activity's own, where the result of the called process finds it first, as in Camunda."""
    mapped = {"inputs": [("=a", "b")], "propagateAllParentVariables": flag}
    run(engine, CHILD, calling(**mapped), a=1)
    engine.complete("work", b=9)
    assert engine.variables("x") == {"b": 9}
    assert engine.variables("p") == {"a": 1}


def test_an_output_mapping_brings_back_what_an_input_mapping_has_made(engine):
    run(engine, CHILD, calling(inputs=[("=a", "b")], outputs=[("=b", "b")]), a=1)
    engine.complete("work", b=9)
    assert engine.variables("p") == {"a": 1, "b": 9}


def test_the_called_process_does_not_see_its_caller(engine):
    run(engine, CHILD, calling(propagateAllParentVariables="false"), hidden=1)
    assert engine.variables("c") == {}
    engine.complete("work", hidden=2)
    assert engine.variables("p") == {"hidden": 2}, "propagated when it completes, not before"


def test_an_output_that_fails_is_an_incident_and_the_child_has_ended(engine):
    run(engine, CHILD, calling(outputs=[("=assert(new, new > 0)", "result")]))
    engine.complete("work", new=0)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("x", "IO_MAPPING_ERROR")]
    assert instance_of(engine, "c")["state"] == "COMPLETED"
    engine.set(engine.element("x").key, local=True, new=3)
    engine.resolve()
    assert engine.jobs == ["after"]
    assert engine.variables("p") == {"result": 3}


def test_a_thousand_processes_that_call_each_other_are_worked_in_bounded_time():
    """A search for the next scope from each element upwards once took minutes, in which nothing else ran."""
    engine, began = Engine(), time.process_time()
    key = run(engine, model(start(), call("c", "p"), end(), "start > c > end"))
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("c", "CALLED_ELEMENT_ERROR")]
    assert len(engine.elements) == 2 * call_activity.MAX_DEPTH
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"
    assert time.process_time() - began < 15, "usually two seconds"
