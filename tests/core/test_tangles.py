"""Random models in which everything meets: whatever happens, nothing is stuck, lost or left behind."""

import os
from random import Random, SystemRandom

import pytest
from core_tangles import tangle
from core_tangles_checks import Spins, check_end, play

from engine.bpmn.parser import parse
from engine.core.step import Limits

LIMITS = {
    "whole": Limits(),
    "items": Limits(slice_items=1),
    "slices": Limits(slice_items=3),
    "paged": Limits(paged_from=0),
}
COUNT = 25


@pytest.fixture
def seed():
    first = int(os.environ.get("VIVERO_TANGLE_SEED") or SystemRandom().randrange(2**31))
    print(f"VIVERO_TANGLE_SEED={first}")
    return first


@pytest.mark.parametrize("limits", LIMITS)
def test_whatever_meets_goes_on_or_says_why_not(seed, limits):
    ended = 0
    for number in range(seed, seed + COUNT):
        random = Random(number)
        try:
            bench = play(random, random.choice((4, 6, 9)), LIMITS[limits])
        except Spins:
            continue
        except AssertionError as error:
            error.add_note(f"VIVERO_TANGLE_SEED={number}")
            raise
        check_end(bench)
        ended += 1
    assert ended > COUNT / 2, "most models do not spin"


def test_tangles_are_executable(seed):
    for number in range(seed, seed + 200):
        assert not parse(tangle(Random(number), 9), "t.bpmn").problems, f"VIVERO_TANGLE_SEED={number}"
