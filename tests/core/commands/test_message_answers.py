"""Each publisher, correlator and broadcaster gets one answer, whatever follows."""

import pytest

from tests.core.engine import apply_by, explode, raw
from tests.core.message_models import boundary, catch, message, model, receive, signal, starts
from tests.core.models import end, start, task
from vivero.core.records.instances import InstanceCreated
from vivero.core.records.messages import (
    CorrelateMessage,
    MessageCorrelated,
    Offer,
    PublishMessage,
    SubscriptionTriggered,
    TriggerSubscription,
)
from vivero.core.records.signals import BroadcastSignal

ROOTS = (message(), message("begin", None, "b"), signal())
WAYS = {
    "waits": model(start(), receive(), end(), "start > receive > end", roots=ROOTS),
    "waits on": model(start(), task("t"), boundary("t", "b2", interrupting=False), "start > t", roots=ROOTS),
    "hears": model(start(), catch("wait", "signal"), end(), "start > wait > end", roots=ROOTS),
    "hears on": model(start(), task("t"), boundary("t", "b2", "signal", False), "start > t", roots=ROOTS),
    "begins": model(starts("go", "b"), task("t"), "go > t", roots=ROOTS),
    "begins by signal": model(starts("go", "s"), task("t"), "go > t", roots=ROOTS),
}
COMMANDS = {
    "publish": PublishMessage("hello", "x", variables=raw({"n": 1})),
    "keep": PublishMessage("hello", "x", 1_000),
    "publish a start": PublishMessage("begin", "x"),
    "publish a start without a key": PublishMessage("begin", ""),
    "correlate": CorrelateMessage("hello", "x"),
    "correlate a start": CorrelateMessage("begin", "x"),
    "broadcast": BroadcastSignal("alarm"),
}
every_way = pytest.mark.parametrize("way", WAYS)
every_command = pytest.mark.parametrize("name", COMMANDS)


def begin(engine, way):
    engine.deploy(WAYS[way])
    if not way.startswith("begins"):
        engine.start(k="x")


def answers(engine, command):
    """The rows that answer this command, its rejection included."""
    position = len(engine.memory.log) + 1
    engine.run(command)
    logged = [(one.position, row) for one in engine.memory.log for row in one.handled]
    mine = [row for at, row in logged if position == (at if row.request is None else row.request)]
    return [row for row in mine if row.answered or (row.rejection is not None and row.seq == 0 and row.request is None)]


def poisoned(engine):
    return len(engine.memory.processor.notices.poisoned)


@every_way
@every_command
def test_every_command_is_answered_once(engine, way, name):
    begin(engine, way)
    assert len(answers(engine, COMMANDS[name])) == 1
    assert poisoned(engine) == 0


@every_way
@every_command
@pytest.mark.parametrize("kind", [SubscriptionTriggered, InstanceCreated])
def test_also_one_whose_follow_up_raises(engine, way, name, kind, monkeypatch):
    begin(engine, way)
    apply_by(monkeypatch, kind, explode)
    assert len(answers(engine, COMMANDS[name])) == 1
    monkeypatch.undo()
    assert poisoned(engine) <= 1, "what cleans up does not raise as well"


@pytest.mark.parametrize("offer", [Offer("alarm"), Offer("hello", {}, 7, "x", process_id="p")])
def test_what_waits_no_longer_is_no_bug(engine, offer):
    begin(engine, "waits")
    engine.run(TriggerSubscription(4711, offer))
    assert poisoned(engine) == 0


def test_what_takes_one_message_is_offered_no_other(engine):
    engine.deploy(WAYS["waits"])
    for number in range(2):
        engine.run(PublishMessage("hello", "x", 1_000, variables=raw({"n": number})))
    engine.start(k="x")
    events = [event for logged in engine.memory.log for row in logged.handled for event in row.events]
    assert sum(isinstance(event, MessageCorrelated) for event in events) == 1
