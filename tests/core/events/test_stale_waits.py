"""A message or signal comes between the quanta of another command: for what is still open, and waits no longer."""

from functools import partial

import pytest

from tests.core.bench import Bench, raw
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
def bench():
    """Every item of work is a quantum of its own, and follow-ups go through the log and come first: so others come
    between. And nothing is a bug."""
    bench = Bench(StepLimits(quantum_items=1, inline_follow_ups=False))
    bench.run = partial(run_first, bench)
    yield bench
    assert bench.engine.processor.notices.poisoned == []


def waiting(bench, wait, how_far="told", others=1):
    """Instances that wait, their keys. The first has been told to end, and may have closed its subscription; but the
    channel has not heard of it."""
    bench.deploy(WAITS[wait])
    first, *keys = (bench.start(k="x") for _ in range(1 + others))
    host = bench.at(first, "p/host")
    (stale,) = host.waits.subscriptions.values()
    told, closed = lambda: host.state is ElementState.TERMINATING, lambda: stale.ended_at is not None
    run_until(bench, CancelInstance(first), closed if how_far == "closed" else told)
    assert how_far == "closed" or stale.key in bench.state.subscriptions
    assert channel(bench).subscriptions[stale.key].state == OPEN
    return first, *keys


def channel(bench):
    return bench.state.channels["<default>", "x"]


def received(bench):
    """The instances that have got a message."""
    return [row["instance"] for (table, _), row in bench.rows.items() if table == "Correlation"]


def correlated(bench):
    """What who correlates is answered, in whatever row."""
    position = len(bench.engine.log) + 1
    bench.run(CorrelateMessage("hello", "x"))
    rows = [row for logged in bench.engine.log for row in logged.handled if row.answered and row.request == position]
    (row,) = rows
    return row


@however_far
@every_wait
def test_a_message_goes_past_what_is_to_end_to_the_next_that_waits(bench, wait, how_far):
    first, second = waiting(bench, wait, how_far)
    bench.run(PublishMessage("hello", "x", variables=raw({"n": 1})))
    assert received(bench) == [second]
    assert bench.state_of(first) == "TERMINATED"
    left = [bench.at(second, "p/host")] if wait == "beside" else []
    assert list(channel(bench).subscriptions) == [key for host in left for key in host.waits.subscriptions]


@however_far
@every_wait
def test_who_correlates_hears_of_the_next_that_waits(bench, wait, how_far):
    _, second = waiting(bench, wait, how_far)
    assert correlated(bench).response.process_instance_key == second


@however_far
@every_wait
def test_who_correlates_to_what_is_to_end_alone_hears_that_nobody_waits(bench, wait, how_far):
    waiting(bench, wait, how_far, others=0)
    assert correlated(bench).rejection.code == RejectionCode.NOT_FOUND
    assert received(bench) == []


@however_far
@every_wait
def test_a_kept_message_that_what_is_to_end_did_not_take_waits_on(bench, wait, how_far):
    waiting(bench, wait, how_far, others=0)
    bench.run(PublishMessage("hello", "x", 1_000, variables=raw({"n": 1})))
    assert [message.given for message in channel(bench).messages.values()] == [()]
    later = bench.start(k="x")
    assert received(bench) == [later]
    assert [message.given for message in channel(bench).messages.values()] == [("p",)]


@however_far
def test_a_message_that_is_not_taken_stays_in_its_process(bench, how_far):
    """Every process gets it once: what one of them did not take is not for the others, who have got it."""
    other = model(start(), receive("host"), end("e"), "start > host > e", id="q")
    bench.deploy(other)
    (first,) = waiting(bench, "receive", how_far, others=0)
    others = [bench.start("q", k="x") for _ in range(2)]
    bench.run(PublishMessage("hello", "x"))
    assert received(bench) == others[:1]
    assert bench.state_of(first) == "TERMINATED"


def test_a_message_that_is_not_taken_starts_an_instance(bench):
    """As it would have, had what is to end not been there."""
    parts = (starts("begin", "m"), start("by-hand"), receive("host"), end("e"), "begin > e", "by-hand > host > e")
    bench.deploy(model(*parts, roots=(message(),)))
    instance = bench.start(k="x")
    host = bench.at(instance, "p/host")
    run_until(bench, CancelInstance(instance), lambda: host.state is ElementState.TERMINATING)
    bench.run(PublishMessage("hello", "x", 1_000, variables=raw({"n": 1})))
    (started,) = received(bench)
    assert (bench.state_of(started), bench.variables_of(started)) == ("COMPLETED", {"n": 1})
    assert not channel(bench).locks


def test_what_waits_beside_another_message_takes_one_that_is_not_kept_at_once(bench):
    """As when it is published: who interrupts nothing takes any number, and is not asked to wait for the one before."""
    first, second = waiting(bench, "beside")
    other = channel(bench).subscriptions[next(iter(bench.at(second, "p/host").waits.subscriptions))]
    other.state = CORRELATING
    bench.run(PublishMessage("hello", "x"))
    assert received(bench) == [second]
    assert bench.state_of(first) == "TERMINATED"


def test_a_message_goes_past_what_another_has_reached(bench):
    """It has been triggered, and a later quantum is to close what it waited for."""
    bench.deploy(WAITS["receive"])
    first, second = bench.start(k="x"), bench.start(k="x")
    (key,) = bench.at(first, "p/host").waits.subscriptions
    stale = bench.state.subscriptions[key]
    run_until(bench, PublishMessage("hello", "x", variables=raw({"n": 1})), lambda: stale.state == "CORRELATED")
    assert key in bench.state.subscriptions
    assert channel(bench).subscriptions[key].state == CORRELATING
    bench.run(TriggerSubscription(key, Offer("hello", {"n": "2"}, 4711, "x")))
    assert received(bench) == [first, second]
    assert [bench.variables_of(instance)["n"] for instance in (first, second)] == [1, 2]


def test_what_a_signal_has_reached_is_not_reached_by_another(bench):
    bench.deploy(model(start(), catch("wait", "signal"), end(), "start > wait > end"))
    instance = bench.start()
    (subscription,) = bench.state.subscriptions.values()
    run_until(bench, BroadcastSignal("alarm", raw({"n": 1})), lambda: subscription.state == "CORRELATED")
    bench.run(BroadcastSignal("alarm", raw({"n": 2})))
    events = [event for logged in bench.engine.log for handled in logged.handled for event in handled.events]
    assert [event.key for event in events if isinstance(event, SubscriptionTriggered)] == [subscription.key]
    assert bench.variables_of(instance) == {"n": 1}


def test_a_signal_does_not_start_an_event_sub_process_in_what_is_to_end(bench):
    aside = event_sub("aside", task("inner"), "aside-start > inner", on="signal", interrupting=False)
    bench.deploy(model(start(), sub("host", start("i"), task("work"), aside, "i > work"), "start > host"))
    instance = bench.start()
    host = bench.element("host")
    run_until(bench, CancelInstance(instance), lambda: host.state is ElementState.TERMINATING)
    assert host.waits.subscriptions
    bench.run(BroadcastSignal("alarm"))
    assert bench.state_of(instance) == "TERMINATED"
    assert not [row for (table, _), row in bench.rows.items() if table == "Job" and row["type"] == "inner"]
