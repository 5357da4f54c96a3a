"""Signals: commands and events."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender, Variables


class BroadcastSignal(Command, frozen=True):
    """Broadcast a signal to all elements that wait for `name` now. `thrower`: as in PublishMessage."""

    intent: ClassVar[str] = "SIGNAL:BROADCAST"
    home = homes.anywhere
    sent_by = Sender.CLIENT
    has_waiter = True
    creates_work = True

    name: str
    variables: Variables = {}
    thrower: int | None = None
    completes: bool = True
    """As in PublishMessage."""


class DeliverSignal(Command, frozen=True):
    """Internal: deliver a signal to the next page of subscriptions of a partition, those with a key in (after, upto).

    `told`: the keys that already have the signal. `partition`: on the way to another partition, its number; 0: this
    one. There the signal gets a key of that partition when it arrives.
    """

    intent: ClassVar[str] = "SIGNAL:DELIVER"
    home = homes.named
    sent_by = Sender.TREE

    key: int
    name: str
    after: int
    variables: dict[str, str] = {}
    told: tuple[int, ...] = ()
    partition: int = 0

    @property
    def upto(self) -> int:
        """The key of the signal. Later subscriptions have greater keys, so a loop gets the signal only once."""
        return self.key


class SignalBroadcast(Event, frozen=True):
    """All subscriptions to `name` that are older than `key` get `variables` (JSON text)."""

    key: int
    name: str
    variables: dict[str, str] = {}


class SignalReply(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The answer of a broadcast."""

    tenant_id: str
    signal_key: int
