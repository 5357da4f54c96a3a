"""A message or signal comes between the quanta of another command: for what is still open, and waits no longer."""

from functools import partial

import pytest

from tests.core.engine import Engine, raw
from tests.core.message_models import boundary, catch, event_sub, message, model, receive, starts
from tests.core.models import end, start, sub, task
from tests.core.quanta import run_first, run_until
from vivero.core.execution.step import StepLimits
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance
from vivero.core.records.messages import (
    CorrelateMessage,
    Offer,
    PublishMessage,
    SubscriptionTriggered,
    TriggerSubscription,
)
from vivero.core.records.signals import BroadcastSignal
from vivero.core.state.instance_tree import ElementState
from vivero.core.state.message_channels import CORRELATING, OPEN

ASIDE = event_sub("aside", end("e"), "aside-start > e")
WAITS = {
    "receive": model(start(), receive("host"), end("e"), "start > host > e"),
    "boundary": model(start(), task("host"), boundary("host", "b"), end("e"), "start > host", "b > e"),
    "beside": model(
        start(), task("host"), boundary("host", "b", interrupting=False), end("e"), "start > host", "b > e"
    ),
    "event sub-process": model(start(), sub("host", start("i"), task("work"), ASIDE, "i > work"), "start > host"),
}
every_wait = pytest.mark.parametrize("wait", WAITS)
however_far = pytest.mark.parametrize("how_far", ["told", "closed"])


@pytest.fixture
def engine():
    """Every item of work is a quantum of its own, and follow-ups go through the log and come first: so others come
    between. And nothing is a bug."""
    engine = Engine(StepLimits(quantum_items=1, inline_follow_ups=False))
    engine.run = partial(run_first, engine)
    yield engine
    assert engine.memory.processor.notices.poisoned == []


def waiting(engine, wait, how_far="told", others=1):
    """Instances that wait, their keys. The first has been told to end, and may have closed its subscription; but the
    channel has not heard of it."""
    engine.deploy(WAITS[wait])
    first, *keys = (engine.start(k="x") for _ in range(1 + others))
    host = engine.at(first, "p/host")
    (stale,) = host.waits.subscriptions.values()
    told, closed = lambda: host.state is ElementState.TERMINATING, lambda: stale.ended_at is not None
    run_until(engine, CancelInstance(first), closed if how_far == "closed" else told)
    assert how_far == "closed" or stale.key in engine.state.subscriptions
    assert channel(engine).subscriptions[stale.key].state == OPEN
    return first, *keys


def channel(engine):
    return engine.state.channels["<default>", "x"]


def received(engine):
    """The instances that have got a message."""
    return [row["instance"] for (table, _), row in engine.rows.items() if table == "Correlation"]


def correlated(engine):
    """The answer to a client that correlates, in whatever row."""
    position = len(engine.memory.log) + 1
    engine.run(CorrelateMessage("hello", "x"))
    rows = [row for logged in engine.memory.log for row in logged.handled if row.answered and row.request == position]
    (row,) = rows
    return row


@however_far
@every_wait
def test_a_message_goes_past_what_is_to_end_to_the_next_that_waits(engine, wait, how_far):
    first, second = waiting(engine, wait, how_far)
    engine.run(PublishMessage("hello", "x", variables=raw({"n": 1})))
    assert received(engine) == [second]
    assert engine.state_of(first) == "TERMINATED"
    left = [engine.at(second, "p/host")] if wait == "beside" else []
    assert list(channel(engine).subscriptions) == [key for host in left for key in host.waits.subscriptions]


@however_far
@every_wait
def test_who_correlates_hears_of_the_next_that_waits(engine, wait, how_far):
    _, second = waiting(engine, wait, how_far)
    assert correlated(engine).response.process_instance_key == second


@however_far
@every_wait
def test_who_correlates_to_what_is_to_end_alone_hears_that_nobody_waits(engine, wait, how_far):
    waiting(engine, wait, how_far, others=0)
    assert correlated(engine).rejection.code == RejectionCode.NOT_FOUND
    assert received(engine) == []


