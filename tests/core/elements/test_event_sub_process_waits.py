"""Event sub-processes are waited for from the end of the scope's start event on, and see what it has set."""

import pytest

from tests.core.bench import raw
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


def waiting(bench):
    return sorted((s.element.element, s.correlation_key) for s in bench.state.subscriptions.values())


def say(bench, name="hello", key="x", **variables):
    return bench.run(PublishMessage(name, key, 0, None, raw(variables)))


def test_the_key_may_be_what_the_start_event_maps(bench):
    bench.deploy(model(begun(("k", "=order.id")), task("work"), ASIDE, "begun > work", roots=ROOTS))
    say(bench, "begin", "", order={"id": "x"})
    assert waiting(bench) == [("p", "x")]
    say(bench)
    assert bench.jobs == ["handled", "work"]


def test_a_timer_may_be_what_the_start_event_maps(bench):
    bench.deploy(model(begun(("wait", "=w")), task("work"), TIMER, "begun > work", roots=ROOTS))
    say(bench, "begin", "", w="PT5S")
    ((element, due),) = [(timer.element.element, timer.due_at) for timer in bench.state.timers.values()]
    assert (element, due) == ("p", bench.engine.now + 5_000)


def test_a_key_that_is_none_is_an_incident_of_the_start_event(bench):
    bench.deploy(model(start(), task("work"), ASIDE, "start > work", roots=ROOTS))
    key = bench.start()
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("start", "EXTRACT_VALUE_ERROR")]
    assert not waiting(bench)
    assert bench.jobs == []
    bench.set(key, k="x")
    bench.resolve()
    assert waiting(bench) == [("p", "x")]
    assert bench.jobs == ["work"]


def test_cancelling_it_leaves_nothing(bench):
    bench.deploy(model(start(), task("work"), ASIDE, "start > work", roots=ROOTS))
    bench.cancel(bench.start())
    assert not bench.state.elements
    assert not bench.state.incidents


@pytest.mark.parametrize("within", [False, True], ids=["in a sub-process", "in an event sub-process"])
def test_scopes_of_each_kind(bench, within):
    if within:
        outer = event_sub("outer", task("main"), ASIDE, "outer-start > main", on="signal")
        parts = (start(), task("work"), outer, "start > work")
    else:
        parts = (start(), sub("outer", start("s"), task("main"), ASIDE, "s > main"), end(), "start > outer > end")
    bench.deploy(model(*parts))
    bench.start(k="x")
    if within:
        bench.run(BroadcastSignal("alarm"))
    assert ("outer", "x") in waiting(bench)
    say(bench)
    assert bench.jobs == ["handled", "main"]


def test_without_a_start_event_they_are_waited_for_at_once(bench):
    bench.deploy(model(start(), task("work"), task("other"), ASIDE, "start > work > other", roots=ROOTS))
    bench.run(CreateInstance("p", variables=raw({"k": "x"}), start_elements=("other",)))
    assert waiting(bench) == [("p", "x")]
    assert bench.jobs == ["other"]
