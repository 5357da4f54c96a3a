"""Histograms of durations: buckets, and percentiles from them."""

from collections import Counter
from random import Random

import pytest

from vivero.storage.state.durations import bounds_of, bucket_of, percentiles

YEARS_MS = 2**63 - 1


@pytest.mark.parametrize(
    ("duration", "bucket"),
    [(-5, 0), (0, 0), (1, 1), (3, 3), (4, 4), (7, 7), (8, 8), (9, 8), (10, 9), (15, 11), (16, 12), (YEARS_MS, 247)],
)
def test_buckets(duration, bucket):
    assert bucket_of(duration) == bucket


def test_each_duration_is_within_the_bounds_of_its_bucket(seed):
    random = Random(seed)
    for duration in (*range(5_000), *(random.randrange(2 ** random.randrange(1, 63)) for _ in range(5_000))):
        first, beyond = bounds_of(bucket_of(duration))
        assert first <= duration < beyond
        assert beyond - first <= max(1, first / 4)


def test_buckets_follow_one_another():
    for bucket in range(247):
        assert bounds_of(bucket)[1] == bounds_of(bucket + 1)[0]


@pytest.mark.parametrize("shape", ["even", "two humps", "exponential"])
def test_percentiles_are_within_a_quarter_of_the_true_ones(seed, shape):
    random = Random(seed)
    draw = {
        "even": lambda: random.randrange(1, 100_000),
        "two humps": lambda: random.choice((random.randrange(10, 30), random.randrange(5_000, 9_000))),
        "exponential": lambda: 1 + int(random.expovariate(1 / 60_000)),
    }[shape]
    durations = sorted(draw() for _ in range(2_001))
    histogram = Counter(map(bucket_of, durations)).items()
    for share, found in zip((0.5, 0.95), percentiles(histogram, (0.5, 0.95)), strict=True):
        true = [durations[max(0, int(share * 2_001) + step)] for step in (-1, 0, 1)]
        assert min(true) * 0.75 <= found <= max(true) * 1.25


def test_a_single_duration_is_every_percentile():
    assert percentiles([(bucket_of(3), 7)], (0.01, 0.5, 0.99)) == [3, 3, 3]
