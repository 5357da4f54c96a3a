"""Which variables the expressions of a boundary event see: the key of a message those around its host, others all."""

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


def waits(bench):
    return [(one.name, one.correlation_key) for one in bench.state.subscriptions.values()]


@pytest.mark.parametrize("host", HOSTS)
def test_the_key_of_a_message_does_not_see_what_the_host_maps_for_itself(bench, host):
    bench.deploy(CHILD)
    bench.deploy(hosted(HOSTS[host]))
    key = bench.start(k="around", own="mapped", items=["item"])
    assert waits(bench) == [("hello", "around")]
    bench.run(PublishMessage("hello", "mapped"))
    assert bench.state_of(key) == "ACTIVATED"
    bench.run(PublishMessage("hello", "around"))
    assert bench.state_of(key) == "COMPLETED"


def test_it_sees_what_scopes_around_the_host_have(bench):
    inner = sub("scope", start("in"), HOSTS["task"], boundary("host"), "in > host", inputs=[("=inner", "k")])
    bench.deploy(model(start(), inner, "start > scope"))
    bench.start(k="outer", inner="scope", own="mapped")
    assert waits(bench) == [("hello", "scope")]


def test_a_variable_that_only_the_host_has_is_an_incident_that_ends_when_it_is_set_around(bench):
    bench.deploy(hosted(HOSTS["task"]))
    key = bench.start(own="mapped")
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("host", "EXTRACT_VALUE_ERROR")]
    bench.set(key, k="around")
    bench.resolve()
    assert waits(bench) == [("hello", "around")]
    assert bench.jobs == ["host"]


def test_the_name_of_a_message_sees_what_the_host_maps(bench):
    named = boundary("host").replace('messageRef="m"', 'messageRef="named"')
    host = task("host", inputs=[("=own", "name"), ("=own", "k")])
    bench.deploy(model(start(), host, named, "start > host", roots=ROOTS))
    bench.start(k="around", name="outer", own="mapped")
    assert waits(bench) == [("mapped", "around")]


def test_the_name_of_a_signal_sees_what_the_host_maps(bench):
    named = boundary("host", on="signal").replace('signalRef="s"', 'signalRef="s-named"')
    host = task("host", inputs=[("=own", "name")])
    bench.deploy(model(start(), host, named, end("heard"), "start > host", "boundary > heard", roots=ROOTS))
    key = bench.start(name="outer", own="mapped")
    bench.run(BroadcastSignal("outer"))
    assert bench.state_of(key) == "ACTIVATED"
    bench.run(BroadcastSignal("mapped"))
    assert bench.state_of(key) == "COMPLETED"


def test_a_timer_sees_what_the_host_maps(bench):
    timed = (
        '<boundaryEvent id="late" attachedToRef="host"><timerEventDefinition><timeDuration>=wait</timeDuration>'
        "</timerEventDefinition></boundaryEvent>"
    )
    bench.deploy(model(start(), task("host", inputs=[("=own", "wait")]), timed, "start > host"))
    bench.start(wait="PT1H", own="PT1M")
    assert [timer.due_at - bench.engine.now for timer in bench.state.timers.values()] == [60_000]


def test_an_event_sub_process_sees_what_its_scope_maps(bench):
    """It begins in the scope, not beside it."""
    inner = sub("host", start("in"), task("work"), "in > work", event_sub("aside", end("noted"), "aside-start > noted"))
    mapping = '<extensionElements><zeebe:ioMapping><zeebe:input source="=own" target="k"/></zeebe:ioMapping>'
    inner = inner.replace('<subProcess id="host">', f'<subProcess id="host">{mapping}</extensionElements>', 1)
    bench.deploy(model(start(), inner, "start > host"))
    bench.start(k="around", own="mapped")
    assert waits(bench) == [("hello", "mapped")]
