"""Open subscriptions that are found by what they wait for: each kind has an index in `State.waiting`.

A kind that is not in the table has none: a message finds its subscription through its channel.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from vivero.engine.core.state.instance_tree import Subscription

Index = dict[Hashable, dict[int, Subscription]]

WATCHING = "CONDITION"
"""The kind of those that a change of variables in their process instance may concern."""

INDEXED_BY: Mapping[str, Callable[[Subscription], Hashable]] = {
    "SIGNAL": lambda subscription: (subscription.element.instance.tenant, subscription.name),
    WATCHING: lambda subscription: subscription.element.instance.key,
}
"""Kind → what those who look for such a subscription know of it."""


def index_of(waiting: Mapping[str, Index], subscription: Subscription) -> tuple[Index, Hashable] | None:
    """The index that a subscription stands in, and under what; None for none."""
    place = INDEXED_BY.get(subscription.kind)
    return None if place is None else (waiting[subscription.kind], place(subscription))


def add_loaded(waiting: Mapping[str, Index], subscription: Subscription) -> None:
    """What was loaded; appliers link rows instead, so that it can be undone."""
    found = index_of(waiting, subscription)
    if found is not None:
        index, place = found
        index.setdefault(place, {})[subscription.key] = subscription


def forget(waiting: Mapping[str, Index], subscription: Subscription) -> None:
    """What is evicted from memory."""
    found = index_of(waiting, subscription)
    if found is not None:
        index, place = found
        index[place].pop(subscription.key, None)
        if not index[place]:
            del index[place]
