"""Events with several definitions, and shared definitions (BPMN 2.0.2 §10.5.1, §10.5.5); whole and in quanta."""

import pytest

from tests.core.engine import Engine, rebuilt
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
    "message": lambda engine, key: engine.publish("hello", "1", said=1),
    "signal": lambda engine, key: engine.broadcast("alarm", said=1),
    "timer": lambda engine, key: engine.accepted(timer_of(engine)),
    "condition": lambda engine, key: engine.set(key, x=11),
}


def timer_of(engine):
    (key,) = engine.state.timers
    return FireTimer(key)


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def run(engine, *parts, **variables):
    engine.deploy(model(*parts, roots=ROOTS))
    return engine.start(k="1", x=1, **variables)


def waits(engine):
    return len(engine.state.subscriptions) + len(engine.state.timers)


@pytest.mark.parametrize("first", OCCUR)
def test_a_catch_event_goes_on_at_the_first_and_waits_for_no_other(engine, first):
    key = run(engine, start(), catch("c", "".join(ALL)), task("t"), end(), "start > c > t > end")
    assert waits(engine) == 4
    rebuilt(engine)
    OCCUR[first](engine, key)
    assert engine.jobs == ["t"]
    assert waits(engine) == 0
    assert engine.variables("p").get("said") == (1 if first in ("message", "signal") else None)
    engine.complete("t")
    assert ended(engine, key) == "COMPLETED"


@pytest.mark.parametrize("first", OCCUR)
def test_an_interrupting_boundary_event(engine, first):
    key = run(engine, start(), task("t"), boundary("b", "t", "".join(ALL)), task("aside"), "start > t", "b > aside")
    OCCUR[first](engine, key)
    assert engine.jobs == ["aside"]
    assert waits(engine) == 0


@pytest.mark.parametrize("first", OCCUR)
def test_an_interrupting_event_sub_process(engine, first):
    handler = on("".join(ALL), "h", task("aside"), "h-start > aside")
    key = run(engine, start(), task("t"), handler, "start > t")
    OCCUR[first](engine, key)
    assert engine.jobs == ["aside"]
    assert waits(engine) == 0


def test_a_boundary_event_that_does_not_interrupt_stays_open_for_all(engine):
    parts = (boundary("b", "t", MESSAGE + SIGNAL + CYCLE, interrupting=False), task("aside"), "b > aside")
    key = run(engine, start(), task("t"), *parts, "start > t")
    for count, occurs in enumerate(("message", "signal", "timer", "message", "timer", "signal"), 1):
        OCCUR[occurs](engine, key)
        assert engine.jobs == ["aside"] * count + ["t"]
    engine.complete("t")
    assert waits(engine) == 0


def test_an_event_sub_process_that_does_not_interrupt_stays_open_for_all(engine):
    handler = on(MESSAGE + SIGNAL + CONDITION, "h", task("aside"), "h-start > aside", interrupting=False)
    key = run(engine, start(), task("t"), handler, "start > t")
    for count, occurs in enumerate(("signal", "condition", "message", "signal"), 1):
        OCCUR[occurs](engine, key)
        assert engine.jobs == ["aside"] * count + ["t"]


@pytest.mark.parametrize("first", ["message", "timer", "other"])
def test_behind_an_event_based_gateway(engine, first):
    parts = (catch("c", MESSAGE + TIMER), catch("d", OTHER), task("t"), task("u"), "g > c > t", "g > d > u")
    key = run(engine, start(), '<eventBasedGateway id="g"/>', "start > g", *parts)
    OCCUR[first](engine, key) if first != "other" else engine.broadcast("other")
    assert engine.jobs == ["u" if first == "other" else "t"]
    assert waits(engine) == 0


def test_each_starts_an_instance_of_its_own(engine):
    told = '<messageEventDefinition messageRef="told"/>'
    engine.deploy(model(f'<startEvent id="b">{told}{SIGNAL}{CYCLE}</startEvent>', task("t"), "b > t", roots=ROOTS))
    engine.publish("told", "")
    assert engine.jobs == ["t"]
    engine.broadcast("alarm")
    assert engine.jobs == ["t"] * 2
    engine.accepted(timer_of(engine))
    assert engine.jobs == ["t"] * 3
    assert engine.run(CreateInstance("p")).rejection is not None, "it has no none start event"


def test_a_cancelled_instance_waits_for_nothing(engine):
    key = run(engine, start(), catch("c", "".join(ALL)), "start > c")
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"
    assert waits(engine) == 0


def test_one_that_cannot_be_awaited_is_an_incident_and_none_is_awaited(engine):
    engine.deploy(model(start(), catch("c", SIGNAL + MESSAGE), task("t"), "start > c > t", roots=ROOTS))
    key = engine.start(k=None)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("c", "EXTRACT_VALUE_ERROR")]
    assert waits(engine) == 0
    engine.set(key, k="1")
    engine.resolve()
    assert waits(engine) == 2


