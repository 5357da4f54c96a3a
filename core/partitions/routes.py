"""Routes: which partition owns what is found by a name, and where new work begins (docs/design/partitions.md).

A key carries its partition (`partitions.keys`). Message channels and start locks are found by a name. A name has one
of 1,024 slots, and each slot belongs to one partition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import md5

SLOTS = 1_024
CATALOGUE = 1
"""The partition that writes the catalogue. All partitions read it."""


def slot_of(tenant: str, name: str) -> int:
    """The slot of a name in a tenant. The SQL function of this name gives the same number."""
    digest = md5(f"{tenant}:{name}".encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:2]) % SLOTS


@dataclass(frozen=True, slots=True)
class Detour:
    """Slots that moved from the partition `previous`, for a sender that has not switched to their new owner yet.

    It sends by way of the previous owner, or holds what it would send.
    """

    previous: int
    slots: frozenset[int]
    held: bool = False


@dataclass(frozen=True)
class Routes:
    """The partitions of a database, numbered from 1. Each change of the routes raises `revision`.

    `slots` gives the owner of each slot; empty: partition 1 owns all. `pins` gives the partitions of tenants whose new
    work stays within them.
    """

    revision: int = 0
    partitions: int = 1
    slots: tuple[int, ...] = ()
    pins: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    detour: Detour | None = None
    """The detour of the partition that knows these routes, as a sender."""

    @cached_property
    def all(self) -> range:
        """The numbers of all partitions."""
        return range(1, self.partitions + 1)

    @property
    def several(self) -> bool:
        return self.partitions > 1

    def of_channel(self, tenant: str, correlation_key: str) -> int:
        """The partition that owns a message channel."""
        return self.slots[slot_of(tenant, correlation_key)] if self.slots else 1

    def owner_of(self, slot: int) -> int | None:
        """The owner of a slot; None if there is no such slot."""
        if not 0 <= slot < SLOTS:
            return None
        return self.slots[slot] if self.slots else 1

    def with_owner(self, slots: tuple[int, ...], owner: int) -> Routes:
        """These routes after slots moved to another owner."""
        moved = frozenset(slots)
        return replace(self, slots=tuple(owner if n in moved else one for n, one in enumerate(self.slots)))

    def for_sending(self, here: int) -> Routes:
        """The routes that this partition sends by. What is held goes to the inbox `-here`, which nobody forwards."""
        if self.detour is None:
            return self
        return self.with_owner(tuple(self.detour.slots), -here if self.detour.held else self.detour.previous)

    def of_tenant(self, tenant: str) -> range | tuple[int, ...]:
        """The partitions in which new work of a tenant begins."""
        return self.pins.get(tenant) or self.all


ONE_PARTITION = Routes()


def spread(partitions: int) -> tuple[int, ...]:
    """The owners of all slots if the partitions own equally many."""
    return tuple(slot % partitions + 1 for slot in range(SLOTS))
