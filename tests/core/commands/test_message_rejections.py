"""What cannot be handled leaves nobody waiting: no lock without an instance, no client without an answer."""

import pytest

from tests.core.bench import apply_by, raw
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


def say(bench, name="begin", ttl_ms=0, **variables):
    return bench.run(PublishMessage(name, "x", ttl_ms, None, raw(variables)))


def channel(bench):
    return bench.state.channels["<default>", "x"]


def answers(bench):
    """(code, reason) or the reply of every answer to the last command."""
    rows = [row for row in bench.engine.log[-1].handled if row.answered]
    assert {row.request for row in rows} <= {None, len(bench.engine.log)}
    return [(row.rejection.code, row.rejection.reason) if row.rejection else row.response for row in rows]


# ---- starting an instance


def test_a_start_that_raises_gives_its_lock_back(bench, explode):
    bench.deploy(STARTED)
    mend = explode(InstanceCreated)
    say(bench)
    assert not bench.state.trees
    assert not channel(bench).locks
    mend()
    say(bench)
    assert bench.jobs == ["work"]
    assert list(channel(bench).locks) == ["p"]


def test_what_is_kept_behind_it_is_tried_once_each(bench, explode):
    bench.deploy(STARTED)
    say(bench, n=0)
    for number in (1, 2, 3):
        say(bench, ttl_ms=1000, n=number)
    mend = explode(InstanceCreated)
    bench.complete("work")
    rejections = [row.rejection.reason for row in bench.engine.log[-1].handled if row.rejection]
    assert rejections == [BUG] * 3
    assert not channel(bench).locks
    mend()
    say(bench, ttl_ms=1000, n=4)
    assert [bench.variables_of(key)["n"] for key in bench.state.trees] == [4]


def test_who_correlates_to_a_start_that_raises_hears_of_it(bench, explode):
    bench.deploy(STARTED)
    explode(InstanceCreated)
    bench.run(CorrelateMessage("begin", "x"))
    assert answers(bench) == [(RejectionCode.PROCESSING_ERROR, BUG)]


def test_a_start_of_a_definition_that_is_gone_gives_its_lock_back(bench):
    (definition,) = bench.deploy(STARTED)
    say(bench)
    (key,) = bench.state.trees
    bench.complete("work")
    bench.run(DeleteResource(definition))
    for gone in (definition, 4711):
        started = StartInstance(key, gone, "start", {}, "x", 5, Offer("begin", {}, 6, "x", 1), "p")
        rows = bench.engine.handle(started, "<default>", 1)
        ((code, reason),) = [(row.rejection.code, row.rejection.reason) for row in rows if row.answered]
        assert code == RejectionCode.NOT_FOUND
        assert "name 'begin' and correlation key 'x'" in reason
    assert not bench.state.trees


def test_the_lock_of_a_start_that_comes_too_late_is_given_back(bench):
    (first,) = bench.deploy(STARTED)
    say(bench, "nobody")
    processor = bench.engine.processor
    processor.set_inline(False)
    processor.process(CommandRecord(1_000, "<default>", PublishMessage("begin", "x")), 1)
    (start_,) = processor.notices.to_inbox
    processor.notices.to_inbox.clear()
    processor.set_inline(True)
    assert list(channel(bench).locks) == ["p"]
    bench.run(DeleteResource(first))
    bench.run(start_.command)
    assert not channel(bench).locks


def test_a_start_that_was_refused_gives_its_lock_back(bench, explode):
    """What the database does not take comes as a command of its own."""
    bench.deploy(STARTED)
    bench.engine.processor.set_inline(False)
    mend = explode(InstanceCreated)
    say(bench)
    assert not channel(bench).locks
    mend()
    say(bench)
    assert bench.jobs == ["work"]


