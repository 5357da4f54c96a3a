"""Close the waits of an element: its timers and subscriptions, each with its target node.

`shared/subscriptions.py` opens them.
"""

from __future__ import annotations

from collections.abc import Collection

from vivero.core.records.effects import Effects, Send
from vivero.core.records.messages import CloseSubscription, SubscriptionClosed
from vivero.core.records.timers import TimerCanceled
from vivero.core.state.instance_tree import Element


def close(element: Element, targets: Collection[str] | None = None, fired: int | None = None) -> Effects:
    """Close all waits, or those for the nodes in `targets`.

    `fired`: the key of a timer that has already ended in the same stage."""
    for timer in element.waits.timers.values():
        if timer.key != fired and (targets is None or timer.target in targets):
            yield TimerCanceled(timer.key)
    for subscription in element.waits.subscriptions.values():
        if targets is None or subscription.target in targets:
            yield SubscriptionClosed(subscription.key)
            if subscription.correlation_key is not None:
                tenant = element.instance.tenant
                yield Send(CloseSubscription(subscription.key, tenant, subscription.correlation_key))
