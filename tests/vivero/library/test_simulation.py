"""Simulations: a model runs with test data, without a server."""

from pathlib import Path
from unittest.mock import Mock

import msgspec
import pytest

from tests.core.event_models import call, loop, model
from tests.core.models import end, flow, start, task, xor
from vivero.library import simulation
from vivero.library.machine import Machine


def run(*files, **data):
    resources = [{"name": f"{n}.bpmn", "content": content.decode()} for n, content in enumerate(files)]
    report, problem = simulation.run(msgspec.json.encode({"resources": resources, **data}))
    assert problem is None
    return msgspec.json.decode(report)


def problem(document):
    report, found = simulation.run(document if isinstance(document, bytes) else msgspec.json.encode(document))
    assert report == b""
    return found


CHAIN = model(start(), task("a"), task("b"), end(), "start > a > b > end")


def test_jobs_are_completed_with_their_variables():
    report = run(CHAIN, variables={"n": 1}, jobs={"a": {"variables": {"x": 2}}})
    assert (report["state"], report["variables"], report["notReached"]) == ("COMPLETED", {"n": 1, "x": 2}, [])
    assert [step["what"] for step in report["steps"]] == ["started", "job a (a) completed", "job b (b) completed"]
    assert report["steps"][1]["entered"] == ["b"]


DECISIONS = (Path(__file__).parents[3] / "examples" / "decisions" / "discount.dmn").read_text()
DECISION = {"resources": [{"name": "d.dmn", "content": DECISIONS}], "decisionId": "price"}


def decided(variables: bytes, file=DECISIONS):
    document = (
        msgspec.json.encode(DECISION | {"resources": [{"name": "d.dmn", "content": file}]})[:-1]
        + b',"variables":'
        + variables
        + b"}"
    )
    report, found = simulation.run(document)
    assert found is None
    return report


def test_a_decision_is_evaluated_with_what_it_took_and_all_digits_of_numbers():
    report = msgspec.json.decode(decided(b'{"total": 200, "customer": "gold"}'))
    assert (report["result"], report["failure"]) == (180, None)
    first, last = report["decisions"]
    assert (first["decision"], first["inputs"], first["matchedRules"]) == (
        "discount",
        ["gold", 200],
        [{"rule": 3, "outputs": [0.1]}],
    )
    assert (last["decision"], last["result"]) == ("price", 180)
    assert b'"inputs":["gold",9007199254740993]' in decided(b'{"total": 9007199254740993, "customer": "gold"}')


def test_a_decision_that_cannot_be_evaluated_says_why():
    platform = 'xmlns:m="http://camunda.org/schema/modeler/1.0" m:executionPlatform="Camunda Cloud" id='
    both = DECISIONS.replace("&lt; 100", "&gt; 1").replace("id=", platform, 1)
    report = msgspec.json.decode(decided(b'{"total": 200, "customer": "x"}', both))
    assert report["failure"]["decision"] == report["decisions"][-1]["decision"] == "discount"
    assert [each["rule"] for each in report["decisions"][-1]["matchedRules"]] == [1, 2]
    assert "gone" in problem(DECISION | {"decisionId": "gone"})
    assert "one can be tried at a time" in problem(DECISION | {"processId": "p"})
    assert "d.dmn" in problem(DECISION | {"resources": [{"name": "d.dmn", "content": "<a/>"}]})


def test_a_step_costs_the_same_however_large_the_instance_is(monkeypatch):
    """A snapshot of the whole tree for each step would take minutes of a compute process."""
    snapshot = Mock(side_effect=Machine.snapshot)
    monkeypatch.setattr(Machine, "snapshot", lambda machine: snapshot(machine))
    items = {"variables": {"items": list(range(simulation.MOST_STEPS + 100))}}
    report = run(model(start(), loop(task("a")), end(), "start > a > end"), **items)
    assert len(report["steps"]) == simulation.MOST_STEPS + 1
    assert report["stopped"].startswith("It did not end within")
    assert snapshot.call_count <= 3


def test_what_stays_open_is_named():
    report = run(CHAIN, waitFor=["b"])
    assert (report["state"], report["waitsFor"], report["notReached"]) == ("ACTIVE", ["job b (b)"], ["end"])


def test_elements_of_two_processes_with_one_id_are_told_apart():
    caller = model(start(), call("call", "q"), task("work"), end(), "start > call > work > end")
    called = model(start(), task("work"), task("own"), end(), "start > work > own > end", id="q")
    report = run(caller, called, waitFor=["own"], processId="p")
    assert report["notReached"] == ["end of process p", "end of process q", "work of process p"]


def test_a_failure_and_an_error_that_nothing_catches_are_incidents():
    for answer in ({"failure": "no paper"}, {"errorCode": "E1"}):
        report = run(CHAIN, jobs={"a": answer})
        assert report["state"] == "ACTIVE"
        assert report["incidents"][0].startswith("a: ")
        assert report["steps"][-1]["what"].startswith("incident at a: ")


def test_an_incident_at_the_start_is_a_step():
    ways = (flow("which", "a", "=false"), flow("which", "end", "=false"))
    stuck = model(start(), xor("which"), task("a"), end(), "start > which", *ways, "a > end")
    report = run(stuck)
    assert [step["what"].partition(":")[0] for step in report["steps"]] == ["started", "incident at which"]
    assert len(report["incidents"]) == 1


def test_the_element_has_precedence_over_the_type():
    report = run(model(start(), task("a", type="t"), task("b", type="t"), end(), "start > a > b > end"),
                 jobs={"t": {"variables": {"by": "type"}}, "a": {"variables": {"own": 1}}})  # fmt: skip
    assert report["variables"] == {"own": 1, "by": "type"}


def test_a_process_that_never_ends_is_stopped():
    endless = model(start(), xor("back"), task("again"), "start > back > again > back")
    report = run(endless)
    assert report["stopped"] == f"It did not end within {simulation.MOST_STEPS} steps"
    assert report["state"] == "ACTIVE"


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (b"{", "The simulation is wrong"),
        ({"resources": [{"name": "a"}]}, "content"),
        ({"resources": []}, "The models have: none"),
        ({"resources": [{"name": "a.bpmn", "content": "<a"}]}, "'a.bpmn'"),
        ({"resources": [], "jobs": {"a": {"variable": 1}}}, "variable"),
        ({"resources": [{"name": "a.bpmn", "content": CHAIN.decode()}] * 2}, "several files have the name 'a.bpmn'"),
    ],
)
def test_a_wrong_simulation_is_explained(document, text):
    assert text in problem(document)
