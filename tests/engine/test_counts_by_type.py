"""Counts by job type are bounded."""

from vivero.engine.counters.counts_by_type import MAX_TYPES, OTHER, CountsByType


def test_the_types_after_the_first_hundred_count_as_other():
    counts = CountsByType()
    for number in range(MAX_TYPES + 50):
        counts.note("created", f"type-{number}", 2)
    counts.note("completed", "type-0", 1)
    counts.note("completed", f"type-{MAX_TYPES}", 3)
    created = dict(counts.of("created"))
    assert (len(created), created["type-0"], created[OTHER]) == (MAX_TYPES + 1, 2, 100)
    assert dict(counts.of("completed")) == {"type-0": 1, OTHER: 3}
