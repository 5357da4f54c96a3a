"""Keys: 64-bit integers that carry the partition which assigned them (`partition << 51 | counter`)."""

from __future__ import annotations

PARTITION_SHIFT = 51


def partition_of(key: int) -> int:
    """The partition that assigned this key and owns its aggregate."""
    return key >> PARTITION_SHIFT


def keys_of(partition: int) -> tuple[int, int]:
    """The numbers between which the keys of a partition lie."""
    return partition << PARTITION_SHIFT, partition + 1 << PARTITION_SHIFT
