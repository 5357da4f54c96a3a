"""Moving slots of message channels to another partition: commands and events (docs/design/partitions.md §6)."""

from __future__ import annotations

from typing import ClassVar

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender


class MoveSlots(Command, frozen=True):
    """Move slots to the partition `to`. Their owner handles this."""

    intent: ClassVar[str] = "SLOTS:MOVE"
    home = homes.of_slots
    sent_by = Sender.CLIENT

    slots: tuple[int, ...]
    to: int


class SwitchSlots(Command, frozen=True):
    """Internal, to each sender: hold what you would send to the moved slots. `previous` is their previous owner."""

    intent: ClassVar[str] = "SLOTS:SWITCH"
    home = homes.named
    sent_by = Sender.TREE

    partition: int
    previous: int


class ProbeSlots(Command, frozen=True):
    """Internal, to the previous owner: `sender` sends nothing more for the moved slots by way of it."""

    intent: ClassVar[str] = "SLOTS:PROBE"
    home = homes.named
    sent_by = Sender.TREE

    partition: int
    sender: int


class ReleaseSlots(Command, frozen=True):
    """Internal, to a sender: all that it sent by way of the previous owner is on its way to the new one."""

    intent: ClassVar[str] = "SLOTS:RELEASE"
    home = homes.named
    sent_by = Sender.TREE

    partition: int


class SlotsMoved(Event, frozen=True):
    """The partition `to` owns the slots. `senders` still reach it by way of the previous owner."""

    key: int
    slots: tuple[int, ...]
    to: int
    senders: tuple[int, ...]


class SlotsHeld(Event, frozen=True):
    """This partition holds what it would send to the moved slots."""

    key: int


class HeldCommandsSent(Event, frozen=True):
    """This partition sends the first `count` commands that it has held to the new owner, and holds the others."""

    key: int
    count: int


class SlotsReleased(Event, frozen=True):
    """This partition sends to the new owner of the moved slots, what it has held first."""

    key: int
