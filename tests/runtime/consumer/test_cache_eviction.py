"""The cache's room. The collector is off here, so that it looks only when it is told to."""

import gc

import pytest

from vivero.engine.core.state.state import State
from vivero.engine.runtime.consumer.cache_eviction import COLLECT_AFTER_BYTES, CacheEviction


class Cache(State):
    """Forgets all there is."""

    def __init__(self) -> None:
        super().__init__(1)
        self.limits = []

    def evict(self, limit):
        self.limits.append(limit)
        self.weight = self.channels_weight = 0
        return 7


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


def test_it_says_how_many_were_forgotten_to_keep_below_the_limit(looked):
    cache = Cache()
    assert CacheEviction(cache, 5_000).run() == 7
    assert cache.limits == [5_000]
    assert looked == []


@pytest.mark.parametrize("kind", ["weight", "channels_weight"])
def test_the_collector_looks_at_what_is_new_each_time_that_so_much_was_forgotten(looked, kind):
    cache = Cache()
    room = CacheEviction(cache, 0)
    for _ in range(12):
        setattr(cache, kind, COLLECT_AFTER_BYTES // 4)
        room.run()
    assert looked == [0, 0, 0]


def test_it_does_not_look_where_nothing_is_forgotten(looked):
    room = CacheEviction(State(1), 1_000)
    for _ in range(100):
        room.run()
    assert looked == []
