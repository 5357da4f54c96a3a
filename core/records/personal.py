"""The places of events that have what clients sent: variables, ids, texts. An erasure empties it (docs/adr/0066).

Events of instance trees are emptied as a whole, with their trees. Those of message channels, signals and conditions
belong to no tree. `FREE` says what is emptied in them. By the texts in `NAMES` they refer to each other: an event goes
as a whole when a person's value stands there, and nothing waits under that name any more. A test derives the fields
from the types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from vivero.core.records.base import Event
from vivero.core.records.conditionals import ConditionalsEvaluated
from vivero.core.records.decision_evaluations import DecisionEvaluated
from vivero.core.records.messages import (
    ChannelSubscribed,
    ChannelUnsubscribed,
    CorrelationAnswered,
    MessageCorrelated,
    MessageExpired,
    MessagePublished,
    StartAwaited,
    StartCollected,
    StartLocked,
    StartReleased,
)
from vivero.core.records.migrations import ChannelSubscriptionMoved
from vivero.core.records.signals import SignalBroadcast

FREE: Mapping[type[Event], Mapping[str, Any]] = {
    MessagePublished: {"message_id": None, "variables": {}, "business_id": None},
    ChannelSubscribed: {"business_id": None},
    StartAwaited: {"messages": (), "names": ()},
    SignalBroadcast: {"variables": {}},
    ConditionalsEvaluated: {"variables": {}},
    DecisionEvaluated: {"decisions": (), "failure": None},
}
"""Event of no tree → fields, and what an erasure leaves there."""
NAMES: Mapping[type[Event], tuple[str, ...]] = {
    MessagePublished: ("name", "correlation_key"),
    MessageExpired: ("correlation_key",),
    MessageCorrelated: ("correlation_key",),
    CorrelationAnswered: ("correlation_key",),
    ChannelSubscribed: ("correlation_key", "name"),
    ChannelUnsubscribed: ("correlation_key",),
    ChannelSubscriptionMoved: ("correlation_key",),
    StartLocked: ("correlation_key",),
    StartReleased: ("correlation_key",),
    StartAwaited: ("correlation_key",),
    StartCollected: ("correlation_key",),
    SignalBroadcast: ("name",),
}
"""Event of no tree → fields with names and keys that clients choose."""


def emptied(event: Event) -> Event:
    """The event without what its client sent, besides names and keys."""
    free = FREE.get(type(event))
    return event if free is None else msgspec.structs.replace(event, **free)


def channel_of(event: Event) -> tuple[str, str] | None:
    """Tenant and correlation key of an event of a message channel."""
    key = getattr(event, "correlation_key", None) if type(event) in NAMES else None
    return None if key is None else (event.tenant, key)  # type: ignore[attr-defined]


def names_of(event: Event) -> list[str]:
    """The names and keys in an event of no tree."""
    return [getattr(event, field) for field in NAMES.get(type(event), ())]
