"""Scopes without a start event (BPMN 2.0.2 §13.2, §13.3.4); whole and in quanta of one item."""

import pytest

from tests.core.engine import Engine, rebuilt
from tests.core.event_models import (
    LIMITS,
    ad_hoc,
    boundary,
    call,
    catch,
    ended,
    error,
    link,
    loop,
    model,
    on,
    run,
    states,
    throw,
)
from tests.core.models import end, par, process_element, start, sub, task
from vivero.core.bpmn.parser import parse


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def test_all_nodes_without_incoming_flows_begin(engine):
    key = run(engine, model(task("a"), task("b"), task("c"), par("j"), end(), "a > j", "b > c > j > end"))
    assert engine.jobs == ["a", "b"]
    rebuilt(engine)
    for job in "abc":
        engine.complete(job)
    assert ended(engine, key) == "COMPLETED"
    assert states(engine, "j") == ["COMPLETED"]


def test_what_other_things_begin_does_not_begin(engine):
    """Boundary events, event sub-processes, catching link events."""
    handler = on(error("A"), "h", task("handled"), "h-start > handled")
    parts = (boundary("b", "a", error("B")), task("aside"), "b > aside", handler)
    links = (throw("t", link("L")), catch("k", link("L")), task("behind"), "a > t", "k > behind")
    run(engine, model(task("a"), *parts, *links))
    assert engine.jobs == ["a"]
    engine.complete("a")
    assert engine.jobs == ["behind"]


@pytest.mark.parametrize(("code", "job"), [("A", "handled"), ("B", "aside")])
def test_its_events_are_caught(engine, code, job):
    handler = on(error("A"), "h", task("handled"), "h-start > handled")
    run(engine, model(task("a"), boundary("b", "a", error("B")), task("aside"), "b > aside", handler))
    engine.throw("a", code)
    assert engine.jobs == [job]


def test_event_sub_processes_wait_from_the_beginning(engine):
    timer = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
    key = run(engine, model(task("a"), on(timer, "h", task("late"), "h-start > late")))
    engine.fire_at(key, "p", "h")
    assert engine.jobs == ["late"]


def test_a_sub_process_in_a_loop(engine):
    inner = sub("s", task("a"), task("b"))
    key = run(engine, model(start(), loop(inner), end(), "start > s > end"), items=[1, 2])
    assert engine.jobs == ["a", "a", "b", "b"]
    for job in engine.jobs:
        engine.complete(job)
    assert ended(engine, key) == "COMPLETED"


def test_a_sub_process_of_an_ad_hoc_sub_process(engine):
    tools = ad_hoc("tools", sub("s", task("a"), task("b")), active='=["s"]')
    key = run(engine, model(start(), tools, end(), "start > tools > end"))
    assert engine.jobs == ["a", "b"]
    rebuilt(engine)
    engine.complete("a")
    engine.complete("b")
    assert ended(engine, key) == "COMPLETED"


def test_a_called_process(engine):
    called = process_element(task("a"), task("b"), id="called")
    key = run(engine, model(start(), call("c", "called"), end(), "start > c > end", beside=(called,)))
    assert engine.jobs == ["a", "b"]
    engine.complete("a")
    engine.complete("b")
    assert ended(engine, key) == "COMPLETED"


def test_with_a_start_event_other_nodes_do_not_begin(engine):
    run(engine, model(start(), task("a"), task("b"), "start > a"))
    assert engine.jobs == ["a"]


def test_the_deployment_warns():
    parsed = parse(model(task("a"), task("b")), "p.bpmn")
    assert [problem.message for problem in parsed.warnings] == ["has no start event: it begins at 'a', 'b'"]
