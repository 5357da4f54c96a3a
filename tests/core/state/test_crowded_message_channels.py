"""A channel with very many messages: a cache forgets them between batches; a state that is all there is never does."""

import pytest

from tests.core.engine import Engine, rebuilt
from tests.core.message_models import catch, event_sub, message, model
from tests.core.models import end, start, task
from vivero.core.records.messages import PublishMessage
from vivero.core.state import batches, eviction
from vivero.core.state.message_channels import MAX_MESSAGES_IN_MEMORY

CHANNEL = ("<default>", "x")
ASIDE = event_sub("aside", end("noted"), "aside-start > noted", interrupting=False)
LISTENS = model(start(), task("work"), "start > work", ASIDE, roots=(message(),))


@pytest.fixture
def crowded():
    """An instance that listens, and more kept messages of its correlation key than may stay in memory."""
    engine = Engine(keeps_rows=False)
    engine.deploy(LISTENS)
    engine.start(k="x")
    for _ in range(MAX_MESSAGES_IN_MEMORY + 1):
        engine.run(PublishMessage("other", "x", 60_000))
    return engine


def heard(engine):
    """The number of times that the event sub-process has begun."""
    started = [event for logged in engine.memory.log for row in logged.handled for event in row.events]
    return sum(type(event).__name__ == "ElementActivated" for event in started) - 3  # the process, its start, `work`


def test_who_waits_hears_the_next_message(crowded):
    crowded.run(PublishMessage("hello", "x", 60_000))
    crowded.run(PublishMessage("hello", "x", 60_000))
    assert heard(crowded) == 2 * len(("aside", "aside-start", "noted"))


def test_a_replay_keeps_who_waits_and_what_is_kept(crowded):
    rebuilt(crowded)
    channel = crowded.state.channels[CHANNEL]
    assert len(channel.messages) == MAX_MESSAGES_IN_MEMORY + 1
    assert len(channel.subscriptions) == 1


def test_a_cache_forgets_the_messages_but_not_who_waits(crowded):
    state = crowded.state
    assert eviction.evict(state, 10**9) == 1
    channel = state.channels[CHANNEL]
    assert not channel.messages
    assert not channel.complete
    assert len(channel.subscriptions) == 1
    assert state.channels_weight == channel.weight < 5_000
    assert eviction.evict(state, 10**9) == 0


def test_a_cache_keeps_what_the_database_does_not_have_yet(crowded, monkeypatch):
    """A busy channel is in every batch, and one batch is always under way."""
    memory, state = crowded.memory, crowded.state
    retained, committed = [], batches.committed
    monkeypatch.setattr(batches, "committed", lambda _, some: retained.extend(some))  # it is not known yet
    memory.run(PublishMessage("other", "x", 60_000))
    eviction.evict(state, 10**9)
    channel = state.channels[CHANNEL]
    assert len(channel.messages) == 1
    committed(state, retained)
    assert not channel.under_way
    channel.evict_messages()
    assert not channel.messages


def test_a_channel_with_few_stays(engine):
    engine.deploy(model(start(), catch("wait"), "start > wait", roots=(message(),)))
    engine.start(k="x")
    for _ in range(10):
        engine.run(PublishMessage("other", "x", 60_000))
    assert eviction.evict(engine.state, 10**9) == 0
    assert CHANNEL in engine.state.channels
