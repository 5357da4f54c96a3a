"""Eviction from the cache. The collector is disabled here, so that it runs only when it is told to."""

import gc

import pytest

from vivero.core.state import eviction
from vivero.core.state.state import State
from vivero.engine.consumer.cache_eviction import COLLECT_AFTER_BYTES, CacheEviction


@pytest.fixture
def limits(monkeypatch):
    """The limits of all evictions, each of which evicts everything."""
    limits = []

    def evict(state, limit):
        limits.append(limit)
        state.weight = state.channels_weight = 0
        return 7

    monkeypatch.setattr(eviction, "evict", evict)
    return limits


@pytest.fixture
def looked():
    """The generations that the collector has looked through."""
    generations = []

    def note(phase, info):
        if phase == "start":
            generations.append(info["generation"])

    gc.disable()
    gc.callbacks.append(note)
    yield generations
    gc.callbacks.remove(note)
    gc.enable()


def test_it_says_how_many_were_forgotten_to_keep_below_the_limit(looked, limits):
    assert CacheEviction(State(1), 5_000).run() == 7
    assert limits == [5_000]
    assert looked == []


@pytest.mark.parametrize("kind", ["weight", "channels_weight"])
def test_the_collector_looks_at_what_is_new_each_time_that_so_much_was_forgotten(looked, limits, kind):
    cache = State(1)
    cache_eviction = CacheEviction(cache, 0)
    for _ in range(12):
        setattr(cache, kind, COLLECT_AFTER_BYTES // 4)
        cache_eviction.run()
    assert looked == [0, 0, 0]


def test_it_does_not_look_where_nothing_is_forgotten(looked):
    cache_eviction = CacheEviction(State(1), 1_000)
    for _ in range(100):
        cache_eviction.run()
    assert looked == []
