"""Messages that cannot be handled leave no lock without an instance, and no client without an answer."""

import pytest

from tests.core.engine import apply_by, raw
from tests.core.message_models import message, model, receive, starts
from tests.core.models import end, start, task
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import InstanceCreated
from vivero.core.records.messages import (
    ConfirmStart,
    CorrelateMessage,
    CorrelationAnswered,
    MessageCorrelated,
    Offer,
    PublishMessage,
    RejectCorrelation,
    ReleaseStart,
    StartInstance,
    StartReleased,
    SubscriptionTriggered,
    TriggerSubscription,
)

STARTED = model(starts("start", "m"), task("work"), end(), "start > work > end", roots=(message("begin", None),))
WAITS = model(start(), receive(), end(), "start > receive > end")
BUG = "handling the command raised ZeroDivisionError: a bug"


@pytest.fixture
def explode(monkeypatch):
    """Lets the applier of an event raise, until it is told to stop."""

    def arm(kind):
        armed = [True]

        def raising(usual, state, event):
            if armed:
                raise ZeroDivisionError("a bug")
            return usual(state, event)

        apply_by(monkeypatch, kind, raising)
        return armed.clear

    return arm


def say(engine, name="begin", ttl_ms=0, **variables):
    return engine.run(PublishMessage(name, "x", ttl_ms, None, raw(variables)))


def channel(engine):
    return engine.state.channels["<default>", "x"]


def answers(engine):
    """(code, reason) or the reply of every answer to the last command."""
    rows = [row for row in engine.memory.log[-1].handled if row.answered]
    assert {row.request for row in rows} <= {None, len(engine.memory.log)}
    return [(row.rejection.code, row.rejection.reason) if row.rejection else row.response for row in rows]


# ---- starting an instance


def test_a_start_that_raises_gives_its_lock_back(engine, explode):
    engine.deploy(STARTED)
    mend = explode(InstanceCreated)
    say(engine)
    assert not engine.state.trees
    assert not channel(engine).locks
    mend()
    say(engine)
    assert engine.jobs == ["work"]
    assert list(channel(engine).locks) == ["p"]


def test_what_is_kept_behind_it_is_tried_once_each(engine, explode):
    engine.deploy(STARTED)
    say(engine, n=0)
    for number in (1, 2, 3):
        say(engine, ttl_ms=1000, n=number)
    mend = explode(InstanceCreated)
    engine.complete("work")
    rejections = [row.rejection.reason for row in engine.memory.log[-1].handled if row.rejection]
    assert rejections == [BUG] * 3
    assert not channel(engine).locks
    mend()
    say(engine, ttl_ms=1000, n=4)
    assert [engine.variables_of(key)["n"] for key in engine.state.trees] == [4]


def test_who_correlates_to_a_start_that_raises_hears_of_it(engine, explode):
    engine.deploy(STARTED)
    explode(InstanceCreated)
    engine.run(CorrelateMessage("begin", "x"))
    assert answers(engine) == [(RejectionCode.PROCESSING_ERROR, BUG)]


def test_a_start_of_a_definition_that_is_gone_gives_its_lock_back(engine):
    (definition,) = engine.deploy(STARTED)
    say(engine)
    (key,) = engine.state.trees
    engine.complete("work")
    engine.run(DeleteResource(definition))
    for gone in (definition, 4711):
        started = StartInstance(key, gone, "start", {}, "x", 5, Offer("begin", {}, 6, "x", 1), "p")
        rows = engine.memory.handle(started, "<default>", 1)
        ((code, reason),) = [(row.rejection.code, row.rejection.reason) for row in rows if row.answered]
        assert code == RejectionCode.NOT_FOUND
        assert "name 'begin' and correlation key 'x'" in reason
    assert not engine.state.trees


def test_the_lock_of_a_start_that_comes_too_late_is_given_back(engine):
    (first,) = engine.deploy(STARTED)
    say(engine, "nobody")
    processor = engine.memory.processor
    processor.set_inline(False)
    processor.process(CommandRecord(1_000, "<default>", PublishMessage("begin", "x")), 1)
    (start_,) = processor.notices.to_inbox
    processor.notices.to_inbox.clear()
    processor.set_inline(True)
    assert list(channel(engine).locks) == ["p"]
    engine.run(DeleteResource(first))
    engine.run(start_.command)
    assert not channel(engine).locks


