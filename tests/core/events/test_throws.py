"""A thrown event reaches those that wait at that time, the process itself included, before the thrower goes on.

BPMN 2.0.2 §10.5.1. So the end of the thrower's scope does not come before what catches the event there, and what begins
to wait behind the thrower does not hear it.
"""

import pytest

from tests.core.engine import Engine, rebuilt
from tests.core.event_models import LIMITS, loop, states
from tests.core.message_models import boundary, catch, event_sub, message, model, publish, signal, throw
from tests.core.models import end, file, flow, par, process_element, start, sub, task
from vivero.core.execution.step import StepLimits
from vivero.core.records.messages import CompleteThrow, PublishMessage
from vivero.core.records.signals import BroadcastSignal

SEND = f'<sendTask id="say" messageRef="m"><extensionElements>{publish()}</extensionElements></sendTask>'
THROWERS = {
    "signal": (throw("say", "signal"), "signal"),
    "signal at the end": (throw("say", "signal", tag="endEvent"), "signal"),
    "message": (throw("say", "message", publish()), "message"),
    "message at the end": (throw("say", "message", publish(), "endEvent"), "message"),
    "send task": (SEND, "message"),
}


@pytest.fixture(params=THROWERS)
def thrower(request):
    return THROWERS[request.param]


@pytest.fixture(params=LIMITS)
def engine(request):
    return Engine(LIMITS[request.param])


@pytest.fixture(params=[name for name, (xml, _) in THROWERS.items() if not xml.startswith("<endEvent")])
def passed(request):
    """A thrower that something may follow."""
    return THROWERS[request.param]


def throwing(thrower, *parts):
    """The content of a scope that begins with the throw and ends behind it."""
    behind = [] if thrower.startswith("<endEvent") else [end("said"), "say > said"]
    return [start("begin"), thrower, *behind, "begin > say", *parts]


@pytest.mark.parametrize("interrupting", [True, False])
def test_the_boundary_around_the_thrower_hears_it(engine, thrower, interrupting):
    caught = boundary("s", "heard", thrower[1], interrupting)
    scope = sub("s", *throwing(thrower[0]))
    engine.deploy(model(start(), scope, caught, task("after"), task("next"), "start > s > next", "heard > after"))
    engine.start(k="x")
    assert engine.jobs == (["after"] if interrupting else ["after", "next"])


@pytest.mark.parametrize("interrupting", [True, False])
@pytest.mark.parametrize("inside", [True, False])
def test_an_event_sub_process_beside_the_thrower_hears_it(engine, thrower, interrupting, inside):
    aside = event_sub("aside", task("after"), "aside-start > after", on=thrower[1], interrupting=interrupting)
    content = throwing(thrower[0], aside)
    engine.deploy(model(*([start(), sub("s", *content), end(), "start > s > end"] if inside else content)))
    key = engine.start(k="x")
    assert engine.jobs == ["after"]
    engine.complete("after")
    assert engine.state_of(key) == "COMPLETED"


def test_the_caller_hears_what_the_called_process_throws_last(engine, thrower):
    called = model(*throwing(thrower[0]), id="called")
    caller = '<callActivity id="c"><extensionElements><zeebe:calledElement processId="called"/></extensionElements>'
    parts = (start(), f"{caller}</callActivity>", boundary("c", "heard", thrower[1]), task("after"))
    engine.deploy(called, model(*parts, "start > c", "heard > after"))
    engine.start(k="x")
    assert engine.jobs == ["after"]


def test_who_waits_beside_the_thrower_hears_it_before_a_terminate_event_ends_both(engine, passed):
    finish = '<endEvent id="stop"><terminateEventDefinition/></endEvent>'
    parts = (start(), task("go"), par("f"), catch("hears", passed[1]), task("after"), passed[0], finish)
    engine.deploy(model(*parts, "start > f > hears > after", "f > go > say > stop"))
    key = engine.start(k="x")
    engine.complete("go")
    assert engine.state_of(key) == "COMPLETED"
    assert [row["state"] for row in engine.rows.values() if row.get("element") == "hears"][-1] == "COMPLETED"


def test_what_waits_behind_the_thrower_does_not_hear_it(engine, passed):
    engine.deploy(model(start(), passed[0], catch("late", passed[1]), "start > say > late"))
    key = engine.start(k="x")
    assert engine.state_of(key) == "ACTIVATED"
    assert engine.elements == ["late", "p"]


