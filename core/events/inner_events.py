"""Events that the inner instances of a multi-instance activity throw as they complete. BPMN 2.0.2 §10.3.9, table 10.30:
boundary events of the activity catch them. An event that no boundary event catches has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vivero.core.bpmn.model import EscalationEvent, InnerEvent, SignalEvent
from vivero.core.events.codes import find_own_catcher
from vivero.core.events.signal import KIND
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementTerminating
from vivero.core.records.messages import SubscriptionTriggered
from vivero.core.shared.occurrences import catch, happens
from vivero.core.state.instance_tree import Element, Subscription
from vivero.core.view import View


def throw_all(
    events: tuple[InnerEvent, ...], body: Element, inner: Element, seen: Mapping[str, Any], view: View
) -> Effects:
    """Throw the events of one inner instance, up to the first one that ends the activity.

    `seen`: what conditions see beside the variables of the inner instance.
    """
    for one in events:
        if one.first_only and seen["numberOfCompletedInstances"] > 1:
            continue
        if one.condition is not None and not view.expressions.typed(one.condition, inner, bool, extra=seen):
            continue
        for effect in _throw(one.event, body, view):
            yield effect
            if isinstance(effect, ElementTerminating):
                return


def _throw(event: SignalEvent | EscalationEvent, body: Element, view: View) -> Effects:
    if isinstance(event, SignalEvent):
        for subscription in _waiting(view.expressions.text(event.name, body), body):
            yield SubscriptionTriggered(subscription.key)
            yield from happens(body, subscription.target, {}, view, subscription)
        return
    assert event.code is not None, f"the parser rejects thrown escalations without a code: {body.element}"
    catcher = find_own_catcher(EscalationEvent, view.expressions.text(event.code, body), body, view)
    if catcher is not None:
        yield from catch(catcher, {}, view)


def _waiting(signal: str, body: Element) -> Iterator[Subscription]:
    """The boundary events that wait for the signal, in the order of their subscriptions."""
    for subscription in body.waits.subscriptions.values():
        if (subscription.kind, subscription.name, subscription.state) == (KIND, signal, "CREATED"):
            yield subscription