def test_a_start_that_was_refused_gives_its_lock_back(engine, explode):
    """A value that the database rejects becomes a command of its own."""
    engine.deploy(STARTED)
    engine.memory.processor.set_inline(False)
    mend = explode(InstanceCreated)
    say(engine)
    assert not channel(engine).locks
    mend()
    say(engine)
    assert engine.jobs == ["work"]


def test_an_end_whose_release_raises_leaves_no_lock(engine, explode):
    """The lock goes; what is kept waits for the next message."""
    engine.deploy(STARTED)
    say(engine, n=1)
    say(engine, ttl_ms=1000, n=2)
    mend = explode(MessageCorrelated)
    engine.complete("work")
    assert not channel(engine).locks
    mend()
    say(engine, n=3)
    assert [engine.variables_of(key)["n"] for key in engine.state.trees] == [3]


def test_what_cannot_even_be_cleaned_up_harms_nobody_else(engine, explode):
    engine.deploy(STARTED)
    say(engine)
    explode(StartReleased)
    engine.complete("work")
    rejections = [row.rejection.reason for row in engine.memory.log[-1].handled if row.rejection]
    assert rejections == [BUG]
    assert len(engine.memory.processor.notices.poisoned) == 2
    assert not engine.state.trees
    assert say(engine, "nobody").rejection is None


# ---- giving a message to an element


def test_a_message_whose_correlation_raises_waits_in_an_incident(engine, explode):
    engine.deploy(WAITS)
    key = engine.start(k="x")
    mend = explode(SubscriptionTriggered)
    engine.run(CorrelateMessage("hello", "x", raw({"n": 1})))
    assert answers(engine) == [(RejectionCode.PROCESSING_ERROR, BUG)]
    ((element, type_, text),) = engine.incidents
    assert (element, type_) == ("p", "UNKNOWN")
    assert BUG in text
    mend()
    engine.resolve()
    assert engine.state_of(key) == "COMPLETED"
    assert engine.variables_of(key)["n"] == 1
    assert not channel(engine).subscriptions


def test_cancelling_an_instance_with_such_an_incident_leaves_nothing(engine, explode):
    engine.deploy(WAITS)
    key = engine.start(k="x")
    explode(SubscriptionTriggered)
    say(engine, "hello")
    engine.cancel(key)
    assert not channel(engine).subscriptions
    assert not engine.state.subscriptions


def test_a_refused_correlation_to_what_waits_no_longer_goes_to_the_next(engine):
    engine.deploy(WAITS)
    first, second = engine.start(k="x"), engine.start(k="x")
    stale = next(iter(channel(engine).subscriptions.values()))
    engine.cancel(first)
    channel(engine).subscriptions = {stale.key: stale} | channel(engine).subscriptions
    stale.state = "CORRELATING"
    entry = CommandRecord(1_000, "<default>", TriggerSubscription(stale.key, Offer("hello", {}, 7, "x")))
    rows = engine.memory.processor.reject(entry, 1_000, Rejection(RejectionCode.PROCESSING_ERROR, "no"))
    assert [row.rejection.reason for row in rows] == ["no"]
    (to_inbox,) = engine.memory.processor.notices.to_inbox
    engine.run(to_inbox.command)
    assert engine.state_of(second) == "COMPLETED"


def test_a_rejection_that_raises_ends_the_subscription_and_tells_the_client(engine, explode):
    engine.deploy(WAITS)
    key = engine.start(k="x")
    stale = next(iter(channel(engine).subscriptions.values()))
    engine.cancel(key)
    channel(engine).subscriptions[stale.key] = stale
    stale.state = "OPEN"
    explode(CorrelationAnswered)
    engine.run(CorrelateMessage("hello", "x"))
    assert answers(engine) == [(RejectionCode.PROCESSING_ERROR, BUG)]
    assert not channel(engine).subscriptions


def test_refused_commands_about_channels_that_nobody_knows_do_nothing(engine):
    rejection = Rejection(RejectionCode.PROCESSING_ERROR, "no")
    unknown = Offer("hello", {}, 7, "nowhere")
    of_lock = ReleaseStart(5, "t", "p", "nowhere"), ConfirmStart(5, 6, "t", "p", "nowhere")
    for command in (RejectCorrelation(5, "t", unknown), *of_lock):
        rows = engine.memory.processor.reject(CommandRecord(1_000, "t", command), 1_000, rejection)
        assert [(row.events, row.rejection) for row in rows] == [([], rejection)]
