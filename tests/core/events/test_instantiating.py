"""Receive tasks and event-based gateways that start a process (BPMN 2.0.2 §10.3.3, §10.6.6, §13.5.6)."""

from itertools import permutations

import pytest

from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import LIMITS, boundary, catch, mapped, on
from tests.core.events.test_message_starts import instances, live, open_starts
from tests.core.message_models import message, model, signal
from tests.core.models import end, par, task
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CreateInstance
from vivero.core.records.messages import CorrelateMessage
from vivero.core.records.timers import FireTimer

ROOTS = (
    message("A", None, "a"),
    message("B", None, "b"),
    message("C", None, "c"),
    message(),
    signal(),
    signal("calm", "calm"),
)
A, B, C = (f'<messageEventDefinition messageRef="{name}"/>' for name in "abc")
SIGNAL = '<signalEventDefinition signalRef="s"/>'
CYCLE = "<timerEventDefinition><timeCycle>R2/PT1H</timeCycle></timerEventDefinition>"


def receives(id="r", name="a", content="", instantiate="true"):
    return f'<receiveTask id="{id}" messageRef="{name}" instantiate="{instantiate}">{content}</receiveTask>'


def gateway(*events, kind="Exclusive"):
    """A process that begins at one of the events: (id, element)."""
    flows = [f"g > {id} > after-{id} > j" for id, _ in events]
    return model(
        f'<eventBasedGateway id="g" instantiate="true" eventGatewayType="{kind}"/>',
        *(element for _, element in events),
        *(task(f"after-{id}") for id, _ in events),
        (par if kind == "Parallel" else '<exclusiveGateway id="{}"/>'.format)("j"),
        task("last"),
        end(),
        *flows,
        "j > last > end",
        roots=ROOTS,
    )


TWO = (("c", catch("c", A)), ("d", catch("d", B)))
RECEIVED = model(receives(), task("t"), end(), "r > t > end", roots=ROOTS)


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


# ---- receive tasks


def test_a_message_starts_an_instance_at_the_receive_task(engine):
    engine.deploy(RECEIVED)
    engine.publish("A", "x", n=1)
    (key,) = live(engine)
    assert engine.jobs == ["t"]
    assert engine.variables_of(key) == {"n": 1}
    rebuilt(engine)
    engine.complete("t")
    assert engine.state_of(key) == "COMPLETED"


def test_a_stored_message_starts_the_next_when_the_first_has_ended(engine):
    engine.deploy(RECEIVED)
    for number in (1, 2):
        engine.publish("A", "x", ttl_ms=60_000, n=number)
    assert len(instances(engine)) == 1, "the key is locked"
    engine.complete("t")
    assert len(instances(engine)) == 2
    assert [engine.variables_of(key)["n"] for key in live(engine)] == [2]


def test_a_new_version_replaces_the_old_one(engine):
    (first,) = engine.deploy(RECEIVED)
    (second,) = engine.deploy(RECEIVED.replace(b'"t"', b'"u"'))
    assert first != second
    assert open_starts(engine) == [("A", second)]
    engine.publish("A", "")
    assert engine.jobs == ["u"]


def test_a_command_cannot_start_it(engine):
    engine.deploy(RECEIVED)
    assert engine.run(CreateInstance("p")).rejection.code is RejectionCode.INVALID_STATE
    rejection = engine.run(CreateInstance("p", start_elements=("r",))).rejection
    assert rejection.code is RejectionCode.INVALID_ARGUMENT
    assert "'r' starts the process by an event" in rejection.reason


def test_mappings_listeners_and_boundary_events_of_it(engine):
    """Its boundary event never waits, though the end of the task is."""
    listener = (
        '<zeebe:executionListeners><zeebe:executionListener eventType="end" type="l"/></zeebe:executionListeners>'
    )
    outputs = [("=n + 1", "m")]
    content = mapped(listener, inputs=[("=5", "five")], outputs=outputs)
    parts = (receives(content=content), boundary("b", "r", SIGNAL), task("aside"), task("t"), "r > t", "b > aside")
    engine.deploy(model(*parts, roots=ROOTS))
    engine.publish("A", "x", n=1)
    assert engine.jobs == ["r"]
    assert not engine.state.subscriptions
    engine.broadcast("alarm")
    engine.complete("r")
    assert engine.jobs == ["t"]
    (key,) = live(engine)
    assert engine.variables_of(key) == {"m": 2}


def test_an_event_sub_process_beside_it_waits(engine):
    handler = on(SIGNAL, "h", task("handled"), "h-start > handled", interrupting=False)
    engine.deploy(model(receives(), task("t"), handler, "r > t", roots=ROOTS))
    engine.publish("A", "x")
    engine.broadcast("alarm")
    assert engine.jobs == ["handled", "t"]


def test_beside_a_start_event(engine):
    engine.deploy(model('<startEvent id="s"/>', task("u"), "s > u", receives(), task("t"), "r > t", roots=ROOTS))
    engine.start()
    engine.publish("A", "x")
    assert engine.jobs == ["t", "u"]


