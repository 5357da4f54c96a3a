"""The variables that expressions of a boundary event see: those of its host."""

import pytest

from tests.core.message_models import boundary, event_sub, message, model, signal
from tests.core.models import end, start, sub, task
from vivero.core.records.messages import PublishMessage
from vivero.core.records.signals import BroadcastSignal

MAPPED = {"inputs": [("=own", "k")]}
LOOP = (
    "<multiInstanceLoopCharacteristics><extensionElements>"
    '<zeebe:loopCharacteristics inputCollection="=items" inputElement="k"/>'
    "</extensionElements></multiInstanceLoopCharacteristics>"
)
CALLS = (
    '<callActivity id="host"><extensionElements><zeebe:calledElement processId="child"/>'
    '<zeebe:ioMapping><zeebe:input source="=own" target="k"/></zeebe:ioMapping></extensionElements></callActivity>'
)
CHILD = model(start(), task("inside"), "start > inside", id="child")
HOSTS = {
    "task": task("host", **MAPPED),
    "sub-process": sub("host", start("in"), task("inside"), "in > inside", **MAPPED),
    "call activity": CALLS,
    "loop": task("host").replace("</serviceTask>", f"{LOOP}</serviceTask>"),
}
ROOTS = (message(), signal(), message("=name", "=k", "named"), signal("=name", "s-named"))


def hosted(host, *more, on="message"):
    parts = (host, boundary("host", on=on), end("done"), end("heard"), "start > host > done", "boundary > heard")
    return model(start(), *parts, *more, roots=ROOTS)


def waits(engine):
    return [(one.name, one.correlation_key) for one in engine.state.subscriptions.values()]


@pytest.mark.parametrize("host", HOSTS)
def test_the_key_of_a_message_sees_what_the_host_maps_for_itself(engine, host):
    """Inputs of a loop belong to its inner instances, which the event is not attached to."""
    key, other = ("around", "mapped") if host == "loop" else ("mapped", "around")
    engine.deploy(CHILD)
    engine.deploy(hosted(HOSTS[host]))
    instance = engine.start(k="around", own="mapped", items=["item"])
    assert waits(engine) == [("hello", key)]
    engine.run(PublishMessage("hello", other))
    assert engine.state_of(instance) == "ACTIVATED"
    engine.run(PublishMessage("hello", key))
    assert engine.state_of(instance) == "COMPLETED"


def test_it_sees_what_scopes_around_the_host_have(engine):
    inner = sub("scope", start("in"), task("host"), boundary("host"), "in > host", inputs=[("=inner", "k")])
    engine.deploy(model(start(), inner, "start > scope"))
    engine.start(k="outer", inner="scope")
    assert waits(engine) == [("hello", "scope")]


def test_a_variable_that_nobody_has_is_an_incident_of_the_host_that_ends_when_it_is_set(engine):
    engine.deploy(hosted(task("host")))
    key = engine.start()
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("host", "EXTRACT_VALUE_ERROR")]
    engine.set(key, k="around")
    engine.resolve()
    assert waits(engine) == [("hello", "around")]
    assert engine.jobs == ["host"]


def test_the_name_of_a_message_sees_what_the_host_maps(engine):
    named = boundary("host").replace('messageRef="m"', 'messageRef="named"')
    host = task("host", inputs=[("=own", "name"), ("=own", "k")])
    engine.deploy(model(start(), host, named, "start > host", roots=ROOTS))
    engine.start(k="around", name="outer", own="mapped")
    assert waits(engine) == [("mapped", "mapped")]


def test_the_name_of_a_signal_sees_what_the_host_maps(engine):
    named = boundary("host", on="signal").replace('signalRef="s"', 'signalRef="s-named"')
    host = task("host", inputs=[("=own", "name")])
    engine.deploy(model(start(), host, named, end("heard"), "start > host", "boundary > heard", roots=ROOTS))
    key = engine.start(name="outer", own="mapped")
    engine.run(BroadcastSignal("outer"))
    assert engine.state_of(key) == "ACTIVATED"
    engine.run(BroadcastSignal("mapped"))
    assert engine.state_of(key) == "COMPLETED"


def test_a_timer_sees_what_the_host_maps(engine):
    timed = (
        '<boundaryEvent id="late" attachedToRef="host"><timerEventDefinition><timeDuration>=wait</timeDuration>'
        "</timerEventDefinition></boundaryEvent>"
    )
    engine.deploy(model(start(), task("host", inputs=[("=own", "wait")]), timed, "start > host"))
    engine.start(wait="PT1H", own="PT1M")
    assert [timer.due_at - engine.memory.now for timer in engine.state.timers.values()] == [60_000]


def test_an_event_sub_process_sees_what_its_scope_maps(engine):
    """It begins in the scope, not beside it."""
    inner = sub("host", start("in"), task("work"), "in > work", event_sub("aside", end("noted"), "aside-start > noted"))
    mapping = '<extensionElements><zeebe:ioMapping><zeebe:input source="=own" target="k"/></zeebe:ioMapping>'
    inner = inner.replace('<subProcess id="host">', f'<subProcess id="host">{mapping}</extensionElements>', 1)
    engine.deploy(model(start(), inner, "start > host"))
    engine.start(k="around", own="mapped")
    assert waits(engine) == [("hello", "mapped")]
