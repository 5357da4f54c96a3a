"""The cache of definitions as the consumer uses it, on PostgreSQL."""

import random

import pytest

from tests.core.event_models import call, model
from tests.core.models import end, start
from tests.engine.consumer.serial_runs import beat
from tests.engine.whole_engine import TENANT, WholeEngine
from vivero.core.records.instances import CreateInstance
from vivero.engine.appender.calls import Append
from vivero.engine.definitions.cache import DefinitionSettings
from vivero.engine.definitions.warm_up import WarmUp

STRAIGHT = "straight{}"


def straight(number):
    return model(start(), end(), "start > end", id=STRAIGHT.format(number))


@pytest.fixture
def new_engine(migrated):
    def new_engine(settings):
        return WholeEngine(migrated, definition_settings=settings)

    return new_engine


async def test_an_instance_that_needs_two_models_at_once_ends_although_the_cache_holds_one(new_engine):
    engine = new_engine(DefinitionSettings(entries=1))
    async with engine.running():
        await engine.deploy(straight(0))
        await engine.deploy(model(start(), call("call", STRAIGHT.format(0)), end(), "start > call > end", id="caller"))
        before = engine.definitions.stats.evictions
        await engine.create("caller", 3)
        await engine.until(lambda: len(engine.ended) == 3)
    assert set(engine.ended.values()) == {"COMPLETED"}
    assert engine.definitions.stats.evictions > before
    assert engine.definitions.stats.size == 1


async def test_definitions_in_turn_are_all_found_by_a_cache_that_holds_few_of_them(new_engine):
    engine = new_engine(DefinitionSettings(entries=3))
    async with engine.running():
        await engine.deploy(*map(straight, range(8)))
        for _ in range(2):
            for number in range(8):
                await engine.create(STRAIGHT.format(number))
        await engine.until(lambda: len(engine.ended) == 16)
    assert set(engine.ended.values()) == {"COMPLETED"}
    assert engine.definitions.stats.size == 3


async def test_a_skewed_mix_finds_more_than_95_of_100_in_a_cache_that_holds_a_fifth(new_engine, seed):
    """Four processes have 97 of 100 instances; all forty have the others."""
    choose = random.Random(seed)
    engine = new_engine(DefinitionSettings(entries=8))
    async with engine.running():
        await engine.deploy(*map(straight, range(40)))
        for number in range(4):
            await engine.create(STRAIGHT.format(number))
        await engine.until(lambda: len(engine.ended) == 4)
        before = engine.definitions.stats
        for _ in range(40):
            numbers = [choose.randrange(40) if choose.random() < 0.03 else choose.randrange(4) for _ in range(25)]
            commands = [Append(CreateInstance(STRAIGHT.format(number)), TENANT) for number in numbers]
            await engine.appender.append_all(commands, deadline_s=10)
        await engine.until(lambda: len(engine.ended) == 1004)
    after = engine.definitions.stats
    hits, misses = after.hits - before.hits, after.misses - before.misses
    assert hits + misses >= 1000, "each instance looks for its model"
    assert hits / (hits + misses) >= 0.95


async def test_what_was_loaded_ahead_is_found_at_once(new_engine):
    first = new_engine(DefinitionSettings())
    async with first.running():
        await first.deploy(straight(0))
    second = new_engine(DefinitionSettings())
    async with second.running():
        await WarmUp(second.definitions).run_once(beat())
        await second.create(STRAIGHT.format(0))
        await second.until(lambda: len(second.ended) == 1)
    stats = second.definitions.stats
    assert (stats.size, stats.misses, stats.hit_rate) == (1, 0, 1.0)
    assert stats.hits > 0
