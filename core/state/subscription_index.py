"""Indexes of open subscriptions in `State.waiting`, one for each kind.

A kind that is not in the table has no index: a message finds its subscription through its message channel.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from vivero.core.state.instance_tree import Subscription

Index = dict[Hashable, dict[int, Subscription]]

WATCHING = "CONDITION"
"""The kind of subscription that a changed variable in its process instance may trigger."""

INDEXED_BY: Mapping[str, Callable[[Subscription], Hashable]] = {
    "SIGNAL": lambda subscription: (subscription.element.instance.tenant, subscription.name),
    WATCHING: lambda subscription: subscription.element.instance.key,
}
"""Kind → the key of a subscription in the index of the kind."""


def index_of(waiting: Mapping[str, Index], subscription: Subscription) -> tuple[Index, Hashable] | None:
    """The index of a subscription and its key in there; None if its kind has no index."""
    place = INDEXED_BY.get(subscription.kind)
    return None if place is None else (waiting[subscription.kind], place(subscription))


def add_loaded(waiting: Mapping[str, Index], subscription: Subscription) -> None:
    """Add a loaded subscription. Appliers use `State.link` instead, so that a change can be undone."""
    found = index_of(waiting, subscription)
    if found is not None:
        index, place = found
        index.setdefault(place, {})[subscription.key] = subscription


def remove(waiting: Mapping[str, Index], subscription: Subscription) -> None:
    """Remove an evicted subscription."""
    found = index_of(waiting, subscription)
    if found is not None:
        index, place = found
        index[place].pop(subscription.key, None)
        if not index[place]:
            del index[place]
