"""Close the waits of an element: its timers and subscriptions, each with its target node.

`shared/subscriptions.py` opens them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from vivero.core.records.effects import Effects, Send
from vivero.core.records.messages import CloseSubscription, SubscriptionClosed
from vivero.core.records.timers import TimerCanceled
from vivero.core.state.instance_tree import Element, Subscription, Timer


def close(element: Element, targets: Collection[str] | None = None, fired: int | None = None) -> Effects:
    """Close all waits, or those for the nodes in `targets`.

    `fired`: the key of a timer that has already ended in the same stage."""
    for timer in element.waits.timers.values():
        if timer.key != fired and (targets is None or timer.target in targets):
            yield TimerCanceled(timer.key)
    for subscription in element.waits.subscriptions.values():
        if targets is None or subscription.target in targets:
            yield from close_one(element, subscription)


def close_one(element: Element, wait: Timer | Subscription) -> Effects:
    """Close a wait whose event has occurred. A timer has ended by itself."""
    if isinstance(wait, Subscription):
        yield SubscriptionClosed(wait.key)
        if wait.correlation_key is not None:
            yield Send(CloseSubscription(wait.key, element.instance.tenant, wait.correlation_key))


def of_target(element: Element, target: str) -> Iterator[Timer | Subscription]:
    """The waits of an element for the event of one node."""
    for waits in (element.waits.timers, element.waits.subscriptions):
        yield from (wait for wait in waits.values() if wait.target == target)