def test_it_is_heard_once_by_what_waits_on(engine):
    """Its own tree is told first, and not again with the pages that tell the others."""
    aside = event_sub("aside", task("after"), "aside-start > after", on="signal", interrupting=False)
    engine.deploy(model(start(), task("go"), throw("say"), end(), aside, "start > go > say > end"))
    for _ in range(2):
        engine.start()
    engine.complete("go")
    assert engine.jobs == ["after", "after", "go"]


def test_each_turn_of_a_loop_throws_for_itself(engine):
    alone = sub("s", *throwing(throw("say")), event_sub("aside", task("after"), "aside-start > after", on="signal"))
    engine.deploy(model(start(), loop(alone, "=[1, 2, 3]", sequential=True), end(), "start > s > end"))
    key = engine.start()
    for _ in range(3):
        assert engine.jobs == ["after"]
        engine.complete("after")
    assert engine.state_of(key) == "COMPLETED"


@pytest.mark.parametrize("items", [500, 7, 3, 1])
def test_a_quantum_that_ends_between_wait_and_throw_loses_nothing(thrower, items):
    """The channel knows of a wait before the tree goes on, however the work is cut."""
    engine = Engine(StepLimits(quantum_items=items))
    aside = event_sub("aside", task("after"), "aside-start > after", on=thrower[1])
    inner = loop(sub("s", *throwing(thrower[0], aside)), "=[1, 2]", sequential=True)
    outer = loop(sub("o", start("ob"), inner, "ob > s"), "=[1, 2]", sequential=True)
    engine.deploy(model(start(), outer, end(), "start > o > end"))
    key = engine.start(k="x")
    for _ in range(4):
        assert engine.jobs == ["after"]
        engine.complete("after")
    assert engine.state_of(key) == "COMPLETED"
    assert "COMPLETED" not in states(engine, "say")


def test_who_is_about_to_be_ended_by_it_does_not_go_on(engine, thrower):
    """The end comes from the outside in, and may take several quanta to come to the thrower."""
    content = throwing(thrower[0])
    for depth in range(8):
        content = [start(f"b{depth}"), sub(f"s{depth}", *content), f"b{depth} > s{depth}"]
    parts = (start(), sub("s", *content), boundary("s", "heard", thrower[1]), task("after"))
    engine.deploy(model(*parts, "start > s", "heard > after"))
    engine.start(k="x")
    assert (engine.jobs, states(engine, "say")) == (["after"], ["TERMINATED"])


def test_two_throw_at_once(engine, thrower):
    """Both go on, and whoever waits hears the first one."""
    again = thrower[0].replace('id="say"', 'id="says"')
    behind = [] if thrower[0].startswith("<endEvent") else ["say > said", "says > said", end("said")]
    parts = (start(), par("f"), catch("hears", thrower[1]), thrower[0], again, *behind)
    engine.deploy(model(*parts, "start > f > hears", "f > say", "f > says"))
    assert engine.state_of(engine.start(k="x")) == "COMPLETED"


def test_a_thrower_that_was_ended_meanwhile_stays_ended(engine):
    handled = engine.run(CompleteThrow(77))
    assert (handled.rejection, handled.events) == (None, [])


@pytest.mark.parametrize("command", [PublishMessage, BroadcastSignal])
def test_who_throws_what_cannot_be_handled_goes_on(engine, thrower, command, monkeypatch):
    """A bug of ours while it is given out costs the message, not the process."""
    from vivero.core import dispatch

    handler = dispatch.COMMANDS[command]
    monkeypatch.setitem(dispatch.COMMANDS, command, dispatch.Handler(handler.needs, explode, handler.rejected))
    engine.deploy(model(*throwing(thrower[0])))
    assert engine.state_of(engine.start(k="x")) == "COMPLETED"


def explode(command, at):
    raise ZeroDivisionError("a bug")


def test_a_name_with_a_nul_is_an_incident(engine):
    parts = (signal("=name"), message("=name"), process_element(*throwing(throw("say")), id="p"))
    talks = process_element(start("go"), throw("tell", "message", publish()), flow("go", "tell"), id="q")
    engine.deploy(file(*parts, talks))
    for process in "pq":
        engine.start(process, name="a\0b", k="x")
    assert [(element, type_) for element, type_, _ in engine.incidents] == [
        ("say", "EXTRACT_VALUE_ERROR"),
        ("tell", "EXTRACT_VALUE_ERROR"),
    ]


def test_the_events_alone_rebuild_it(engine, thrower):
    aside = event_sub("aside", task("after"), "aside-start > after", on=thrower[1], interrupting=False)
    engine.deploy(model(*throwing(thrower[0], aside)))
    key = engine.start(k="x")
    rebuilt(engine)
    engine.complete("after")
    assert engine.state_of(key) == "COMPLETED"