# ---- throwing


def hears(id, definition):
    return (catch(id, definition), task(f"after-{id}"), f"f > {id} > after-{id}")


PUBLISHED = MESSAGE.replace(
    "/>",
    '><extensionElements><zeebe:publishMessage correlationKey="=k"/></extensionElements></messageEventDefinition>',
)


@pytest.mark.parametrize("definitions", [PUBLISHED + SIGNAL + OTHER, OTHER + SIGNAL + PUBLISHED])
@pytest.mark.parametrize("tag", [throw, final])
def test_all_are_thrown_and_then_it_completes(engine, definitions, tag):
    parts = (*hears("c", MESSAGE), *hears("d", SIGNAL), *hears("e", OTHER))
    behind = (task("t"), "x > t") if tag is throw else ()
    key = run(engine, start(), par("f"), task("go"), *parts, tag("x", definitions), "start > f > go > x", *behind)
    engine.complete("go")
    assert engine.jobs == sorted(["after-c", "after-d", "after-e", *(["t"] if behind else [])])
    assert states(engine, "x") == ["COMPLETED"]
    while engine.jobs:
        engine.complete(engine.jobs[0])
    assert ended(engine, key) == "COMPLETED"


def test_nothing_is_thrown_if_one_cannot_be(engine):
    parts = (*hears("d", SIGNAL), throw("x", SIGNAL + PUBLISHED), task("t"), "start > f > go > x > t")
    engine.deploy(model(start(), par("f"), task("go"), *parts, roots=ROOTS))
    key = engine.start(k=None)
    engine.complete("go")
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("x", "EXTRACT_VALUE_ERROR")]
    assert engine.jobs == []
    engine.set(key, k="1")
    engine.resolve()
    assert engine.jobs == ["after-d", "t"]


def test_what_follows_an_interrupting_escalation_is_not_thrown(engine):
    escalation = '<escalationEventDefinition escalationRef="escalation-A"/>'
    inner = sub("s", start("i"), throw("x", escalation + SIGNAL), "i > x")
    parts = (par("f"), inner, boundary("b", "s", escalation), task("caught"), *hears("d", SIGNAL))
    engine.deploy(with_codes(start(), *parts, "start > f > s", "b > caught", beside=(signal(),)))
    engine.start()
    assert engine.jobs == ["caught"]


def test_what_follows_an_escalation_beside_is_thrown(engine):
    escalation = '<escalationEventDefinition escalationRef="escalation-A"/>'
    inner = sub("s", start("i"), task("go"), throw("x", escalation + SIGNAL), "i > go > x")
    caught = boundary("b", "s", escalation, interrupting=False)
    parts = (par("f"), inner, caught, task("caught"), *hears("d", SIGNAL))
    engine.deploy(with_codes(start(), *parts, "start > f > s", "b > caught", beside=(signal(),)))
    engine.start()
    engine.complete("go")
    assert engine.jobs == ["after-d", "caught"]
    assert states(engine, "x") == ["COMPLETED"]


@pytest.mark.parametrize(
    ("last", "job"),
    [
        ('<errorEventDefinition errorRef="error-A"/>', ["after-d", "caught"]),
        ("<terminateEventDefinition/>", ["after-d", "on"]),
    ],
)
def test_an_end_event_may_end_its_scope_at_last(engine, last, job):
    inner = sub(
        "s", start("i"), par("g"), task("go"), task("other"), final("x", SIGNAL + last), "i > g > go > x", "g > other"
    )
    caught = boundary("b", "s", '<errorEventDefinition errorRef="error-A"/>')
    parts = (par("f"), inner, caught, task("caught"), task("on"), *hears("d", SIGNAL))
    engine.deploy(with_codes(start(), *parts, "start > f > s > on", "b > caught", beside=(signal(),)))
    engine.start()
    engine.complete("go")
    assert engine.jobs == job


# ---- shared definitions


@pytest.mark.parametrize("first", ["signal", "timer"])
def test_events_share_definitions(engine, first):
    """As if they stood in each of them; referred to once and twice."""
    timer = TIMER.replace("<timerEventDefinition", '<timerEventDefinition id="td"')
    shared = f'<signalEventDefinition id="sd" signalRef="s"/>{timer}'
    references = "<eventDefinitionRef>sd</eventDefinitionRef><eventDefinitionRef>td</eventDefinitionRef>"
    parts = (catch("c", references), task("t"), boundary("b", "t", "<eventDefinitionRef>td</eventDefinitionRef>"))
    engine.deploy(model(start(), *parts, task("late"), "start > c > t", "b > late", roots=(*ROOTS, shared)))
    key = engine.start()
    OCCUR[first](engine, key)
    assert engine.jobs == ["t"]
    OCCUR["timer"](engine, key)
    assert engine.jobs == ["late"]
