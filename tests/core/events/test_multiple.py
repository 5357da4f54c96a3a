"""Events with several definitions, and shared definitions (BPMN 2.0.2 §10.5.1, §10.5.5); whole and in quanta."""

import pytest

from tests.core.bench import Bench, rebuilt
from tests.core.event_models import LIMITS, boundary, catch, ended, final, on, states, throw
from tests.core.event_models import model as with_codes
from tests.core.message_models import message, model, signal
from tests.core.models import end, par, start, sub, task
from vivero.core.records.instances import CreateInstance
from vivero.core.records.timers import FireTimer

MESSAGE, SIGNAL = '<messageEventDefinition messageRef="m"/>', '<signalEventDefinition signalRef="s"/>'
OTHER = '<signalEventDefinition signalRef="other"/>'
TIMER = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
CYCLE = "<timerEventDefinition><timeCycle>R3/PT1H</timeCycle></timerEventDefinition>"
CONDITION = "<conditionalEventDefinition><condition>=x > 10</condition></conditionalEventDefinition>"
ROOTS = (message(), message("told", None, "told"), signal(), signal("other", "other"))
ALL = (MESSAGE, SIGNAL, TIMER, CONDITION)

OCCUR = {
    "message": lambda bench, key: bench.publish("hello", "1", said=1),
    "signal": lambda bench, key: bench.broadcast("alarm", said=1),
    "timer": lambda bench, key: bench.accepted(timer_of(bench)),
    "condition": lambda bench, key: bench.set(key, x=11),
}


def timer_of(bench):
    (key,) = bench.state.timers
    return FireTimer(key)


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def bench(request):
    return Bench(LIMITS[request.param])


def run(bench, *parts, **variables):
    bench.deploy(model(*parts, roots=ROOTS))
    return bench.start(k="1", x=1, **variables)


def waits(bench):
    return len(bench.state.subscriptions) + len(bench.state.timers)


@pytest.mark.parametrize("first", OCCUR)
def test_a_catch_event_goes_on_at_the_first_and_waits_for_no_other(bench, first):
    key = run(bench, start(), catch("c", "".join(ALL)), task("t"), end(), "start > c > t > end")
    assert waits(bench) == 4
    rebuilt(bench)
    OCCUR[first](bench, key)
    assert bench.jobs == ["t"]
    assert waits(bench) == 0
    assert bench.variables("p").get("said") == (1 if first in ("message", "signal") else None)
    bench.complete("t")
    assert ended(bench, key) == "COMPLETED"


@pytest.mark.parametrize("first", OCCUR)
def test_an_interrupting_boundary_event(bench, first):
    key = run(bench, start(), task("t"), boundary("b", "t", "".join(ALL)), task("aside"), "start > t", "b > aside")
    OCCUR[first](bench, key)
    assert bench.jobs == ["aside"]
    assert waits(bench) == 0


@pytest.mark.parametrize("first", OCCUR)
def test_an_interrupting_event_sub_process(bench, first):
    handler = on("".join(ALL), "h", task("aside"), "h-start > aside")
    key = run(bench, start(), task("t"), handler, "start > t")
    OCCUR[first](bench, key)
    assert bench.jobs == ["aside"]
    assert waits(bench) == 0


def test_a_boundary_event_that_does_not_interrupt_stays_open_for_all(bench):
    parts = (boundary("b", "t", MESSAGE + SIGNAL + CYCLE, interrupting=False), task("aside"), "b > aside")
    key = run(bench, start(), task("t"), *parts, "start > t")
    for count, occurs in enumerate(("message", "signal", "timer", "message", "timer", "signal"), 1):
        OCCUR[occurs](bench, key)
        assert bench.jobs == ["aside"] * count + ["t"]
    bench.complete("t")
    assert waits(bench) == 0


def test_an_event_sub_process_that_does_not_interrupt_stays_open_for_all(bench):
    handler = on(MESSAGE + SIGNAL + CONDITION, "h", task("aside"), "h-start > aside", interrupting=False)
    key = run(bench, start(), task("t"), handler, "start > t")
    for count, occurs in enumerate(("signal", "condition", "message", "signal"), 1):
        OCCUR[occurs](bench, key)
        assert bench.jobs == ["aside"] * count + ["t"]


@pytest.mark.parametrize("first", ["message", "timer", "other"])
def test_behind_an_event_based_gateway(bench, first):
    parts = (catch("c", MESSAGE + TIMER), catch("d", OTHER), task("t"), task("u"), "g > c > t", "g > d > u")
    key = run(bench, start(), '<eventBasedGateway id="g"/>', "start > g", *parts)
    OCCUR[first](bench, key) if first != "other" else bench.broadcast("other")
    assert bench.jobs == ["u" if first == "other" else "t"]
    assert waits(bench) == 0


def test_each_starts_an_instance_of_its_own(bench):
    told = '<messageEventDefinition messageRef="told"/>'
    bench.deploy(model(f'<startEvent id="b">{told}{SIGNAL}{CYCLE}</startEvent>', task("t"), "b > t", roots=ROOTS))
    bench.publish("told", "")
    assert bench.jobs == ["t"]
    bench.broadcast("alarm")
    assert bench.jobs == ["t"] * 2
    bench.accepted(timer_of(bench))
    assert bench.jobs == ["t"] * 3
    assert bench.run(CreateInstance("p")).rejection is not None, "it has no none start event"


