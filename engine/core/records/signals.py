"""Signals: commands and events."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from vivero.engine.core.records.base import Command, Event, Variables


class BroadcastSignal(Command, frozen=True):
    """A signal for everybody who waits for `name` now. `thrower` as of a published message."""

    intent: ClassVar[str] = "SIGNAL:BROADCAST"
    name: str
    variables: Variables = {}
    thrower: int | None = None


class DeliverSignal(Command, frozen=True):
    """Internal: the next page of the subscriptions that a signal is for: those with a key in (after, upto).

    `told`: those among them that have it already.
    """

    intent: ClassVar[str] = "SIGNAL:DELIVER"
    key: int
    name: str
    after: int
    variables: dict[str, str] = {}
    told: tuple[int, ...] = ()

    @property
    def upto(self) -> int:
        """The signal's own key: whoever waits since later has a greater one, so a loop is not hit twice."""
        return self.key


class SignalBroadcast(Event, frozen=True):
    """Everybody who waits for `name` since before `key` was given out gets `variables` (JSON text)."""

    key: int
    name: str
    variables: dict[str, str] = {}


class SignalReply(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What broadcasting a signal answers."""

    tenant_id: str
    signal_key: int
