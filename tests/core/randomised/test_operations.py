"""Random operations of all kinds on random runs, between any two quanta: nothing is stuck, lost or left behind.

    VIVERO_RANDOM_MODELS=10000 make test-long WORKERS=0 ARGS="-s -k very_many_operations"

plays as many models as wanted from a printed seed.
"""

from collections import Counter

import pytest

from tests.core.randomised.random_changes import Changing, accepted
from tests.core.randomised.random_model_checks import play_many
from tests.core.randomised.random_operations import RandomOperations
from tests.core.randomised.test_modifications import MANY, REPLAYED
from tests.core.randomised.test_random_models import LIMITS, told
from tests.rounds import drawn
from vivero.core.modifications import scopes
from vivero.core.records.business_ids import BusinessIdAssigned
from vivero.core.records.migrations import InstanceMigrated
from vivero.core.records.modifications import InstanceModified
from vivero.core.records.suspensions import InstanceResumed, InstanceSuspended

COUNT = 4
EVENTS = InstanceSuspended, InstanceResumed, InstanceModified, InstanceMigrated, BusinessIdAssigned


@pytest.fixture(autouse=True)
def _few_at_once(monkeypatch):
    """Modifications activate a single element at once, and the others later."""
    monkeypatch.setattr(scopes, "AT_ONCE", 1)


@pytest.mark.parametrize("limits", LIMITS)
def test_whatever_is_operated_on_goes_on_or_says_why_not(seed, limits):
    counts = Counter()
    play_operated(drawn(seed, COUNT, lambda: accepted(counts) > COUNT), limits, 1, counts)
    assert accepted(counts) > COUNT, counts


@pytest.mark.long
@pytest.mark.parametrize("limits", LIMITS)
def test_very_many_operations(seed, limits):
    counts = Counter()
    play_operated(range(seed, seed + MANY), limits, REPLAYED, counts)
    print(f"{limits}: VIVERO_SEED={seed}: {MANY} models, operations: {counts.most_common()}")


def play_operated(seeds, limits, replayed, counts):
    def between(random):
        return Changing(random, counts, RandomOperations().command_of, *EVENTS, often=0.4).between

    _, faults = play_many(seeds, LIMITS[limits], replayed, between)
    assert not faults, told(faults)