def test_an_end_whose_release_raises_leaves_no_lock(bench, explode):
    """The lock goes; what is kept waits for the next message."""
    bench.deploy(STARTED)
    say(bench, n=1)
    say(bench, ttl_ms=1000, n=2)
    mend = explode(MessageCorrelated)
    bench.complete("work")
    assert not channel(bench).locks
    mend()
    say(bench, n=3)
    assert [bench.variables_of(key)["n"] for key in bench.state.trees] == [3]


def test_what_cannot_even_be_cleaned_up_harms_nobody_else(bench, explode):
    bench.deploy(STARTED)
    say(bench)
    explode(StartReleased)
    bench.complete("work")
    rejections = [row.rejection.reason for row in bench.engine.log[-1].handled if row.rejection]
    assert rejections == [BUG]
    assert len(bench.engine.processor.notices.poisoned) == 2
    assert not bench.state.trees
    assert say(bench, "nobody").rejection is None


# ---- giving a message to an element


def test_a_message_whose_correlation_raises_waits_in_an_incident(bench, explode):
    bench.deploy(WAITS)
    key = bench.start(k="x")
    mend = explode(SubscriptionTriggered)
    bench.run(CorrelateMessage("hello", "x", raw({"n": 1})))
    assert answers(bench) == [(RejectionCode.PROCESSING_ERROR, BUG)]
    ((element, type_, text),) = bench.incidents
    assert (element, type_) == ("p", "UNKNOWN")
    assert BUG in text
    mend()
    bench.resolve()
    assert bench.state_of(key) == "COMPLETED"
    assert bench.variables_of(key)["n"] == 1
    assert not channel(bench).subscriptions


def test_cancelling_an_instance_with_such_an_incident_leaves_nothing(bench, explode):
    bench.deploy(WAITS)
    key = bench.start(k="x")
    explode(SubscriptionTriggered)
    say(bench, "hello")
    bench.cancel(key)
    assert not channel(bench).subscriptions
    assert not bench.state.subscriptions


def test_a_refused_correlation_to_what_waits_no_longer_goes_to_the_next(bench):
    bench.deploy(WAITS)
    first, second = bench.start(k="x"), bench.start(k="x")
    stale = next(iter(channel(bench).subscriptions.values()))
    bench.cancel(first)
    channel(bench).subscriptions = {stale.key: stale} | channel(bench).subscriptions
    stale.state = "CORRELATING"
    entry = CommandRecord(1_000, "<default>", TriggerSubscription(stale.key, Offer("hello", {}, 7, "x")))
    rows = bench.engine.processor.reject(entry, 1_000, Rejection(RejectionCode.PROCESSING_ERROR, "no"))
    assert [row.rejection.reason for row in rows] == ["no"]
    (to_inbox,) = bench.engine.processor.notices.to_inbox
    bench.run(to_inbox.command)
    assert bench.state_of(second) == "COMPLETED"


def test_a_rejection_that_raises_ends_the_subscription_and_tells_the_client(bench, explode):
    bench.deploy(WAITS)
    key = bench.start(k="x")
    stale = next(iter(channel(bench).subscriptions.values()))
    bench.cancel(key)
    channel(bench).subscriptions[stale.key] = stale
    stale.state = "OPEN"
    explode(CorrelationAnswered)
    bench.run(CorrelateMessage("hello", "x"))
    assert answers(bench) == [(RejectionCode.PROCESSING_ERROR, BUG)]
    assert not channel(bench).subscriptions


def test_refused_commands_about_channels_that_nobody_knows_do_nothing(bench):
    rejection = Rejection(RejectionCode.PROCESSING_ERROR, "no")
    unknown = Offer("hello", {}, 7, "nowhere")
    of_lock = ReleaseStart(5, "t", "p", "nowhere"), ConfirmStart(5, 6, "t", "p", "nowhere")
    for command in (RejectCorrelation(5, "t", unknown), *of_lock):
        rows = bench.engine.processor.reject(CommandRecord(1_000, "t", command), 1_000, rejection)
        assert [(row.events, row.rejection) for row in rows] == [([], rejection)]
