"""Durations as histograms: how many elements took how long, in buckets that are a quarter to a seventh of their value.

A histogram can be added to and merged, which a percentile cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NO_DURATION = -1
"""The bucket of changes that complete nothing."""


def bucket_of(duration_ms: int) -> int:
    """The bucket of a duration. Up to 7 ms each has its own; above, four buckets share a power of two."""
    if duration_ms < 4:
        return max(duration_ms, 0)
    shift = duration_ms.bit_length() - 3
    return (shift << 2) + (duration_ms >> shift)


def bounds_of(bucket: int) -> tuple[int, int]:
    """The durations of a bucket in ms: the first, and the first one beyond."""
    if bucket < 4:
        return bucket, bucket + 1
    shift = (bucket >> 2) - 1
    return (4 + (bucket & 3)) << shift, (5 + (bucket & 3)) << shift


def percentiles(histogram: Iterable[tuple[int, int]], wanted: Sequence[float]) -> list[int]:
    """The durations in ms below which these shares of a histogram lie: (bucket, number) pairs, none of them empty.

    Within a bucket, durations are taken to be spread evenly.
    """
    ordered = sorted(histogram)
    total = sum(number for _, number in ordered)
    return [_percentile(ordered, share * total) for share in wanted]


def _percentile(ordered: Sequence[tuple[int, int]], rank: float) -> int:
    before = 0
    for bucket, number in ordered:
        if before + number >= rank:
            first, beyond = bounds_of(bucket)
            return first + int((beyond - first - 1) * (rank - before) / number)
        before += number
    return bounds_of(ordered[-1][0])[1] - 1