def test_a_cancelled_instance_waits_for_nothing(bench):
    key = run(bench, start(), catch("c", "".join(ALL)), "start > c")
    bench.cancel(key)
    assert ended(bench, key) == "TERMINATED"
    assert waits(bench) == 0


def test_one_that_cannot_be_awaited_is_an_incident_and_none_is_awaited(bench):
    bench.deploy(model(start(), catch("c", SIGNAL + MESSAGE), task("t"), "start > c > t", roots=ROOTS))
    key = bench.start(k=None)
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("c", "EXTRACT_VALUE_ERROR")]
    assert waits(bench) == 0
    bench.set(key, k="1")
    bench.resolve()
    assert waits(bench) == 2


# ---- throwing


def hears(id, definition):
    return (catch(id, definition), task(f"after-{id}"), f"f > {id} > after-{id}")


PUBLISHED = MESSAGE.replace(
    "/>",
    '><extensionElements><zeebe:publishMessage correlationKey="=k"/></extensionElements></messageEventDefinition>',
)


@pytest.mark.parametrize("definitions", [PUBLISHED + SIGNAL + OTHER, OTHER + SIGNAL + PUBLISHED])
@pytest.mark.parametrize("tag", [throw, final])
def test_all_are_thrown_and_then_it_completes(bench, definitions, tag):
    parts = (*hears("c", MESSAGE), *hears("d", SIGNAL), *hears("e", OTHER))
    behind = (task("t"), "x > t") if tag is throw else ()
    key = run(bench, start(), par("f"), task("go"), *parts, tag("x", definitions), "start > f > go > x", *behind)
    bench.complete("go")
    assert bench.jobs == sorted(["after-c", "after-d", "after-e", *(["t"] if behind else [])])
    assert states(bench, "x") == ["COMPLETED"]
    while bench.jobs:
        bench.complete(bench.jobs[0])
    assert ended(bench, key) == "COMPLETED"


def test_nothing_is_thrown_if_one_cannot_be(bench):
    parts = (*hears("d", SIGNAL), throw("x", SIGNAL + PUBLISHED), task("t"), "start > f > go > x > t")
    bench.deploy(model(start(), par("f"), task("go"), *parts, roots=ROOTS))
    key = bench.start(k=None)
    bench.complete("go")
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("x", "EXTRACT_VALUE_ERROR")]
    assert bench.jobs == []
    bench.set(key, k="1")
    bench.resolve()
    assert bench.jobs == ["after-d", "t"]


def test_what_follows_an_interrupting_escalation_is_not_thrown(bench):
    escalation = '<escalationEventDefinition escalationRef="escalation-A"/>'
    inner = sub("s", start("i"), throw("x", escalation + SIGNAL), "i > x")
    parts = (par("f"), inner, boundary("b", "s", escalation), task("caught"), *hears("d", SIGNAL))
    bench.deploy(with_codes(start(), *parts, "start > f > s", "b > caught", beside=(signal(),)))
    bench.start()
    assert bench.jobs == ["caught"]


def test_what_follows_an_escalation_beside_is_thrown(bench):
    escalation = '<escalationEventDefinition escalationRef="escalation-A"/>'
    inner = sub("s", start("i"), task("go"), throw("x", escalation + SIGNAL), "i > go > x")
    caught = boundary("b", "s", escalation, interrupting=False)
    parts = (par("f"), inner, caught, task("caught"), *hears("d", SIGNAL))
    bench.deploy(with_codes(start(), *parts, "start > f > s", "b > caught", beside=(signal(),)))
    bench.start()
    bench.complete("go")
    assert bench.jobs == ["after-d", "caught"]
    assert states(bench, "x") == ["COMPLETED"]


@pytest.mark.parametrize(
    ("last", "job"),
    [
        ('<errorEventDefinition errorRef="error-A"/>', ["after-d", "caught"]),
        ("<terminateEventDefinition/>", ["after-d", "on"]),
    ],
)
def test_an_end_event_may_end_its_scope_at_last(bench, last, job):
    inner = sub(
        "s", start("i"), par("g"), task("go"), task("other"), final("x", SIGNAL + last), "i > g > go > x", "g > other"
    )
    caught = boundary("b", "s", '<errorEventDefinition errorRef="error-A"/>')
    parts = (par("f"), inner, caught, task("caught"), task("on"), *hears("d", SIGNAL))
    bench.deploy(with_codes(start(), *parts, "start > f > s > on", "b > caught", beside=(signal(),)))
    bench.start()
    bench.complete("go")
    assert bench.jobs == job


# ---- shared definitions


@pytest.mark.parametrize("first", ["signal", "timer"])
def test_events_share_definitions(bench, first):
    """As if they stood in each of them; referred to once and twice."""
    timer = TIMER.replace("<timerEventDefinition", '<timerEventDefinition id="td"')
    shared = f'<signalEventDefinition id="sd" signalRef="s"/>{timer}'
    references = "<eventDefinitionRef>sd</eventDefinitionRef><eventDefinitionRef>td</eventDefinitionRef>"
    parts = (catch("c", references), task("t"), boundary("b", "t", "<eventDefinitionRef>td</eventDefinitionRef>"))
    bench.deploy(model(start(), *parts, task("late"), "start > c > t", "b > late", roots=(*ROOTS, shared)))
    key = bench.start()
    OCCUR[first](bench, key)
    assert bench.jobs == ["t"]
    OCCUR["timer"](bench, key)
    assert bench.jobs == ["late"]
