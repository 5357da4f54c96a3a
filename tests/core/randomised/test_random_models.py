"""Random models in which everything meets: whatever happens, nothing is stuck, lost or left behind.

    VIVERO_RANDOM_MODELS=100000 make test-long WORKERS=0 ARGS="-s -k random_models"

runs as many models as wanted from a printed seed, tells each thousand, lists failures at the end, with their seeds.
`VIVERO_SEED=… make test ARGS="-k random_models"` runs it again.
"""

import os

import pytest

from tests.core.randomised.random_model_checks import play_many
from vivero.core.execution.step import StepLimits

LIMITS = {
    "whole": StepLimits(),
    "items": StepLimits(quantum_items=1, migration_page=1),
    "quanta": StepLimits(quantum_items=3, migration_page=2),
    "paged": StepLimits(paged_from=0),
}
COUNT = 25
MANY = int(os.environ.get("VIVERO_RANDOM_MODELS") or 500)
CHUNK = 1_000
REPLAYED = 5
"""One run in so many is replayed from its events: that takes as long as all else."""


@pytest.mark.parametrize("limits", LIMITS)
def test_whatever_meets_goes_on_or_says_why_not(seed, limits):
    spinning, faults = play_many(range(seed, seed + COUNT), LIMITS[limits])
    assert not faults, told(faults)
    assert spinning < COUNT / 2, "most models do not spin"


@pytest.mark.long
@pytest.mark.parametrize("limits", LIMITS)
def test_whatever_meets_in_very_many(seed, limits):
    faults = {}
    for first in range(seed, seed + MANY, CHUNK):
        seeds = range(first, min(first + CHUNK, seed + MANY))
        spinning, found = play_many(seeds, LIMITS[limits], REPLAYED)
        print(f"{limits}: VIVERO_SEED={first}: {len(seeds)} models, {spinning} spin, {len(found)} at fault")
        print(told(found), end="", flush=True)
        faults |= found
    assert not faults, told(faults)


def told(faults):
    return "".join(f"VIVERO_SEED={seed}: {fault}\n" for seed, fault in faults.items())