@however_far
@every_wait
def test_a_kept_message_that_what_is_to_end_did_not_take_waits_on(engine, wait, how_far):
    waiting(engine, wait, how_far, others=0)
    engine.run(PublishMessage("hello", "x", 1_000, variables=raw({"n": 1})))
    assert [message.given for message in channel(engine).messages.values()] == [()]
    later = engine.start(k="x")
    assert received(engine) == [later]
    assert [message.given for message in channel(engine).messages.values()] == [("p",)]


@however_far
def test_a_message_that_is_not_taken_stays_in_its_process(engine, how_far):
    """Every process gets it once: what one of them did not take is not for the others, who have got it."""
    other = model(start(), receive("host"), end("e"), "start > host > e", id="q")
    engine.deploy(other)
    (first,) = waiting(engine, "receive", how_far, others=0)
    others = [engine.start("q", k="x") for _ in range(2)]
    engine.run(PublishMessage("hello", "x"))
    assert received(engine) == others[:1]
    assert engine.state_of(first) == "TERMINATED"


def test_a_message_that_is_not_taken_starts_an_instance(engine):
    """As it would have, had what is to end not been there."""
    parts = (starts("begin", "m"), start("by-hand"), receive("host"), end("e"), "begin > e", "by-hand > host > e")
    engine.deploy(model(*parts, roots=(message(),)))
    instance = engine.start(k="x")
    host = engine.at(instance, "p/host")
    run_until(engine, CancelInstance(instance), lambda: host.state is ElementState.TERMINATING)
    engine.run(PublishMessage("hello", "x", 1_000, variables=raw({"n": 1})))
    (started,) = received(engine)
    assert (engine.state_of(started), engine.variables_of(started)) == ("COMPLETED", {"n": 1})
    assert not channel(engine).locks


def test_what_waits_beside_another_message_takes_one_that_is_not_kept_at_once(engine):
    """As when it is published: who interrupts nothing takes any number, and is not asked to wait for the one before."""
    first, second = waiting(engine, "beside")
    other = channel(engine).subscriptions[next(iter(engine.at(second, "p/host").waits.subscriptions))]
    other.state = CORRELATING
    engine.run(PublishMessage("hello", "x"))
    assert received(engine) == [second]
    assert engine.state_of(first) == "TERMINATED"


def test_a_message_goes_past_what_another_has_reached(engine):
    """It has been triggered, and a later quantum is to close what it waited for."""
    engine.deploy(WAITS["receive"])
    first, second = engine.start(k="x"), engine.start(k="x")
    (key,) = engine.at(first, "p/host").waits.subscriptions
    stale = engine.state.subscriptions[key]
    run_until(engine, PublishMessage("hello", "x", variables=raw({"n": 1})), lambda: stale.state == "CORRELATED")
    assert key in engine.state.subscriptions
    assert channel(engine).subscriptions[key].state == CORRELATING
    engine.run(TriggerSubscription(key, Offer("hello", {"n": "2"}, 4711, "x")))
    assert received(engine) == [first, second]
    assert [engine.variables_of(instance)["n"] for instance in (first, second)] == [1, 2]


def test_what_a_signal_has_reached_is_not_reached_by_another(engine):
    engine.deploy(model(start(), catch("wait", "signal"), end(), "start > wait > end"))
    instance = engine.start()
    (subscription,) = engine.state.subscriptions.values()
    run_until(engine, BroadcastSignal("alarm", raw({"n": 1})), lambda: subscription.state == "CORRELATED")
    engine.run(BroadcastSignal("alarm", raw({"n": 2})))
    events = [event for logged in engine.memory.log for handled in logged.handled for event in handled.events]
    assert [event.key for event in events if isinstance(event, SubscriptionTriggered)] == [subscription.key]
    assert engine.variables_of(instance) == {"n": 1}


def test_a_signal_does_not_start_an_event_sub_process_in_what_is_to_end(engine):
    aside = event_sub("aside", task("inner"), "aside-start > inner", on="signal", interrupting=False)
    engine.deploy(model(start(), sub("host", start("i"), task("work"), aside, "i > work"), "start > host"))
    instance = engine.start()
    host = engine.element("host")
    run_until(engine, CancelInstance(instance), lambda: host.state is ElementState.TERMINATING)
    assert host.waits.subscriptions
    engine.run(BroadcastSignal("alarm"))
    assert engine.state_of(instance) == "TERMINATED"
    assert not [row for (table, _), row in engine.rows.items() if table == "Job" and row["type"] == "inner"]
