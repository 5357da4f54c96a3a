"""What all commands and all events have in common, and keys."""

from __future__ import annotations

from typing import ClassVar

import msgspec

PARTITION = 1
"""The only partition so far."""
PARTITION_SHIFT = 51

DEFAULT_TENANT = "<default>"


def partition_of(key: int) -> int:
    """The partition that gave out this key and owns its aggregate."""
    return key >> PARTITION_SHIFT


class Command(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What somebody wants done. `intent` is its name in the log, FAMILY:VERB."""

    intent: ClassVar[str]


Variables = dict[str, msgspec.Raw]


class Event(msgspec.Struct, frozen=True, array_like=True, tag_field="event", tag=True, gc=False):
    """What happened. Appliers turn it into state and look nothing else up."""
