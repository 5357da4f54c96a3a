"""Event sub-processes are waited for from the end of the scope's start event on, and see what it has set."""

import pytest

from tests.core.engine import raw
from tests.core.message_models import event_sub, message, model, outputs
from tests.core.models import end, start, sub, task
from vivero.core.records.instances import CreateInstance
from vivero.core.records.messages import PublishMessage
from vivero.core.records.signals import BroadcastSignal

ROOTS = (message(), message("begin", None, "b"))
ASIDE = event_sub("aside", task("handled"), "aside-start > handled", interrupting=False)
TIMER = (
    '<subProcess id="late" triggeredByEvent="true"><startEvent id="late-start" isInterrupting="false">'
    "<timerEventDefinition><timeDuration>=wait</timeDuration></timerEventDefinition></startEvent></subProcess>"
)


def begun(*mappings, id="begun"):
    """A start event for the message `begin`, with output mappings."""
    return f'<startEvent id="{id}">{outputs(**dict(mappings))}<messageEventDefinition messageRef="b"/></startEvent>'


def waiting(engine):
    return sorted((s.element.element, s.correlation_key) for s in engine.state.subscriptions.values())


def say(engine, name="hello", key="x", **variables):
    return engine.run(PublishMessage(name, key, 0, None, raw(variables)))


def test_the_key_may_be_what_the_start_event_maps(engine):
    engine.deploy(model(begun(("k", "=order.id")), task("work"), ASIDE, "begun > work", roots=ROOTS))
    say(engine, "begin", "", order={"id": "x"})
    assert waiting(engine) == [("p", "x")]
    say(engine)
    assert engine.jobs == ["handled", "work"]


def test_a_timer_may_be_what_the_start_event_maps(engine):
    engine.deploy(model(begun(("wait", "=w")), task("work"), TIMER, "begun > work", roots=ROOTS))
    say(engine, "begin", "", w="PT5S")
    ((element, due),) = [(timer.element.element, timer.due_at) for timer in engine.state.timers.values()]
    assert (element, due) == ("p", engine.memory.now + 5_000)


def test_a_key_that_is_none_is_an_incident_of_the_start_event(engine):
    engine.deploy(model(start(), task("work"), ASIDE, "start > work", roots=ROOTS))
    key = engine.start()
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("start", "EXTRACT_VALUE_ERROR")]
    assert not waiting(engine)
    assert engine.jobs == []
    engine.set(key, k="x")
    engine.resolve()
    assert waiting(engine) == [("p", "x")]
    assert engine.jobs == ["work"]


def test_cancelling_it_leaves_nothing(engine):
    engine.deploy(model(start(), task("work"), ASIDE, "start > work", roots=ROOTS))
    engine.cancel(engine.start())
    assert not engine.state.elements
    assert not engine.state.incidents


@pytest.mark.parametrize("within", [False, True], ids=["in a sub-process", "in an event sub-process"])
def test_scopes_of_each_kind(engine, within):
    if within:
        outer = event_sub("outer", task("main"), ASIDE, "outer-start > main", on="signal")
        parts = (start(), task("work"), outer, "start > work")
    else:
        parts = (start(), sub("outer", start("s"), task("main"), ASIDE, "s > main"), end(), "start > outer > end")
    engine.deploy(model(*parts))
    engine.start(k="x")
    if within:
        engine.run(BroadcastSignal("alarm"))
    assert ("outer", "x") in waiting(engine)
    say(engine)
    assert engine.jobs == ["handled", "main"]


def test_without_a_start_event_they_are_waited_for_at_once(engine):
    engine.deploy(model(start(), task("work"), task("other"), ASIDE, "start > work > other", roots=ROOTS))
    engine.run(CreateInstance("p", variables=raw({"k": "x"}), start_elements=("other",)))
    assert waiting(engine) == [("p", "x")]
    assert engine.jobs == ["other"]
