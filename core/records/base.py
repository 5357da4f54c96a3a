"""The base classes of commands and events, and keys."""

from __future__ import annotations

from typing import ClassVar

import msgspec

PARTITION_SHIFT = 51

DEFAULT_TENANT = "<default>"


def partition_of(key: int) -> int:
    """The partition that assigned this key and owns its aggregate."""
    return key >> PARTITION_SHIFT


def keys_of(partition: int) -> tuple[int, int]:
    """The numbers between which the keys of a partition lie."""
    return partition << PARTITION_SHIFT, partition + 1 << PARTITION_SHIFT


class Command(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A request to change something. `intent` is its name in the log, FAMILY:VERB.

    `format` is the number of its shape: a change of meaning (not a new field with a default) needs the next one.
    """

    intent: ClassVar[str]
    format: ClassVar[int] = 1


Variables = dict[str, msgspec.Raw]


class Event(msgspec.Struct, frozen=True, array_like=True, tag_field="event", tag=True, gc=False):
    """A fact that a command produced. Appliers turn it into state without reading anything else."""