# ---- exclusive gateways


@pytest.mark.parametrize("name", ["A", "B"])
def test_the_first_message_starts_an_instance_at_its_event(engine, name):
    engine.deploy(gateway(*TWO))
    engine.publish(name, "x", n=1)
    assert engine.jobs == ["after-c" if name == "A" else "after-d"]
    assert not engine.state.subscriptions
    (key,) = live(engine)
    assert engine.variables_of(key) == {"n": 1}


def test_the_second_message_does_not_reach_the_first_instance(engine):
    engine.deploy(gateway(*TWO))
    engine.publish("A", "x")
    engine.publish("B", "x", ttl_ms=60_000)
    assert engine.jobs == ["after-c"]
    engine.publish("B", "y")
    assert engine.jobs == ["after-c", "after-d"]
    engine.complete("after-c")
    engine.complete("last")
    assert engine.jobs == ["after-d", "after-d"], "the kept message of the key starts an instance"


def test_signals_and_timers_behind_it(engine):
    calm = '<signalEventDefinition signalRef="calm"/>'
    events = (("c", catch("c", SIGNAL)), ("e", catch("e", CYCLE)), ("f", catch("f", A + calm)))
    engine.deploy(gateway(*events))
    engine.broadcast("alarm")
    engine.broadcast("calm")
    engine.publish("A", "")
    (timer,) = engine.state.timers
    engine.accepted(FireTimer(timer))
    assert engine.jobs == ["after-c", "after-e", "after-f", "after-f"]


def test_a_receive_task_behind_it(engine):
    engine.deploy(gateway(("c", catch("c", SIGNAL)), ("d", receives("d", "b", instantiate="false"))))
    engine.publish("B", "x")
    engine.broadcast("alarm")
    assert engine.jobs == ["after-c", "after-d"]


# ---- parallel gateways


@pytest.mark.parametrize("order", list(permutations("ABC")))
def test_the_instance_awaits_the_other_messages_of_the_key(engine, order):
    if order[0] == "A":
        events = (("c", catch("c", A)), ("d", catch("d", B)), ("e", catch("e", C)))
    else:
        events = tuple((id, receives(id, name, instantiate="false")) for id, name in zip("cde", "abc", strict=True))
    engine.deploy(gateway(*events, kind="Parallel"))
    after = {"A": "after-c", "B": "after-d", "C": "after-e"}
    for number, name in enumerate(order, 1):
        engine.publish(name, "other")
        engine.publish(name, "x", **{name: number})
        assert sorted(engine.jobs) == sorted(2 * [after[one] for one in order[:number]])
        rebuilt(engine)
    first, second = instances(engine)
    assert engine.variables_of(second) == {name: number for number, name in enumerate(order, 1)}
    assert engine.variables_of(first) == {}
    for name in order:
        engine.complete(after[name])
        engine.complete(after[name])
    for _ in range(2):
        engine.complete("last")
    assert not engine.state.elements


def test_a_duplicate_of_the_first_waits_for_the_end(engine):
    engine.deploy(gateway(*TWO, kind="Parallel"))
    engine.publish("A", "x", ttl_ms=60_000, n=1)
    engine.publish("A", "x", ttl_ms=60_000, n=2)
    assert engine.jobs == ["after-c"]
    engine.publish("B", "x")
    for job in ("after-c", "after-d", "last"):
        engine.complete(job)
    assert engine.jobs == ["after-c"]
    assert [engine.variables_of(key)["n"] for key in live(engine)] == [2]


def test_it_does_not_complete_before_all_have_occurred(engine):
    engine.deploy(gateway(*TWO, kind="Parallel"))
    engine.publish("A", "x")
    engine.complete("after-c")
    (key,) = live(engine)
    assert engine.elements == ["d", "p"]
    engine.publish("B", "x")
    engine.complete("after-d")
    engine.complete("last")
    assert engine.state_of(key) == "COMPLETED"


def test_messages_without_a_key_start_nothing(engine):
    engine.deploy(gateway(*TWO, kind="Parallel"))
    engine.publish("A", "")
    assert not live(engine)
    rejection = engine.run(CorrelateMessage("A", "", raw({}))).rejection
    assert rejection.code is RejectionCode.NOT_FOUND


def test_a_running_instance_keeps_its_version(engine):
    old, new = gateway(*TWO, kind="Parallel"), gateway(*TWO, kind="Parallel").replace(b"last", b"newest")
    engine.deploy(old)
    engine.publish("A", "x")
    engine.deploy(new)
    engine.publish("B", "x")
    for job in ("after-c", "after-d"):
        engine.complete(job)
    assert engine.jobs == ["last"]


def test_cancelled_while_it_waits(engine):
    engine.deploy(gateway(*TWO, kind="Parallel"))
    engine.publish("A", "x")
    engine.cancel(live(engine)[0])
    assert not engine.state.subscriptions
    engine.publish("B", "x")
    assert engine.jobs == ["after-d"], "it starts the next one"
