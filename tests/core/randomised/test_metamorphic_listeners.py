"""Execution listeners on every element of random models: when their jobs are done at once, nobody sees a difference."""

from collections import Counter
from random import Random

import pytest

from tests.core.engine import keep_rows, recorded_batches
from tests.core.listener_models import Attended
from tests.core.randomised.blocks import Final, Fork, Shout, inside, waits
from tests.core.randomised.pairs import (
    SIZES,
    check_many,
    difference,
    first_difference,
    is_cut,
    limits_of,
)
from tests.core.randomised.paths import random_block
from tests.core.randomised.runs import by_place, play, recorded
from tests.rounds import drawn
from vivero.core.execution.step import DEFAULT_LIMITS, StepLimits
from vivero.core.replay import replay
from vivero.core.state.state import State

MODELS = 20


def check(seed, alone=False):
    """As `check_model` of the oracle, with listeners; the last path goes on with a state that was rebuilt halfway."""
    block, limits = random_block(seed, Random(seed).choice(SIZES), alone=alone), limits_of(seed)
    limits = DEFAULT_LIMITS if is_cut(block) else limits
    found = first_difference(block, seed, limits, bench_of=Attended)
    if isinstance(found, int):
        return found
    _, actions, seen, should = found
    lines = difference(seen, should)
    raise AssertionError(
        "\n".join([f"seed {seed}, {limits.quantum_items} items a quantum", *map(str, actions), *lines])
    )


@pytest.mark.long
@pytest.mark.parametrize("alone", [False, True])
def test_engine_and_oracle_agree_with_listeners_on_everything(alone, seed):
    check_many(lambda one: check(one, alone), seed, MODELS, least=5 * MODELS)


@pytest.mark.parametrize(
    "limits",
    [
        pytest.param(StepLimits(quantum_items=1), marks=pytest.mark.long),
        StepLimits(quantum_items=7),
        pytest.param(StepLimits(paged_from=0), marks=pytest.mark.long),
    ],
)
def test_quanta_and_pages_come_to_the_same_end_with_listeners(seed, limits):
    seen = Counter()
    for one in drawn(seed, MODELS // 2, lambda: seen["told"] > MODELS):
        run = recorded(one)
        if is_cut(run.block) or hurries(run.block):
            continue
        whole, other = play(run, Attended()), play(run, Attended(limits))
        assert plain(by_place(other, "p")) == plain(by_place(whole, "p")), f"seed {one}"
        seen["told"] += other.told
    assert seen["told"] > MODELS


def hurries(block):
    """Whether it throws to what waits, or while others are on their way: how far those come depends on the quanta."""
    blocks = list(inside(block))
    ways = [way for one in blocks if isinstance(one, Fork) for way in one.ways if not waits(way)]
    return any(isinstance(one, Shout) for one in blocks) or any(isinstance(f, Final) for w in ways for f in inside(w))


def plain(rows):
    """Without what says whether a loop is paged."""
    return sorted(((place, table, _plain(row)) for place, table, row in rows), key=repr)


def _plain(row):
    loop = row.get("loop") and {name: value for name, value in row["loop"].items() if name != "paged"}
    return {name: value for name, value in row.items() if name not in {"part", "pages"}} | {"loop": loop}


@pytest.mark.parametrize("limit", [pytest.param(1, marks=pytest.mark.long), 500])
def test_replay_gives_every_row_of_what_has_listeners(seed, limit):
    for one in range(seed, seed + MODELS // 2):
        engine = play(recorded(one), Attended(StepLimits(quantum_items=limit)))
        state = State(1, engine.state.next_key)
        rows = keep_rows(state)
        replay(state, recorded_batches(engine))
        assert rows == engine.rows, f"seed {one}"
        assert any(row.get("kind") == "EXECUTION_LISTENER" for row in rows.values())
        assert not state.elements, "the run has ended"
